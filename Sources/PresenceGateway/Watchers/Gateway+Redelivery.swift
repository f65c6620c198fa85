import Registration
import SIPCore
import SIPEvents

/// NOTIFYs and BENOTIFYs that did not arrive: the newest state goes again, after growing pauses, until the subscription ends.
///
///     sent --transport failed--> connection known: at once by address; else pause --> sent
///     sent --430, 502, 503, 504--> pause, Retry-After if given --> sent
///     sent --Timer F, 408, 401 and 407 without credentials--> pause --> sent; in a row for `notifyPatience` --> ended
///     connection of a client closed (BENOTIFY) --> away for `connectionGrace` --endpoint back--> sent; else ended
///
/// Per dialog a mark is kept that state is due, and no body.
extension Gateway {
    /// A notification of a watcher's dialog did not arrive.
    /// - Parameter connection: over which it was sent; nil: it was sent by address.
    func notDelivered(
        _ watcher: WatcherDialog, _ failure: Notifier.DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard dialogs[watcher.localTag] === watcher else { return }
        counters.notificationsFailed += 1
        watcher.told.lost()
        watcher.redirect = nil
        watcher.failureReason = reason
        log(.notice, "NOTIFY not delivered", ["call-id": watcher.dialog.id.callID, "reason": reason])
        keep(.dialog(watcher.localTag))
        watcher.forgetDelivered()
        if isShuttingDown, watcher.notifier.isEnding { return perform(watcher.notifier.watcherGone(), on: watcher, at: now) }
        if failure == .transport, let connection, connection == watcher.flow.connection {
            return connectionLost(connection, of: watcher, at: now)
        }
        let chance = redeliveryChance(of: watcher.dialog, attempt: watcher.notifier.undelivered)
        perform(watcher.notifier.notifyFailed(failure, chance: chance, at: now), on: watcher, at: now)
    }

    /// The connection by which a watcher was reached is gone. A subscription outlives it (RFC 5923): its notifications go by address. A
    /// client that takes BENOTIFY is reached over its connection alone, and has a while to come back.
    func connectionLost(_ connection: ConnectionID, of watcher: WatcherDialog, at now: Instant) {
        guard watcher.flow.connection == connection else { return }
        unbind(watcher)
        watcher.flow.connection = nil
        guard watcher.notifier.configuration.bestEffort else {
            return perform(watcher.notifier.notifyRerouted(at: now), on: watcher, at: now)
        }
        keep(.dialog(watcher.localTag))
        watcher.forgetDelivered()
        if hop(toward: watcher.watcher) == nil {
            watcher.returnsBy = now + configuration.timing.connectionGrace
            schedule(watcher)
        } else {
            let chance = redeliveryChance(of: watcher.dialog, attempt: watcher.notifier.undelivered)
            perform(watcher.notifier.notifyFailed(.transport, chance: chance, at: now), on: watcher, at: now)
        }
    }

    /// Spreads redeliveries: made of the dialog and the attempt, so that it changes no other draw.
    func redeliveryChance(of dialog: Dialog, attempt: Int) -> UInt64 {
        tokens.repeatableNumber(for: "redelivery\n\(dialog.id.callID)\n\(dialog.id.remoteTag)\n\(attempt)")
    }

    /// The endpoint registered over another connection: its subscriptions go on there, and it is told what it missed.
    func watcherDialogsFollow(_ binding: Binding, at now: Instant) {
        guard let endpoint = binding.endpoint else { return }
        let flow = Flow(binding.source)
        for tag in (dialogsOfEndpoint[EndpointKey(watcher: binding.user, endpoint: endpoint)] ?? []).sorted() {
            guard let watcher = dialogs[tag], watcher.flow.connection != flow.connection else { continue }
            let wasAway = watcher.isAway
            reached(watcher, over: flow)
            if wasAway {
                perform(watcher.notifier.notifyRerouted(at: now), on: watcher, at: now)
            } else {
                perform(watcher.notifier.watcherReturned(at: now), on: watcher, at: now)
            }
        }
    }

    // MARK: own data

    /// The same for what a user's own endpoint is told.
    func notDelivered(_ subscription: HomeDialog, _ failure: Notifier.DeliveryFailure, _ reason: String, at now: Instant) {
        guard home.dialogs[subscription.localTag] === subscription else { return }
        counters.notificationsFailed += 1
        subscription.failureReason = reason
        keep(.dialog(subscription.localTag))
        if isShuttingDown, subscription.notifier.isEnding {
            return perform(subscription.notifier.watcherGone(), on: subscription, at: now)
        }
        let chance = redeliveryChance(of: subscription.dialog, attempt: subscription.notifier.undelivered)
        perform(subscription.notifier.notifyFailed(failure, chance: chance, at: now), on: subscription, at: now)
    }

    // MARK: BENOTIFY

    /// The transport could not send a BENOTIFY.
    func unansweredFailed(_ token: UInt64, _ reason: String, at now: Instant) {
        guard let sent = unanswered.take(token) else { return }
        if let target = sent.target { noteDown(target, reason, .transport, at: now) }
        if let watcher = dialogs[sent.tag] { notDelivered(watcher, .transport, reason, over: sent.connection, at: now) }
        if let subscription = home.dialogs[sent.tag] { notDelivered(subscription, .transport, reason, at: now) }
    }
}

/// The last BENOTIFY of each dialog, by the token that its transport knows it by. No more than there are dialogs.
struct UnansweredNotifications {
    struct Sent {
        /// Ours, of the dialog.
        var tag: String
        var connection: ConnectionID?
        /// The server that was chosen for it; nil: its address was given.
        var target: TransportAddress?
    }

    private var byToken: [UInt64: Sent] = [:]
    private var byTag: [String: UInt64] = [:]
    private var last: UInt64 = 0

    var count: Int { byToken.count }

    /// - Returns: the token to send it with.
    mutating func add(_ sent: Sent) -> UInt64 {
        forget(sent.tag)
        last = (last &+ 1) & (TransactionLayer.unansweredMark - 1)
        let token = TransactionLayer.unansweredMark | last
        byToken[token] = sent
        byTag[sent.tag] = token
        return token
    }

    mutating func take(_ token: UInt64) -> Sent? {
        guard token & TransactionLayer.unansweredMark != 0, let sent = byToken.removeValue(forKey: token) else { return nil }
        byTag[sent.tag] = nil
        return sent
    }

    mutating func forget(_ tag: String) {
        if let token = byTag.removeValue(forKey: tag) { byToken[token] = nil }
    }
}
