import FederationRouting
import SIPCore

/// Sends OPTIONS to the next hops of domains with a configured interval, and by default to those with upstream subscriptions, so that
/// partners that are down are noticed (RFC 3261 11), see ``KeepAlive``. Of several servers each one with subscriptions is asked, because a
/// response of another server does not show that it is up.
extension Gateway {
    /// Intervals without configuration while the partner is up and while it is down, and the most servers and domains asked.
    static let keepAliveInterval = TimeSpan.seconds(60)
    private static let keepAliveIntervalDown = TimeSpan.seconds(15)
    private static let keptAliveServers = 8
    private static let keptAliveDomains = 10_000

    /// Time in which the first requests are spread, so that not all partners are asked at once.
    private static let spread = TimeSpan.seconds(5)

    /// Starts OPTIONS to the partners; call it once after the start. A reload calls it again and keeps the timing of unchanged domains.
    public func keepPartnersAlive(at now: Instant) {
        guard !isShuttingDown else { return }
        keepsPartnersAlive = true
        var plan: [String: KeepAlive] = [:]
        for (name, domain) in configuration.domains.sorted(by: { $0.key < $1.key }) {
            guard let interval = domain.keepAlive, interval > .zero, isKeptAliveHere(name, domain) else { continue }
            if let known = keepAlives[name], known.interval == interval {
                plan[name] = known
            } else {
                let most = min(Self.spread, interval).nanoseconds
                let due = now + TimeSpan(nanoseconds: .random(in: 0...most, using: &hops.random))
                let ticket = keepAlives[name]?.ticket ?? flows.border.add(domain: name)
                plan[name] = KeepAlive(ticket: ticket, interval: interval, dueAt: due, after: keepAlives[name])
                timers.set(ticket, at: due)
            }
        }
        for (name, state) in keepAlives where state.isDefault && plan[name] == nil {
            if configuration.domain(name)?.keepAlive == nil { plan[name] = state }
        }
        for (name, state) in keepAlives where plan[name] == nil { flows.border.remove(domain: state.ticket) }
        keepAlives = plan
    }

    /// Whether this shard asks the domain; one shard asks each.
    private func isKeptAliveHere(_ name: String, _ domain: DomainConfiguration) -> Bool {
        name != RoutingTable.fallbackName && !domain.hosted && domain.refuse == nil
            && ShardRouter(shards: shards).shard(ofKey: name) == shard
    }

    func advanceKeepAlive(_ name: String, at now: Instant) {
        guard !isShuttingDown, let state = keepAlives[name] else { return }
        let subscribed =
            state.isDefault || configuration.naming != nil
            ? flows.upstream.upstreams.numbers(ofDomain: name).compactMap { flows.upstream.upstreams[$0] }.filter(\.hasSink) : []
        let isDown = partnerName(ofDomain: name).map { partners.isAway($0) } ?? false
        if state.isDefault {
            guard !subscribed.isEmpty else {
                keepAlives[name] = nil
                flows.border.remove(domain: state.ticket)
                return
            }
        }
        let interval = !state.isDefault ? state.interval : isDown ? Self.keepAliveIntervalDown : Self.keepAliveInterval
        // Up to a tenth earlier, so that partners do not stay synchronized.
        let sooner = TimeSpan(nanoseconds: .random(in: 0...(interval.nanoseconds / 10), using: &hops.random))
        keepAlives[name]?.plan(at: now + (interval - sooner))
        timers.set(state.ticket, at: now + (interval - sooner))
        guard state.isResting, let hop = hop(toward: SIPURI(host: name)) else { return }
        // While the partner is down, a response of any server shows its return.
        let known = isDown ? [] : flows.upstream.verifier.servers(of: hop)
        let places = subscribed.compactMap(\.verification.server)
        let asked =
            known.count < 2 ? [] : known.filter { one in places.contains { $0.isSame(as: one) } }.prefix(Self.keptAliveServers)
        keepAlives[name]?.ask(asked.count)
        if asked.isEmpty { return askAlive(name, by: requestRoute(by: hop), of: nil, at: now) }
        for server in asked { askAlive(name, by: requestRoute(by: .fixed(server)), of: server, at: now) }
    }

