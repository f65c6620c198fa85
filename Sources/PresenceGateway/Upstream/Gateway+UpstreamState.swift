import PresenceDocuments
import SIPCore
import SIPEvents

/// What the far side said, and what its legs' ends mean to the watchers.
extension Gateway {
    /// Takes new state over. True: the leg took another way, and what else the message said is void.
    func take(_ content: UpstreamContent, _ upstream: UpstreamSubscription, at now: Instant) -> Bool {
        for report in content.reports {
            guard let resource = upstream.resource(report.key) else { continue }
            if report.hasState {
                take(report, of: resource, at: now)
            } else if let verdict = report.verdict, heed(verdict, on: resource, of: upstream, at: now) {
                return true
            }
        }
        return false
    }

    /// New state of one presentity goes to all its sinks.
    private func take(_ report: UpstreamContent.Report, of resource: UpstreamResource, at now: Instant) {
        var source: PresenceSource
        if let categories = report.categories {
            var merge = CategoryMerge()
            if !resource.isOld, case .categories(let known) = resource.source { merge = known }
            merge.apply(categories)
            source = .categories(merge)
        } else if let pidf = report.pidf {
            source = .pidf(pidf)
        } else if let msrtc = report.msrtc {
            source = .msrtc(msrtc)
        } else {
            return
        }
        resource.isOld = false
        resource.staleAt = nil
        show(source, in: resource, at: now)
    }

    /// Gives every sink what is known now.
    func show(_ source: PresenceSource, in resource: UpstreamResource, at now: Instant) {
        for (watcher, watched) in resource.sinks {
            if watched.source == source {
                counters.notificationsSuppressed += 1
                continue
            }
            watched.source = source
            sourceChanged(watched, of: watcher, at: now)
        }
    }

    /// What a resource list says of one presentity. True: the leg took another way.
    private func heed(
        _ verdict: UpstreamContent.Verdict, on resource: UpstreamResource, of upstream: UpstreamSubscription, at now: Instant
    ) -> Bool {
        switch verdict.state {
        case .resubscribe:
            log(.info, "far side names another pool", ["call-id": upstream.callID, "pool": verdict.poolFqdn ?? ""])
            note(.redirected, upstream, resource, rule: "resubscribe to \(verdict.poolFqdn ?? "the presentity itself")", at: now)
            if upstream.follow(poolFqdn: verdict.poolFqdn) {
                perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
            } else {
                ended(upstream, .terminated(.noresource), at: now)
            }
            return true
        case .terminated:
            ended(upstream, .terminated(TerminationReason(rlmi: verdict.reason)), at: now)
            return true
        default:
            return false
        }
    }

    /// The far side's word on the subscription as a whole.
    func follow(_ status: SubscriptionStatus, _ upstream: UpstreamSubscription, at now: Instant) {
        var isPending = false
        if case .pending = status { isPending = true }
        for resource in upstream.resources {
            resource.standing = isPending ? .pending : .active
            for (watcher, watched) in resource.sinks {
                if watcher.namesResources {
                    standingChanged(isPending: isPending, of: watched, in: watcher, at: now)
                } else {
                    perform(watcher.notifier.authorize(!isPending, at: now), on: watcher, at: now)
                }
            }
        }
    }

    /// The leg is made anew by itself; the watchers are kept and see the last state for a while.
    func lost(_ upstream: UpstreamSubscription, _ failure: Subscriber.Failure, retryIn pause: TimeSpan, at now: Instant) {
        counters.upstreamLost += 1
        note(.lost, upstream, failure, at: now)
        log(
            .notice, "far leg lost",
            [
                "call-id": upstream.callID, "leg": upstream.domain.side.rawValue, "cause": String(describing: failure),
                "retry-in": String(pause.seconds),
            ])
        upstream.dialog = nil
        for resource in upstream.resources { resource.isOld = true }
        if case .refused(let status) = failure, upstream.fallBack(after: status) {
            perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
            return
        }
        for resource in upstream.resources where resource.staleAt == nil && resource.source.isKnown && resource.source != .offline {
            resource.staleAt = now + configuration.timing.staleAfter
        }
    }

    /// The leg is over: as wished (nil), or for good.
    func ended(_ upstream: UpstreamSubscription, _ failure: Subscriber.Failure?, at now: Instant) {
        if case .refused(let status)? = failure, upstream.hasSink, upstream.fallBack(after: status) {
            log(.info, "far side wants another format", ["call-id": upstream.callID, "format": upstream.format.rawValue])
            perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
            return
        }
        forget(upstream)
        let sinks = upstream.sinks
        for (_, watched) in sinks { watched.upstream = nil }
        guard let failure else {
            for resource in upstream.resources where !resource.source.isKnown { show(.offline, in: resource, at: now) }
            return
        }
        guard !sinks.isEmpty else { return }
        note(.farEnded, upstream, failure, at: now)
        log(.info, "far side ended the subscription", ["call-id": upstream.callID, "cause": String(describing: failure)])
        for (watcher, watched) in sinks { pass(failure, of: watched, to: watcher, at: now) }
    }

    /// Tells the watcher what the far side's refusal means for it.
    private func pass(_ failure: Subscriber.Failure, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        let reason = TerminationReason(failure)
        if let held = watcher.held, watcher.resources.count == 1 {
            watcher.held = nil
            refuse(held.request, held.transaction, Refusal(passing: failure, retryAfter: configuration.timing.retryAfter), at: now)
            remove(watcher, at: now)
            return
        }
        guard watcher.namesResources else {
            let retryAfter = reason.retry == .later ? configuration.timing.retryAfter : nil
            perform(watcher.notifier.terminate(reason, retryAfter: retryAfter, at: now), on: watcher, at: now)
            return
        }
        reject(resource, of: watcher, state: "terminated", reason: reason.rawValue)
        if watcher.held != nil {
            if watcher.isReady { answerHeld(watcher, at: now) }
        } else if watcher.isBatch, watcher.resources.isEmpty {
            perform(watcher.notifier.terminate(reason, at: now), on: watcher, at: now)
        } else if watcher.list == nil || watcher.isReady || !watcher.notifier.isHeld {
            perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
        }
    }
}
