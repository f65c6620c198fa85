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
extension Gateway {
    static let verificationPause = TimeSpan.seconds(30)
    /// Subscriptions handled in one turn, and time from the start of one turn to the next.
    private static let doubtsPerTurn = 64
    private static let doubtPause = TimeSpan.milliseconds(20)
    /// Largest delay of a refresh; spreads refreshes over time.
    private static let verificationSpread = TimeSpan.milliseconds(500)

    /// Doubts the subscriptions that used a connection after its end, unless the gateway closed it as idle.
    func upstreamConnectionEnded(_ connection: ConnectionID, _ end: ConnectionEnd, at now: Instant) {
        guard let numbers = upstreamsOfConnection.removeValue(forKey: connection) else { return }
        switch end {
        case .idle: break
        case .byPeer: sample(numbers, at: now)
        case .broken: doubt(numbers, .doubted, at: now)
        }
    }

    func partnerChanged(_ partner: String, isUp: Bool, at now: Instant) {
        let domains = domains(ofPartner: partner, among: upstreams.domains)
        if !isUp { keepAliveSoon(of: partner, at: now) }
        for domain in domains { doubt(upstreams.numbers(ofDomain: domain), isUp ? .partnerUp : .partnerDown, at: now) }
    }

    /// The domains that belong to a partner.
    func domains(ofPartner partner: String, among names: some Sequence<String>) -> [String] {
        // A domain covered by `"*"` only is a partner of its own.
        if let (name, _) = routes.entry(for: partner), name == RoutingTable.fallbackName { return [partner] }
        return names.filter { partnerName(ofDomain: $0) == partner }
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
            if !names.contains(where: { askNow($0, of: target, at: now) }) { sample(numbers, at: now) }
        // A challenge shows that the server is up.
        case .challenge: break
        }
    }

    /// Handles a server that did not answer OPTIONS.
    func serverIsDown(_ target: TransportAddress, at now: Instant) {
        doubt(upstreams.numbers(atServer: target), .serverDown, at: now)
    }

    /// Whether two addresses are the same apart from the expected certificate name.
    static func isSame(_ one: TransportAddress, _ other: TransportAddress) -> Bool {
        one.transport == other.transport && one.host == other.host && one.port == other.port
    }

    /// Marks a subscription after a NOTIFY was refused because the store fails; the notifier need not repeat that state (RFC 6665 4.2.2).
    func noteUnheard(_ request: SIPRequest, _ flow: Flow, at now: Instant) {
        guard request.method == .notify, let tag = request.headers.toTag, let subscription = upstreamsByTag[tag],
            request.headers.callID == subscription.callID, isSpeaker(flow, for: SIPURI(host: subscription.domain.name))
        else { return }
        if subscription.unverifiedSince == nil { subscription.unverifiedSince = now }
        flows.upstream.unheard.insert(subscription.id)
    }

    /// Requests the states that were refused while the store failed, once the store works.
    func verifyUnheard(at now: Instant) {
        guard !flows.upstream.unheard.isEmpty else { return }
        let numbers = flows.upstream.unheard
        flows.upstream.unheard = []
        doubt(numbers, .doubted, at: now)
    }

    func doubt(_ numbers: Set<UInt64>, _ event: RemoteDomainEvents, at now: Instant) {
        guard !numbers.isEmpty, !isShuttingDown else { return }
        let wasIdle = doubts.isEmpty
        for number in numbers.sorted() { doubts.add(event, to: number) }
        if wasIdle { timers.set(UpstreamFlow.doubts, at: now) }
    }

    func workOffDoubts(at now: Instant) {
        let part = doubts.take(Self.doubtsPerTurn)
        timers.set(UpstreamFlow.doubts, at: doubts.isEmpty ? nil : now + Self.doubtPause)
        for (number, events) in part {
            if let subscription = upstreams[number], subscription.hasSink { apply(events, of: subscription, at: now) }
        }
    }

    private func apply(_ events: RemoteDomainEvents, of subscription: UpstreamSubscription, at now: Instant) {
        guard subscription.startsAt == nil, subscription.restsUntil == nil, subscription.subscriber.attempt > 0,
            !subscription.subscriber.isFetch
        else { return }
        if events == .sampleAccepted {
            if subscription.subscriber.standing == .established, subscription.subscriber.verifiesAt == nil {
                subscription.unverifiedSince = nil
            }
            return
        }
        // The subscription was verified a moment ago, so the return of the partner needs no refresh.
        if events == .partnerUp, subscription.unverifiedSince == nil, let verifiedAt = subscription.verifiedAt,
            now < verifiedAt + Self.verificationPause
        {
            return
        }
        if subscription.unverifiedSince == nil { subscription.unverifiedSince = now }
        if events == .sampled { return }
        if events.contains(.partnerDown) { applyWhenLost(subscription, isDown: true, at: now) }
        if events.contains(.partnerUp) { wake(subscription, at: now) }
        if events.contains(.serverDown), subscription.subscriber.isListening, subscription.dialog != nil,
            hasOtherServer(subscription, at: now)
        {
            subscription.startsAt = takeTurn(of: subscription, at: now) { _ in true }
            subscription.isMoving = true
        } else if let moment = takeTurn(of: subscription, at: now, where: { subscription.subscriber.verifiesSooner(at: $0) }) {
            subscription.subscriber.verify(at: moment)
        } else {
            // A refresh already planned for an earlier time keeps that time.
            if let planned = subscription.subscriber.asksAt { subscription.subscriber.verify(at: planned) }
        }
        schedule(subscription)
    }

    /// Restarts a lost subscription before the end of its pause.
    private func wake(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let moment = takeTurn(of: subscription, at: now, where: { subscription.subscriber.wakesSooner(at: $0) }) else { return }
        subscription.subscriber.wake(at: moment)
        subscription.verifiedAt = moment
    }

    /// Reserves a turn at the pace of a restart, spread by a function of the Call-ID; nil if the turn is of no use.
    /// - Parameter isSooner: whether a turn at that time is of use; otherwise none is reserved.
    private func takeTurn(of subscription: UpstreamSubscription, at now: Instant, where isSooner: (Instant) -> Bool) -> Instant? {
        let free = max(now, nextUpstreamStart)
        let rested = subscription.verifiedAt.map { $0 + Self.verificationPause } ?? now
        let chance = tokens.repeatableNumber(for: "verification\n\(subscription.callID)")
        let moment = max(free, rested) + TimeSpan(nanoseconds: Int64(chance % UInt64(Self.verificationSpread.nanoseconds)))
        guard isSooner(moment) else { return nil }
        // Subscriptions that wait for their pause were paced at their last verification.
        if rested <= free { nextUpstreamStart = free + configuration.timing.restorePace }
        return moment
    }

    /// Notes that the remote domain accepted a SUBSCRIBE.
    /// - Parameter source: source of the response.
    func noteVerified(_ subscription: UpstreamSubscription, by source: MessageSource, at now: Instant) {
        // Only repeated doubts wait for the pause; the first one is verified at once, however new the subscription is.
        if subscription.unverifiedSince != nil { subscription.verifiedAt = now }
        subscription.unverifiedSince = nil
        subscription.restoredAt = nil
        upstreams.note(subscription, acceptedBy: source.remote)
        bind(subscription, to: source.connection)
        sampleAccepted(subscription, at: now)
        keepAlive(subscription.domain.name, at: now)
    }

    // MARK: another server

    /// Whether the domain has another server that is up, besides the one that accepted the subscription.
    private func hasOtherServer(_ subscription: UpstreamSubscription, at now: Instant) -> Bool {
        guard let server = subscription.server else { return false }
        return servers(of: subscription.domain.hop).contains { !Self.isSame($0, server) && !hops.health.isPassedOver($0, at: now) }
    }

    /// Servers of a hop from the last lookup.
    func servers(of hop: NextHop) -> [TransportAddress] {
        guard case .located(let hopTarget) = hop, case .success(let plan)? = hops.known[hopTarget]?.result else { return [] }
        return plan.servers.flatMap(\.addresses)
    }

    /// Restarts a subscription at another server when its turn comes.
    func moveToOtherServer(_ subscription: UpstreamSubscription, at now: Instant) {
        subscription.isMoving = false
        subscription.startsAt = nil
        // Another server accepted the subscription in the meantime, or a SUBSCRIBE is outstanding.
        guard subscription.subscriber.isListening, subscription.unverifiedSince != nil, let dialog = subscription.dialog else {
            return schedule(subscription)
        }
        log(.info, "far leg moves to another server", ["call-id": subscription.callID])
        let old = predecessor(of: subscription, dialog, at: now)
        perform(subscription.subscriber.restart(at: now), on: subscription, at: now)
        upstreams[old.id] = old
        upstreamsByTag[old.localTag] = old
        end(old, hasDialog: true, at: now)
    }

    /// Moves the dialog at the old server, which may still exist, into a subscription that is ended there (RFC 6665 4.1.2.3).
    private func predecessor(of subscription: UpstreamSubscription, _ dialog: Dialog, at now: Instant) -> UpstreamSubscription {
        let old = makeUpstream(at: subscription.address, subscription.order(poll: nil), form: subscription.format, at: now)
        let policy = old.subscriber.configuration
        old.subscriber = Subscriber(
            resuming: policy, expiry: subscription.subscriber.lapsesAt ?? now + policy.timerN, refreshAt: now + policy.timerN)
        old.dialog = dialog
        old.localTag = subscription.localTag
        old.callID = subscription.callID
        old.hasNotified = subscription.hasNotified
        return old
    }

    /// Restarts a subscription at another server without a pause, if one is up, after a SUBSCRIBE in the dialog was not delivered.
    func wakeElsewhere(_ subscription: UpstreamSubscription, at now: Instant) {
        guard upstreams[subscription.id] === subscription, hasOtherServer(subscription, at: now) else { return }
        wake(subscription, at: now)
        schedule(subscription)
    }

    // MARK: connections

    /// Notes a connection that the subscription uses.
    func bind(_ subscription: UpstreamSubscription, to connection: ConnectionID?) {
        guard let connection, upstreams[subscription.id] === subscription, !subscription.connections.contains(connection) else { return }
        subscription.connections.append(connection)
        upstreamsOfConnection[connection, default: []].insert(subscription.id)
        // Keep two connections: one for SUBSCRIBEs and one for NOTIFYs.
        if subscription.connections.count > 2 { unbind(subscription, from: subscription.connections[0]) }
    }

    private func unbind(_ subscription: UpstreamSubscription, from connection: ConnectionID) {
        subscription.connections.removeAll { $0 == connection }
        upstreamsOfConnection[connection]?.remove(subscription.id)
        if upstreamsOfConnection[connection]?.isEmpty ?? false { upstreamsOfConnection[connection] = nil }
    }

    func unbindAll(_ subscription: UpstreamSubscription) {
        for connection in subscription.connections { unbind(subscription, from: connection) }
    }

    // MARK: state shown to watchers

    /// Applies `when-lost` to the known state until the remote domain sends state again.
    /// - Parameter isDown: false if the subscription restarts at once: the last state is shown for `staleAfter`.
    func applyWhenLost(_ subscription: UpstreamSubscription, isDown: Bool, at now: Instant) {
        for resource in subscription.resources { applyWhenLost(resource, of: subscription, isDown: isDown, at: now) }
    }

    func applyWhenLost(_ resource: UpstreamResource, of subscription: UpstreamSubscription, isDown: Bool, at now: Instant) {
        guard resource.source.isKnown else { return }
        switch subscription.domain.configuration.whenLost {
        case .pending where isDown: showPending(resource, at: now)
        case .offline where isDown: show(.offline, in: resource, at: now)
        default:
            guard resource.staleAt == nil, resource.source != .offline else { return }
            resource.staleAt = now + configuration.timing.staleAfter
        }
    }
}
