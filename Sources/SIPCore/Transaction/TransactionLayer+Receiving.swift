extension TransactionLayer {
    /// Admission check of a request before it becomes a transaction; not called for copies of a known one.
    public typealias AdmissionPolicy = (SIPRequest, MessageSource) -> Admission

    /// Result of the admission check.
    public enum Admission {
        case admitted
        /// Admitted, but the source address may be forged: responses carry only what their status requires.
        case stranger
        /// Send this response and keep no state. Requests without response (BENOTIFY) are dropped.
        case refused(SIPResponse)
        /// Send nothing: the caller presents the message again later.
        case postponed
    }

    /// Decides whether the response to a datagram may come from a host other than the one it was sent to.
    public typealias AnswerJudge = (ClientTransactionID, MessageSource) -> Bool

    /// Handles one framed message.
    public mutating func receive(
        _ inbound: InboundMessage, at now: Instant, asking admissionPolicy: AdmissionPolicy = { _, _ in .admitted },
        believing judge: AnswerJudge = { _, _ in false }
    ) -> [TransactionAction] {
        let source = MessageSource(inbound)
        if let actions = receiveQuickly(inbound, source, at: now, believing: judge) { return actions }
        switch inbound.parsed(limits: configuration.limits) {
        case .success(let message):
            return receive(message, from: source, at: now, asking: admissionPolicy, believing: judge)
        case .failure(var error):
            error.request?.noteReception(from: source, isAddress: configuration.isAnswerAddress)
            guard let response = error.response(toTag: error.request.map { tokens.repeatableTag(for: $0) } ?? "") else {
                return [.refused(error, source)]
            }
            return [.refused(error, source)] + answer(response, source)
        }
    }

    /// Handles one parsed message.
    public mutating func receive(
        _ message: SIPMessage, from source: MessageSource, at now: Instant, asking admissionPolicy: AdmissionPolicy = { _, _ in .admitted },
        believing judge: AnswerJudge = { _, _ in false }
    ) -> [TransactionAction] {
        switch message {
        case .request(let request): return receive(request, from: source, at: now, asking: admissionPolicy)
        case .response(let response): return receive(response, from: source, at: now, believing: judge)
        }
    }

    /// Handles a report of the transport: a failed message or closed connection ends its transactions (RFC 3261 17.1.4), and
    /// responses are accepted only from the carrier of their request.
    public mutating func receive(_ notice: TransportNotice, at now: Instant) -> [TransactionAction] {
        switch notice {
        case .failed(let token, let reason):
            return fail(token, reason)
        case .closed(let connection, _):
            return clients(over: connection).flatMap { fail($0, "connection closed") }
        case .carried(let token, let carrier):
            setCarrier(carrier, of: token)
            return []
        case .late, .answered:
            return []
        }
    }

    private mutating func fail(_ id: UInt64, _ reason: String) -> [TransactionAction] {
        if clients[id] != nil {
            let isPending = clients[id]?.machine.transportFailed() ?? false
            removeClient(id)
            return isPending ? [.transportFailed(ClientTransactionID(rawValue: id), reason: reason)] : []
        }
        if servers[id] != nil {
            servers[id]?.machine.transportFailed()
            settleServer(id)
        }
        return []
    }

    // MARK: Responses

    /// Handles a response of which only success matters; nil if it must be parsed.
    private mutating func receiveQuickly(
        _ inbound: InboundMessage, _ source: MessageSource, at now: Instant, believing judge: AnswerJudge
    ) -> [TransactionAction]? {
        guard inbound.bytes.count <= configuration.limits.headerBytes else { return nil }
        let found: (id: UInt64, client: Client, status: Int)? = inbound.bytes.withUnsafeBufferPointer { bytes in
            guard let answer = QuickAnswer(bytes), let id = Branch.id(bytes, answer.branch), let client = clients[id], client.isBrief,
                answer.fits(client, bytes)
            else { return nil }
            return (id, client, answer.status)
        }
        guard let found else { return nil }
        let response = SIPResponse(SIPStatus(rawValue: found.status), reason: "")
        return take(response, for: found.id, found.client, source, at: now, believing: judge)
    }

    private mutating func receive(
        _ response: SIPResponse, from source: MessageSource, at now: Instant, believing judge: AnswerJudge
    ) -> [TransactionAction] {
        let headers = response.headers
        guard let via = headers.topVia, let branch = via.branch, let cSeq = headers.cSeq, let id = client(ofBranch: branch),
            let client = clients[id], client.isBranch(branch), client.text(client.places.method) == cSeq.method.rawValue
        else { return [.dropped(.strayResponse)] }
        // A second Via addresses a client behind this node, which is not a proxy.
        guard via.sentBy == client.text(client.places.sentBy), headers.vias.count == 1 else { return [.dropped(.foreignSentBy)] }
        guard cSeq.number == client.number, headers.callID == client.text(client.places.callID),
            headers.fromTag == NameAddr(client.text(client.places.from))?.tag
        else {
            return [.answerRefused(.identifiers, source)]
        }
        return take(response, for: id, client, source, at: now, believing: judge)
    }

    /// Delivers a response with matching fields, if its origin matches too.
    private mutating func take(
        _ response: SIPResponse, for id: UInt64, _ client: Client, _ source: MessageSource, at now: Instant, believing judge: AnswerJudge
    ) -> [TransactionAction] {
        switch client.carrier {
        case .connection(let connection)?:
            guard source.connection == connection else { return [.answerRefused(.origin, source)] }
        case .datagram(let host)?:
            guard source.remote.transport == .udp else { return [.answerRefused(.origin, source)] }
            if source.remote.host != host {
                // The user has its response and can no longer decide.
                if client.machine.state == .completed { return [.dropped(.copy)] }
                guard judge(ClientTransactionID(rawValue: id), source) else { return [.answerRefused(.origin, source)] }
            }
        case nil:
            return [.answerRefused(.origin, source)]
        }
        var machine = client.machine
        guard machine.receive(response.status, at: now) == .deliver else { return [.dropped(.copy)] }
        if machine.state == .terminated {
            remove(client, id)
        } else {
            clients[id]?.machine = machine
            deadlines.set(id, at: machine.nextDeadline)
        }
        return [.response(ClientTransactionID(rawValue: id), response, source)]
    }

    // MARK: Requests

    private mutating func receive(
        _ received: SIPRequest, from source: MessageSource, at now: Instant, asking admissionPolicy: AdmissionPolicy
    ) -> [TransactionAction] {
        guard let via = received.headers.topVia else { return [.dropped(.strayResponse)] }
        var request = received
        let destination = request.noteReception(via, from: source, isAddress: configuration.isAnswerAddress).responseDestination(
            from: source)
        if request.method == .benotify {
            switch admissionPolicy(request, source) {
            case .admitted, .stranger: return [.deliverUnanswered(request, source)]
            case .refused: return [.dropped(.refused)]
            case .postponed: return [.dropped(.postponed)]
            }
        }
        // An INVITE is refused without a transaction, so that its ACK ends nothing.
        if request.method == .ack { return [.dropped(.ack)] }
        let key = ServerTransactionKey(received, via)
        if let id = serverKeys[key] { return receiveCopy(id) }
        let isStranger: Bool
        switch admissionPolicy(request, source) {
        case .admitted: isStranger = false
        case .stranger: isStranger = true
        case .refused(let refusal): return answer(refusal, to: request, source, now)
        case .postponed: return [.dropped(.postponed)]
        }
        if request.method == .cancel { return receiveCancel(request, key, source, now) }
        if request.method == .invite { return refuseInvite(request, source, now) }
        let share = (configuration.serverLimit + 1) / 2
        guard serverCount < configuration.serverLimit, hostServers[source.remote.host, default: 0] < share else {
            turnedAway += 1
            var response = refusal(of: request, .serviceUnavailable)
            response.headers.retryAfter = RetryAfter(seconds: configuration.retryAfter)
            return answer(response, to: request, source, now)
        }
        let merged = MergedRequestKey(request)
        if let merged, mergedKeys[merged] != nil {
            return answer(refusal(of: request, .loopDetected), to: request, source, now)
        }
        let id = nextID()
        let machine = ServerNonInviteTransaction(isReliable: source.remote.transport.isReliable, timers: configuration.timers, at: now)
        servers[id] = Server(
            machine: machine, key: key, merged: merged, source: source, destination: destination, last: nil, isStranger: isStranger)
        hostServers[source.remote.host, default: 0] += 1
        serverKeys[key] = id
        if let merged { mergedKeys[merged] = id }
        deadlines.set(id, at: machine.nextDeadline)
        return [.deliver(request, ServerTransactionID(rawValue: id), source)]
    }

    private func receiveCopy(_ id: UInt64) -> [TransactionAction] {
        if let server = servers[id], server.machine.receiveCopy() == .resend, let last = server.last { return [.send(last)] }
        return [.dropped(.copy)]
    }

    /// CANCEL has no effect on a non-INVITE transaction, but is answered (RFC 3261 9.2).
    private func receiveCancel(
        _ request: SIPRequest, _ key: ServerTransactionKey, _ source: MessageSource, _ now: Instant
    ) -> [TransactionAction] {
        var target = key
        let isKnown = Self.cancellable.contains { method in
            target.method = method
            return serverKeys[target] != nil
        }
        return answer(refusal(of: request, isKnown ? .ok : .callOrTransactionDoesNotExist), to: request, source, now)
    }

    private static let cancellable: [SIPMethod] = [.subscribe, .notify, .publish, .service, .options, .message, .register]

    /// Refuses INVITE, because presence has no calls. One stateless response per copy (RFC 3261 8.2.7): a transaction would last 32
    /// s and send its response up to eleven times to an address that may be forged.
    private func refuseInvite(_ request: SIPRequest, _ source: MessageSource, _ now: Instant) -> [TransactionAction] {
        let isHome = request.headers.toTag == nil && configuration.homeDomains.contains(request.uri.domainKey)
        var response = refusal(of: request, isHome ? .temporarilyUnavailable : .methodNotAllowed)
        if !isHome { response.headers[.allow] = configuration.allow }
        if !configuration.node.isEmpty, source.remote.transport.isReliable {
            response.headers.append(.warning, Warning(code: 399, agent: configuration.node, text: Self.presenceOnly).description)
            response.headers.msDiagnostics = MSDiagnostics(
                UInt32(1_000 + response.status.rawValue), reason: Self.presenceOnly, source: configuration.node)
        }
        return answer(response, to: request, source, now)
    }

    /// Explanation of refused messages and calls.
    public static let presenceOnly = "this node carries presence only, no messages and calls"

    // MARK: Responses of the layer

    private func refusal(of request: SIPRequest, _ status: SIPStatus) -> SIPResponse {
        SIPResponse(to: request, status: status, toTag: tokens.repeatableTag(for: request))
    }

    /// Sends a response without keeping a transaction for it.
    private func answer(_ response: SIPResponse, to request: SIPRequest, _ source: MessageSource, _ now: Instant) -> [TransactionAction] {
        var response = response
        configuration.finish?(request, &response, now)
        return answer(response, source)
    }

    /// Same, for a request that could not be parsed.
    private func answer(_ response: SIPResponse, _ source: MessageSource) -> [TransactionAction] {
        var response = response
        // The source address of a datagram may be forged: keep the response small.
        if !configuration.server.isEmpty, source.remote.transport.isReliable { response.headers[.server] = configuration.server }
        guard let destination = response.destination(from: source) else { return [] }
        return [.send(OutboundMessage(bytes: response.serialized(), destination: destination))]
    }
}
