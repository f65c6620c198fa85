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
        case .category, .pidf: break
        }
    }

    static func configure(_ source: MatrixSource, _ configuration: inout GatewayConfiguration) {
        switch source {
        case .category: configuration.domains["contoso.com"]?.upstream = .categories
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

    /// Ends what it granted to the subject's watchers.
    func end(_ reason: SubscriptionState.TerminationReason, for watcher: MatrixWatcher, at now: Instant) {
        server.terminate(subject, reason, at: now)
    }

    /// Says `resubscribe` in its own way while somebody watches.
    func sendAway(_ watcher: MatrixWatcher, at now: Instant) {
        end(.deactivated, for: watcher, at: now)
    }

    /// The Request-URI to which the next initial SUBSCRIBE is sent on; nil: the form has no word for it.
    func sendOnFromTheStart() -> String? {
        guard source == .category else { return nil }
        let pool = "sip:pool1.contoso.com@contoso.com;gruu;opaque=srvr:HomeServer:p1"
        for presentity in [subject, bystander] { enterprise.elsewhere[presentity] = .some(pool) }
        return pool
    }
}
