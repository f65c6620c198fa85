import FederationRouting
import SIPCore

/// Failover between the servers of a hop until one accepts the request (RFC 3263 4.3).
///
///     start --> try --answered, not 503--> response to the sender
///                |--503, connect failed, connection lost, silent--> the next one, if one is left and time remains
///                \--none left--> the last failure to the sender
extension RequestDelivery {
    func start(_ delivery: Delivery, _ plan: HopPlan, at now: Instant) {
        let limit = kernel.configuration.naming?.targetsPerRequest ?? 1
        let reachable = plan.targets(using: &hops.random).filter { addresses.reaches($0) }
        let targets = hops.health.order(reachable.isEmpty ? plan.servers.flatMap(\.addresses) : reachable, at: now)
        delivery.begin(targets.prefix(max(limit, 1)), until: now + kernel.transactions.configuration.timers.timeout)
        resume(delivery, at: now)
    }

    /// Tries the next target.
    private func resume(_ delivery: Delivery, at now: Instant) {
        guard let target = delivery.nextTarget() else { return }
        let destination = Destination.address(target, from: addresses.listener(for: target, flow: nil))
        var request = delivery.request
        let own = addresses.address(target.transport, toward: target)
        // The Contact was written before the transport and the address were known.
        let expected = addresses.contact(NextHop.located(delivery.hopTarget).transport)
        if let written = request.headers.first(.contact), written.hasPrefix(expected) {
            request.headers.set(.contact, OwnAddresses.contact(target.transport, own) + written.dropFirst(expected.count))
        }
        guard delivery.isAnswered else {
            return emit(request, to: destination, over: target.transport, own: own, for: delivery.origin, target: target, at: now)
        }
        hops.health.began(target, at: now)
        begin(request, to: destination, over: target.transport, own: own, for: delivery.origin, as: delivery, at: now)
    }

    /// Longest wait for a connection while another server is left; a server that accepts TCP but not TLS would otherwise use up its share.
    func connectPatience(of delivery: Delivery?) -> TimeSpan? {
        guard let delivery, !delivery.targets.isEmpty, delivery.target?.transport != .udp else { return nil }
        return kernel.configuration.naming?.connectPatience
    }

    /// Starts the time share of an attempt.
    func follow(_ delivery: Delivery, _ transaction: ClientTransactionID, at now: Instant) {
        hops.deliveries[transaction] = delivery
        // Each remaining target gets an equal share.
        kernel.timers.set(KernelTimer.delivery(transaction), at: now + (delivery.end - now) / (delivery.targets.count + 1))
    }

    /// Gives a server the remaining time after a provisional response.
    func heard(_ transaction: ClientTransactionID) {
        guard let delivery = hops.deliveries[transaction] else { return }
        kernel.timers.set(KernelTimer.delivery(transaction), at: delivery.end)
    }

    /// Handles a final response.
    /// - Returns: true if the sender gets it; false if the request was sent to another server.
    func answered(_ transaction: ClientTransactionID, _ response: SIPResponse, at now: Instant) -> Bool {
        guard let delivery = takeDelivery(transaction), let target = delivery.target else { return true }
        guard response.status == .serviceUnavailable else {
            if hops.health.succeeded(target) { kernel.log(.notice, "next hop is up again", ["target": target.description]) }
            return true
        }
        noteUnavailable(target, response, at: now)
        return !moveOn(delivery, from: transaction, at: now)
    }

    /// Handles an attempt without a response or connection.
    /// - Returns: true if the sender gets the failure; false if the request was sent to another server.
    func failed(
        _ transaction: ClientTransactionID, _ reason: String, _ failure: DeliveryFailure, at now: Instant
    ) -> Bool {
        guard let delivery = takeDelivery(transaction), let target = delivery.target else { return true }
        // A full transaction table of the gateway is no fault of the server.
        guard reason != TransactionLayer.limitReason else { return true }
        noteDown(target, reason, failure, at: now)
        return !moveOn(delivery, from: transaction, at: now)
    }

    /// Ends the time share of a server.
    func patienceEnds(_ transaction: ClientTransactionID, at now: Instant) {
        guard let delivery = takeDelivery(transaction), let target = delivery.target else { return }
        let failure: DeliveryFailure = kernel.transactions.hasLeft(transaction) ? .silence : .transport
        let reason = failure == .silence ? "no answer" : "no connection"
        noteDown(target, reason, failure, at: now)
        kernel.transactions.forget(transaction)
        if moveOn(delivery, from: transaction, at: now) { return }
        guard let pendingRequest = pendingRequests.removeValue(forKey: transaction) else { return }
        kernel.notDelivered(pendingRequest, reason, failure, at: now)
    }

    private func takeDelivery(_ transaction: ClientTransactionID) -> Delivery? {
        guard !hops.deliveries.isEmpty, let delivery = hops.deliveries.removeValue(forKey: transaction) else { return nil }
        kernel.timers.set(KernelTimer.delivery(transaction), at: nil)
        return delivery
    }

    /// Prefers other servers to one that was not reached or did not answer, and verifies the subscriptions that it accepted.
    func noteDown(_ target: TransportAddress, _ reason: String, _ failure: DeliveryFailure, at now: Instant) {
        guard notePassedOver(target, reason, at: now) else { return }
        for client in kernel.clients { client.serverFailed(target, failure, at: now) }
    }

    /// Prefers other servers until one that answered 503 may be asked again (RFC 3261 21.5.4). Its subscriptions are not verified.
    func noteUnavailable(_ target: TransportAddress, _ response: SIPResponse, at now: Instant) {
        _ = notePassedOver(target, "503", retryAfter: response.headers.retryAfter.map { Int($0.seconds) }, at: now)
    }

    /// - Returns: whether the server was up before.
    func notePassedOver(_ target: TransportAddress, _ reason: String, retryAfter: Int? = nil, at now: Instant) -> Bool {
        guard hops.noteDown(target, reason, retryAfter: retryAfter, at: now) else { return false }
        kernel.log(.notice, "next hop is down", ["target": target.description, "reason": reason])
        return true
    }

    /// Whether the record of a request still needs it.
    private func isLatest(_ delivery: Delivery) -> Bool {
        guard delivery.isAnswered, delivery.request.headers.cSeq != nil else { return true }
        return kernel.client(of: delivery.origin.ticket)?.isLatest(delivery.request, of: delivery.origin) ?? false
    }

    /// - Returns: whether another target is left and time remains.
    private func moveOn(_ delivery: Delivery, from transaction: ClientTransactionID, at now: Instant) -> Bool {
        guard !delivery.targets.isEmpty, now < delivery.end, isLatest(delivery) else { return false }
        pendingRequests[transaction] = nil
        kernel.counters.hopFailovers += 1
        resume(delivery, at: now)
        return true
    }
}
