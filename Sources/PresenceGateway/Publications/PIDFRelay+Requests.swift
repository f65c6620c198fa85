import FederationRouting
import SIPCore
import SIPEvents

/// PUBLISH toward the compositor of a simple domain (RFC 3903 4).
extension PIDFRelay {
    func perform(_ actions: [PIDFBridge.Action], on bridge: PIDFBridge, at now: Instant) {
        for action in actions {
            switch action {
            case .publish(let tag, let body, let expires, let attempt):
                publish(bridge, ifMatch: tag, body, expires: expires, attempt: attempt, at: now)
            case .accept(let response, let transaction):
                counters.publicationsAccepted += 1
                respond(response, transaction, at: now)
                whenKept(at: now) { [unowned self] _ in
                    bridge.changeStored()
                    settle(bridge)
                }
            case .answer(let response, let transaction):
                counters.publicationsAccepted += 1
                respond(response, transaction, at: now)
            case .refuse(let request, let transaction, let cause):
                ports.refuse(request, transaction, refusal(cause), at: now)
            case .published:
                counters.publicationsRelayed += 1
            case .postponed(let until):
                log(.info, "publication waits for the far side", ["retry-in": String((until - now).seconds)])
            case .refused(let status):
                counters.publicationsRefusedUpstream += 1
                log(.notice, "far side refused PUBLISH", ["call-id": bridge.dialogContext.callID, "status": String(status)])
            case .keep:
                keep(.bridge(bridge.key))
            }
        }
    }

    private func refusal(_ cause: PIDFBridge.RefusalCause) -> Refusal {
        switch cause {
        case .compositor(let status): Refusal(remotePublication: status)
        case .notStored: .unavailable("this node cannot keep any change now", retryAfter: configuration.timing.retryAfter)
        }
    }

    private func publish(
        _ bridge: PIDFBridge, ifMatch tag: EntityTag?, _ body: [UInt8]?, expires: Int, attempt: UInt64, at now: Instant
    ) {
        guard let hop = publishingHop(of: bridge.uri) else { return }
        var request = SIPRequest(.publish, uri: bridge.uri)
        address(&request, of: bridge.uri, bridge.beginRequest())
        request.headers.set(.event, EventToken.presence)
        request.headers.set(.expires, String(expires))
        if let tag { request.headers.set(.sipIfMatch, tag.value) }
        if let body {
            request.headers.set(.contentType, WatcherFormat.pidfType)
            request.body = body
        }
        send(request, by: requestRoute(by: hop), for: origin(of: bridge), at: now)
    }

    // MARK: answers

    func receiveAnswer(_ response: SIPResponse, for bridge: PIDFBridge, at now: Instant) {
        let headers = response.headers
        if response.status == .conditionalRequestFailed { counters.publicationConflicts += 1 }
        let actions = bridge.receiveAnswer(
            status: response.status.rawValue, tag: headers.sipETag.map { EntityTag($0) },
            expires: headers.expires.map { Int(clamping: $0) }, minimumExpires: headers.minExpires.map { Int(clamping: $0) },
            retryAfter: headers.retryAfter.map { Int($0.seconds) }, environment(of: bridge, at: now))
        perform(actions, on: bridge, at: now)
        settle(bridge)
    }

    func notDelivered(_ bridge: PIDFBridge, _ reason: String, at now: Instant) {
        log(.notice, "PUBLISH not delivered", ["call-id": bridge.dialogContext.callID, "reason": reason])
        perform(bridge.publishFailed(environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    /// Undoes a publication that could not be stored: no request was sent, and the compositor has the previous state.
    func notSent(_ origin: RequestOrigin, at now: Instant) {
        guard let bridge = table[origin.ticket] else { return }
        log(.notice, "PUBLISH not delivered", ["call-id": bridge.dialogContext.callID, "reason": "not kept"])
        perform(bridge.notStored(environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }
}