    private func askAlive(_ name: String, by requestRoute: RequestRoute, of server: TransportAddress?, at now: Instant) {
        var request = SIPRequest(.options, uri: SIPURI(host: name))
        request.headers.maxForwards = 70
        request.headers.from = NameAddr(SIPURI(host: configuration.nodeName), parameters: SIPParameters([.init("tag", tokens.tag())]))
        request.headers.to = NameAddr(SIPURI(host: name))
        request.headers.callID = tokens.callID()
        request.headers.cSeq = CSeq(1, .options)
        request.headers.set(.contact, contact(by: requestRoute))
        request.headers.set(.accept, Self.acceptedBodies)
        send(request, by: requestRoute, for: flows.border.origin(probing: name, at: server), at: now)
    }

    /// Notes the end of one request.
    func keepAliveEnded(_ name: String) {
        keepAlives[name]?.ended()
    }

    /// Handles the response to OPTIONS.
    /// - Parameter server: the asked server; nil: any.
    func keepAliveAnswered(_ name: String, by server: TransportAddress?, _ response: SIPResponse, at now: Instant) {
        keepAliveEnded(name)
        guard let server else { return }
        if response.status == .serviceUnavailable {
            kernel.delivery.noteUnavailable(server, response, at: now)
        } else if hops.health.succeeded(server) {
            log(.notice, "next hop is up again", ["target": server.description])
        }
    }

    func keepAliveFailed(_ name: String, at server: TransportAddress?, because reason: String, at now: Instant) {
        keepAliveEnded(name)
        guard let server, reason != TransactionLayer.limitReason else { return }
        _ = kernel.delivery.notePassedOver(server, reason, at: now)
        flows.upstream.verifier.serverIsDown(server, at: now)
    }

    /// Sends OPTIONS after another request to the domain or to one of its servers was not answered.
    /// - Returns: false if the domain is not asked by configuration.
    func askNow(_ name: String, of server: TransportAddress? = nil, at now: Instant) -> Bool {
        guard keepsPartnersAlive, !isShuttingDown, keepAlives[name] != nil, let hop = hop(toward: SIPURI(host: name)) else { return false }
        guard keepAlives[name]?.askNow(pause: Self.keepAliveIntervalDown, at: now) == true else { return true }
        askAlive(name, by: server.map { requestRoute(by: .fixed($0)) } ?? requestRoute(by: hop), of: server, at: now)
        return true
    }

    /// Asks a partner that is down sooner. Repeated failures do not postpone the next OPTIONS.
    func keepAliveSoon(of partner: String, at now: Instant) {
        for name in domains(ofPartner: partner, among: keepAlives.keys) {
            guard let ticket = keepAlives[name]?.ticket, keepAlives[name]?.isDefault == true else { continue }
            let chance = tokens.repeatableNumber(for: "keep-alive down\n\(name)")
            let sooner = Int64(chance % UInt64(Self.keepAliveIntervalDown.nanoseconds / 10))
            let soon = now + TimeSpan(nanoseconds: Self.keepAliveIntervalDown.nanoseconds - sooner)
            guard keepAlives[name]?.planSooner(at: soon) == true else { continue }
            timers.set(ticket, at: soon)
        }
    }

    /// Starts default OPTIONS to a domain with upstream subscriptions, unless the configuration sets or disables the interval.
    func keepAlive(_ name: String, at now: Instant) {
        guard keepsPartnersAlive, keepAlives[name] == nil, keepAlives.count < Self.keptAliveDomains,
            configuration.domain(name)?.keepAlive == nil
        else { return }
        let chance = tokens.repeatableNumber(for: "keep-alive\n\(name)")
        let sooner = Int64(chance % UInt64(Self.keepAliveInterval.nanoseconds / 10))
        let due = now + TimeSpan(nanoseconds: Self.keepAliveInterval.nanoseconds - sooner)
        let ticket = flows.border.add(domain: name)
        keepAlives[name] = KeepAlive(ticket: ticket, interval: Self.keepAliveInterval, isDefault: true, dueAt: due)
        timers.set(ticket, at: due)
    }
}
