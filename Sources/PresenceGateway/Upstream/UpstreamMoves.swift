import FederationRouting
import SIPCore
import SIPEvents

/// Presentities that move to another address or another form of subscription.
final class UpstreamMoves: UpstreamPart {
    unowned let flow: UpstreamFlow
    private var redirects: RedirectGuard

    init(_ flow: UpstreamFlow) {
        self.flow = flow
        redirects = RedirectGuard(random: TokenGenerator(key: flow.kernel.identifiers.key.derived(for: "redirects")))
    }

    /// Notes that the remote domain showed the state of a redirected presentity.
    func arrived(_ history: inout RedirectHistory?, at address: UpstreamTarget, now: Instant) {
        redirects.arrived(&history, at: address, now: now)
    }

    /// Redirects a presentity as the remote domain demands (MS-PRES 3.4.5.1.3.1): to the pool that it names, or to the presentity's own
    /// URI. Adds the new subscription to `subscriptions`, which are started after the message is processed.
    func redirect(
        _ resource: UpstreamResource, of upstream: UpstreamSubscription, to poolFqdn: String?,
        _ subscriptions: inout [UpstreamSubscription],
        at now: Instant
    ) {
        let target = UpstreamTarget(poolFqdn: poolFqdn) ?? .presentity(resource.uri)
        upstream.drop(resource)
        guard resource.hasSink else { return }
        var redirectHistory = resource.redirectHistory ?? RedirectHistory()
        let decision = redirects.decide(&redirectHistory, from: upstream.address, to: target, at: now)
        resource.note(redirects: redirectHistory)
        let order = upstream.order(poll: nil)
        switch decision {
        case .follow(let wait):
            counters.redirectsFollowed += 1
            log(
                .info, "far side names another pool",
                ["call-id": upstream.callID, "pool": poolFqdn ?? "", "wait-ms": String(wait.nanoseconds / 1_000_000)])
            guard wait > .zero, order.poll == nil else {
                return move(resource, to: flow.subscription(at: target, order, at: now), &subscriptions, at: now)
            }
            move(resource, to: restingUpstream(at: target, order, for: wait, &subscriptions, at: now), &subscriptions, at: now)
        case .rest(let pause, let isLoop):
            if isLoop { counters.redirectLoops += 1 }
            counters.redirectsDelayed += 1
            log(
                .warning, "far side sends a presentity in circles, or too often",
                [
                    "call-id": upstream.callID, "pool": poolFqdn ?? "", "loop": String(isLoop), "rests": String(redirectHistory.setbacks),
                    "retry-in": String(pause.seconds),
                ])
            rest(resource, order, for: pause, &subscriptions, at: now)
        }
    }

    /// Returns the presentities of a redirected subscription to their origin after a rest, because the pool does not serve them.
    func sendBack(_ upstream: UpstreamSubscription, at now: Instant) {
        var subscriptions: [UpstreamSubscription] = []
        let order = upstream.order(poll: nil)
        for resource in upstream.resources {
            upstream.drop(resource)
            guard resource.hasSink else { continue }
            var redirectHistory = resource.redirectHistory ?? RedirectHistory()
            let pause = redirects.rest(&redirectHistory, at: now)
            resource.note(redirects: redirectHistory)
            counters.redirectsDelayed += 1
            rest(resource, order, for: pause, &subscriptions, at: now)
        }
        for subscription in subscriptions { flow.proceed(subscription, at: now) }
    }

    private func rest(
        _ resource: UpstreamResource, _ order: UpstreamOrder, for pause: TimeSpan, _ subscriptions: inout [UpstreamSubscription],
        at now: Instant
    ) {
        guard order.poll == nil else {
            // A poll does not wait for the end of a rest.
            for (watcher, watched) in resource.sinks {
                watched.feed(from: nil)
                ports.sourceEnded(UpstreamTermination(.terminated(.probation)), of: watched, to: watcher, at: now)
            }
            return
        }
        let origin = order.domain.origin(of: resource.uri, at: now)
        move(resource, to: restingUpstream(at: origin, order, for: pause, &subscriptions, at: now), &subscriptions, at: now)
    }

    /// Returns a resting subscription that only presentities of the same message join, one per pool.
    private func restingUpstream(
        at address: UpstreamTarget, _ order: UpstreamOrder, for pause: TimeSpan, _ subscriptions: inout [UpstreamSubscription],
        at now: Instant
    ) -> UpstreamSubscription {
        var resting: UpstreamSubscription?
        if case .pool = address { resting = subscriptions.first { $0.isResting && $0.address == address } }
        let subscription = resting ?? flow.makeUpstream(at: address, order, form: nil, at: now)
        subscription.rest(until: now + pause)
        return subscription
    }

    func move(
        _ resource: UpstreamResource, to subscription: UpstreamSubscription, _ subscriptions: inout [UpstreamSubscription], at now: Instant
    ) {
        if resource.source.isKnown, resource.source != .offline { resource.expireState(at: now + configuration.timing.staleAfter) }
        // A joining watcher takes over the state that the others already have.
        let known = subscription.resource(resource.key)
        let staying = known?.authorization == .unheard ? known?.sinks ?? [] : []
        let joining = known == nil ? [] : resource.sinks
        let before = joining.map(\.resource.source)
        subscription.adopt(resource)
        if known?.authorization == .pending {
            for (watcher, watched) in staying { ports.authorizationChanged(isPending: true, of: watched, to: watcher, at: now) }
        }
        for ((watcher, watched), source) in zip(joining, before) {
            if let authorization = known?.authorization, authorization != .unheard {
                ports.authorizationChanged(isPending: authorization == .pending, of: watched, to: watcher, at: now)
            }
            if watched.source != source { ports.sourceChanged(watched, of: watcher, at: now) }
        }
        upstreams.insert(subscription)
        if !subscriptions.contains(where: { $0 === subscription }) { subscriptions.append(subscription) }
    }

