import FederationRouting
import SIPCore
import SIPEvents

/// The upstream subscription of each watched resource, from its start to its end.
///
///     attach --> joinUpstream --> startUpstreams --> ... --> leaveUpstreams <-- detach
extension UpstreamFlow {
    /// Assigns an upstream subscription to a resource: an existing one, or a new one that ``startUpstreams(of:at:)`` starts.
    /// - Parameters:
    ///   - marks: hop marks for its SUBSCRIBE.
    ///   - isPoll: whether the subscription is a poll, which shares nothing (RFC 6665 4.4.3).
    func joinUpstream(
        _ resource: WatchedResource, of watcher: WatcherDialog, parties: RequestScreening.Parties, domain: DomainConfiguration,
        hop: NextHop, loopMarkers: String, isPoll: Bool, at now: Instant
    ) {
        let far = upstreams.domain(resource.uri.domainKey, domain, hop)
        let own = HopMark(node: configuration.nodeName, presentity: resource.key)
        // A batch SUBSCRIBE is addressed to its own watcher.
        let toWatcher = HopMark(node: configuration.nodeName, presentity: parties.presentityKey)
        let order = UpstreamOrder(
            watcher: parties.watcher, network: parties.watcherDomain.network, domain: far, maxForwards: parties.maxForwards,
            hopMarks: toWatcher.others(in: own.others(in: loopMarkers)), poll: isPoll ? watcher.localTag : nil)
        let subscription =
            lists.listUpstream(for: resource, of: watcher, order, at: now)
            ?? self.subscription(at: far.origin(of: resource.uri, at: now), order, at: now)
        subscription.join(resource, of: watcher)
    }

    /// Returns the subscription at a place: the watcher's batch there if it has room, otherwise a new one.
    /// - Parameter form: form of a single subscription; nil: the form of its domain.
    func subscription(at address: UpstreamTarget, _ order: UpstreamOrder, form: UpstreamFormat? = nil, at now: Instant)
        -> UpstreamSubscription
    {
        guard case .pool(let pool) = address else { return makeUpstream(at: address, order, form: form, at: now) }
        let key = UpstreamBatchKey(order, pool: pool)
        for subscription in upstreams.open(key)
        where subscription.resources.count < min(subscription.batch.capacity, configuration.limits.resourcesPerBatch) {
            return subscription
        }
        let subscription = makeUpstream(at: address, order, form: .batch, at: now)
        upstreams.open(subscription, as: key)
        return subscription
    }

    /// Creates a subscription that other presentities cannot join before it is opened.
    /// - Parameters:
    ///   - form: form of a single subscription; nil: the form of its domain.
    ///   - list: for a list only.
    func makeUpstream(
        at address: UpstreamTarget, _ order: UpstreamOrder, form: UpstreamFormat?, list: UpstreamList? = nil, at now: Instant
    ) -> UpstreamSubscription {
        let timing = configuration.timing
        let policy = Subscriber.Configuration(
            expires: order.poll == nil ? configuration.expires(order.domain.configuration).standard : 0, retryMinimum: timing.retryMinimum,
            retryMaximum: timing.retryMaximum, jitterSeed: tokens.next())
        return upstreams.make(at: address, order, form: form, list: list, policy: policy, at: now)
    }

    /// Starts the subscriptions that were not sent yet, and sends the changes of the others.
    func startUpstreams(of watcher: WatcherDialog, at now: Instant) {
        var seen: Set<UInt64> = []
        for resource in watcher.resources {
            if let upstream = resource.upstream, seen.insert(upstream.id).inserted { proceed(upstream, at: now) }
        }
    }

    /// Sends what was not requested yet: the first SUBSCRIBE, or a SUBSCRIBE in the dialog after the response to the previous one.
    func proceed(_ upstream: UpstreamSubscription, at now: Instant) {
        if upstream.isResting {
            upstreams.insert(upstream)
        } else if upstream.subscriber.attempt == 0 {
            perform(upstream.begin(at: now), on: upstream, at: now)
        } else if upstream.hasChange {
            perform(upstream.subscriber.change(at: now), on: upstream, at: now)
        }
        reader.fetchFullState(upstream, at: now)
        schedule(upstream)
    }

    /// Requests added categories of a resource: at once for a single subscription; a batch sends them when it proceeds.
    func widenUpstream(of resource: WatchedResource, at now: Instant) {
        guard let upstream = resource.upstream, upstream.resource(resource.key)?.want() == true else { return }
        guard upstream.shape == .single, upstream.format == .categories else { return }
        perform(upstream.subscriber.change(at: now), on: upstream, at: now)
    }

    /// Removes resources of one dialog from their subscriptions, and ends those without resources.
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
            lists.shrinkList(upstream, at: now)
            if upstream.subscriber.attempt > 0 { proceed(upstream, at: now) }
        }
    }

    /// Unsubscribes.
    /// - Parameter hasDialog: false if there is no dialog to end.
    func end(_ upstream: UpstreamSubscription, hasDialog: Bool, at now: Instant) {
        upstreams.close(upstream)
        lists.endPredecessor(of: upstream, at: now)
        perform(upstream.subscriber.unsubscribe(hasDialog: hasDialog, at: now), on: upstream, at: now)
        schedule(upstream)
    }

    /// Removes a subscription from the tables.
    func forget(_ upstream: UpstreamSubscription) {
        upstreams.close(upstream)
        verifier.unbindAll(upstream)
        verifier.sampleFails(upstream, at: commitLog.now)
        keep(upstream)
        upstreams.remove(upstream)
        timers.set(UpstreamFlow.ticket(of: upstream), at: nil)
    }

    /// The hop marks of an upstream SUBSCRIBE: those of the watcher's SUBSCRIBE, and ours.
    func hopMarks(of upstream: UpstreamSubscription) -> String {
        let own: String
        if upstream.shape == .single, let only = upstream.resources.first {
            own = HopMark(node: configuration.nodeName, presentity: only.key).token
        } else {
            own = HopMark(node: configuration.nodeName).token
        }
        return upstream.hopMarks.isEmpty ? own : upstream.hopMarks + ", " + own
    }
}
