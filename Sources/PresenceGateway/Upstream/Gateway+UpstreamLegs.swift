import SIPCore
import SIPEvents

/// Which far leg feeds a watched resource, from its first moment to its last.
///
///     attach --> joinUpstream --> startUpstreams --> ... --> leaveUpstream <-- detach
extension Gateway {
    /// Gives a resource the far leg that feeds it: one to join, or a new one that ``startUpstreams(of:at:)`` starts.
    /// - Parameters:
    ///   - marks: the hop marks that its SUBSCRIBE carries.
    ///   - isPoll: it is asked for once; polls share nothing (RFC 6665 4.4.3).
    func joinUpstream(
        _ resource: WatchedResource, of watcher: WatcherDialog, parties: RequestScreening.Parties, domain: DomainConfiguration,
        route: TransportAddress, marks: String, isPoll: Bool
    ) {
        let timing = configuration.timing
        let range = domain.side == .enterprise ? timing.enterprise : timing.simple
        lastUpstream += 1
        let upstream = UpstreamSubscription(
            id: lastUpstream, watcher: parties.watcher, domain: upstreamDomain(of: resource.uri, domain, route), target: resource.uri,
            maxForwards: parties.maxForwards, hopMarks: marks,
            subscriber: Subscriber(
                .init(
                    expires: isPoll ? 0 : range.standard, retryMinimum: timing.retryMinimum, retryMaximum: timing.retryMaximum)))
        upstream.join(resource, of: watcher)
    }

    /// Starts the legs that have not asked yet, and tells the others what is wanted now.
    func startUpstreams(of watcher: WatcherDialog, at now: Instant) {
        for resource in watcher.resources {
            guard let upstream = resource.upstream, upstream.subscriber.attempt == 0 else { continue }
            if watcher.held != nil || watcher.notifier.isFetching { upstream.subscriber = upstream.subscriber.asFetch }
            perform(upstream.subscriber.start(at: now), on: upstream, at: now)
            schedule(upstream)
        }
    }

    /// A resource is watched no more: its leg leaves it out, or says goodbye with the last one.
    func leaveUpstream(_ resource: WatchedResource, at now: Instant) {
        guard let upstream = resource.upstream else { return }
        upstream.leave(resource)
        guard upstream.resources.isEmpty else { return }
        perform(upstream.subscriber.unsubscribe(hasDialog: upstream.dialog != nil, at: now), on: upstream, at: now)
        schedule(upstream)
    }

    /// Takes a leg out of the tables.
    func forget(_ upstream: UpstreamSubscription) {
        upstreams[upstream.id] = nil
        upstreamsByTag[upstream.localTag] = nil
        wakes.set(.upstream(upstream.id), at: nil)
    }

    /// The domain of a presentity as its legs share it.
    private func upstreamDomain(of presentity: SIPURI, _ configuration: DomainConfiguration, _ route: TransportAddress) -> UpstreamDomain {
        let name = presentity.domainKey
        if let known = upstreamDomains[name], known.configuration == configuration, known.route == route { return known }
        // The legs keep theirs; behind a domain for everybody else there may be any number.
        if upstreamDomains.count >= Self.upstreamDomainLimit { upstreamDomains = [:] }
        let domain = UpstreamDomain(name: name, configuration: configuration, route: route)
        upstreamDomains[name] = domain
        return domain
    }

    private static let upstreamDomainLimit = 10_000
}
