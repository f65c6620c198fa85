import FederationRouting
import SIPCore
import SIPEvents

/// Verification of upstream subscriptions that the remote domain may have lost, for example by a restart.
///
///     connection broken, partner down, partner up again, next hop down --> unverified --> refresh, paced --2xx--> verified
///                                            |                                               \--481, silence--> restarted
///                                            +--down: `when-lost` applies
///     the server answers no OPTIONS, another one is up --> restarted there, paced; unsubscribed at the old one
///     connection closed by the peer --> unverified; one of them is refreshed (``sample(_:notBefore:at:)``)
///     NOTIFY refused because the store fails --> unverified, refreshed once the store works
///
/// A subscription is refreshed, or restarted before the end of its pause, at most once per ``verificationPause``.
final class UpstreamVerifier: UpstreamPart {
    unowned let flow: UpstreamFlow
    /// Subscriptions to verify, with the events at their partners.
    private var doubts = DoubtQueue()
    /// Subscriptions with a NOTIFY refused while the store failed.
    private var unheard: Set<UInt64> = []
    /// Numbers of subscriptions, by the connections over which their messages arrive.
    private var ofConnection: [ConnectionID: Set<UInt64>] = [:]

    init(_ flow: UpstreamFlow) { self.flow = flow }

    static let verificationPause = TimeSpan.seconds(30)
    /// Subscriptions handled in one turn, and time from the start of one turn to the next.
    private static let doubtsPerTurn = 64
    private static let doubtPause = TimeSpan.milliseconds(20)
    /// Largest delay of a refresh; spreads refreshes over time.
    private static let verificationSpread = TimeSpan.milliseconds(500)

    /// Doubts the subscriptions that used a connection after its end, unless the gateway closed it as idle.
    func connectionEnded(_ connection: ConnectionID, _ end: ConnectionEnd, at now: Instant) {
        guard let numbers = ofConnection.removeValue(forKey: connection) else { return }
        switch end {
        case .idle: break
        case .byPeer: sample(numbers, at: now)
        case .broken: doubt(numbers, .doubted, at: now)
        }
    }

    func partnerChanged(_ partner: String, isUp: Bool, at now: Instant) {
        let domains = domains(ofPartner: partner, among: upstreams.domainNames)
        for domain in domains { doubt(upstreams.numbers(ofDomain: domain), isUp ? .partnerUp : .partnerDown, at: now) }
    }

    /// Doubts the subscriptions at a server that was not reached or did not answer a request.
    func serverFailed(_ target: TransportAddress, _ failure: Notifier.DeliveryFailure, at now: Instant) {
        let numbers = upstreams.numbers(atServer: target)
        guard !numbers.isEmpty else { return }
        switch failure {
        case .transport: doubt(numbers, .doubted, at: now)
        case .silence:
            // A single request may be unanswered for other reasons: OPTIONS decides.
            let names = Set(numbers.compactMap { upstreams[$0]?.domain.name }).sorted()
            if !names.contains(where: { ports.askNow($0, of: target, at: now) }) { sample(numbers, at: now) }
        // A challenge shows that the server is up.
        case .challenge: break
        }
    }

    /// Handles a server that did not answer OPTIONS.
    func serverIsDown(_ target: TransportAddress, at now: Instant) {
        doubt(upstreams.numbers(atServer: target), .serverDown, at: now)
    }

    /// Marks a subscription after a NOTIFY was refused because the store fails; the notifier need not repeat that state (RFC 6665 4.2.2).
    func noteUnheard(_ request: SIPRequest, _ flow: Flow, at now: Instant) {
        guard request.method == .notify, let tag = request.headers.toTag, let subscription = upstreams[tag: tag],
            request.headers.callID == subscription.callID, ports.isSpeaker(flow, for: SIPURI(host: subscription.domain.name))
        else { return }
        subscription.verification.doubt(at: now)
        unheard.insert(subscription.id)
    }

