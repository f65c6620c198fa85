import PresenceGateway
import SIPCore

/// The presentity's domain in one form: how it is configured, and how its scripted server is made to do things.
struct MatrixFarSide {
    let source: MatrixSource
    let conversation: Conversation

    init(_ source: MatrixSource, in conversation: Conversation) {
        self.source = source
        self.conversation = conversation
        switch source {
        case .msrtc: enterprise.forms = [.msrtc]
        case .enterprisePIDF: enterprise.forms = [.pidf]
        case .category, .batch, .pidf: break
        }
    }

    static func configure(_ source: MatrixSource, _ configuration: inout GatewayConfiguration) {
        switch source {
        case .category: configuration.domains["contoso.com"]?.upstream = .categories
        case .batch: configuration.domains["contoso.com"]?.upstream = .batch
        case .msrtc: configuration.domains["contoso.com"]?.upstream = .msrtc
        case .enterprisePIDF: configuration.domains["contoso.com"]?.upstream = .pidf
        case .pidf: break
        }
    }

    private var enterprise: EnhancedServer { conversation.enterprise }
    private var simple: SimplePresenceServer { conversation.simple }

    var server: ScriptedNotifier { source.isEnterprise ? enterprise : simple }
    /// Who is watched.
    var subject: String { source.isEnterprise ? Conversation.bob : Conversation.alice }
    /// Somebody else of the same domain, watched by those who name several.
    var bystander: String { source.isEnterprise ? "sip:ben@contoso.com" : "sip:anna@example.org" }

    func show(_ mood: SimulatedMood, of presentity: String? = nil, at now: Instant) {
        let presentity = presentity ?? subject
        if source.isEnterprise {
            enterprise.set(presentity, EnhancedState(mood.availability), at: now)
        } else {
            simple.set(presentity, SimpleDocuments.pidf(of: presentity, mood.basic, activities: mood.activities), at: now)
        }
    }

    /// Whether it is asked in its form, by whoever watches now; servers of one form refuse all others.
    var isAskedAsConfigured: Bool {
        switch source {
        case .category: enterprise.batches.isEmpty && enterprise.dialogCount > 0
        case .batch: !enterprise.batches.isEmpty
        case .msrtc, .enterprisePIDF, .pidf: server.dialogCount > 0
        }
    }

    /// Refuses the subject to its watchers from now on: `rejected` or `noresource`.
    func refuse(_ reason: SubscriptionState.TerminationReason, at now: Instant) {
        if source == .batch {
            let verdict = EnhancedDocuments.Verdict.terminated(reason: reason.rawValue, status: reason == .rejected ? 403 : 404)
            enterprise.judge(subject, verdict, at: now)
        } else {
            server.terminate(subject, reason, at: now)
        }
    }

    /// Refuses nothing any more.
    func forgive(at now: Instant) {
        if source == .batch { enterprise.judge(subject, nil, at: now) }
    }

    /// Says `resubscribe` in its own words while somebody watches.
    /// - Returns: the Request-URI that is to be asked then; nil: the same as before.
    func sendAway(at now: Instant) -> String? {
        if source == .batch {
            enterprise.move(subject, to: nil, at: now)
            return subject
        }
        server.terminate(subject, .deactivated, at: now)
        return nil
    }

    /// Answers the first SUBSCRIBE with the name of a pool.
    /// - Returns: the Request-URI that is to be asked; nil: the form has no word for it.
    func sendOn() -> String? {
        guard source == .category || source == .batch else { return nil }
        let pool = "sip:pool1.contoso.com@contoso.com;gruu;opaque=srvr:HomeServer:p1"
        for presentity in [subject, bystander] { enterprise.elsewhere[presentity] = .some(pool) }
        return pool
    }
}
