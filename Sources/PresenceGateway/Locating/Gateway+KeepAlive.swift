import FederationRouting
import SIPCore

/// OPTIONS to the next hops of domains whose operator asked for it, so that a partner that nobody has asked anything is known to be up or
/// down (RFC 3261 11).
///
///     resting --time--> open (one request) --any outcome--> resting
///
/// What became of a request is noted as of any other to that partner; it is never repeated sooner for having failed.
extension Gateway {
    struct KeepAlive: Equatable {
        var interval: TimeSpan
        /// Its request is on its way.
        var isOpen = false
    }

    /// Within it the first requests go out, so that not all partners are asked at one moment.
    private static let spread = TimeSpan.seconds(5)

    /// Begins to ask the domains that are to be kept alive; call it once after the start. A reload does so by itself, and leaves alone those
    /// that are as before.
    public func keepPartnersAlive(at now: Instant) {
        guard !isShuttingDown else { return }
        var plan: [String: KeepAlive] = [:]
        for (name, domain) in configuration.domains.sorted(by: { $0.key < $1.key }) {
            guard let interval = domain.keepAlive, isKeptAliveHere(name, domain) else { continue }
            if let known = keepAlives[name], known.interval == interval {
                plan[name] = known
            } else {
                plan[name] = KeepAlive(interval: interval, isOpen: keepAlives[name]?.isOpen ?? false)
                let most = min(Self.spread, interval).nanoseconds
                wakes.set(.keepAlive(name), at: now + TimeSpan(nanoseconds: .random(in: 0...most, using: &hops.random)))
            }
        }
        for name in keepAlives.keys where plan[name] == nil { wakes.set(.keepAlive(name), at: nil) }
        keepAlives = plan
    }

    /// One shard asks for all of them.
    private func isKeptAliveHere(_ name: String, _ domain: DomainConfiguration) -> Bool {
        name != RoutingTable.fallbackName && !domain.hosted && domain.refuse == nil
            && ShardRouter(shards: shards).shard(ofKey: name) == shard
    }

    func wakeKeepAlive(_ name: String, at now: Instant) {
        guard !isShuttingDown, let state = keepAlives[name] else { return }
        // Up to a tenth sooner, so that partners do not stay in step.
        let sooner = TimeSpan(nanoseconds: .random(in: 0...(state.interval.nanoseconds / 10), using: &hops.random))
        wakes.set(.keepAlive(name), at: now + (state.interval - sooner))
        guard !state.isOpen, let hop = hop(toward: SIPURI(host: name)) else { return }
        keepAlives[name]?.isOpen = true
        var request = SIPRequest(.options, uri: SIPURI(host: name))
        request.headers.maxForwards = 70
        request.headers.from = NameAddr(SIPURI(host: configuration.nodeName), parameters: SIPParameters([.init("tag", tokens.tag())]))
        request.headers.to = NameAddr(SIPURI(host: name))
        request.headers.callID = tokens.callID()
        request.headers.cSeq = CSeq(1, .options)
        let way = way(by: hop)
        request.headers.set(.contact, contact(by: way))
        request.headers.set(.accept, Self.acceptedBodies)
        send(request, by: way, for: .keepAlive(name), at: now)
    }

    /// However it ended.
    func keepAliveEnded(_ name: String) { keepAlives[name]?.isOpen = false }
}
