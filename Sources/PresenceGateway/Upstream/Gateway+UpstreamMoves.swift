import SIPCore
import SIPEvents

/// Presentities that are asked for elsewhere or in another form than so far.
extension Gateway {
    /// The far side says that a presentity lives elsewhere (MS-PRES 3.4.5.1.3.1): in the pool that it names, or behind its own URI.
    /// Adds the leg that takes it over to `legs`, to be started when the message is read to its end.
    func redirect(
        _ resource: UpstreamResource, of upstream: UpstreamSubscription, to poolFqdn: String?, _ legs: inout [UpstreamSubscription],
        at now: Instant
    ) {
        let goal = UpstreamTarget(poolFqdn: poolFqdn) ?? .presentity(resource.uri)
        upstream.drop(resource)
        guard resource.hasSink else { return }
        var trail = resource.trail ?? RedirectTrail()
        let decision = redirects.decide(&trail, from: upstream.place, to: goal, at: now)
        resource.trail = trail
        let order = upstream.order(poll: nil)
        switch decision {
        case .follow(let wait):
            counters.redirectsFollowed += 1
            log(
                .info, "far side names another pool",
                ["call-id": upstream.callID, "pool": poolFqdn ?? "", "wait-ms": String(wait.nanoseconds / 1_000_000)])
            guard wait > .zero, order.poll == nil else { return move(resource, to: leg(at: goal, order, at: now), &legs, at: now) }
            move(resource, to: restingLeg(at: goal, order, for: wait, &legs, at: now), &legs, at: now)
        case .rest(let pause, let isLoop):
            if isLoop { counters.redirectLoops += 1 }
            counters.redirectsDelayed += 1
            log(
                .warning, "far side sends a presentity in circles, or too often",
                [
                    "call-id": upstream.callID, "pool": poolFqdn ?? "", "loop": String(isLoop), "rests": String(trail.setbacks),
                    "retry-in": String(pause.seconds),
                ])
            rest(resource, order, for: pause, &legs, at: now)
        }
    }

    /// The place that a presentity was sent to does not serve it: it is asked for at its origin again, after a rest.
    func sendBack(_ upstream: UpstreamSubscription, at now: Instant) {
        var legs: [UpstreamSubscription] = []
        let order = upstream.order(poll: nil)
        for resource in upstream.resources {
            upstream.drop(resource)
            guard resource.hasSink else { continue }
            var trail = resource.trail ?? RedirectTrail()
            let pause = redirects.rest(&trail, at: now)
            resource.trail = trail
            counters.redirectsDelayed += 1
            rest(resource, order, for: pause, &legs, at: now)
        }
        for leg in legs { proceed(leg, at: now) }
    }

    private func rest(
        _ resource: UpstreamResource, _ order: UpstreamOrder, for pause: TimeSpan, _ legs: inout [UpstreamSubscription], at now: Instant
    ) {
        guard order.poll == nil else {
            // Whoever asks once waits for nothing.
            for (watcher, watched) in resource.sinks {
                watched.upstream = nil
                pass(FarSideVerdict(.terminated(.probation)), of: watched, to: watcher, at: now)
            }
            return
        }
        let origin = order.domain.origin(of: resource.uri, at: now)
        move(resource, to: restingLeg(at: origin, order, for: pause, &legs, at: now), &legs, at: now)
    }

    /// A leg that nobody joins but those whose message was read just now; one for all of them at the same place.
    private func restingLeg(
        at place: UpstreamTarget, _ order: UpstreamOrder, for pause: TimeSpan, _ legs: inout [UpstreamSubscription], at now: Instant
    ) -> UpstreamSubscription {
        if case .pool = place, let leg = legs.first(where: { $0.restsUntil != nil && $0.place == place }) {
            leg.restsUntil = max(leg.restsUntil ?? now, now + pause)
            return leg
        }
        let leg = makeLeg(at: place, order, form: nil, at: now)
        leg.restsUntil = now + pause
        return leg
    }

    func move(
        _ resource: UpstreamResource, to leg: UpstreamSubscription, _ legs: inout [UpstreamSubscription], at now: Instant
    ) {
        if resource.staleAt == nil, resource.source.isKnown, resource.source != .offline {
            resource.staleAt = now + configuration.timing.staleAfter
        }
        // Whoever joins others sees what they see.
        let known = leg.resource(resource.key)
        let staying = known?.standing == .unheard ? known?.sinks ?? [] : []
        let joining = known == nil ? [] : resource.sinks
        let before = joining.map(\.resource.source)
        leg.adopt(resource)
        if known?.standing == .pending {
            for (watcher, watched) in staying { tell(isPending: true, of: watched, to: watcher, at: now) }
        }
        for ((watcher, watched), source) in zip(joining, before) {
            if let standing = known?.standing, standing != .unheard {
                tell(isPending: standing == .pending, of: watched, to: watcher, at: now)
            }
            if watched.source != source { sourceChanged(watched, of: watcher, at: now) }
        }
        upstreams[leg.id] = leg
        if !legs.contains(where: { $0 === leg }) { legs.append(leg) }
    }

