import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import XMLCore

/// SERVICE toward the home server of an enterprise domain (MS-PRES 3.2.4).
extension CategoryRelay {
    /// The `epid` of this node as a publisher, from which its UUID is derived (MS-SIPRE 3.3.3).
    var publisherEPID: String {
        configuration.publisherEPID ?? String(PresenceDigest(of: configuration.nodeName).hex.suffix(10))
    }

    func perform(_ actions: [CategoryBridge.Action], on bridge: CategoryBridge, at now: Instant) {
        for action in actions {
            switch action {
            case .publish(let document, let attempt):
                publish(document, of: bridge, attempt: attempt, at: now)
            case .acknowledge(let change):
                acknowledge(change, on: bridge, at: now)
            case .refuse(let held, let cause):
                ports.refuse(held.request, held.transaction, refusal(cause), at: now)
            case .published:
                counters.publicationsRelayed += 1
            case .conflict(let stale):
                counters.publicationConflicts += 1
                log(.info, "far side has other versions", ["call-id": bridge.dialogContext.callID, "stale": String(stale)])
            case .refused(let status):
                counters.publicationsRefusedUpstream += 1
                log(.notice, "far side refused SERVICE", ["call-id": bridge.dialogContext.callID, "status": String(status)])
            case .computesState:
                log(.info, "home server computes states, input containers are published", ["call-id": bridge.dialogContext.callID])
            case .keep:
                keep(.bridge(bridge.key))
            }
        }
    }

    private func refusal(_ cause: CategoryBridge.RefusalCause) -> Refusal {
        switch cause {
        case .request(let refusal): refusal
        case .homeServer(let status): Refusal(remotePublication: status)
        case .paused(let retryAfter): .unavailable("the identity's home server takes no publications now", retryAfter: retryAfter)
        case .timeout: Refusal(.serverTimeout, "the identity's home server did not answer in time")
        case .shutdown: .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
    }

    private func publish(_ document: CategoryPublishDocument, of bridge: CategoryBridge, attempt: UInt64, at now: Instant) {
        guard let hop = publishingHop(of: bridge.uri) else { return }
        var request = SIPRequest(.service, uri: bridge.uri)
        let epid = publisherEPID
        address(&request, of: bridge.uri, bridge.beginRequest(), epid: epid)
        let requestRoute = requestRoute(by: hop)
        var contact = NameAddr(contact(by: requestRoute)) ?? NameAddr(bridge.uri)
        contact.parameters.set("+sip.instance", "<urn:uuid:\(EndpointID(epid: epid))>", isQuoted: true)
        request.headers.set(.contact, contact.description)
        request.headers.set(.contentType, ServiceKind.categoryPublish.rawValue)
        request.body = document.encoded()
        send(request, by: requestRoute, for: origin(of: bridge), at: now)
    }

    // MARK: answers

    func receiveAnswer(_ response: SIPResponse, for bridge: CategoryBridge, at now: Instant) {
        perform(bridge.receiveAnswer(answer(response, to: bridge), environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    func notDelivered(_ bridge: CategoryBridge, _ reason: String, at now: Instant) {
        log(.notice, "SERVICE not delivered", ["call-id": bridge.dialogContext.callID, "reason": reason])
        perform(bridge.receiveAnswer(.unavailable(retryAfter: nil), environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    private func answer(_ response: SIPResponse, to bridge: CategoryBridge) -> CategoryBridge.Answer {
        let root = { [unowned self] in try? parser.parse(response.body).root }
        switch response.status.rawValue {
        case 200..<300:
            let categories = root().flatMap { try? RoamingDataDocument(reading: $0) }?.categories
            let computesState = !bridge.homeComputesState && categories.map(hasComputedState) ?? false
            return .accepted(categories, computesState: computesState)
        case 409: return .conflict(root().flatMap { try? FaultDocument(reading: $0) })
        case 408, 480, 500..<600: return .unavailable(retryAfter: response.headers.retryAfter.map { Int($0.seconds) })
        case let status: return .refused(status: status)
        }
    }
}
