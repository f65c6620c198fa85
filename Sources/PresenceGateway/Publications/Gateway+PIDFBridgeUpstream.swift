import FederationRouting
import SIPCore
import SIPEvents

/// PUBLISH toward the compositor of a simple domain (RFC 3903 4).
extension Gateway {
    /// Publishes the current document, or removes the publication if there is none.
    func drive(_ bridge: PIDFBridge, at now: Instant) {
        bridge.retryAt = nil
        let actions = bridge.document == nil ? bridge.client.withdraw(at: now) : bridge.client.publish(at: now)
        perform(actions, on: bridge, at: now)
        // There was no publication to remove.
        if bridge.client.isIdle { promiseHeld(bridge, at: now) }
    }

    func perform(_ actions: [PublicationClient.Action], on bridge: PIDFBridge, at now: Instant) {
        for action in actions {
            switch action {
            case .publish(let tag, let hasBody, let expires):
                publish(bridge, ifMatch: tag, hasBody: hasBody, expires: expires, at: now)
            case .published:
                counters.publicationsRelayed += 1
                published(bridge, at: now)
            case .postponed(let until):
                // It is unknown whether the last request arrived.
                if bridge.sent != nil { bridge.acceptedDigest = nil }
                bridge.sent = nil
                log(.info, "publication waits for the far side", ["retry-in": String((until - now).seconds)])
                promiseHeld(bridge, at: now)
            case .refused(let status):
                refused(bridge, status, at: now)
            case .over:
                bridge.sent = nil
                bridge.acceptedDigest = nil
                promiseHeld(bridge, at: now)
            }
        }
        if !actions.allSatisfy(\.isRefresh) { keep(.bridge(bridge.key)) }
    }

    private func publish(_ bridge: PIDFBridge, ifMatch tag: EntityTag?, hasBody: Bool, expires: Int, at now: Instant) {
        bridge.attempt += 1
        guard let hop = publishingHop(of: bridge.uri, side: .simple) else {
            return perform(bridge.client.receiveAnswer(status: 404, tag: nil, expires: nil, at: now), on: bridge, at: now)
        }
        var request = SIPRequest(.publish, uri: bridge.uri)
        address(&request, of: bridge.uri, &bridge.dialogContext)
        request.headers.set(.event, EventPackage.presence.token)
        request.headers.set(.expires, String(expires))
        if let tag { request.headers.set(.sipIfMatch, tag.value) }
        if hasBody || expires == 0 {
            bridge.sent = PIDFBridge.Sent(
                generation: bridge.generation, digest: hasBody ? bridge.document.map(DialogContext.digest) : nil)
        }
        if hasBody, let document = bridge.document {
            request.headers.set(.contentType, WatcherFormat.pidfType)
            request.body = document
        }
        send(request, by: requestRoute(by: hop), for: flows.publications.origin(of: bridge), at: now)
    }

    /// Sets the headers common to requests of both kinds of bridge.
    func address(_ request: inout SIPRequest, of uri: SIPURI, _ dialogContext: inout DialogContext, epid: String? = nil) {
        dialogContext.cSeq += 1
        dialogContext.redirections = []
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
        perform(
            bridge.client.receiveAnswer(
                status: response.status.rawValue, tag: headers.sipETag.map { EntityTag($0) },
                expires: headers.expires.map { Int(clamping: $0) }, minimumExpires: headers.minExpires.map { Int(clamping: $0) },
                retryAfter: headers.retryAfter.map { Int($0.seconds) }, at: now),
            on: bridge, at: now)
        settle(bridge)
    }

    func publishFailed(_ bridge: PIDFBridge, attempt: UInt64, _ reason: String, at now: Instant) {
        guard bridge.attempt == attempt else { return }
        log(.notice, "PUBLISH not delivered", ["call-id": bridge.dialogContext.callID, "reason": reason])
        perform(bridge.client.publishFailed(at: now), on: bridge, at: now)
        settle(bridge)
    }

    /// Undoes a publication that could not be stored: no request was sent, and the compositor has the previous state.
    func notRelayed(_ bridge: PIDFBridge, at now: Instant) {
        log(.notice, "PUBLISH not delivered", ["call-id": bridge.dialogContext.callID, "reason": "not kept"])
        bridge.sent = nil
        refuseHeld(
            bridge, .unavailable("this node cannot keep any change now", retryAfter: configuration.timing.retryAfter), at: now)
        perform(bridge.client.publishFailed(at: now), on: bridge, at: now)
        if bridge.document != nil, bridge.isShown {
            bridge.client.revert(at: now)
        } else {
            drive(bridge, at: now)
        }
        settle(bridge)
    }

    private func published(_ bridge: PIDFBridge, at now: Instant) {
        guard let sent = bridge.sent else { return answerHeld(bridge, upTo: bridge.client.isAsking ? 0 : bridge.generation, at: now) }
        bridge.sent = nil
        bridge.acceptedDigest = sent.digest
        answerHeld(bridge, upTo: sent.generation, at: now)
    }

    private func refused(_ bridge: PIDFBridge, _ status: Int, at now: Instant) {
        let tried = bridge.sent?.generation
        bridge.sent = nil
        counters.publicationsRefusedUpstream += 1
        log(.notice, "far side refused PUBLISH", ["call-id": bridge.dialogContext.callID, "status": String(status)])
        if bridge.client.entityTag == nil { bridge.acceptedDigest = nil }
        if !bridge.held.isEmpty {
            refuseHeld(bridge, Refusal(remotePublication: status), at: now)
            if bridge.document == nil { perform(bridge.client.withdraw(at: now), on: bridge, at: now) }
        } else if let tried, tried != bridge.generation {
            return drive(bridge, at: now)
        }
        // No client waits for the result; the remaining state is tried again at long intervals.
        if !bridge.isSettled { bridge.retryAt = now + configuration.timing.retryMaximum }
    }
}

extension PublicationClient.Action {
    /// Whether the request only refreshes, which changes no stored state.
    fileprivate var isRefresh: Bool {
        if case .publish(_?, hasBody: false, let expires) = self { expires > 0 } else { false }
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