    /// Requests the states that were refused while the store failed, once the store works.
    func verifyUnheard(at now: Instant) {
        guard !unheard.isEmpty else { return }
        let numbers = unheard
        unheard = []
        doubt(numbers, .doubted, at: now)
    }

    func doubt(_ numbers: Set<UInt64>, _ event: RemoteDomainEvents, at now: Instant) {
        guard !numbers.isEmpty, !isShuttingDown else { return }
        let wasIdle = doubts.isEmpty
        for number in numbers.sorted() { doubts.add(event, to: number) }
        if wasIdle { timers.set(UpstreamFlow.doubts, at: now) }
    }

    func workOffDoubts(at now: Instant) {
        let part = doubts.take(Self.doubtsPerTurn).compactMap { number, events in upstreams[number].map { ($0, events) } }
        let isMore = !doubts.isEmpty
        timers.set(UpstreamFlow.doubts, at: isMore ? now + Self.doubtPause : nil)
        for (subscription, events) in part where upstreams.contains(subscription) && subscription.hasSink {
            apply(events, of: subscription, at: now)
        }
    }

    private func apply(_ events: RemoteDomainEvents, of subscription: UpstreamSubscription, at now: Instant) {
        guard subscription.phase == .live, subscription.subscriber.attempt > 0, !subscription.subscriber.isFetch else { return }
        if events == .sampleAccepted {
            if subscription.subscriber.standing == .established, subscription.subscriber.verifiesAt == nil {
                subscription.verification.sampleAccepted()
            }
            return
        }
        // The subscription was verified a moment ago, so the return of the partner needs no refresh.
        if events == .partnerUp, subscription.verification.unverifiedSince == nil,
            !subscription.verification.isRested(after: Self.verificationPause, at: now)
        {
            return
        }
        subscription.verification.doubt(at: now)
        if events == .sampled { return }
        if events.contains(.partnerDown) { flow.reporter.applyWhenLost(subscription, isDown: true, at: now) }
        if events.contains(.partnerUp) { wake(subscription, at: now) }
        if events.contains(.serverDown), subscription.subscriber.isListening, subscription.dialog != nil,
            hasOtherServer(subscription, at: now), let moment = takeTurn(of: subscription, at: now, where: { _ in true })
        {
            subscription.move(inTurn: moment)
        } else if let moment = takeTurn(of: subscription, at: now, where: { subscription.subscriber.verifiesSooner(at: $0) }) {
            subscription.subscriber.verify(at: moment)
        } else {
            // A refresh already planned for an earlier time keeps that time.
            if let planned = subscription.subscriber.asksAt { subscription.subscriber.verify(at: planned) }
        }
        flow.schedule(subscription)
    }

    /// Restarts a lost subscription before the end of its pause.
    private func wake(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let moment = takeTurn(of: subscription, at: now, where: { subscription.subscriber.wakesSooner(at: $0) }) else { return }
        subscription.subscriber.wake(at: moment)
        subscription.verification.woken(at: moment)
    }

    /// Reserves a turn at the pace of a restart, spread by a function of the Call-ID; nil if the turn is of no use.
    /// - Parameter isSooner: whether a turn at that time is of use; otherwise none is reserved.
    private func takeTurn(of subscription: UpstreamSubscription, at now: Instant, where isSooner: (Instant) -> Bool) -> Instant? {
        let free = flow.restorer.freeTurn(at: now)
        let rested = subscription.verification.pauseEnd(after: Self.verificationPause) ?? now
        let chance = tokens.repeatableNumber(for: "verification\n\(subscription.callID)")
        let moment = max(free, rested) + TimeSpan(nanoseconds: Int64(chance % UInt64(Self.verificationSpread.nanoseconds)))
        guard isSooner(moment) else { return nil }
        // Subscriptions that wait for their pause were paced at their last verification.
        if rested <= free { flow.restorer.takeTurn(free) }
        return moment
    }

    /// Notes that the remote domain accepted a SUBSCRIBE.
    /// - Parameter source: source of the response.
    func noteVerified(_ subscription: UpstreamSubscription, by source: MessageSource, at now: Instant) {
        subscription.verification.accepted(at: now)
        upstreams.note(subscription, acceptedBy: source.remote)
        if let connection = source.connection { bind(subscription, to: connection) }
        sampleAccepted(subscription, at: now)
        ports.keepAlive(subscription.domain.name, at: now)
    }

