import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// One dialog in which the gateway is notifier, of any event package (RFC 6665 4.2).
///
/// Holds the dialog, the watcher and the reachability of its endpoint. Its ``SIPEvents/Notifier`` decides when to notify, its
/// ``PackageSubscription`` makes the bodies.
///
/// Nothing is sent while the watcher is away, except the end of the subscription; the full state follows its return.
final class WatcherDialog {
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

        mutating func noteNotified() { isNotified = true }
    }

    /// Local tag: unique, and the key of the gateway's table.
    let localTag: String
    let package: any EventPackage
    let subscription: any PackageSubscription
    /// ``subscription``, if the package is presence.
    let presence: PresenceSubscription?
    private(set) var dialog: Dialog
    var notifier: Notifier
    /// Whether it is in the table of dialogs; changed by ``DialogTable`` alone.
    private(set) var isListed = false
    private(set) var terms: SubscriptionTerms
    private var timer = DialogTimer()
    private(set) var delivery: WatcherDelivery
    private(set) var held: HeldRequest?
    private(set) var history = NotificationHistory()
    private(set) var record = DialogRecord()
    /// Conditions and rates of notifications; nil: the watcher asked for none.
    private(set) var wishes: NotificationWishes?

    init(
        dialog: Dialog, notifier: Notifier, event: Event, _ package: any EventPackage, _ opened: OpenedSubscription, flow: Flow,
        endpoint: EndpointKey?, hidesIdentity: Bool, followsRegistration: Bool
    ) {
        localTag = dialog.id.localTag
        self.dialog = dialog
        self.notifier = notifier
        self.package = package
        subscription = opened.subscription
        presence = opened.subscription as? PresenceSubscription
        terms = SubscriptionTerms(
            event, opened, endpoint: endpoint, hidesIdentity: hidesIdentity, followsRegistration: followsRegistration)
        delivery = WatcherDelivery(over: flow)
    }

    /// Sets what the last SUBSCRIBE asked for about notifications.
    func wish(_ wishes: NotificationWishes?) { self.wishes = wishes }

    /// Starts the notifier of a new dialog, once its package knows what is watched.
    func begin(_ configuration: Notifier.Configuration) {
        notifier = Notifier(configuration, isAuthorized: subscription.isAuthorized, isReady: subscription.isReady)
    }

    /// The watcher in container resolution.
    var identity: WatcherIdentity { terms.identity }

    /// Names the dialog to the kernel while it is in the gateway's tables.
    var ticket: Ticket { timer.ticket }

    /// Notes whether it is in the table of dialogs.
    func list(_ isListed: Bool) { self.isListed = isListed }

    /// Sets the name of the dialog to the kernel.
    func name(by ticket: Ticket) { timer.name(by: ticket) }

    // MARK: delivery

    var flow: Flow { delivery.flow }

    /// Whether the watcher has lost its only connection, so that a notification would be lost.
    var isAway: Bool { delivery.isAway }

    /// Whether due notifications wait for the watcher to return.
    var isWaiting: Bool { isAway && !notifier.isEnding && !notifier.isFetching }

    /// Whether the end of the connection matters before a notification is sent: BENOTIFY has no response that would report it (MS-SIP
    /// 3.5), and a registered endpoint is reached over its connection only.
    var isBoundToConnection: Bool { notifier.configuration.bestEffort || endpoint != nil }

    /// Sets the partner of the watcher.
    func serve(through partner: String?) { delivery.serve(through: partner) }

    /// Notes a request of the watcher or a registration of its endpoint; change it by ``DialogTable/move(_:to:)``.
    func reached(over flow: Flow) { delivery.reached(over: flow) }

    /// Notes the end of the connection; change it by ``DialogTable/disconnect(_:)``.
    func disconnected() { delivery.disconnected() }

    /// Notes that the watcher cannot be reached before it returns.
    func left(returnsBy: Instant?) { delivery.left(returnsBy: returnsBy) }

    /// Keeps the route of the notifications.
    func keep(_ route: NotificationRoute) { delivery.keep(route) }

    /// Notes that the outstanding NOTIFY follows a redirection.
    func follow(_ redirect: NotifyRedirect) { delivery.follow(redirect) }

    // MARK: requests in the dialog

    /// Handles a request of the watcher, which may name another remote target.
    func receive(_ request: SIPRequest) -> Dialog.OnRequest {
        delivery.dropRoute()
        return dialog.receive(request)
    }

    /// Makes the next request.
    func makeRequest(_ method: SIPMethod) -> SIPRequest { dialog.makeRequest(method) }

    /// Uses a number without a request of its own.
    func nextNumber() -> UInt32 { dialog.nextNumber() }

    // MARK: polls

    /// Holds the SUBSCRIBE of a poll until the state is known.
    func hold(_ request: HeldRequest) { held = request }

    /// Takes the SUBSCRIBE of a poll, to answer it.
    func takeHeld() -> HeldRequest? {
        defer { held = nil }
        return held
    }

    // MARK: notifications

    /// Whether the last notification had the state `active`, not `pending`.
    var wasNotifiedActive: Bool { history.wasActive }

    /// Notes a notification, or a 200 in place of it.
    func notified(_ status: SubscriptionStatus, _ content: Notifier.Content, inAnswer: Bool, at now: Instant) {
        history.notified(status, content, inAnswer: inAnswer, at: now)
        wishes?.notified(at: now)
    }

    /// Notes that a 200 in place of a notification was sent.
    func notifiedInAnswer(_ status: SubscriptionStatus, _ content: Notifier.Content, at now: Instant) {
        history.notifiedInAnswer(status, content, at: now)
    }

    /// Notes a change without a notification.
    func suppressed() { history.suppressed() }

    /// Notes the final response to a NOTIFY, before the notifier handles it.
    func answered(_ status: SIPStatus) {
        history.answered(status)
        if !status.isSuccess { subscription.forgetNotified() }
    }

    /// Notes that a final response is not a redirection that is followed.
    func settled(_ status: SIPStatus) {
        delivery.endRedirect()
        history.settled(status)
    }

    /// Notes a notification that was not delivered.
    func lost(_ reason: String) {
        delivery.endRedirect()
        history.lost(reason)
        subscription.forgetNotified()
    }

    /// Sets the diagnostic of the last notification.
    func diagnose(_ diagnostic: Diagnostic) { history.diagnose(diagnostic) }

    // MARK: restart and failed commits

    /// Restores the state of the last notification before a restart.
    func resume(from stored: StoredDialog) {
        history.restore(wasActive: stored.wasNotifiedActive && !stored.isUnsettled)
        record.restore(stored)
    }

    /// Notes that the dialog is part of a commit from now on.
    func beginStorage() { record.begin() }

    /// Notes that the store has the dialog.
    func noteStored() { record.noteStored() }

    /// Notes that a notification is sent.
    /// - Returns: whether it waits for a commit of the dialog.
    func noteNotified(at now: Instant) -> Bool {
        record.notified(dialog.localCSeq, subscription.documentVersion, at: now)
    }

    /// Notes that a number is used without a notification of its own.
    /// - Returns: whether it waits for a commit of the dialog.
    func noteNumber() -> Bool { record.used(dialog.localCSeq, subscription.documentVersion) }

    /// Notes that the watcher may have any state, which the next commit of the dialog stores.
    func unsettle() { record.unsettle(from: dialog.localCSeq, subscription.documentVersion) }

    /// Notes that the next commit has the state that the watcher was last notified of.
    func settle() { record.settle() }

    /// Notes whether the dialog waits to be settled.
    func queueForSettlement(_ isQueued: Bool) { record.queue(isQueued) }

    /// Takes over the stored state after a failed commit; what the transport and the watcher's responses have shown stays valid.
    func reload(from stored: StoredDialog, retryIn pause: TimeSpan, at now: Instant) {
        if let before = Dialog(snapshot: stored.dialog) { dialog.revert(to: before) }
        delivery.dropRoute()
        history.restore(wasActive: stored.wasNotifiedActive)
        unsettle()
        notifier.reload(expiry: stored.expiry, retryIn: pause, at: now)
        if !notifier.isEnding { history.diagnose(nil) }
        subscription.forgetNotified()
    }

    /// Notes that a notification was not sent, because a change that it depends on was not stored.
    func notSent() {
        history.notSent()
        subscription.forgetNotified()
    }

    // MARK: time

    var nextDeadline: Instant? {
        if isWaiting { return Instant.earliest(notifier.expiry, held?.until, delivery.returnsBy) }
        // While the notifier waits for a response, it sends the changes afterwards.
        let isIdle = notifier.isIdle
        return Instant.earliest(
            notifier.nextDeadline, held?.until, isIdle ? subscription.nextChange : nil, isIdle ? wishes?.nextRepeat : nil)
    }

    /// - Returns: whether the timer is to be set, because the next deadline is another one.
    func schedule() -> Bool { timer.schedule(at: nextDeadline) }

    /// Time of the gateway's timer for this dialog; nil: none.
    var timerAt: Instant? { timer.at }

    /// Notes that the timer has fired.
    func fired() { timer.fired() }
}
