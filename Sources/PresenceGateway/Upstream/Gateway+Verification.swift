import FederationRouting
import SIPCore
import SIPEvents

/// Verification of upstream subscriptions that the remote domain may have lost, for example by a restart.
///
///     connection broken, partner down, partner up again, next hop down --> unverified --> refresh, paced --2xx--> verified
///                                            |                                               \--481, silence--> made anew
///                                            +--down: `when-lost` applies
///     the server answers no OPTIONS, another one is up --> made anew there, paced; unsubscribed at the old one
///     connection closed by the peer --> unverified; one of them is refreshed (``sample(_:notBefore:at:)``)
///     NOTIFY refused because the store fails --> unverified, refreshed once the store works
///
/// A subscription is refreshed, or made anew before the end of its pause, at most once per ``verificationPause``.
extension Gateway {
    static let verificationPause = TimeSpan.seconds(30)
    /// Subscriptions handled in one turn, and time from the start of one turn to the next.
    private static let doubtsPerTurn = 64
    private static let doubtPause = TimeSpan.milliseconds(20)
    /// Largest delay of a refresh; spreads refreshes over time.
    private static let verificationSpread = TimeSpan.milliseconds(500)

    /// Doubts the subscriptions that used a connection after its end, unless the gateway closed it as idle.
    func legsLost(_ connection: ConnectionID, _ end: ConnectionEnd, at now: Instant) {
        guard let numbers = legsOfConnection.removeValue(forKey: connection) else { return }
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
        guard request.method == .notify, let tag = request.headers.toTag, let leg = upstreamsByTag[tag],
            request.headers.callID == leg.callID, isSpeaker(flow, for: SIPURI(host: leg.domain.name))
        else { return }
        if leg.unverifiedSince == nil { leg.unverifiedSince = now }
        desk.unheard.insert(leg.id)
    }

    /// Requests the states that were refused while the store failed, once the store works.
    func verifyUnheard(at now: Instant) {
        guard !desk.unheard.isEmpty, desk.failingUntil == nil else { return }
        let numbers = desk.unheard
        desk.unheard = []
        doubt(numbers, .doubted, at: now)
    }

    func doubt(_ numbers: Set<UInt64>, _ event: FarSideEvents, at now: Instant) {
        guard !numbers.isEmpty, !isShuttingDown else { return }
        let wasIdle = doubts.isEmpty
        for number in numbers.sorted() { doubts.add(event, to: number) }
        if wasIdle { wakes.set(.doubts, at: now) }
    }

    func workOffDoubts(at now: Instant) {
        let part = doubts.take(Self.doubtsPerTurn)
        wakes.set(.doubts, at: doubts.isEmpty ? nil : now + Self.doubtPause)
        for (number, events) in part {
            if let leg = upstreams[number], leg.hasSink { heed(events, of: leg, at: now) }
        }
    }

    private func heed(_ events: FarSideEvents, of leg: UpstreamSubscription, at now: Instant) {
        guard leg.startsAt == nil, leg.restsUntil == nil, leg.subscriber.attempt > 0, !leg.subscriber.isFetch else { return }
        if events == .sampleAccepted {
            if leg.subscriber.standing == .established, leg.subscriber.verifiesAt == nil {
                leg.unverifiedSince = nil
            }
            return
        }
        // The subscription was verified a moment ago, so the return of the partner needs no refresh.
        if events == .partnerUp, leg.unverifiedSince == nil, let verifiedAt = leg.verifiedAt, now < verifiedAt + Self.verificationPause {
            return
        }
        if leg.unverifiedSince == nil { leg.unverifiedSince = now }
        if events == .sampled { return }
        if events.contains(.partnerDown) { applyWhenLost(leg, isDown: true, at: now) }
        if events.contains(.partnerUp) { wake(leg, at: now) }
        if events.contains(.serverDown), leg.subscriber.isListening, leg.dialog != nil, hasOtherServer(leg, at: now) {
            leg.startsAt = takeTurn(of: leg, at: now) { _ in true }
            leg.isMoving = true
        } else if let moment = takeTurn(of: leg, at: now, where: { leg.subscriber.verifiesSooner(at: $0) }) {
            leg.subscriber.verify(at: moment)
        } else {
            // A refresh already planned for an earlier time keeps that time.
            if let planned = leg.subscriber.asksAt { leg.subscriber.verify(at: planned) }
        }
        schedule(leg)
    }

    /// Restarts a lost subscription before the end of its pause.
    private func wake(_ leg: UpstreamSubscription, at now: Instant) {
        guard let moment = takeTurn(of: leg, at: now, where: { leg.subscriber.wakesSooner(at: $0) }) else { return }
        leg.subscriber.wake(at: moment)
        leg.verifiedAt = moment
    }

    /// Reserves a turn at the pace of a restart, spread by a function of the Call-ID; nil if the turn is of no use.
    /// - Parameter isSooner: whether a turn at that time is of use; otherwise none is reserved.
    private func takeTurn(of leg: UpstreamSubscription, at now: Instant, where isSooner: (Instant) -> Bool) -> Instant? {
        let free = max(now, nextFarLeg)
        let rested = leg.verifiedAt.map { $0 + Self.verificationPause } ?? now
        let chance = tokens.repeatableNumber(for: "verification\n\(leg.callID)")
        let moment = max(free, rested) + TimeSpan(nanoseconds: Int64(chance % UInt64(Self.verificationSpread.nanoseconds)))
        guard isSooner(moment) else { return nil }
        // Subscriptions that wait for their pause were paced at their last verification.
        if rested <= free { nextFarLeg = free + configuration.timing.restorePace }
        return moment
    }