    /// Ends a rest: starts the subscription, or moves its presentities into a batch that the watcher has there by now.
    func wakeUp(_ upstream: UpstreamSubscription, at now: Instant) {
        upstream.wakeUp()
        guard case .pool(let pool) = upstream.address else { return flow.proceed(upstream, at: now) }
        let order = upstream.order(poll: nil)
        var subscriptions: [UpstreamSubscription] = []
        let key = UpstreamBatchKey(order, pool: pool)
        if upstreams.open(key).isEmpty {
            upstreams.open(upstream, as: key)
            return flow.proceed(upstream, at: now)
        }
        for resource in upstream.resources {
            upstream.drop(resource)
            move(resource, to: flow.subscription(at: upstream.address, order, at: now), &subscriptions, at: now)
        }
        flow.forget(upstream)
        for subscription in subscriptions { flow.proceed(subscription, at: now) }
    }

    // MARK: forms

    /// Tries the next form after a refusal of the present one (MS-PRES 1.3.3); a refused batch is split into single subscriptions. Returns
    /// false if no form is left.
    func fallBack(_ upstream: UpstreamSubscription, after status: Int, at now: Instant) -> Bool {
        if upstream.list != nil, upstream.hasSink {
            flow.lists.giveUpList(upstream, at: now)
            return true
        }
        if flow.reader.declinePartial(upstream, after: status, at: now) { return true }
        guard upstream.domain.side == .enterprise, upstream.hasSink else { return false }
        let isForm = Self.isFormRefusal(status)
        let isFollowed = upstream.isFollowed(at: now)
        guard isForm || (upstream.shape == .batch && !isFollowed && ![401, 407, 603].contains(status)) else { return false }
        let isRemembered = upstream.domain.form(at: now) != upstream.domain.configuredForm
        if isRemembered { upstream.domain.forgetForm() }
        guard let next = upstream.form.next(after: status, isBatch: upstream.shape == .batch, configured: upstream.domain.configuredForm)
        else { return false }
        log(.info, "far side wants another format", ["call-id": upstream.callID, "format": next.rawValue])
        if upstream.shape == .single, next != .batch {
            upstream.form.fallBack(to: next)
            flow.perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
            return true
        }
        var subscriptions: [UpstreamSubscription] = []
        let order = upstream.order(poll: nil)
        for resource in upstream.resources {
            upstream.drop(resource)
            guard resource.hasSink else { continue }
            let address = next == .batch ? upstream.domain.origin(of: resource.uri, at: now) : .presentity(resource.uri)
            let subscription =
                next == .batch ? flow.subscription(at: address, order, at: now) : flow.makeUpstream(at: address, order, form: next, at: now)
            subscription.form.inherit(upstream.form, isFallback: next != .batch && !isFollowed)
            pace(subscription, after: subscriptions.count, at: now)
            move(resource, to: subscription, &subscriptions, at: now)
        }
        for subscription in subscriptions { flow.proceed(subscription, at: now) }
        return true
    }

    static func isFormRefusal(_ status: Int) -> Bool { [406, 415, 420, 421, 488, 489].contains(status) }

    /// Delays a subscription that takes over a presentity from another, because many at once would flood the remote domain.
    /// - Parameter count: number of such subscriptions before this one; the first 20 are not delayed.
    func pace(_ subscription: UpstreamSubscription, after count: Int, at now: Instant) {
        guard count >= Self.unpacedUpstreams else { return }
        subscription.rest(until: now + configuration.timing.restorePace * (count - Self.unpacedUpstreams + 1))
    }

    private static let unpacedUpstreams = 20

    // MARK: size

    /// Moves presentities beyond the size that the remote domain accepts (MS-PRES 3.4.5.1.3) into another batch.
    /// - Returns: false if the batch cannot be reduced.
    func shrink(_ upstream: UpstreamSubscription, at now: Instant) -> Bool {
        let known = upstream.resources.filter { $0.asked != nil }
        let others = upstream.resources.filter { $0.asked == nil && $0.hasSink }
        let kept = known.isEmpty ? others.count / 2 : 0
        guard upstream.shape == .batch, !others.isEmpty, !known.isEmpty || kept > 0 else { return false }
        upstream.limit(to: max(known.count + kept, 1))
        let order = upstream.order(poll: nil)
        var subscriptions: [UpstreamSubscription] = []
        for resource in others.dropFirst(kept) {
            upstream.drop(resource)
            let subscription = flow.subscription(at: upstream.address, order, at: now)
            subscription.limit(to: upstream.batch.capacity)
            move(resource, to: subscription, &subscriptions, at: now)
        }
        log(
            .notice, "far side takes fewer presentities in one batch",
            ["call-id": upstream.callID, "taken": String(upstream.batch.capacity)])
        for subscription in subscriptions { flow.proceed(subscription, at: now) }
        return true
    }
}