    // MARK: connections

    /// Sizes of the tables, for the inspection of growth.
    var sizes: [String: Int] { ["doubts": doubts.count, "upstreamsOfConnection": ofConnection.count] }

    /// Whether a subscription uses the connection.
    func isUsed(_ connection: ConnectionID) -> Bool { ofConnection[connection] != nil }

    /// Notes a connection that a subscription uses; of three, the oldest is forgotten.
    func bind(_ subscription: UpstreamSubscription, to connection: ConnectionID) {
        guard upstreams.contains(subscription), !subscription.verification.connections.contains(connection) else { return }
        ofConnection[connection, default: []].insert(subscription.id)
        if let replaced = subscription.verification.bind(to: connection) { unbind(subscription, from: replaced) }
    }

    private func unbind(_ subscription: UpstreamSubscription, from connection: ConnectionID) {
        ofConnection[connection]?.remove(subscription.id)
        if ofConnection[connection]?.isEmpty ?? false { ofConnection[connection] = nil }
    }

    /// Forgets the connections of a subscription.
    func unbindAll(_ subscription: UpstreamSubscription) {
        for connection in subscription.verification.unbindAll() { unbind(subscription, from: connection) }
    }

    // MARK: another server

    /// Whether the domain has another server that is up, besides the one that accepted the subscription.
    private func hasOtherServer(_ subscription: UpstreamSubscription, at now: Instant) -> Bool {
        guard let server = subscription.verification.server else { return false }
        return servers(of: subscription.domain.hop).contains { !$0.isSame(as: server) && !hops.health.isPassedOver($0, at: now) }
    }

    /// Servers of a hop from the last lookup.
    func servers(of hop: NextHop) -> [TransportAddress] {
        guard case .located(let hopTarget) = hop, case .success(let plan)? = hops.known[hopTarget]?.result else { return [] }
        return plan.servers.flatMap(\.addresses)
    }

    /// Restarts a subscription at another server when its turn comes.
    func moveToOtherServer(_ subscription: UpstreamSubscription, at now: Instant) {
        // Another server accepted the subscription in the meantime, or a SUBSCRIBE is outstanding.
        guard subscription.subscriber.isListening, subscription.verification.unverifiedSince != nil, subscription.dialog != nil else {
            return flow.schedule(subscription)
        }
        log(.info, "far leg moves to another server", ["call-id": subscription.callID])
        let old = predecessor(of: subscription, at: now)
        flow.perform(subscription.subscriber.restart(at: now), on: subscription, at: now)
        upstreams.insert(old)
        flow.end(old, hasDialog: true, at: now)
    }

    /// Moves the dialog at the old server, which may still exist, into a subscription that is ended there (RFC 6665 4.1.2.3).
    private func predecessor(of subscription: UpstreamSubscription, at now: Instant) -> UpstreamSubscription {
        let old = flow.makeUpstream(at: subscription.address, subscription.order(poll: nil), form: subscription.format, at: now)
        let policy = old.subscriber.configuration
        old.resume(
            subscription.attempt,
            Subscriber(
                resuming: policy, expiry: subscription.subscriber.lapsesAt ?? now + policy.timerN, refreshAt: now + policy.timerN))
        return old
    }

    /// Restarts a subscription at another server without a pause, if one is up, after a SUBSCRIBE in the dialog was not delivered.
    func wakeElsewhere(_ subscription: UpstreamSubscription, at now: Instant) {
        guard upstreams.contains(subscription), hasOtherServer(subscription, at: now) else { return }
        wake(subscription, at: now)
        flow.schedule(subscription)
    }
}

extension TransportAddress {
    /// Whether two addresses are the same apart from the expected certificate name.
    func isSame(as other: TransportAddress) -> Bool { transport == other.transport && host == other.host && port == other.port }
}
