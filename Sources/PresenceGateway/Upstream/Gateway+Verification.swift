import FederationRouting
import SIPCore
import SIPEvents

/// Upstream subscriptions of which it is not known whether the far side still has them: it may have restarted and forgotten them.
///
///     connection broken, partner down, partner up again, next hop down --> unverified --> refresh, paced --2xx--> verified
///                                            |                                               \--481, silence--> made anew
///                                            +--down: `when-lost` applies
///     the server answers no OPTIONS, another one is up --> made anew there, paced; unsubscribed at the old one
///     connection ended by the peer --> unverified; one of them is refreshed (``sample(_:notBefore:at:)``)
///     NOTIFY refused here, the store failing --> unverified, refreshed once the store works
///
/// A subscription is refreshed, or made anew before its own pause is over, at most every ``verificationPause``.
extension Gateway {
    static let verificationPause = TimeSpan.seconds(30)
    /// Subscriptions that are looked at in one turn, and the time from the beginning of one turn to the next.
    private static let doubtsPerTurn = 64
    private static let doubtPause = TimeSpan.milliseconds(20)
    /// Refreshes are spread by up to this.
    private static let verificationSpread = TimeSpan.milliseconds(500)

    /// The connection over which subscriptions were heard ended.
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

    /// The domains that count as this partner.
    func domains(ofPartner partner: String, among names: some Sequence<String>) -> [String] {
        // A domain that only `"*"` covers is a partner of its own.
        if let (name, _) = routes.entry(for: partner), name == RoutingTable.fallbackName { return [partner] }
        return names.filter { partnerName(ofDomain: $0) == partner }
    }

    /// A server could not be reached, or did not answer one request.
    func serverFailed(_ target: TransportAddress, _ failure: Notifier.DeliveryFailure, at now: Instant) {
        let numbers = upstreams.numbers(atServer: target)
        guard !numbers.isEmpty else { return }
        switch failure {
        case .transport: doubt(numbers, .doubted, at: now)
        case .silence:
            // The request may have been silent for a reason of its own: OPTIONS decides.
            let names = Set(numbers.compactMap { upstreams[$0]?.domain.name }).sorted()
            if !names.contains(where: { askNow($0, of: target, at: now) }) { sample(numbers, at: now) }
        // A server that asks for credentials is up.
        case .challenge: break
        }
    }

    /// A server did not answer OPTIONS.
    func serverIsDown(_ target: TransportAddress, at now: Instant) {
        doubt(upstreams.numbers(atServer: target), .serverDown, at: now)
    }

    /// Whether two addresses are one place, whatever each has to prove.
    static func isSame(_ one: TransportAddress, _ other: TransportAddress) -> Bool {
        one.transport == other.transport && one.host == other.host && one.port == other.port
    }

    /// A NOTIFY is refused because the store fails: its notifier need not send that state again (RFC 6665 4.2.2).
    func noteUnheard(_ request: SIPRequest, _ flow: Flow, at now: Instant) {
        guard request.method == .notify, let tag = request.headers.toTag, let leg = upstreamsByTag[tag],
            request.headers.callID == leg.callID, isSpeaker(flow, for: SIPURI(host: leg.domain.name))
        else { return }
        if leg.unverifiedSince == nil { leg.unverifiedSince = now }
        desk.unheard.insert(leg.id)
    }