    /// A rest is over: the leg asks, or what it has goes into the batch that the watcher has there by now.
    func wakeUp(_ upstream: UpstreamSubscription, at now: Instant) {
        upstream.restsUntil = nil
        guard case .pool(let pool) = upstream.place else { return proceed(upstream, at: now) }
        let order = upstream.order(poll: nil)
        var legs: [UpstreamSubscription] = []
        if batches[UpstreamBatchKey(order, pool: pool)] == nil {
            open(upstream, as: UpstreamBatchKey(order, pool: pool))
            return proceed(upstream, at: now)
        }
        for resource in upstream.resources {
            upstream.drop(resource)
            move(resource, to: leg(at: upstream.place, order, at: now), &legs, at: now)
        }
        forget(upstream)
        for leg in legs { proceed(leg, at: now) }
    }

    // MARK: forms

    /// Takes the next form after a refusal that means "not in this form" (MS-PRES 1.3.3), each presentity by itself where a batch was
    /// refused. False: there is none.
    func fallBack(_ upstream: UpstreamSubscription, after status: Int, at now: Instant) -> Bool {
        if upstream.list != nil, upstream.hasSink {
            giveUpList(upstream, at: now)
            return true
        }
        if declinePartial(upstream, after: status, at: now) { return true }
        guard upstream.domain.side == .enterprise, upstream.hasSink else { return false }
        let isForm = Self.isFormRefusal(status)
        let isFollowed = upstream.isFollowed(at: now)
        guard isForm || (upstream.shape == .batch && !isFollowed && ![401, 407, 603].contains(status)) else { return false }
        let isRemembered = upstream.domain.form(at: now) != upstream.domain.configuredForm
        if isRemembered { upstream.domain.forgetForm() }
        // What a pool refuses may still be had one by one; who refuses the documents refuses them there too.
        var present = upstream.shape == .batch ? UpstreamFormat.batch : upstream.format
        if present == .batch, [406, 415, 489].contains(status) {
            upstream.tried.insert(TriedForms(.categories))
            present = .categories
        }
        guard let next = upstream.tried.next(after: present, configured: upstream.domain.configuredForm) else { return false }
        upstream.tried.insert(TriedForms(next))
        log(.info, "far side wants another format", ["call-id": upstream.callID, "format": next.rawValue])
        if upstream.shape == .single, next != .batch {
            upstream.format = next
            upstream.isFallback = true
            perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
            return true
        }
        var legs: [UpstreamSubscription] = []
        let order = upstream.order(poll: nil)
        for resource in upstream.resources {
            upstream.drop(resource)
            guard resource.hasSink else { continue }
            let place = next == .batch ? upstream.domain.origin(of: resource.uri, at: now) : .presentity(resource.uri)
            let leg = next == .batch ? self.leg(at: place, order, at: now) : makeLeg(at: place, order, form: next, at: now)
            leg.tried.formUnion(upstream.tried)
            leg.isFallback = next != .batch && !isFollowed
            pace(leg, after: legs.count, at: now)
            move(resource, to: leg, &legs, at: now)
        }
        for leg in legs { proceed(leg, at: now) }
        return true
    }

    static func isFormRefusal(_ status: Int) -> Bool { [406, 415, 420, 421, 488, 489].contains(status) }

    /// Lets a leg that takes over from another one wait: many at once are a flood.
    /// - Parameter count: how many do so before it; the first ones wait for nothing.
    func pace(_ leg: UpstreamSubscription, after count: Int, at now: Instant) {
        guard count >= Self.unpacedLegs else { return }
        leg.restsUntil = now + configuration.timing.restorePace * (count - Self.unpacedLegs + 1)
    }

    private static let unpacedLegs = 20

    // MARK: size

    /// The far side takes fewer presentities in one batch (MS-PRES 3.4.5.1.3): the others go into the next.
    /// - Returns: false: fewer than there are cannot be tried.
    func shrink(_ upstream: UpstreamSubscription, at now: Instant) -> Bool {
        let known = upstream.resources.filter { $0.asked != nil }
        let others = upstream.resources.filter { $0.asked == nil && $0.hasSink }
        let kept = known.isEmpty ? others.count / 2 : 0
        guard upstream.shape == .batch, !others.isEmpty, !known.isEmpty || kept > 0 else { return false }
        upstream.capacity = max(known.count + kept, 1)
        let order = upstream.order(poll: nil)
        var legs: [UpstreamSubscription] = []
        for resource in others.dropFirst(kept) {
            upstream.drop(resource)
            let leg = leg(at: upstream.place, order, at: now)
            leg.capacity = min(leg.capacity, upstream.capacity)
            move(resource, to: leg, &legs, at: now)
        }
        log(.notice, "far side takes fewer presentities in one batch", ["call-id": upstream.callID, "taken": String(upstream.capacity)])
        for leg in legs { proceed(leg, at: now) }
        return true
    }
}