    /// Notes that the remote domain accepted a SUBSCRIBE.
    /// - Parameter source: source of the response.
    func noteVerified(_ leg: UpstreamSubscription, by source: MessageSource, at now: Instant) {
        // Only repeated doubts wait for the pause; the first one is verified at once, however new the subscription is.
        if leg.unverifiedSince != nil { leg.verifiedAt = now }
        leg.unverifiedSince = nil
        leg.restoredAt = nil
        upstreams.note(leg, acceptedBy: source.remote)
        bind(leg, to: source.connection)
        sampleAccepted(leg, at: now)
        keepAlive(leg.domain.name, at: now)
    }

    // MARK: another server

    /// Whether the domain has another server that is up, besides the one that accepted the subscription.
    private func hasOtherServer(_ leg: UpstreamSubscription, at now: Instant) -> Bool {
        guard let server = leg.server else { return false }
        return servers(of: leg.domain.hop).contains { !Self.isSame($0, server) && !hops.health.isPassedOver($0, at: now) }
    }

    /// Servers of a hop from the last lookup.
    func servers(of hop: NextHop) -> [TransportAddress] {
        guard case .located(let goal) = hop, case .success(let plan)? = hops.known[goal]?.result else { return [] }
        return plan.servers.flatMap(\.addresses)
    }

    /// Restarts a subscription at another server when its turn comes.
    func moveToOtherServer(_ leg: UpstreamSubscription, at now: Instant) {
        leg.isMoving = false
        leg.startsAt = nil
        // Another server accepted the subscription in the meantime, or a SUBSCRIBE is outstanding.
        guard leg.subscriber.isListening, leg.unverifiedSince != nil, let dialog = leg.dialog else { return schedule(leg) }
        log(.info, "far leg moves to another server", ["call-id": leg.callID])
        let old = predecessor(of: leg, dialog, at: now)
        perform(leg.subscriber.restart(at: now), on: leg, at: now)
        upstreams[old.id] = old
        upstreamsByTag[old.localTag] = old
        end(old, hasDialog: true, at: now)
    }

    /// Moves the dialog at the old server, which may still exist, into a subscription that is ended there (RFC 6665 4.1.2.3).
    private func predecessor(of leg: UpstreamSubscription, _ dialog: Dialog, at now: Instant) -> UpstreamSubscription {
        let old = makeLeg(at: leg.place, leg.order(poll: nil), form: leg.format, at: now)
        let policy = old.subscriber.configuration
        old.subscriber = Subscriber(
            resuming: policy, expiry: leg.subscriber.lapsesAt ?? now + policy.timerN, refreshAt: now + policy.timerN)
        old.dialog = dialog
        old.localTag = leg.localTag
        old.callID = leg.callID
        old.hasNotified = leg.hasNotified
        return old
    }

    /// Restarts a subscription at another server without a pause, if one is up, after a SUBSCRIBE in the dialog was not delivered.
    func wakeElsewhere(_ leg: UpstreamSubscription, at now: Instant) {
        guard upstreams[leg.id] === leg, hasOtherServer(leg, at: now) else { return }
        wake(leg, at: now)
        schedule(leg)
    }

    // MARK: connections

    /// Notes a connection that the subscription uses.
    func bind(_ leg: UpstreamSubscription, to connection: ConnectionID?) {
        guard let connection, upstreams[leg.id] === leg, !leg.connections.contains(connection) else { return }
        leg.connections.append(connection)
        legsOfConnection[connection, default: []].insert(leg.id)
        // Keep two connections: one for SUBSCRIBEs and one for NOTIFYs.
        if leg.connections.count > 2 { unbind(leg, from: leg.connections[0]) }
    }

    private func unbind(_ leg: UpstreamSubscription, from connection: ConnectionID) {
        leg.connections.removeAll { $0 == connection }
        legsOfConnection[connection]?.remove(leg.id)
        if legsOfConnection[connection]?.isEmpty ?? false { legsOfConnection[connection] = nil }
    }

    func unbindAll(_ leg: UpstreamSubscription) {
        for connection in leg.connections { unbind(leg, from: connection) }
    }

    // MARK: state shown to watchers

    /// Applies `when-lost` to the known state until the remote domain sends state again.
    /// - Parameter isDown: false if the subscription restarts at once: the last state is shown for `staleAfter`.
    func applyWhenLost(_ leg: UpstreamSubscription, isDown: Bool, at now: Instant) {
        for resource in leg.resources { applyWhenLost(resource, of: leg, isDown: isDown, at: now) }
    }

    func applyWhenLost(_ resource: UpstreamResource, of leg: UpstreamSubscription, isDown: Bool, at now: Instant) {
        guard resource.source.isKnown else { return }
        switch leg.domain.configuration.whenLost {
        case .pending where isDown: showPending(resource, at: now)
        case .offline where isDown: show(.offline, in: resource, at: now)
        default:
            guard resource.staleAt == nil, resource.source != .offline else { return }
            resource.staleAt = now + configuration.timing.staleAfter
        }
    }
}