    /// The store keeps changes again: what its failure kept from being heard is asked for.
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
            if leg.subscriber.standing == .established, leg.subscriber.verifiesAt == nil, leg.unreadable == nil {
                leg.unverifiedSince = nil
            }
            return
        }
        // A partner that is back was asked about this subscription a moment ago.
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
            // A refresh that is planned for an earlier moment stays there, whatever is notified before.
            if let planned = leg.subscriber.asksAt { leg.subscriber.verify(at: planned) }
        }
        schedule(leg)
    }

    /// Makes a lost subscription anew before its pause is over.
    private func wake(_ leg: UpstreamSubscription, at now: Instant) {
        guard let moment = takeTurn(of: leg, at: now, where: { leg.subscriber.wakesSooner(at: $0) }) else { return }
        leg.subscriber.wake(at: moment)
        leg.verifiedAt = moment
    }

    /// The subscription's turn, in the pace of a restart and spread by a function of the subscription.
    /// - Parameter isSooner: whether that moment is of use; else no turn is taken.
    private func takeTurn(of leg: UpstreamSubscription, at now: Instant, where isSooner: (Instant) -> Bool) -> Instant? {
        let free = max(now, nextFarLeg)
        let rested = leg.verifiedAt.map { $0 + Self.verificationPause } ?? now
        let chance = tokens.repeatableNumber(for: "verification\n\(leg.callID)")
        let moment = max(free, rested) + TimeSpan(nanoseconds: Int64(chance % UInt64(Self.verificationSpread.nanoseconds)))
        guard isSooner(moment) else { return nil }
        // Subscriptions that wait for their pause were paced when they were verified.
        if rested <= free { nextFarLeg = free + configuration.timing.restorePace }
        return moment
    }

    /// The far side accepted a SUBSCRIBE of the subscription.
    /// - Parameter source: from where it answered.
    func noteVerified(_ leg: UpstreamSubscription, by source: MessageSource, at now: Instant) {
        // Doubts that follow one another wait; the first one is answered at once, however young the subscription.
        if leg.unverifiedSince != nil { leg.verifiedAt = now }
        // A 2xx does not show what could not be read.
        if leg.unreadable == nil { leg.unverifiedSince = nil }
        upstreams.note(leg, acceptedBy: source.remote)
        bind(leg, to: source.connection)
        sampleAccepted(leg, at: now)
        keepAlive(leg.domain.name, at: now)
    }

    // MARK: another server

    /// Whether the domain has a server that is up, besides the one where the subscription was accepted.
    private func hasOtherServer(_ leg: UpstreamSubscription, at now: Instant) -> Bool {
        guard let server = leg.server else { return false }
        return servers(of: leg.domain.hop).contains { !Self.isSame($0, server) && !hops.health.isPassedOver($0, at: now) }
    }

    /// The servers of a hop that were found last.
    func servers(of hop: NextHop) -> [TransportAddress] {
        guard case .located(let goal) = hop, case .success(let plan)? = hops.known[goal]?.result else { return [] }
        return plan.servers.flatMap(\.addresses)
    }

    /// The subscription's turn to be made anew at another server.
    func moveToOtherServer(_ leg: UpstreamSubscription, at now: Instant) {
        leg.isMoving = false
        leg.startsAt = nil
        // Another server has accepted it meanwhile, or is being asked.
        guard leg.subscriber.isListening, leg.unverifiedSince != nil, let dialog = leg.dialog else { return schedule(leg) }
        log(.info, "far leg moves to another server", ["call-id": leg.callID])
        let old = predecessor(of: leg, dialog, at: now)
        perform(leg.subscriber.restart(at: now), on: leg, at: now)
        upstreams[old.id] = old
        upstreamsByTag[old.localTag] = old
        end(old, hasDialog: true, at: now)
    }

    /// The subscription's dialog at the server that it leaves, which may live, to be ended there (RFC 6665 4.1.2.3).
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

    /// A SUBSCRIBE in the dialog was not delivered: where another server is up, the subscription is made anew there without a pause.
    func wakeElsewhere(_ leg: UpstreamSubscription, at now: Instant) {
        guard upstreams[leg.id] === leg, hasOtherServer(leg, at: now) else { return }
        wake(leg, at: now)
        schedule(leg)
    }

    // MARK: connections

    /// The subscription is heard over a connection.
    func bind(_ leg: UpstreamSubscription, to connection: ConnectionID?) {
        guard let connection, upstreams[leg.id] === leg, !leg.connections.contains(connection) else { return }
        leg.connections.append(connection)
        legsOfConnection[connection, default: []].insert(leg.id)
        // The one that SUBSCRIBEs go over, and the one that NOTIFYs come over.
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

    // MARK: what watchers see

    /// Applies `when-lost` to the known state until the remote domain is heard again.
    /// - Parameter isDown: false: it is asked again at once, and the last state is shown for a while.
    func applyWhenLost(_ leg: UpstreamSubscription, isDown: Bool, at now: Instant) {
        for resource in leg.resources where resource.source.isKnown {
            switch leg.domain.configuration.whenLost {
            case .pending where isDown: showPending(resource, at: now)
            case .offline where isDown: show(.offline, in: resource, at: now)
            default:
                guard resource.staleAt == nil, resource.source != .offline else { continue }
                resource.staleAt = now + configuration.timing.staleAfter
            }
        }
    }
}
