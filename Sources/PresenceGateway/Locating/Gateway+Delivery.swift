import FederationRouting
import SIPCore
import SIPEvents

/// From server to server until one takes the request (RFC 3263 4.3).
///
///     start --> try --answered, not 503--> to whoever waits for the answer
///                |--503, connect failed, connection lost, silent--> the next one, while there is one and there is time
///                \--none left--> whoever waits hears of the last failure
extension Gateway {
    func start(_ delivery: Delivery, _ plan: HopPlan, at now: Instant) {
        let limit = configuration.naming?.targetsPerRequest ?? 1
        let reachable = plan.targets(using: &hops.random).filter { isReachable($0) }
        let targets = hops.health.order(reachable.isEmpty ? plan.servers.flatMap(\.addresses) : reachable, at: now)
        delivery.targets = targets.prefix(max(limit, 1))
        delivery.end = now + transactions.configuration.timers.timeout
        goOn(delivery, at: now)
    }

    /// A datagram needs a listener of its kind.
    private func isReachable(_ target: TransportAddress) -> Bool {
        guard target.transport == .udp else { return true }
        return configuration.listeners.contains { Self.sends(from: $0, to: target) }
    }

    /// Tries the next target.
    private func goOn(_ delivery: Delivery, at now: Instant) {
        guard let target = delivery.targets.popFirst() else { return }
        delivery.target = target
        let destination = Destination.address(target, from: listener(for: target, flow: nil))
        var request = delivery.request
        let own = ownAddresses.address(target.transport, toward: target)
        // The Contact was written before the transport and the address were known.
        let expected = contact(NextHop.located(delivery.goal).transport)
        if let written = request.headers.first(.contact), written.hasPrefix(expected) {
            request.headers.set(.contact, Self.contact(target.transport, own) + written.dropFirst(expected.count))
        }
        switch delivery.purpose {
        case .unanswered(let tag):
            emit(request, to: destination, over: target.transport, own: own, tag: tag, target: target, at: now)
        case .answered(let purpose):
            hops.health.began(target, at: now)
            begin(request, to: destination, over: target.transport, own: own, for: purpose, as: delivery, at: now)
        }
    }

    /// How long a try may wait for its connection: where there is another server, not as long as a server that accepts TCP and is silent
    /// in the TLS handshake would make it wait.
    func connectPatience(of delivery: Delivery?) -> TimeSpan? {
        guard let delivery, !delivery.targets.isEmpty, delivery.target?.transport != .udp else { return nil }
        return configuration.naming?.connectPatience
    }

    /// One try has its transaction.
    func follow(_ delivery: Delivery, _ transaction: ClientTransactionID, at now: Instant) {
        hops.deliveries[transaction] = delivery
        // Each target that is left has its share of the time.
        wakes.set(.delivery(transaction), at: now + (delivery.end - now) / (delivery.targets.count + 1))
    }

    /// A response that is not final: the server lives, and has the rest of the time.
    func heard(_ transaction: ClientTransactionID) {
        guard let delivery = hops.deliveries[transaction] else { return }
        wakes.set(.delivery(transaction), at: delivery.end)
    }

    /// A final response.
    /// - Returns: whether it is to be handed on; else the request has gone to another server.
    func answered(_ transaction: ClientTransactionID, _ response: SIPResponse, at now: Instant) -> Bool {
        guard let delivery = takeDelivery(transaction), let target = delivery.target else { return true }
        guard response.status == .serviceUnavailable else {
            if hops.health.succeeded(target) { log(.notice, "next hop is up again", ["target": target.description]) }
            return true
        }
        noteUnavailable(target, response, at: now)
        return !moveOn(delivery, from: transaction, at: now)
    }

    /// No answer, or no connection.
    /// - Returns: whether it is to be handed on; else the request has gone to another server.
    func failed(
        _ transaction: ClientTransactionID, _ reason: String, _ failure: Notifier.DeliveryFailure, at now: Instant
    ) -> Bool {
        guard let delivery = takeDelivery(transaction), let target = delivery.target else { return true }
        // Our own table is full: that says nothing of the server.
        guard reason != TransactionLayer.limitReason else { return true }
        noteDown(target, reason, failure, at: now)
        return !moveOn(delivery, from: transaction, at: now)
    }

    /// A server had its share of the time.
    func patienceEnds(_ transaction: ClientTransactionID, at now: Instant) {
        guard let delivery = takeDelivery(transaction), let target = delivery.target else { return }
        let failure: Notifier.DeliveryFailure = transactions.hasLeft(transaction) ? .silence : .transport
        let reason = failure == .silence ? "no answer" : "no connection"
        noteDown(target, reason, failure, at: now)
        transactions.forget(transaction)
        if moveOn(delivery, from: transaction, at: now) { return }
        guard let awaited = awaiting.removeValue(forKey: transaction) else { return }
        noteSilence(of: awaited.purpose, reason, failure, at: now)
        handleSilence(of: awaited, reason, failure, at: now)
    }

    private func takeDelivery(_ transaction: ClientTransactionID) -> Delivery? {
        guard !hops.deliveries.isEmpty, let delivery = hops.deliveries.removeValue(forKey: transaction) else { return nil }
        wakes.set(.delivery(transaction), at: nil)
        return delivery
    }

    /// A server could not be reached, or had no answer to one request: others are tried first from now on, and the subscriptions that it
    /// accepted are verified.
    func noteDown(_ target: TransportAddress, _ reason: String, _ failure: Notifier.DeliveryFailure, at now: Instant) {
        if notePassedOver(target, reason, at: now) { serverFailed(target, failure, at: now) }
    }

    /// A server answered 503: others are tried first until it may be asked again (RFC 3261 21.5.4). The subscriptions that it accepted stay.
    func noteUnavailable(_ target: TransportAddress, _ response: SIPResponse, at now: Instant) {
        _ = notePassedOver(target, "503", retryAfter: response.headers.retryAfter.map { Int($0.seconds) }, at: now)
    }

    /// - Returns: whether it was up before.
    func notePassedOver(_ target: TransportAddress, _ reason: String, retryAfter: Int? = nil, at now: Instant) -> Bool {
        guard hops.noteDown(target, reason, retryAfter: retryAfter, at: now) else { return false }
        log(.notice, "next hop is down", ["target": target.description, "reason": reason])
        return true
    }

    /// - Returns: whether there was another target, and time for it.
    private func moveOn(_ delivery: Delivery, from transaction: ClientTransactionID, at now: Instant) -> Bool {
        guard !delivery.targets.isEmpty, now < delivery.end else { return false }
        awaiting[transaction] = nil
        counters.hopFailovers += 1
        goOn(delivery, at: now)
        return true
    }
}
