import FederationRouting
import SIPCore
import SIPEvents

/// The upstream subscriptions to the kernel. Their numbers are not used again, so that a ticket is made of one.
final class UpstreamFlow: KernelClient, RequestHandler, Persistent {
    private enum Kind {
        static let subscription: UInt8 = 0
        static let doubts: UInt8 = 1
    }

    /// The timer of the subscriptions to verify.
    static let doubts = Ticket(.upstream, only: Kind.doubts)

    unowned let gateway: Gateway
    /// Subscriptions with a NOTIFY refused while the store failed.
    var unheard: Set<UInt64> = []

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    static func ticket(of upstream: UpstreamSubscription) -> Ticket { Ticket(.upstream, kind: Kind.subscription, number: upstream.id) }

    /// The origin of a SUBSCRIBE.
    func origin(of upstream: UpstreamSubscription) -> RequestOrigin {
        let domain = upstream.domain.name
        return RequestOrigin(
            ticket: Self.ticket(of: upstream), mark: UInt64(upstream.subscriber.attempt), partner: gateway.partnerName(ofDomain: domain),
            domain: domain)
    }

    /// The subscription of a request; nil: it is gone, or made another attempt since.
    private func subscription(of origin: RequestOrigin) -> UpstreamSubscription? {
        guard let upstream = gateway.upstreams[origin.ticket.number], UInt64(upstream.subscriber.attempt) == origin.mark else { return nil }
        return upstream
    }

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        guard let upstream = subscription(of: pendingRequest.origin) else { return }
        if response.status.isSuccess { gateway.noteVerified(upstream, by: source, at: now) }
        gateway.receiveAnswer(response, for: upstream, at: now)
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard let upstream = subscription(of: origin) else { return }
        let wasInDialog = upstream.dialog != nil
        gateway.subscribeFailed(upstream, reason, at: now)
        if wasInDialog { gateway.wakeElsewhere(upstream, at: now) }
    }

    func notLocated(_ origin: RequestOrigin, _ failure: HopFailure, at now: Instant) {
        guard let upstream = subscription(of: origin) else { return }
        upstream.attempt.notRouted(failure)
        let actions: [Subscriber.Action]
        switch failure.kind {
        case .absent: actions = upstream.subscriber.receiveAnswer(status: 404, at: now)
        case .notAllowed: actions = upstream.subscriber.receiveAnswer(status: 403, at: now)
        case .unknown: actions = upstream.subscriber.subscribeFailed(at: now)
        }
        gateway.perform(actions, on: upstream, at: now)
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        guard let upstream = subscription(of: origin) else { return }
        guard upstream.dialog != nil else { return gateway.subscribeFailed(upstream, GatewayKernel.notKeptReason, at: now) }
        upstream.settle(isAccepted: false)
        gateway.perform(upstream.subscriber.subscribeNotSent(at: now), on: upstream, at: now)
    }

    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool {
        guard let upstream = subscription(of: origin) else { return false }
        return request.headers.toTag == nil || upstream.dialog?.localCSeq == request.headers.cSeq?.number
    }

    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool {
        guard let upstream = subscription(of: origin), var cSeq = request.headers.cSeq else { return false }
        if request.headers.toTag == nil {
            cSeq.number += 1
        } else {
            guard let number = upstream.attempt.nextNumber() else { return false }
            cSeq.number = number
        }
        request.headers.cSeq = cSeq
        if request.headers.toTag == nil { upstream.attempt.ask(request) }
        gateway.keep(upstream)
        return true
    }

    func exists(_ ticket: Ticket) -> Bool { gateway.upstreams[ticket.number] != nil }

    func concernsPartner(_ failure: DeliveryFailure, of origin: RequestOrigin) -> Bool {
        guard failure == .transport, let upstream = gateway.upstreams[origin.ticket.number], upstream.dialog == nil else { return false }
        return upstream.domain.hop == gateway.hop(toward: SIPURI(host: upstream.domain.name))
    }

    func serverFailed(_ target: TransportAddress, _ failure: DeliveryFailure, at now: Instant) {
        gateway.serverFailed(target, Notifier.DeliveryFailure(failure), at: now)
    }

    let methods: [SIPMethod] = [.notify, .benotify]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        try gateway.receiveNotify(request, transaction, flow, at: now)
    }

    func record(of key: StoreKey) -> StoreRecord? {
        guard case .upstreamSubscription(let tag) = key, let upstream = gateway.upstreams[tag: tag], upstream.localTag == tag else {
            return nil
        }
        return gateway.stored(upstream).map(StoreRecord.upstreamSubscription)
    }

    func storeWorks(at now: Instant) { gateway.verifyUnheard(at: now) }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if ticket == Self.doubts { return gateway.workOffDoubts(at: now) }
        guard let upstream = gateway.upstreams[ticket.number] else { return }
        gateway.advance(upstream, at: now)
        gateway.schedule(upstream)
    }
}

extension Gateway {
    /// Handles a SUBSCRIBE that was not delivered.
    func subscribeFailed(_ upstream: UpstreamSubscription, _ reason: String, at now: Instant) {
        log(.notice, "SUBSCRIBE not delivered", ["call-id": upstream.callID, "reason": reason])
        upstream.attempt.notAnswered()
        perform(upstream.subscriber.subscribeFailed(at: now), on: upstream, at: now)
    }
}
