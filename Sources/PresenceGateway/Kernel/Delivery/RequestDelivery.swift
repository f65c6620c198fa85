import FederationRouting
import SIPCore

/// Sends requests: chooses a server of the next hop, starts the transaction, and keeps the request until its response.
///
/// It is a part of the kernel, which owns it.
final class RequestDelivery {
    /// The owner, which outlives it.
    private(set) unowned var kernel: GatewayKernel!
    let addresses: OwnAddresses
    /// Locations and availability of next hops.
    var hops: NextHopResolver
    /// Requests that wait for their responses.
    var pendingRequests: [ClientTransactionID: PendingRequest] = [:]
    /// BENOTIFYs that the transport may report as not sent.
    var unanswered = UnansweredNotifications()

    init(addresses: OwnAddresses, hops: NextHopResolver) {
        self.addresses = addresses
        self.hops = hops
    }

    /// Connects it with its owner; call it before the first request.
    func connect(_ kernel: GatewayKernel) { self.kernel = kernel }

    /// Sends a request in a transaction, once the changes that it depends on are stored.
    /// - Parameter scope: partitions on which it depends; nil: those of its parties and its dialog.
    func send(
        _ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, in scope: CommitScope? = nil, at now: Instant
    ) {
        var request = request
        request.headers.set(.userAgent, GatewayKernel.product)
        guard kernel.commitLog.store != nil else { return begin(request, by: requestRoute, for: origin, at: now) }
        kernel.commitLog.add(WaitingMessage(content: .request(request, requestRoute, origin), scope: scope))
    }

    /// Sends a request, once the changes that it depends on are stored.
    func begin(_ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, at now: Instant) {
        kernel.counters.requestsSent += 1
        if request.method == .notify { kernel.counters.notificationsSent += 1 }
        kernel.host.noteSent(for: origin)
        switch requestRoute {
        case .direct(let destination, let transport, let own):
            begin(request, to: destination, over: transport, own: own, for: origin, at: now)
        case .located(let hopTarget): deliver(request, to: hopTarget, for: origin, isAnswered: true, at: now)
        }
    }

    /// Starts the transaction.
    /// - Parameters:
    ///   - own: this node's address in Via.
    ///   - delivery: the delivery that this is one attempt of.
    func begin(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
        for origin: RequestOrigin, as delivery: Delivery? = nil, at now: Instant
    ) {
        var request = request
        let repeatable = kernel.host.authorize(&request, to: destination, over: transport, own: own, for: origin)
        kernel.host.sign(&request, to: destination, at: now)
        let (transaction, message) = kernel.transactions.begin(
            request, to: destination, over: transport, sentBy: own, isBrief: origin.isBrief, connectPatience: connectPatience(of: delivery),
            at: now)
        kernel.counters.limitsReached += kernel.transactions.takeTurnedAway()
        pendingRequests[transaction] = PendingRequest(
            origin: origin, method: request.method, sentAt: now, connection: destination.connection, repeatable: repeatable)
        if let delivery { follow(delivery, transaction, at: now) }
        if let message {
            kernel.output.append(message)
        } else {
            kernel.perform([.transportFailed(transaction, reason: TransactionLayer.limitReason)], at: now)
        }
    }

    /// Sends a BENOTIFY, which has no transaction and no response (MS-SIP 3.5), once the changes that it depends on are stored.
    /// - Parameter scope: partitions on which it depends.
    func sendWithoutAnswer(
        _ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, in scope: CommitScope?, at now: Instant
    ) {
        var request = request
        request.headers.set(.userAgent, GatewayKernel.product)
        guard kernel.commitLog.store != nil else { return emit(request, by: requestRoute, for: origin, at: now) }
        kernel.commitLog.add(WaitingMessage(content: .unanswered(request, requestRoute, origin), scope: scope))
    }

    /// Sends the BENOTIFY, once the changes that it depends on are stored.
    func emit(_ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, at now: Instant) {
        kernel.counters.requestsSent += 1
        kernel.counters.notificationsSent += 1
        if exists(origin) { kernel.host.noteSent(for: origin) }
        switch requestRoute {
        case .direct(let destination, let transport, let own):
            emit(request, to: destination, over: transport, own: own, for: origin, at: now)
        case .located(let hopTarget): deliver(request, to: hopTarget, for: origin, isAnswered: false, at: now)
        }
    }

    /// - Parameter target: the server that was chosen among several.
    func emit(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
        for origin: RequestOrigin, target: TransportAddress? = nil, at now: Instant
    ) {
        var request = request
        kernel.host.sign(&request, to: destination, at: now)
        var token: UInt64 = 0
        // The last BENOTIFY of an ended dialog is not repeated.
        if exists(origin) {
            token = unanswered.add(.init(origin: origin, connection: destination.connection, target: target))
        }
        kernel.perform(kernel.transactions.sendUnanswered(request, to: destination, over: transport, sentBy: own, token: token), at: now)
    }

    /// Whether the record of a request is still there.
    private func exists(_ origin: RequestOrigin) -> Bool { kernel.client(of: origin.ticket)?.exists(origin.ticket) ?? false }

    /// The transport could not send a BENOTIFY.
    func unansweredFailed(_ token: UInt64, _ reason: String, at now: Instant) {
        guard let sent = unanswered.take(token) else { return }
        if let target = sent.target { noteDown(target, reason, .transport, at: now) }
        kernel.client(of: sent.origin.ticket)?.notDelivered(sent.origin, .transport, reason, over: sent.connection, at: now)
    }
}
