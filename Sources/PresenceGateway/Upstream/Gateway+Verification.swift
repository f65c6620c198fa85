import FederationRouting
import SIPCore
import SIPEvents

/// Far legs of which it is not known whether the far side still has them: it may have restarted and forgotten them.
///
///     connection closed, partner down, partner up again, next hop down --> unverified, queued --> refresh, paced --2xx--> verified
///                                            |                                                     \--481, silence--> made anew
///                                            +--down: `when-lost` applies
///     next hop down, another one lives --> made anew there, paced
///     NOTIFY refused here, the store failing --> unverified, queued once the store works
///
/// A leg is verified at most every ``verificationPause``.
extension Gateway {
    /// What happened to the far side of a leg.
    enum FarSideEvent {
        /// The connection over which it was heard ended.
        case connectionClosed
        case partnerDown
        case partnerUp
        /// The server where it was accepted failed.
        case hopDown
        /// A NOTIFY of it was refused here.
        case notHeard
    }

    static let verificationPause = TimeSpan.seconds(30)
    /// So many legs are looked at in one turn, and from the beginning of one turn to the next.
    private static let doubtsPerTurn = 64
    private static let doubtPause = TimeSpan.milliseconds(20)
    /// Refreshes are spread by up to this.
    private static let verificationSpread = TimeSpan.milliseconds(500)

    /// Legs that were heard over a connection that ended.
    func legsLost(_ connection: ConnectionID, at now: Instant) {
        guard let ids = legsOfConnection.removeValue(forKey: connection) else { return }
        doubt(ids.sorted(), .connectionClosed, at: now)
    }

    func partnerChanged(_ partner: String, isUp: Bool, at now: Instant) {
        if !isUp { keepAliveSoon(of: partner, at: now) }
        let legs = upstreams.values.filter { partnerName(ofDomain: $0.domain.name) == partner }
        doubt(legs.map(\.id).sorted(), isUp ? .partnerUp : .partnerDown, at: now)
    }

    func hopFailed(_ target: TransportAddress, at now: Instant) {
        let legs = upstreams.values.filter { $0.server.map { Self.isSame($0, target) } ?? false }
        doubt(legs.map(\.id).sorted(), .hopDown, at: now)
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
        let ids = desk.unheard.sorted()
        desk.unheard = []
        doubt(ids, .notHeard, at: now)
    }

    private func doubt(_ ids: [UInt64], _ event: FarSideEvent, at now: Instant) {
        guard !ids.isEmpty, !isShuttingDown else { return }
        // Signals that come faster than they are worked off say nothing new.
        guard doubts.count <= 2 * upstreams.count else { return }
        doubts += ids.map { ($0, event) }
        wakes.set(.doubts, at: now)
    }

    func workOffDoubts(at now: Instant) {
        let part = doubts.prefix(Self.doubtsPerTurn)
        doubts = doubts.dropFirst(part.count)
        if doubts.isEmpty { doubts = [] }
        wakes.set(.doubts, at: doubts.isEmpty ? nil : now + Self.doubtPause)
        for (id, event) in part {
            if let leg = upstreams[id], leg.hasSink { verify(leg, event, at: now) }
        }
    }

    private func verify(_ leg: UpstreamSubscription, _ event: FarSideEvent, at now: Instant) {
        guard leg.startsAt == nil, leg.restsUntil == nil, leg.subscriber.attempt > 0, !leg.subscriber.isFetch else { return }
        // A partner that is back was asked about this leg a moment ago.
        if event == .partnerUp, leg.unverifiedSince == nil, let verifiedAt = leg.verifiedAt, now < verifiedAt + Self.verificationPause {
            return
        }
        if leg.unverifiedSince == nil { leg.unverifiedSince = now }
        switch event {
        case .partnerUp:
            leg.subscriber.wake(at: verificationMoment(of: leg, at: now))
        case .partnerDown:
            showUnvouched(leg, isDown: true, at: now)
        case .hopDown where leg.subscriber.isListening && hasOtherServer(leg, at: now):
            leg.startsAt = verificationMoment(of: leg, at: now)
            leg.isMoving = true
            return schedule(leg)
        case .hopDown, .connectionClosed, .notHeard: break
        }
        leg.subscriber.verify(at: verificationMoment(of: leg, at: now))
        schedule(leg)
    }

    /// Its turn, in the pace of a restart and spread by a function of the leg.
    private func verificationMoment(of leg: UpstreamSubscription, at now: Instant) -> Instant {
        let turn = max(now, nextFarLeg, leg.verifiedAt.map { $0 + Self.verificationPause } ?? now)
        nextFarLeg = max(now, nextFarLeg) + configuration.timing.restorePace
        let chance = tokens.repeatableNumber(for: "verification\n\(leg.callID)")
        return turn + TimeSpan(nanoseconds: Int64(chance % UInt64(Self.verificationSpread.nanoseconds)))
    }

    /// Whether the domain has a server that is up, besides the one where the leg was accepted.
    private func hasOtherServer(_ leg: UpstreamSubscription, at now: Instant) -> Bool {
        guard let server = leg.server else { return false }
        return servers(of: leg.domain.hop).contains { !Self.isSame($0, server) && !hops.health.isPassedOver($0, at: now) }
    }

    /// The servers of a hop that were found last.
    func servers(of hop: NextHop) -> [TransportAddress] {
        guard case .located(let goal) = hop, case .success(let plan)? = hops.known[goal]?.result else { return [] }
        return plan.servers.flatMap(\.addresses)
    }

    /// The leg's turn to be made anew at another server.
    func moveToOtherServer(_ leg: UpstreamSubscription, at now: Instant) {
        leg.isMoving = false
        leg.startsAt = nil
        // Another server has accepted it meanwhile, or is being asked.
        guard leg.subscriber.isListening, leg.unverifiedSince != nil, leg.dialog != nil else { return schedule(leg) }
        log(.info, "far leg moves to another server", ["call-id": leg.callID])
        perform(leg.subscriber.restart(at: now), on: leg, at: now)
    }

    /// The far side accepted a SUBSCRIBE of the leg.
    /// - Parameter source: from where it answered.
    func noteVerified(_ leg: UpstreamSubscription, by source: MessageSource, at now: Instant) {
        // Doubts that follow one another wait; the first one is answered at once, however young the leg.
        if leg.unverifiedSince != nil { leg.verifiedAt = now }
        leg.unverifiedSince = nil
        leg.server = source.remote
        bind(leg, to: source.connection)
        keepAlive(leg.domain.name, at: now)
    }

    // MARK: connections

    /// The leg is heard over a connection.
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

    /// Nobody vouches for what is known, until the far side is heard again (`when-lost`).
    /// - Parameter isDown: false: it is asked again at once, and the last state is shown for a while.
    func showUnvouched(_ leg: UpstreamSubscription, isDown: Bool, at now: Instant) {
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
