import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// One dialog in which the gateway is notifier, of any event package (RFC 6665 4.2).
///
/// Holds the dialog, the watcher and the reachability of its endpoint. Its ``SIPEvents/Notifier`` decides when to notify, its
/// ``PackageSubscription`` makes the bodies.
///
///     reachable --connection closed, restart--> away --SUBSCRIBE, REGISTER--> reachable
///                                                \--returnsBy, end of the registration, expiry--> removed
///
/// Nothing is sent while the watcher is away, except the end of the subscription; the full state follows its return.
final class WatcherDialog {
    /// Whether notifications reach the watcher.
    enum Reachability: Equatable {
        case reachable
        /// - Parameter returnsBy: time by which the watcher must return; nil: the dialog ends with the registration of its endpoint.
        case away(returnsBy: Instant?)
    }

    /// Whether the store has the dialog.
    enum Storage {
        /// It has not: a poll that is answered at once.
        case none
        /// Its first commit is not finished.
        case begun
        case stored
    }

    /// SUBSCRIBE of a poll with a 200 that waits for upstream state (MS-PRES 3.4.5.1.2).
    struct HeldRequest {
        var transaction: ServerTransactionID
        var request: SIPRequest
        var until: Instant
    }

    struct RejectedResource: Equatable {
        var uri: SIPURI
        /// The URI as the watcher wrote it; nil: `uri`.
        var entity: SIPURI?
        var state: String
        var reason: String?
        var statusCode: Int?
        var poolFqdn: String?
        var isNotified = false
    }

    /// Local tag: unique, and the key of the gateway's table.
    let localTag: String
    /// Names the dialog to the kernel while it is in the gateway's tables.
    private(set) var ticket = Ticket.none
    let package: any EventPackage
    let subscription: any PackageSubscription
    /// ``subscription``, if the package is presence.
    let presence: PresenceSubscription?
    var dialog: Dialog
    var notifier: Notifier
    /// Event of the SUBSCRIBE with its `id`; repeated in every NOTIFY.
    let event: Event
    let side: DomainSide
    let watcher: SIPURI
    let watcherKey: String
    let network: DomainNetwork
    /// Key of the user by which the dialog is assigned to this shard (``ShardRouter``).
    let owner: String
    /// Endpoint that subscribed, if it is named and matters: its user is hosted, or it has only one dialog of the package.
    let endpoint: EndpointKey?
    /// Whether the watcher requested privacy (RFC 3325 9.3).
    let hidesIdentity: Bool
    /// Whether the registration of the endpoint prolongs the dialog without a refresh (com.microsoft.autoextend).
    let followsRegistration: Bool
    /// Partner through which the watcher is notified; nil: its domain is hosted here.
    private(set) var partner: String?
    /// Time of the gateway's timer for this dialog; nil: none.
    private(set) var timerAt: Instant?
    private(set) var flow: Flow
    private(set) var reachability = Reachability.reachable
    private(set) var held: HeldRequest?
    /// Whether the last notification had the state `active`, not `pending`.
    private(set) var wasNotifiedActive = false
    /// Record of the last notification, for operators.
    private(set) var lastNotification = NotificationRecord()
    /// Redirection that the outstanding NOTIFY follows; nil: none.
    private(set) var redirect: NotifyRedirect?
    /// Reason of the last failed notification; valid while the notifier retries.
    private(set) var failureReason: String?
    /// Whether the dialog is in the store.
    private(set) var storage = Storage.none
    /// Diagnostic for the last notification, if this server ended the dialog.
    private(set) var terminationDiagnostic: Diagnostic?
    /// The watcher in container resolution.
    private(set) lazy var identity = WatcherIdentity(watcher, network: network)

    init(
        dialog: Dialog, notifier: Notifier, event: Event, _ package: any EventPackage, _ opened: OpenedSubscription, flow: Flow,
        endpoint: EndpointKey?, hidesIdentity: Bool, followsRegistration: Bool
    ) {
        localTag = dialog.id.localTag
        self.dialog = dialog
        self.notifier = notifier
        self.event = event
        self.package = package
        subscription = opened.subscription
        presence = opened.subscription as? PresenceSubscription
        let parties = opened.parties
        side = parties.watcherDomain.side
        watcher = parties.watcher
        watcherKey = parties.watcherKey
        network = parties.watcherDomain.network
        owner = opened.owner
        self.flow = flow
        self.endpoint = endpoint
        self.hidesIdentity = hidesIdentity
        self.followsRegistration = followsRegistration
    }

    /// Starts the notifier of a new dialog, once its package knows what is watched.
    func begin(_ configuration: Notifier.Configuration) {
        notifier = Notifier(configuration, isAuthorized: subscription.isAuthorized, isReady: subscription.isReady)
    }

    /// Sets the name of the dialog to the kernel.
    func name(by ticket: Ticket) { self.ticket = ticket }

    /// Sets the partner of the watcher.
    func serve(through partner: String?) { self.partner = partner }

