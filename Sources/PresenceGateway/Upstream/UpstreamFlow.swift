import FederationRouting
import SIPCore
import SIPEvents

/// The upstream subscriptions to the kernel. Their numbers are not used again, so that a ticket is made of one.
final class UpstreamFlow: ShardMember, KernelClient, RequestHandler, Persistent, Inspectable {
    private enum Kind {
        static let subscription: UInt8 = 0
        static let doubts: UInt8 = 1
    }

    /// The timer of the subscriptions to verify.
    static let doubts = Ticket(.upstream, only: Kind.doubts)

    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive it.
    unowned let ports: any UpstreamPorts
    let upstreams = Upstream()
    private(set) lazy var verifier = UpstreamVerifier(self)
    private(set) lazy var reporter = SourceReporter(self)
    private(set) lazy var reader = UpstreamReader(self)
    private(set) lazy var lists = UpstreamListSubscriber(self)
    private(set) lazy var restorer = UpstreamRestorer(self)
    private(set) lazy var moves = UpstreamMoves(self)

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ ports: any UpstreamPorts) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
    }

    static func ticket(of upstream: UpstreamSubscription) -> Ticket { Ticket(.upstream, kind: Kind.subscription, number: upstream.id) }

    /// The origin of a SUBSCRIBE.
    func origin(of upstream: UpstreamSubscription) -> RequestOrigin {
        let domain = upstream.domain.name
        return RequestOrigin(
            ticket: Self.ticket(of: upstream), mark: UInt64(upstream.subscriber.attempt), partner: partnerName(ofDomain: domain),
            domain: domain)
    }

    /// The subscription of a request; nil: it is gone, or made another attempt since.
    private func subscription(of origin: RequestOrigin) -> UpstreamSubscription? {
        guard let upstream = upstreams[origin.ticket.number], UInt64(upstream.subscriber.attempt) == origin.mark else { return nil }
        return upstream
    }

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        guard let upstream = subscription(of: pendingRequest.origin) else { return }
        if response.status.isSuccess { verifier.noteVerified(upstream, by: source, at: now) }
        receiveAnswer(response, for: upstream, at: now)
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard let upstream = subscription(of: origin) else { return }
        let wasInDialog = upstream.dialog != nil
        subscribeFailed(upstream, reason, at: now)
        if wasInDialog { verifier.wakeElsewhere(upstream, at: now) }
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
        perform(actions, on: upstream, at: now)
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        guard let upstream = subscription(of: origin) else { return }
        guard upstream.dialog != nil else { return subscribeFailed(upstream, GatewayKernel.notKeptReason, at: now) }
        upstream.settle(isAccepted: false)
        perform(upstream.subscriber.subscribeNotSent(at: now), on: upstream, at: now)
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
        keep(upstream)
        return true
    }

    func exists(_ ticket: Ticket) -> Bool { upstreams[ticket.number] != nil }

    func concernsPartner(_ failure: DeliveryFailure, of origin: RequestOrigin) -> Bool {
        guard failure == .transport, let upstream = upstreams[origin.ticket.number], upstream.dialog == nil else { return false }
        return upstream.domain.hop == hop(toward: SIPURI(host: upstream.domain.name))
    }

    func serverFailed(_ target: TransportAddress, _ failure: DeliveryFailure, at now: Instant) {
        verifier.serverFailed(target, Notifier.DeliveryFailure(failure), at: now)
    }

    let methods: [SIPMethod] = [.notify, .benotify]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        try receiveNotify(request, transaction, flow, at: now)
    }

    func record(of key: StoreKey) -> StoreRecord? {
        guard case .upstreamSubscription(let tag) = key, let upstream = upstreams[tag: tag], upstream.localTag == tag else {
            return nil
        }
        return stored(upstream).map(StoreRecord.upstreamSubscription)
    }

    func rank(of record: StoreRecord, at now: Instant) -> RestoreRank? {
        guard case .upstreamSubscription(let stored) = record else { return nil }
        // Those that lapse first are refreshed first.
        let due = stored.expiry ?? stored.restsUntil ?? now
        return RestoreRank(phase: .upstreamSubscriptions, number: due.nanosecondsSince1970, name: stored.tag)
    }

    func restore(_ record: StoreRecord, _ restart: inout Restart, at now: Instant) -> Bool {
        guard case .upstreamSubscription(let stored) = record else { return false }
        if restorer.restore(stored, &restart.upstreams, at: now) { restart.state.upstreamSubscriptions += 1 }
        return true
    }

    func complete(_ phase: RestartPhase, _ restart: inout Restart, at now: Instant) -> Bool {
        if phase == .turns {
            restorer.settle(restart.upstreams, at: now)
            restart.upstreams = RestoredUpstreamSubscriptions()
        }
        return true
    }

    /// A commit changes upstream subscriptions by responses and notifications only, which stay valid.
    func reload(_ stored: StoredRecords, at now: Instant) -> (() -> Void)? { nil }

    func storeWorks(at now: Instant) { verifier.verifyUnheard(at: now) }

    /// Sets the timer of a subscription in the tables.
    func schedule(_ upstream: UpstreamSubscription) {
        guard upstreams[upstream.id] != nil else { return }
        timers.set(Self.ticket(of: upstream), at: upstream.nextDeadline)
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if ticket == Self.doubts { return verifier.workOffDoubts(at: now) }
        guard let upstream = upstreams[ticket.number] else { return }
        advance(upstream, at: now)
        schedule(upstream)
    }
}

extension UpstreamFlow {
    /// Handles a SUBSCRIBE that was not delivered.
    func subscribeFailed(_ upstream: UpstreamSubscription, _ reason: String, at now: Instant) {
        log(.notice, "SUBSCRIBE not delivered", ["call-id": upstream.callID, "reason": reason])
        upstream.attempt.notAnswered()
        perform(upstream.subscriber.subscribeFailed(at: now), on: upstream, at: now)
    }
}
