import Registration
import FederationRouting
import SIPCore
import SIPEvents

/// Responses to NOTIFY, and redelivery: the newest state is sent after growing pauses until the subscription ends.
///
///     sent --transport failed--> connection known: at once by address; else pause --> sent
///     sent --430, 502, 503, 504--> pause, Retry-After if given --> sent
///     sent --Timer F, 408, 401 and 407 without credentials--> pause --> sent; in a row for `notifyPatience` --> ended
///     connection of a client closed (BENOTIFY, or registered) --> away, for `connectionGrace` or the time of its registration
///         --endpoint back--> sent; else ended
///
/// A dialog keeps only the fact that state is due, no body.
final class NotificationRedelivery: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The notifier, which owns this part.
    private unowned let notifier: SubscriptionsFlow

    init(_ notifier: SubscriptionsFlow) {
        kernel = notifier.kernel
        context = notifier.context
        self.notifier = notifier
    }

    /// Handles the final response to a NOTIFY.
    func receiveAnswer(_ response: SIPResponse, for watcher: WatcherDialog, at now: Instant) {
        guard notifier.dialogs.contains(watcher) else { return }
        watcher.answered(response.status)
        if followRedirect(response, of: watcher, at: now) { return }
        watcher.settled(response.status)
        if !response.status.isSuccess {
            counters.notificationsFailed += 1
            log(.notice, "NOTIFY refused", ["status": String(response.status.rawValue), "call-id": watcher.dialog.id.callID])
        }
        let retryAfter = response.headers.retryAfter.map { Int($0.seconds) }
        // Read before the notifier changes.
        let undelivered = watcher.notifier.undelivered
        let actions = watcher.notifier.receiveAnswer(
            status: response.status.rawValue, retryAfter: retryAfter, chance: redeliveryChance(of: watcher, undelivered), at: now)
        notifier.perform(actions, on: watcher, at: now)
        notifier.settlement.answered(watcher, at: now)
    }

    /// Handles a notification that was not delivered.
    /// - Parameter connection: connection on which it was sent; nil: it was sent by address.
    func notDelivered(
        _ watcher: WatcherDialog, _ failure: Notifier.DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard notifier.dialogs.contains(watcher) else { return }
        counters.notificationsFailed += 1
        watcher.lost(reason)
        log(.notice, "NOTIFY not delivered", ["call-id": watcher.dialog.id.callID, "reason": reason])
        if isShuttingDown, watcher.notifier.isEnding { return notifier.perform(watcher.notifier.watcherGone(), on: watcher, at: now) }
        if failure == .transport, let connection, connection == watcher.flow.connection {
            return connectionLost(connection, of: watcher, isLastLost: true, at: now)
        }
        let chance = redeliveryChance(of: watcher, watcher.notifier.undelivered)
        notifier.perform(watcher.notifier.notifyFailed(failure, chance: chance, at: now), on: watcher, at: now)
    }

    // MARK: connections

    /// Handles the end of a watcher's connection. The subscription outlives it (RFC 5923), and NOTIFYs are sent by address. A hosted client
    /// with BENOTIFY or with a registration is reached over its connection only: it is away until it returns (MS-SIP 3.5).
    /// - Parameter isLastLost: whether the last NOTIFY was lost with the connection.
    func connectionLost(_ connection: ConnectionID, of watcher: WatcherDialog, isLastLost: Bool = false, at now: Instant) {
        guard watcher.flow.connection == connection else { return }
        let isBestEffort = watcher.notifier.configuration.bestEffort
        let isHosted = hop(toward: watcher.watcher) == nil
        guard isLastLost || isBestEffort || isHosted && isRegistered(watcher) else { return }
        notifier.disconnected(watcher)
        let isAway = isHosted && leave(watcher, for: configuration.timing.connectionGrace, at: now)
        if !isAway, !isBestEffort { return notifier.perform(watcher.notifier.notifyRerouted(at: now), on: watcher, at: now) }
        watcher.subscription.forgetNotified()
        notifier.unsettle(watcher)
        // While it is away nothing is sent; but a NOTIFY that was lost is not awaited any more.
        if isAway, isBestEffort || !isLastLost { return notifier.schedule(watcher) }
        let chance = redeliveryChance(of: watcher, watcher.notifier.undelivered)
        notifier.perform(watcher.notifier.notifyFailed(.transport, chance: chance, at: now), on: watcher, at: now)
    }

    /// Notes that a hosted watcher without a connection is away, unless its NOTIFYs are sent to its Contact. An endpoint without a
    /// registration has a time to return; the notifier.dialogs of others end with the registration.
    /// - Returns: whether it is away.
    func leave(_ watcher: WatcherDialog, for grace: TimeSpan, at now: Instant) -> Bool {
        let isRegistered = isRegistered(watcher)
        guard isRegistered || watcher.notifier.configuration.bestEffort else { return false }
        watcher.left(returnsBy: isRegistered ? nil : now + grace)
        return true
    }

    private func isRegistered(_ watcher: WatcherDialog) -> Bool {
        watcher.endpoint.map { notifier.ports.binding(of: watcher.watcherKey, endpoint: $0.endpoint) != nil } ?? false
    }

    /// Spreads redeliveries by a function of dialog and attempt, which leaves the random generator unchanged.
    private func redeliveryChance(of watcher: WatcherDialog, _ undelivered: Int) -> UInt64 {
        let id = watcher.dialog.id
        return tokens.repeatableNumber(for: "redelivery\n\(id.callID)\n\(id.remoteTag)\n\(undelivered)")
    }

    // MARK: registrations

    /// Moves the notifier.dialogs of an endpoint to the connection of its registration, prolongs those that follow it, and sends missed state
    /// (MS-PRES 3.3.5.2).
    func dialogsFollow(_ binding: Binding, at now: Instant) {
        guard let endpoint = binding.endpoint else { return }
        let flow = Flow(binding.source)
        for watcher in notifier.dialogs.of(EndpointKey(watcher: binding.user, endpoint: endpoint)) where watcher.held == nil {
            let wasAway = watcher.isAway
            if wasAway || watcher.flow.connection != flow.connection || watcher.flow.remote != flow.remote {
                notifier.reached(watcher, over: flow)
            }
            if watcher.terms.followsRegistration {
                watcher.notifier.prolong(until: binding.expiry)
                notifier.keep(watcher)
            }
            // Changes were not noted while the endpoint was away, and a BENOTIFY may be lost with its connection.
            let actions = wasAway ? watcher.notifier.notifyRerouted(at: now) : watcher.notifier.watcherReturned(at: now)
            notifier.perform(actions, on: watcher, at: now)
        }
    }

    /// Removes the notifier.dialogs of an endpoint after its registration ended, without a last NOTIFY; polls that wait for their answer stay.
    func dialogsEnd(of endpoint: EndpointKey, at now: Instant) {
        for watcher in notifier.dialogs.of(endpoint) where watcher.held == nil {
            log(.debug, "subscription ended", ["call-id": watcher.dialog.id.callID, "reason": "registration ended"])
            note(
                .ended, watcher: watcher.watcherKey, presentity: watcher.subscription.presentity, callID: watcher.dialog.id.callID,
                rule: "the registration of the watcher's endpoint ended (MS-PRES 3.2.5.5)", at: now)
            notifier.remove(watcher, at: now)
        }
    }

    // MARK: redirections

    /// Sends the newest state to the target of a 3xx; the route set (RFC 3261 12.2.1.2) and the remote target of the dialog are unchanged.
    /// - Returns: false if the redirection is not followed; the response is processed then.
    private func followRedirect(_ response: SIPResponse, of watcher: WatcherDialog, at now: Instant) -> Bool {
        guard response.isRedirection, watcher.delivery.partner != nil, let hop = hop(toward: watcher.watcher),
            watcher.dialog.routeSet.first?.uri.isLooseRoute ?? true
        else { return false }
        let domain = configuration.identities.identity(of: watcher.watcher).uri.domainKey
        let redirect = watcher.delivery.redirect ?? NotifyRedirect(from: watcher.dialog.remoteTarget.requestURI)
        guard
            let (uri, requestRoute) = notifier.ports.redirection(
                of: response, from: redirect.requestURI, visited: &redirect.visited, of: domain, by: hop, beside: watcher.flow)
        else { return false }
        redirect.requestURI = uri.requestURI
        redirect.requestRoute = watcher.dialog.routeSet.isEmpty ? requestRoute : nil
        watcher.follow(redirect)
        notifier.perform(watcher.notifier.notifyRerouted(at: now), on: watcher, at: now)
        return true
    }
}

/// Redirections of one NOTIFY, until its final response.
final class NotifyRedirect {
    /// Request-URIs that redirected it.
    fileprivate(set) var visited: Set<String> = []
    /// Request-URI of the newest redirection.
    fileprivate(set) var requestURI: String
    /// Route to the newest redirection; nil: the dialog's route set applies.
    fileprivate(set) var requestRoute: RequestRoute?

    fileprivate init(from requestURI: String) { self.requestURI = requestURI }
}