    // MARK: reachability

    /// Whether the watcher has lost its only connection, so that a notification would be lost.
    var isAway: Bool { reachability != .reachable }

    /// Time by which a watcher that is away must return; nil: no such time.
    var returnsBy: Instant? { if case .away(let returnsBy) = reachability { returnsBy } else { nil } }

    /// Whether due notifications wait for the watcher to return.
    var isWaiting: Bool { isAway && !notifier.isEnding && !notifier.isFetching }

    /// Whether the end of the connection matters before a notification is sent: BENOTIFY has no response that would report it (MS-SIP
    /// 3.5), and a registered endpoint is reached over its connection only.
    var isBoundToConnection: Bool { notifier.configuration.bestEffort || endpoint != nil }

    /// Notes a request of the watcher or a registration of its endpoint; change it by ``DialogTable/move(_:to:)``.
    func reached(over flow: Flow) {
        self.flow = flow
        reachability = .reachable
    }

    /// Notes the end of the connection; change it by ``DialogTable/disconnect(_:)``.
    func disconnected() { flow.connection = nil }

    /// Notes that the watcher cannot be reached before it returns.
    func left(returnsBy: Instant?) { reachability = .away(returnsBy: returnsBy) }

    // MARK: polls

    /// Holds the SUBSCRIBE of a poll until the state is known.
    func hold(_ request: HeldRequest) { held = request }

    /// Takes the SUBSCRIBE of a poll, to answer it.
    func takeHeld() -> HeldRequest? {
        defer { held = nil }
        return held
    }

    // MARK: notifications

    /// Notes a notification, or a 200 in place of it.
    func notified(_ status: SubscriptionStatus, _ content: Notifier.Content, inAnswer: Bool, at now: Instant) {
        if case .active = status { wasNotifiedActive = true } else if !inAnswer { wasNotifiedActive = false }
        if !inAnswer { lastNotification.sent(status, content, inAnswer: false, at: now) }
    }

    /// Notes that a 200 in place of a notification was sent.
    func notifiedInAnswer(_ status: SubscriptionStatus, _ content: Notifier.Content, at now: Instant) {
        lastNotification.sent(status, content, inAnswer: true, at: now)
    }

    /// Notes a change without a notification.
    func suppressed() { lastNotification.suppressedChange() }

    /// Notes the final response to a NOTIFY, before the notifier handles it.
    func answered(_ status: SIPStatus) {
        lastNotification.answered(status.rawValue)
        if !status.isSuccess { subscription.forgetNotified() }
    }

    /// Notes that a final response is not a redirection that is followed.
    func settled(_ status: SIPStatus) {
        redirect = nil
        failureReason = status.isSuccess ? nil : "answered \(status.rawValue)"
    }

    /// Notes that the outstanding NOTIFY follows a redirection.
    func follow(_ redirect: NotifyRedirect) { self.redirect = redirect }

    /// Notes a notification that was not delivered.
    func lost(_ reason: String) {
        lastNotification.lost()
        redirect = nil
        failureReason = reason
        subscription.forgetNotified()
    }

    /// Sets the diagnostic of the last notification.
    func diagnose(_ diagnostic: Diagnostic) { terminationDiagnostic = diagnostic }

    // MARK: restart and failed commits

    /// Restores the state of the last notification before a restart.
    func resume(wasNotifiedActive: Bool) {
        self.wasNotifiedActive = wasNotifiedActive
        storage = .stored
    }

    /// Notes that the dialog is part of a commit from now on.
    func beginStorage() { storage = .begun }

    /// Notes that the store has the dialog.
    func noteStored() { storage = .stored }

    /// Takes over the stored state after a failed commit; what the transport and the watcher's responses have shown stays valid.
    func reload(from stored: StoredDialog, retryIn pause: TimeSpan, at now: Instant) {
        if let before = Dialog(snapshot: stored.dialog) { dialog.revert(to: before) }
        wasNotifiedActive = stored.wasNotifiedActive
        notifier.reload(expiry: stored.expiry, retryIn: pause, at: now)
        if !notifier.isEnding { terminationDiagnostic = nil }
        subscription.forgetNotified()
    }

    /// Notes that a notification was not sent, because a change that it depends on was not stored.
    func notSent() {
        lastNotification.notSent()
        subscription.forgetNotified()
    }

    // MARK: time

    var nextDeadline: Instant? {
        if isWaiting { return Instant.earliest(notifier.expiry, held?.until, returnsBy) }
        // While the notifier waits for a response, it sends the changes afterwards.
        return Instant.earliest(notifier.nextDeadline, held?.until, notifier.isIdle ? subscription.nextChange : nil)
    }

    /// - Returns: whether the timer is to be set, because the next deadline is another one.
    func schedule() -> Bool {
        let next = nextDeadline
        guard next != timerAt else { return false }
        timerAt = next
        return true
    }

    /// Notes that the timer has fired.
    func fired() { timerAt = nil }
}
