import FederationRouting
import SIPCore
import SIPEvents

/// The relayed publications to the kernel.
final class PublicationsFlow: KernelClient, RequestHandler, Persistent {
    private enum Kind {
        static let pidf: UInt8 = 0
        static let categories: UInt8 = 1
    }

    unowned let gateway: Gateway
    private var pidfBridges = Slab<PIDFBridge>()
    private var categoryBridges = Slab<CategoryBridge>()

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    /// The ticket of a bridge, made on first use.
    func ticket(of bridge: PIDFBridge) -> Ticket {
        if let ticket = bridge.ticket { return ticket }
        let ticket = Ticket(.publications, kind: Kind.pidf, pidfBridges.insert(bridge))
        bridge.name(ticket)
        return ticket
    }

    /// The ticket of a bridge, made on first use.
    func ticket(of bridge: CategoryBridge) -> Ticket {
        if let ticket = bridge.ticket { return ticket }
        let ticket = Ticket(.publications, kind: Kind.categories, categoryBridges.insert(bridge))
        bridge.name(ticket)
        return ticket
    }

    func remove(_ bridge: PIDFBridge) {
        guard let ticket = bridge.ticket else { return }
        bridge.name(nil)
        gateway.timers.set(ticket, at: nil)
        pidfBridges.remove(ticket.key)
    }

    func remove(_ bridge: CategoryBridge) {
        guard let ticket = bridge.ticket else { return }
        bridge.name(nil)
        gateway.timers.set(ticket, at: nil)
        categoryBridges.remove(ticket.key)
    }

    // MARK: requests

    /// The origin of a PUBLISH.
    func origin(of bridge: PIDFBridge) -> RequestOrigin { origin(ticket(of: bridge), attempt: bridge.attempt, bridge.uri) }

    /// The origin of a SERVICE.
    func origin(of bridge: CategoryBridge) -> RequestOrigin { origin(ticket(of: bridge), attempt: bridge.attempt, bridge.uri) }

    private func origin(_ ticket: Ticket, attempt: UInt64, _ uri: SIPURI) -> RequestOrigin {
        let domain = uri.domainKey
        return RequestOrigin(
            ticket: ticket, mark: attempt, partner: gateway.partnerName(ofDomain: domain), domain: domain, isRepeatable: true)
    }

    private enum Sender {
        case pidf(PIDFBridge)
        case categories(CategoryBridge)
    }

    /// The bridge of a request; nil: it is gone, or made another attempt since.
    private func sender(of origin: RequestOrigin) -> Sender? {
        if origin.ticket.kind == Kind.pidf {
            pidfBridges[origin.ticket.key].flatMap { $0.attempt == origin.mark ? .pidf($0) : nil }
        } else {
            categoryBridges[origin.ticket.key].flatMap { $0.attempt == origin.mark ? .categories($0) : nil }
        }
    }

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        let attempt = pendingRequest.origin.mark
        switch sender(of: pendingRequest.origin) {
        case .pidf(let bridge)?:
            if gateway.followRedirect(response, to: pendingRequest, of: bridge, at: now) { return }
            gateway.receiveAnswer(response, for: bridge, attempt: attempt, at: now)
        case .categories(let bridge)?:
            if gateway.followRedirect(response, to: pendingRequest, of: bridge, at: now) { return }
            gateway.receiveAnswer(response, for: bridge, attempt: attempt, at: now)
        case nil: break
        }
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        switch sender(of: origin) {
        case .pidf(let bridge)?: gateway.publishFailed(bridge, attempt: origin.mark, reason, at: now)
        case .categories(let bridge)?: gateway.serviceFailed(bridge, attempt: origin.mark, reason, at: now)
        case nil: break
        }
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        if origin.ticket.kind == Kind.pidf {
            if let bridge = pidfBridges[origin.ticket.key] { gateway.notRelayed(bridge, at: now) }
        } else {
            notDelivered(origin, .transport, GatewayKernel.notKeptReason, over: nil, at: now)
        }
    }

    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool { sender(of: origin) != nil }

    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool {
        guard var cSeq = request.headers.cSeq else { return false }
        switch sender(of: origin) {
        case .pidf(let bridge)?:
            cSeq.number = bridge.nextNumber()
            gateway.keep(.bridge(bridge.key))
        case .categories(let bridge)?:
            cSeq.number = bridge.nextNumber()
            gateway.keep(.bridge(bridge.key))
        case nil: return false
        }
        request.headers.cSeq = cSeq
        return true
    }

    func exists(_ ticket: Ticket) -> Bool {
        ticket.kind == Kind.pidf ? pidfBridges[ticket.key] != nil : categoryBridges[ticket.key] != nil
    }

    func concernsPartner(_ failure: DeliveryFailure, of origin: RequestOrigin) -> Bool {
        let uri = origin.ticket.kind == Kind.pidf ? pidfBridges[origin.ticket.key]?.uri : categoryBridges[origin.ticket.key]?.uri
        guard failure == .transport, let uri else { return false }
        return gateway.hop(toward: uri) == gateway.hop(toward: SIPURI(host: uri.domainKey))
    }

    // MARK: time

    let methods: [SIPMethod] = [.publish, .service]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        if request.method == .publish {
            gateway.undoable(gateway.configuration.canonical(request.uri).aorKey)
            try gateway.receivePublish(request, transaction, at: now)
        } else {
            if let user = request.headers.to?.uri { gateway.undoable(gateway.configuration.canonical(user).aorKey) }
            try gateway.receiveService(request, transaction, flow, at: now)
        }
    }

    func record(of key: StoreKey) -> StoreRecord? {
        guard case .bridge(let user) = key else { return nil }
        return gateway.storedBridge(user).map(StoreRecord.bridge)
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        // A failed commit may have put an earlier bridge of the user back in place of this one.
        if let bridge = pidfBridges[ticket.key], ticket.kind == Kind.pidf {
            if gateway.publications.contains(bridge) { gateway.advance(bridge, at: now) } else { remove(bridge) }
        } else if let bridge = categoryBridges[ticket.key], ticket.kind == Kind.categories {
            if gateway.publications.contains(bridge) { gateway.advance(bridge, at: now) } else { remove(bridge) }
        }
    }
}
