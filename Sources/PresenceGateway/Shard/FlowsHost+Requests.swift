import SIPCore
import SIPEvents

/// Dispatch of requests by method.
extension FlowsHost {
    /// Serves a received request, or refuses it.
    func receive(_ received: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) {
        var request = received
        flows.border.stripUntrustedHeaders(&request, from: flow, at: now)
        do throws(Refusal) {
            // Authenticate first: clients with a security association discard unsigned responses, including 503.
            try flows.border.authenticate(request, transaction, flow, at: now)
            try checkLoad(request)
            let handler = try flows.handlers.handler(of: request)
            try screening.check(request)
            try decode(&request)
            try screening.checkVia(request, addresses: ownAddresses.fixed)
            // A BENOTIFY has no response, so its sender would not repeat a refused one.
            if request.method != .options, request.method != .benotify {
                if !commitLog.isWorking { flows.upstream.verifier.noteUnheard(request, flow, at: now) }
                try kernel.checkStore(changesNothing: isHostedPoll(request), at: now)
            }
            try handler.receive(request, transaction, flow, at: now)
        } catch {
            refuse(request, transaction, error, at: now)
        }
    }

    /// Whether a request is a poll of one presentity of this node.
    private func isHostedPoll(_ request: SIPRequest) -> Bool {
        guard request.method == .subscribe, request.headers.toTag == nil, request.headers.expires == 0, request.body.isEmpty,
            let to = request.headers.to?.uri
        else { return false }
        return configuration.domain(to.domainKey)?.hosted == true
    }
}

extension ShardContext {
    /// Body types that requests may have, as the value of Accept.
    static let acceptedBodies =
        "\(WatcherFormat.pidfType), \(WatcherFormat.pidfDiffType), \(WatcherFormat.categoriesType), \(WatcherFormat.msrtcType), \(WatcherFormat.batchSubscribeType), "
        + "\(WatcherFormat.filterType), "
        + "\(ServiceKind.accepted), \(WatcherFormat.rlmiType), \(WatcherFormat.relatedType)"
}
