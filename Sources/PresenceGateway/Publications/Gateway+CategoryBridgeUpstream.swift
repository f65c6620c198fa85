import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import XMLCore

/// SERVICE toward the home server of an enterprise domain (MS-PRES 3.2.4).
extension Gateway {
    /// The `epid` of this node as a publisher, from which its UUID is derived (MS-SIPRE 3.3.3).
    var publisherEPID: String {
        configuration.publisherEPID ?? String(PresenceDigest(of: configuration.nodeName).hex.suffix(10))
    }

    /// Sends the next request for the difference between wanted and published instances, or finishes the current PUBLISH.
    func reconcile(_ bridge: CategoryBridge, at now: Instant) {
        let moment = DateTime(now)
        if let document = bridge.client.next(at: moment) { return publish(bridge, document, at: now) }
        guard let change = bridge.current, !bridge.client.isAsking else { return }
        if bridge.client.isSettled(at: moment) { return commit(bridge, change, at: now) }
        let pause = bridge.client.pause(at: moment)
        giveUp(bridge, .unavailable("the identity's home server takes no publications now", retryAfter: Int(clamping: pause)), at: now)
    }

    private func publish(_ bridge: CategoryBridge, _ document: CategoryPublishDocument, at now: Instant) {
        bridge.attempt += 1
        guard let hop = publishingHop(of: bridge.uri, side: .enterprise) else {
            return answered(bridge, .notFound, nil, retryAfter: nil, at: now)
        }
        var request = SIPRequest(.service, uri: bridge.uri)
        let epid = publisherEPID
        address(&request, of: bridge.uri, &bridge.dialogContext, epid: epid)
        let requestRoute = requestRoute(by: hop)
        var contact = NameAddr(contact(by: requestRoute)) ?? NameAddr(bridge.uri)
        contact.parameters.set("+sip.instance", "<urn:uuid:\(EndpointID(epid: epid))>", isQuoted: true)
        request.headers.set(.contact, contact.description)
        request.headers.set(.contentType, ServiceKind.categoryPublish.rawValue)
        request.body = document.encoded()
        keep(.bridge(bridge.key))
        send(request, by: requestRoute, for: flows.publications.origin(of: bridge), at: now)
    }

    // MARK: answers

    func receiveAnswer(_ response: SIPResponse, for bridge: CategoryBridge, attempt: UInt64, at now: Instant) {
        guard bridge.attempt == attempt else { return }
        answered(bridge, response.status, response.body, retryAfter: response.headers.retryAfter.map { Int($0.seconds) }, at: now)
        work(bridge, at: now)
    }

    func serviceFailed(_ bridge: CategoryBridge, attempt: UInt64, _ reason: String, at now: Instant) {
        guard bridge.attempt == attempt else { return }
        log(.notice, "SERVICE not delivered", ["call-id": bridge.dialogContext.callID, "reason": reason])
        answered(bridge, .requestTimeout, nil, retryAfter: nil, at: now)
        work(bridge, at: now)
    }

    private func answered(_ bridge: CategoryBridge, _ status: SIPStatus, _ body: [UInt8]?, retryAfter: Int?, at now: Instant) {
        let moment = DateTime(now)
        keep(.bridge(bridge.key))
        switch status.rawValue {
        case 200..<300:
            counters.publicationsRelayed += 1
            let answer = body.flatMap { try? parser.parse($0).root }.flatMap { try? RoamingDataDocument(reading: $0) }
            bridge.client.accepted(answer?.categories, at: moment)
            noteComputedStates(answer?.categories, of: bridge, at: now)
        case 409:
            counters.publicationConflicts += 1
            let fault = body.flatMap { try? parser.parse($0).root }.flatMap { try? FaultDocument(reading: $0) }
            log(
                .info, "far side has other versions",
                ["call-id": bridge.dialogContext.callID, "stale": String(fault?.operations.count ?? 0)])
            bridge.client.conflicted(fault, at: moment)
        case 408, 480, 500..<600:
            bridge.client.failed(retryAfter: retryAfter, at: moment)
        default:
            counters.publicationsRefusedUpstream += 1
            log(.notice, "far side refused SERVICE", ["call-id": bridge.dialogContext.callID, "status": String(status.rawValue)])
            bridge.client.refused(isChallenge: [401, 407].contains(status.rawValue), at: moment)
            giveUp(bridge, Refusal(remotePublication: status.rawValue), at: now)
        }
        reconcile(bridge, at: now)
    }
}
