import FederationRouting
import SIPCore
import SIPEvents

/// PUBLISH toward the compositor of a simple domain (RFC 3903 4).
extension Gateway {
    func perform(_ actions: [PIDFBridge.Action], on bridge: PIDFBridge, at now: Instant) {
        for action in actions {
            switch action {
            case .publish(let tag, let body, let expires, let attempt):
                publish(bridge, ifMatch: tag, body, expires: expires, attempt: attempt, at: now)
            case .accept(let response, let transaction, let before):
                let connections = publications.connections(of: bridge.key)
                ifNotKept { [unowned self] now in takeBack(bridge, to: before, over: connections, at: now) }
                counters.publicationsAccepted += 1
                respond(response, transaction, at: now)
            case .answer(let response, let transaction):
                counters.publicationsAccepted += 1
                respond(response, transaction, at: now)
            case .refuse(let request, let transaction, let cause):
                refuse(request, transaction, refusal(cause), at: now)
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
        guard let hop = publishingHop(of: bridge.uri, side: .simple) else { return }
        var request = SIPRequest(.publish, uri: bridge.uri)
        address(&request, of: bridge.uri, bridge.beginRequest())
        request.headers.set(.event, EventToken.presence)
        request.headers.set(.expires, String(expires))
        if let tag { request.headers.set(.sipIfMatch, tag.value) }
        if let body {
            request.headers.set(.contentType, WatcherFormat.pidfType)
            request.body = body
        }
        send(request, by: requestRoute(by: hop), for: flows.publications.origin(of: bridge), at: now)
    }

    /// Sets the headers common to requests of both kinds of bridge.
    func address(_ request: inout SIPRequest, of uri: SIPURI, _ dialogContext: DialogContext, epid: String? = nil) {
        request.headers.maxForwards = dialogContext.maxForwards
        var parameters = SIPParameters([.init("tag", tokens.tag())])
        if let epid { parameters.set("epid", epid) }
        request.headers.from = NameAddr(uri, parameters: parameters)
        request.headers.to = NameAddr(uri)
        request.headers.callID = dialogContext.callID
        request.headers.cSeq = CSeq(dialogContext.cSeq, request.method)
        request.headers.append(HopMark.header, dialogContext.hopMarks)
        assertIdentity(for: uri, on: &request, toward: configuration.domain(of: uri))
    }

    /// Next hop for a user's publications; nil: the domain accepts none from this gateway.
    func publishingHop(of uri: SIPURI, side: DomainSide) -> NextHop? {
        guard let domain = configuration.domain(uri.domainKey), !domain.hosted, domain.publish, domain.side == side, domain.refuse == nil
        else { return nil }
        return hop(toward: uri, in: domain)
    }

    // MARK: answers

    func receiveAnswer(_ response: SIPResponse, for bridge: PIDFBridge, attempt: UInt64, at now: Instant) {
        guard bridge.attempt == attempt else { return }
        let headers = response.headers
        if response.status == .conditionalRequestFailed { counters.publicationConflicts += 1 }
        let actions = bridge.receiveAnswer(
            status: response.status.rawValue, tag: headers.sipETag.map { EntityTag($0) },
            expires: headers.expires.map { Int(clamping: $0) }, minimumExpires: headers.minExpires.map { Int(clamping: $0) },
            retryAfter: headers.retryAfter.map { Int($0.seconds) }, environment(of: bridge, at: now))
        perform(actions, on: bridge, at: now)
        settle(bridge)
    }

    func publishFailed(_ bridge: PIDFBridge, attempt: UInt64, _ reason: String, at now: Instant) {
        guard bridge.attempt == attempt else { return }
        log(.notice, "PUBLISH not delivered", ["call-id": bridge.dialogContext.callID, "reason": reason])
        perform(bridge.publishFailed(environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    /// Undoes a publication that could not be stored: no request was sent, and the compositor has the previous state.
    func notRelayed(_ bridge: PIDFBridge, at now: Instant) {
        log(.notice, "PUBLISH not delivered", ["call-id": bridge.dialogContext.callID, "reason": "not kept"])
        perform(bridge.notStored(environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }
}

extension Refusal {
    /// Maps a refusal by the remote domain to a response for the publishing client.
    init(remotePublication status: Int) {
        switch status {
        case 300..<400:
            self.init(.badGateway, "the identity's domain answered \(status) without a Contact of its own servers")
        case 401, 407:
            self.init(.badGateway, "the identity's domain asks this gateway for credentials")
        case 403, 603:
            self = .forbidden("the identity's domain does not let this gateway publish")
        case 404, 410, 489, 604:
            self.init(.notFound, "the identity's domain takes no publications of it", errorID: 4005)
        case 413, 513:
            self.init(.requestEntityTooLarge, "what is published is too large for the identity's domain", errorID: 2010)
        default:
            self.init(.badGateway, "the identity's domain refused the publication with \(status)")
        }
    }
}
