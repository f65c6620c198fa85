import PresenceGateway
import SIPCore
import ScriptedPeers

/// Presentity's domain in one form: its configuration, and actions of its scripted server.
struct MatrixRemoteDomain {
    let source: MatrixSource
    let conversation: Conversation

    init(_ source: MatrixSource, in conversation: Conversation) {
        self.source = source
        self.conversation = conversation
        switch source {
        case .msrtc: enterprise.forms = [.msrtc]
        case .enterprisePIDF: enterprise.forms = [.pidf]
        case .pidf: simple.sendsDifferences = false
        case .list: simple.lists.adHocURI = Self.lists
        case .category, .batch, .partial: break
        }
    }

    /// URI at which example.org accepts lists.
    private static let lists = "sip:lists@example.org"

    static func configure(_ source: MatrixSource, _ configuration: inout GatewayConfiguration) {
        switch source {
        case .category: configuration.domains["contoso.com"]?.upstream = .categories
        case .batch: configuration.domains["contoso.com"]?.upstream = .batch
        case .msrtc: configuration.domains["contoso.com"]?.upstream = .msrtc
        case .enterprisePIDF: configuration.domains["contoso.com"]?.upstream = .pidf
        case .pidf: configuration.domains["example.org"]?.partial = false
        case .partial: break
        case .list: configuration.domains["example.org"]?.lists = .adHoc(service: lists)
        }
    }

    private var enterprise: EnhancedServer { conversation.enterprise }
    private var simple: SimplePresenceServer { conversation.simple }

    var server: ScriptedNotifier { source.isEnterprise ? enterprise : simple }
    /// Presentity that is watched.
    var subject: String { source.isEnterprise ? Conversation.bob : Conversation.alice }
    /// Another presentity of the same domain, watched by watchers that name several.
    var bystander: String { source.isEnterprise ? "sip:ben@contoso.com" : "sip:anna@example.org" }

    func show(_ mood: SimulatedMood, of presentity: String? = nil, at now: Instant) {
        let presentity = presentity ?? subject
        if source.isEnterprise {
            enterprise.set(presentity, EnhancedState(mood.availability, note: Self.long, displayName: Self.long), at: now)
        } else {
            simple.set(presentity, document(mood, of: presentity), at: now)
        }
    }

    /// Whether the domain's presence in PIDF is long enough for a partial document to be shorter; an enterprise writes only a state in
    /// PIDF.
    var isWorthDifferences: Bool { source != .enterprisePIDF }

    private static let long = String(repeating: "in the garden until late, ", count: 20) + "or later"

    /// PIDF with a long device element.
    private func document(_ mood: SimulatedMood, of presentity: String) -> String {
        let short = SimpleDocuments.pidf(of: presentity, mood.basic, activities: mood.activities)
        let device = "<dm:device id=\"d1\"><dm:deviceID>urn:x-mac:\(String(repeating: "0003ba4811e3", count: 40))</dm:deviceID></dm:device>"
        return short.dropLast("</presence>".count) + device + "</presence>"
    }

    /// Whether the server received subscriptions in the configured form; servers of one form refuse all others.
    var isAskedAsConfigured: Bool {
        switch source {
        case .category: enterprise.batches.isEmpty && enterprise.dialogCount > 0
        case .batch: !enterprise.batches.isEmpty
        case .msrtc, .enterprisePIDF, .pidf, .partial: server.dialogCount > 0
        case .list: simple.lists.opened > 0
        }
    }

    /// Refuses the subject to all watchers from now on: `rejected` or `noresource`.
    func refuse(_ reason: SubscriptionState.TerminationReason, at now: Instant) {
        if source == .batch {
            let instanceState = EnhancedDocuments.InstanceState.terminated(reason: reason.rawValue, status: reason == .rejected ? 403 : 404)
            enterprise.judge(subject, instanceState, at: now)
        } else if source == .list {
            simple.setInstanceState(subject, .terminated(reason.rawValue), at: now)
        } else {
            server.terminate(subject, reason, at: now)
        }
    }

    /// Ends the refusal.
    func forgive(at now: Instant) {
        if source == .batch { enterprise.judge(subject, nil, at: now) }
        if source == .list { simple.setInstanceState(subject, nil, at: now) }
    }

    /// Sends the form's equivalent of `resubscribe` to current watchers.
    /// - Returns: Request-URI of the expected new subscription; nil when it is unchanged.
    func sendAway(at now: Instant) -> String? {
        if source == .batch {
            enterprise.move(subject, to: nil, at: now)
            return subject
        }
        server.terminate(source == .list ? Self.lists : subject, .deactivated, at: now)
        return nil
    }

    /// Redirects the first SUBSCRIBE to a pool.
    /// - Returns: Request-URI of the expected subscription; nil when the form has no redirection.
    func sendOn() -> String? {
        guard source == .category || source == .batch else { return nil }
        let pool = "sip:pool1.contoso.com@contoso.com;gruu;opaque=srvr:HomeServer:p1"
        for presentity in [subject, bystander] { enterprise.elsewhere[presentity] = .some(pool) }
        return pool
    }
}
