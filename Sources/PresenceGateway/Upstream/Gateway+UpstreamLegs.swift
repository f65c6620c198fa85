import FederationRouting
import SIPCore
import SIPEvents

/// Which far leg feeds a watched resource, from its first moment to its last.
///
///     attach --> joinUpstream --> startUpstreams --> ... --> leaveUpstreams <-- detach
extension Gateway {
    /// Gives a resource the far leg that feeds it: one to join, or a new one that ``startUpstreams(of:at:)`` starts.
    /// - Parameters:
    ///   - marks: the hop marks that its SUBSCRIBE would carry.
    ///   - isPoll: it is asked for once; polls share nothing (RFC 6665 4.4.3).
    func joinUpstream(
        _ resource: WatchedResource, of watcher: WatcherDialog, parties: RequestScreening.Parties, domain: DomainConfiguration,
        hop: NextHop, marks: String, isPoll: Bool, at now: Instant
    ) {
        let far = upstreamDomain(resource.uri.domainKey, domain, hop)
        let own = HopMark(node: configuration.nodeName, presentity: resource.key)
        // A batch came to its own watcher.
        let toWatcher = HopMark(node: configuration.nodeName, presentity: parties.presentityKey)
        let order = UpstreamOrder(
            watcher: parties.watcher, network: parties.watcherDomain.network, domain: far, maxForwards: parties.maxForwards,
            hopMarks: toWatcher.others(in: own.others(in: marks)), poll: isPoll ? watcher.localTag : nil)
        let leg = listLeg(for: resource, of: watcher, order, at: now) ?? self.leg(at: far.origin(of: resource.uri, at: now), order, at: now)
        leg.join(resource, of: watcher)
    }

    /// The leg that asks at a place: the batch of the watcher that is there already and has room, or a new leg.
    /// - Parameter form: in which a presentity is asked for; nil: as its domain wants.
    func leg(at place: UpstreamTarget, _ order: UpstreamOrder, form: UpstreamFormat? = nil, at now: Instant) -> UpstreamSubscription {
        guard case .pool(let pool) = place else { return makeLeg(at: place, order, form: form, at: now) }
        let key = UpstreamBatchKey(order, pool: pool)
        for leg in batches[key] ?? [] where leg.resources.count < min(leg.capacity, configuration.limits.resourcesPerBatch) { return leg }
        let leg = makeLeg(at: place, order, form: .batch, at: now)
        open(leg, as: key)
        return leg
    }

    /// A leg that nobody else joins until it is opened.
    func makeLeg(at place: UpstreamTarget, _ order: UpstreamOrder, form: UpstreamFormat?, at now: Instant) -> UpstreamSubscription {
        let timing = configuration.timing
        var shape = UpstreamSubscription.Shape.single
        if case .pool = place { shape = .batch }
        if case .list = place { shape = .list }
        let wanted = order.domain.form(at: now)
        var format = form ?? wanted
        if shape == .batch || format == .batch { format = .categories }
        lastUpstream += 1
        let leg = UpstreamSubscription(
            id: lastUpstream, order, shape: shape, target: place.uri, format: format,
            subscriber: Subscriber(
                .init(
                    expires: order.poll == nil ? configuration.expires(order.domain.configuration).standard : 0,
                    retryMinimum: timing.retryMinimum,
                    retryMaximum: timing.retryMaximum, jitterSeed: tokens.next())))
        leg.offersPartial = order.poll == nil && order.domain.takesPartial(at: now)
        if wanted == .batch { leg.tried.insert(TriedForms(.batch)) }
        return leg
    }

    /// Lets others join a batch.
    func open(_ leg: UpstreamSubscription, as key: UpstreamBatchKey) {
        leg.batchKey = key
        batches[key, default: []].append(leg)
    }

    /// Lets nobody join any more.
    func close(_ leg: UpstreamSubscription) {
        guard let key = leg.batchKey else { return }
        leg.batchKey = nil
        batches[key]?.removeAll { $0 === leg }
        if batches[key]?.isEmpty ?? false { batches[key] = nil }
    }

