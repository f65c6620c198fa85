import SIPCore

/// Outcomes of transactions, and responses.
extension GatewayKernel {
    func perform(_ actions: [TransactionAction], at now: Instant) {
        for action in actions {
            switch action {
            case .send(let outbound):
                output.append(outbound)
            case .deliver(let request, let transaction, let source):
                counters.requestsReceived += 1
                host.receive(request, transaction, Flow(source), at: now)
            case .deliverUnanswered(let request, let source):
                counters.requestsReceived += 1
                host.receive(request, nil, Flow(source), at: now)
            case .response(let transaction, let response, let source):
                counters.responsesReceived += 1
                guard response.status.isFinal else {
                    delivery.heard(transaction)
                    continue
                }
                guard delivery.answered(transaction, response, at: now),
                    let pendingRequest = delivery.pendingRequests.removeValue(forKey: transaction)
                else {
                    continue
                }
                if pendingRequest.origin.partner != nil { counters.durations.partnerResponses.note(now - pendingRequest.sentAt) }
                host.noteAnswer(response.status, to: pendingRequest, at: now)
                if host.meetChallenge(response, to: pendingRequest, at: now) { continue }
                client(of: pendingRequest.origin.ticket)?.receive(response, to: pendingRequest, from: source, at: now)
            case .timeout(let transaction):
                guard delivery.failed(transaction, "no answer", .silence, at: now),
                    let pendingRequest = delivery.pendingRequests.removeValue(forKey: transaction)
                else {
                    continue
                }
                notDelivered(pendingRequest, "no answer", .silence, at: now)
            case .transportFailed(let transaction, let reason):
                guard delivery.failed(transaction, reason, .transport, at: now),
                    let pendingRequest = delivery.pendingRequests.removeValue(forKey: transaction)
                else {
                    continue
                }
                notDelivered(pendingRequest, reason, .transport, at: now)
            case .refused(let error, let source):
                counters.malformedReceived += 1
                log(.notice, "malformed message", ["rule": error.reason, "peer": source.remote.description])
            case .answerRefused(let fault, let source):
                host.noteRefusedAnswer(fault, from: source, at: now)
            case .dropped(let reason):
                if reason == .strayResponse || reason == .foreignSentBy { counters.responsesStray += 1 }
                log(.debug, "message dropped", ["reason": reason.rawValue])
            }
        }
    }

    func notDelivered(_ pendingRequest: PendingRequest, _ reason: String, _ failure: DeliveryFailure, at now: Instant) {
        let origin = pendingRequest.origin
        host.noteSilence(of: origin, reason, failure, at: now)
        client(of: origin.ticket)?.notDelivered(origin, failure, reason, over: pendingRequest.connection, at: now)
    }

    // MARK: answers

    /// Answers a request; a 2xx waits for the changes that it depends on.
    /// - Parameter scope: partitions on which it depends; nil: those of its parties and its dialog.
    func respond(_ response: SIPResponse, _ transaction: ServerTransactionID?, in scope: CommitScope? = nil, at now: Instant) {
        guard let transaction else { return }
        counters.responsesSent += 1
        var response = response
        response.headers.set(.server, Self.product)
        guard commitLog.store != nil, response.status.isSuccess else { return deliver(response, transaction, at: now) }
        commitLog.add(WaitingMessage(content: .answer(response, transaction), scope: scope))
    }

    /// Sends a response, once the changes that it depends on are stored.
    func deliver(_ response: SIPResponse, _ transaction: ServerTransactionID, at now: Instant) {
        var response = response
        host.sign(&response, of: transaction)
        perform(transactions.respond(transaction, response, at: now), at: now)
    }
}

extension TransactionLayer.Configuration {
    /// Applies the settings that may change while transactions are live.
    mutating func take(_ configuration: GatewayConfiguration) {
        serverLimit = configuration.limits.transactions
        clientLimit = configuration.limits.transactions
        retryAfter = UInt32(clamping: configuration.timing.retryAfter)
        homeDomains = configuration.hostedDomains
        node = configuration.nodeName
    }
}
