import FederationRouting
import SIPCore

/// Sends OPTIONS to the next hops of domains with a configured interval, and by default to those with upstream subscriptions, so that
/// partners that are down are noticed (RFC 3261 11), see ``KeepAlive``. Of several servers each one with subscriptions is asked, because a
/// response of another server does not show that it is up.
final class PartnerProbes: ShardMember, KernelClient {
    private enum Kind {
        static let domain: UInt8 = 0
        static let probe: UInt8 = 1
    }

    /// An OPTIONS without a response yet.
    private struct Probe {
        let domain: String
        /// The asked server; nil: any.
        let server: TransportAddress?
    }

    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive it.
    private unowned let ports: any BorderPorts
    private let partners: PartnerRecords
    /// The probed domains.
    private(set) var keepAlives: [String: KeepAlive] = [:]
    /// Whether domains are probed, by default those with an upstream subscription.
    private var isStarted = false
    /// The names of the probed domains, by timer.
    private var domains = Slab<String>()
    private var probes = Slab<Probe>()

    init(
        _ kernel: GatewayKernel, _ context: ShardContext, _ ports: any BorderPorts, _ partners: PartnerRecords
    ) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
        self.partners = partners
    }

    /// Intervals without configuration while the partner is up and while it is down, and the most servers and domains asked.
    private static let interval = TimeSpan.seconds(60)
    private static let intervalDown = TimeSpan.seconds(15)
    private static let mostServers = 8
    private static let mostDomains = 10_000

    /// Time in which the first requests are spread, so that not all partners are asked at once.
    private static let spread = TimeSpan.seconds(5)

    /// Starts OPTIONS to the partners. A reload calls it again and keeps the timing of unchanged domains.
    func start(at now: Instant) {
        guard !isShuttingDown else { return }
        isStarted = true
        var plan: [String: KeepAlive] = [:]
        for (name, domain) in configuration.domains.sorted(by: { $0.key < $1.key }) {
            guard let interval = domain.keepAlive, interval > .zero, isAskedHere(name, domain) else { continue }
            if let known = keepAlives[name], known.interval == interval {
                plan[name] = known
            } else {
                let most = min(Self.spread, interval).nanoseconds
                let due = now + TimeSpan(nanoseconds: .random(in: 0...most, using: &hops.random))
                begin(name, every: interval, isDefault: false, dueAt: due)
                plan[name] = keepAlives[name]
            }
        }
        for (name, state) in keepAlives where state.isDefault && plan[name] == nil {
            if configuration.domain(name)?.keepAlive == nil { plan[name] = state }
        }
        for (name, state) in keepAlives where plan[name] == nil { remove(domain: state.ticket) }
        keepAlives = plan
    }

    /// Whether this shard asks the domain; one shard asks each.
    private func isAskedHere(_ name: String, _ domain: DomainConfiguration) -> Bool {
        name != RoutingTable.fallbackName && !domain.hosted && domain.refuse == nil
            && place.has(name)
    }

    func advance(_ name: String, at now: Instant) {
        guard !isShuttingDown, let state = keepAlives[name] else { return }
        let isDown = partnerName(ofDomain: name).map { partners.table.isAway($0) } ?? false
        if state.isDefault, !ports.hasSubscriptions(atDomain: name) {
            keepAlives[name] = nil
            remove(domain: state.ticket)
            return
        }
        let interval = !state.isDefault ? state.interval : isDown ? Self.intervalDown : Self.interval
        // Up to a tenth earlier, so that partners do not stay synchronized.
        let sooner = TimeSpan(nanoseconds: .random(in: 0...(interval.nanoseconds / 10), using: &hops.random))
        keepAlives[name]?.plan(at: now + (interval - sooner))
        timers.set(state.ticket, at: now + (interval - sooner))
        guard state.isResting, let hop = hop(toward: SIPURI(host: name)) else { return }
        // While the partner is down, a response of any server shows its return.
        let asksEach = !isDown && (state.isDefault || configuration.naming != nil)
        let asked = asksEach ? ports.subscribedServers(ofDomain: name, at: hop).prefix(Self.mostServers) : []
        keepAlives[name]?.ask(asked.count)
        if asked.isEmpty { return ask(name, by: requestRoute(by: hop), of: nil, at: now) }
        for server in asked { ask(name, by: requestRoute(by: .fixed(server)), of: server, at: now) }
    }

    private func ask(_ name: String, by requestRoute: RequestRoute, of server: TransportAddress?, at now: Instant) {
        var request = SIPRequest(.options, uri: SIPURI(host: name))
        request.headers.maxForwards = 70
        request.headers.from = NameAddr(SIPURI(host: configuration.nodeName), parameters: SIPParameters([.init("tag", tokens.tag())]))
        request.headers.to = NameAddr(SIPURI(host: name))
        request.headers.callID = tokens.callID()
        request.headers.cSeq = CSeq(1, .options)
        request.headers.set(.contact, contact(by: requestRoute))
        request.headers.set(.accept, ShardContext.acceptedBodies)
        send(request, by: requestRoute, for: origin(probing: name, at: server), at: now)
    }

    /// Handles the response to OPTIONS.
    /// - Parameter server: the asked server; nil: any.
    private func answered(_ name: String, by server: TransportAddress?, _ response: SIPResponse, at now: Instant) {
        keepAlives[name]?.ended()
        guard let server else { return }
        if response.status == .serviceUnavailable {
            kernel.delivery.noteUnavailable(server, response, at: now)
        } else if hops.health.succeeded(server) {
            log(.notice, "next hop is up again", ["target": server.description])
        }
    }

    private func failed(_ name: String, at server: TransportAddress?, because reason: String, at now: Instant) {
        keepAlives[name]?.ended()
        guard let server, reason != TransactionLayer.limitReason else { return }
        _ = kernel.delivery.notePassedOver(server, reason, at: now)
        ports.serverIsDown(server, at: now)
    }

    /// Sends OPTIONS after another request to the domain or to one of its servers was not answered.
    /// - Returns: false if the domain is not asked by configuration.
    func askNow(_ name: String, of server: TransportAddress? = nil, at now: Instant) -> Bool {
        guard isStarted, !isShuttingDown, keepAlives[name] != nil, let hop = hop(toward: SIPURI(host: name)) else { return false }
        guard keepAlives[name]?.askNow(pause: Self.intervalDown, at: now) == true else { return true }
        ask(name, by: server.map { requestRoute(by: .fixed($0)) } ?? requestRoute(by: hop), of: server, at: now)
        return true
    }

    /// Asks a partner that is down sooner. Repeated failures do not postpone the next OPTIONS.
    func askSoon(_ partner: String, at now: Instant) {
        for name in domains(ofPartner: partner, among: keepAlives.keys) {
            guard let ticket = keepAlives[name]?.ticket, keepAlives[name]?.isDefault == true else { continue }
            let chance = tokens.repeatableNumber(for: "keep-alive down\n\(name)")
            let sooner = Int64(chance % UInt64(Self.intervalDown.nanoseconds / 10))
            let soon = now + TimeSpan(nanoseconds: Self.intervalDown.nanoseconds - sooner)
            guard keepAlives[name]?.planSooner(at: soon) == true else { continue }
            timers.set(ticket, at: soon)
        }
    }

    /// Starts default OPTIONS to a domain with upstream subscriptions, unless the configuration sets or disables the interval.
    func keepAlive(_ name: String, at now: Instant) {
        guard isStarted, keepAlives[name] == nil, keepAlives.count < Self.mostDomains,
            configuration.domain(name)?.keepAlive == nil
        else { return }
        let chance = tokens.repeatableNumber(for: "keep-alive\n\(name)")
        let sooner = Int64(chance % UInt64(Self.interval.nanoseconds / 10))
        let due = now + TimeSpan(nanoseconds: Self.interval.nanoseconds - sooner)
        begin(name, every: Self.interval, isDefault: true, dueAt: due)
    }

    /// Starts OPTIONS to a domain, or changes their interval.
    func begin(_ name: String, every interval: TimeSpan, isDefault: Bool, dueAt due: Instant) {
        let ticket = keepAlives[name]?.ticket ?? add(domain: name)
        keepAlives[name] = KeepAlive(ticket: ticket, interval: interval, isDefault: isDefault, dueAt: due, after: keepAlives[name])
        timers.set(ticket, at: due)
    }

    // MARK: tickets and requests

    /// The ticket of a probed domain.
    private func add(domain name: String) -> Ticket { Ticket(.border, kind: Kind.domain, domains.insert(name)) }

    private func remove(domain ticket: Ticket) {
        timers.set(ticket, at: nil)
        domains.remove(ticket.key)
    }

    /// The origin of an OPTIONS to a domain.
    /// - Parameter server: the asked server; nil: any.
    private func origin(probing name: String, at server: TransportAddress?) -> RequestOrigin {
        let key = probes.insert(Probe(domain: name, server: server))
        // One of several servers may be down.
        return RequestOrigin(
            ticket: Ticket(.border, kind: Kind.probe, key), partner: partnerName(ofDomain: name),
            domain: server == nil ? name : nil)
    }

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        guard let probe = probes.remove(pendingRequest.origin.ticket.key) else { return }
        ports.watchConnection(source.connection, ofDomain: probe.domain)
        answered(probe.domain, by: probe.server, response, at: now)
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard let probe = probes.remove(origin.ticket.key) else { return }
        failed(probe.domain, at: probe.server, because: reason, at: now)
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        if let probe = probes.remove(origin.ticket.key) { keepAlives[probe.domain]?.ended() }
    }

    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool { true }

    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool {
        guard var cSeq = request.headers.cSeq else { return false }
        cSeq.number += 1
        request.headers.cSeq = cSeq
        return true
    }

    func concernsPartner(_ failure: DeliveryFailure, of origin: RequestOrigin) -> Bool { true }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if let name = domains[ticket.key] { advance(name, at: now) }
    }
}