    /// Starts the legs that have not asked yet, and tells the others what is wanted now.
    func startUpstreams(of watcher: WatcherDialog, at now: Instant) {
        var seen: Set<UInt64> = []
        for resource in watcher.resources {
            if let upstream = resource.upstream, seen.insert(upstream.id).inserted { proceed(upstream, at: now) }
        }
    }

    /// Asks for what is not asked for yet: at first, or in the dialog as soon as the answer to the last request is there.
    func proceed(_ upstream: UpstreamSubscription, at now: Instant) {
        if upstream.restsUntil != nil {
            upstreams[upstream.id] = upstream
        } else if upstream.subscriber.attempt == 0 {
            upstream.startsAt = nil
            perform(upstream.subscriber.start(at: now), on: upstream, at: now)
        } else if upstream.hasChange {
            perform(upstream.subscriber.change(at: now), on: upstream, at: now)
        }
        fetchFullState(upstream, at: now)
        schedule(upstream)
    }

    /// More categories of a resource are wanted: a leg of its own asks for them now, a batch as soon as it proceeds.
    func widenUpstream(of resource: WatchedResource, at now: Instant) {
        guard let upstream = resource.upstream, upstream.resource(resource.key)?.want() == true else { return }
        guard upstream.shape == .single, upstream.format == .categories else { return }
        perform(upstream.subscriber.change(at: now), on: upstream, at: now)
    }

    /// Resources of one dialog are watched no more: their legs leave them out, or say goodbye with the last one.
    func leaveUpstreams(_ resources: [WatchedResource], at now: Instant) {
        var left: [UpstreamSubscription] = []
        var seen: Set<UInt64> = []
        for resource in resources {
            guard let upstream = resource.upstream else { continue }
            upstream.leave(resource)
            if seen.insert(upstream.id).inserted { left.append(upstream) }
        }
        for upstream in left {
            guard upstream.hasSink else {
                upstream.dropAll()
                end(upstream, hasDialog: upstream.dialog != nil, at: now)
                continue
            }
            shrinkList(upstream, at: now)
            if upstream.subscriber.attempt > 0 { proceed(upstream, at: now) }
        }
    }

    /// Says goodbye.
    /// - Parameter hasDialog: false: there is nobody to say it to.
    func end(_ upstream: UpstreamSubscription, hasDialog: Bool, at now: Instant) {
        close(upstream)
        endPredecessor(of: upstream, at: now)
        perform(upstream.subscriber.unsubscribe(hasDialog: hasDialog, at: now), on: upstream, at: now)
        schedule(upstream)
    }

    /// Takes a leg out of the tables.
    func forget(_ upstream: UpstreamSubscription) {
        close(upstream)
        unbindAll(upstream)
        sampleFails(upstream, at: desk.now)
        keep(upstream)
        upstreams[upstream.id] = nil
        upstreamsByTag[upstream.localTag] = nil
        wakes.set(.upstream(upstream.id), at: nil)
    }

    /// The hop marks of a leg's SUBSCRIBE: those that came, and ours.
    func hopMarks(of upstream: UpstreamSubscription) -> String {
        let own: String
        if upstream.shape == .single, let only = upstream.resources.first {
            own = HopMark(node: configuration.nodeName, presentity: only.key).token
        } else {
            own = HopMark(node: configuration.nodeName).token
        }
        return upstream.hopMarks.isEmpty ? own : upstream.hopMarks + ", " + own
    }

    /// A domain as its legs share it.
    func upstreamDomain(_ name: String, _ configuration: DomainConfiguration, _ hop: NextHop) -> UpstreamDomain {
        let key = UpstreamDomain.Key(name: name, hop: hop)
        if let known = upstreamDomains[key], known.configuration == configuration { return known }
        // The legs keep theirs; behind a domain for everybody else there may be any number.
        if upstreamDomains.count >= Self.upstreamDomainLimit { upstreamDomains = [:] }
        let domain = UpstreamDomain(name: name, configuration: configuration, hop: hop)
        upstreamDomains[key] = domain
        return domain
    }

    private static let upstreamDomainLimit = 10_000
}
