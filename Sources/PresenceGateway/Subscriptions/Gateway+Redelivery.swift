import Registration
import SIPCore
import SIPEvents

/// Redelivery of NOTIFYs and BENOTIFYs: the newest state is sent after growing pauses until the subscription ends.
///
///     sent --transport failed--> connection known: at once by address; else pause --> sent
///     sent --430, 502, 503, 504--> pause, Retry-After if given --> sent
///     sent --Timer F, 408, 401 and 407 without credentials--> pause --> sent; in a row for `notifyPatience` --> ended
///     connection of a client closed (BENOTIFY) --> away for `connectionGrace` --endpoint back--> sent; else ended
///
/// A dialog keeps only the fact that state is due, no body.
extension Gateway {
    /// Handles a notification that was not delivered.
    /// - Parameter connection: connection on which it was sent; nil: it was sent by address.
    func notDelivered(
        _ watcher: WatcherDialog, _ failure: Notifier.DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard dialogs[watcher.localTag] === watcher else { return }
        counters.notificationsFailed += 1
        watcher.lastNotification.lost()
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

    /// Handles the end of a watcher's connection. The subscription outlives it (RFC 5923), and NOTIFYs are sent by address. With BENOTIFY
    /// a hosted client has ``GatewayTiming/connectionGrace`` to return, because it is reached over its connection only.
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

    /// Spreads redeliveries by a function of dialog and attempt, which leaves the random generator unchanged.
    func redeliveryChance(of dialog: Dialog, attempt: Int) -> UInt64 {
        tokens.repeatableNumber(for: "redelivery\n\(dialog.id.callID)\n\(dialog.id.remoteTag)\n\(attempt)")
    }

    /// Moves the subscriptions of an endpoint to the connection of its new registration, and sends missed state.
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

    // MARK: own data of users

    /// Handles an undelivered notification of a user's own data.
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
}
