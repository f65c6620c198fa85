import SIPCore
import SIPEvents

/// Dispatch of requests by method, and of responses to the flow of their request.
extension Gateway {
    func perform(_ actions: [TransactionAction], at now: Instant) {
        for action in actions {
            switch action {
            case .send(let outbound):
                output.append(outbound)
            case .deliver(let request, let transaction, let source):
                counters.requestsReceived += 1
                handle(request, transaction, Flow(source), at: now)
            case .deliverUnanswered(let request, let source):
                counters.requestsReceived += 1
                handle(request, nil, Flow(source), at: now)
            case .response(let transaction, let response, let source):
                counters.responsesReceived += 1
                guard response.status.isFinal else {
                    heard(transaction)
                    continue
                }
                guard answered(transaction, response, at: now), let pendingRequest = pendingRequests.removeValue(forKey: transaction) else {
                    continue
                }
                noteAnswer(response.status, to: pendingRequest, at: now)
                if meetChallenge(response, to: pendingRequest, at: now) { continue }
                client(of: pendingRequest.origin.ticket)?.receive(response, to: pendingRequest, from: source, at: now)
            case .timeout(let transaction):
                guard failed(transaction, "no answer", .silence, at: now),
                    let pendingRequest = pendingRequests.removeValue(forKey: transaction)
                else {
                    continue
                }
                notDelivered(pendingRequest, "no answer", .silence, at: now)
            case .transportFailed(let transaction, let reason):
                guard failed(transaction, reason, .transport, at: now),
                    let pendingRequest = pendingRequests.removeValue(forKey: transaction)
                else {
                    continue
                }
                notDelivered(pendingRequest, reason, .transport, at: now)
            case .refused(let error, let source):
                counters.malformedReceived += 1
                log(.notice, "malformed message", ["rule": error.reason, "peer": source.remote.description])
            case .answerRefused(let fault, let source):
                noteRefusedAnswer(fault, from: source, at: now)
            case .dropped(let reason):
                if reason == .strayResponse || reason == .foreignSentBy { counters.responsesStray += 1 }
                log(.debug, "message dropped", ["reason": reason.rawValue])
            }
        }
    }

    private func handle(_ received: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) {
        var request = received
        peers.stripUntrustedHeaders(&request, from: flow, at: now)
        do throws(Refusal) {
            // Authenticate first: clients with a security association discard unsigned responses, including 503.
            try authenticate(request, transaction, flow, at: now)
            try checkLoad(request)
            let handler = try flows.handlers.handler(of: request)
            try screening.check(request)
            try decode(&request)
            try screening.checkVia(request, addresses: ownAddresses.fixed)
            // A BENOTIFY has no response, so its sender would not repeat a refused one.
            if request.method != .options, request.method != .benotify {
                if commitLog.failingUntil != nil { noteUnheard(request, flow, at: now) }
                try checkStore(at: now)
            }
            try handler.receive(request, transaction, flow, at: now)
        } catch {
            refuse(request, transaction, error, at: now)
        }
    }

    func notDelivered(_ pendingRequest: PendingRequest, _ reason: String, _ failure: DeliveryFailure, at now: Instant) {
        let origin = pendingRequest.origin
        noteSilence(of: origin, reason, failure, at: now)
        client(of: origin.ticket)?.notDelivered(origin, failure, reason, over: pendingRequest.connection, at: now)
    }

    // MARK: answers

    func respond(_ response: SIPResponse, _ transaction: ServerTransactionID?, at now: Instant) {
        guard let transaction else { return }
        counters.responsesSent += 1
        var response = response
        response.headers.set(.server, Self.product)
        guard store == nil || !response.status.isSuccess else { return commitLog.staged.append(.answer(response, transaction)) }
        deliver(response, transaction, at: now)
    }

    /// Sends a response, once the changes that it depends on are stored.
    func deliver(_ response: SIPResponse, _ transaction: ServerTransactionID, at now: Instant) {
        var response = response
        sign(&response, of: transaction)
        perform(transactions.respond(transaction, response, at: now), at: now)
    }

    func refuse(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ refusal: Refusal, at now: Instant) {
        log(
            refusal.isRoutine ? .debug : .info, refusal.isRoutine ? "request challenged" : "request refused",
            [
                "method": request.method.rawValue, "status": String(refusal.status.rawValue), "rule": refusal.explanation,
                "call-id": request.headers.callID ?? "",
            ])
        note(refusal, of: request, at: now)
        switch request.method {
        case .subscribe: counters.subscriptionsRefused += 1
        case .publish, .service: counters.publicationsRefused += 1
        default: break
        }
        var response = SIPResponse(to: request, status: refusal.status, toTag: tokens.tag())
        refusal.apply(to: &response, side: screening.side(of: request), node: configuration.nodeName)
        respond(response, transaction, at: now)
    }

    /// Adds a handler of requests.
    func add(_ handler: any RequestHandler) {
        flows.handlers.add(handler)
        transactions.configuration.allow = flows.handlers.allow
    }

    static let product = "Isthmus"
    static let acceptedBodies =
        "\(WatcherFormat.pidfType), \(WatcherFormat.categoriesType), \(WatcherFormat.msrtcType), \(WatcherFormat.batchSubscribeType), "
        + "\(ServiceKind.accepted), \(WatcherFormat.rlmiType), \(WatcherFormat.relatedType)"
}
