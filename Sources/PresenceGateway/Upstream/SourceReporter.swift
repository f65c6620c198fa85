import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Effects of upstream notifications and of the end of upstream subscriptions on watchers.
extension UpstreamFlow {
    /// Applies the reports of a message; a report on one presentity does not affect the others.
    /// - Parameter status: state of the subscription as a whole.
    /// - Returns: whether the subscription restarts at once, so that the rest of the message is ignored.
    func take(_ content: UpstreamContent, _ upstream: UpstreamSubscription, _ status: SubscriptionStatus?, at now: Instant) -> Bool {
        var isPending = false
        if case .pending? = status {
            // State in a `pending` NOTIFY is not authorized. A fetch gets no later NOTIFY, so stop here.
            isPending = true
            follow(.pending(expires: nil), upstream, at: now)
            if upstream.subscriber.isFetch { return false }
        }
        let before = upstream.resources.count
        var subscriptions: [UpstreamSubscription] = []
        let unread = Set(content.unreadPresentities.map(\.key))
        for report in content.reports {
            guard let resource = upstream.resource(report.key) else { continue }
            if resource.freshness == .ofEarlierProcess, let elements = report.categories, !resource.isWhole(elements) {
                // A partial update after a restart: the earlier state is lost, so show nothing before the full state. A message before the
                // response to a refresh may be the only one that follows (RFC 6665 4.1.2.4), so request the state once more.
                upstream.reading.fullState.want()
            } else if report.hasState {
                // A single subscription is pending until its Subscription-State changes.
                let isTaken = take(report, of: resource, upstream, isGranted: upstream.shape != .single && !isPending, at: now)
                if isTaken, !unread.contains(report.key) { upstream.becameReadable(resource) }
            } else if let instanceState = report.instanceState {
                // A full list without a document of the presentity is readable too.
                if instanceState.state == .active, upstream.list != nil, !content.isDifference, !unread.contains(report.key) {
                    upstream.becameReadable(resource)
                }
                apply(instanceState, on: resource, of: upstream, isGranted: !isPending, &subscriptions, at: now)
            }
        }
        for subscription in subscriptions { proceed(subscription, at: now) }
        if !upstream.hasSink, upstream.subscriber.attempt > 0 {
            upstream.dropAll()
            end(upstream, hasDialog: upstream.dialog != nil && status?.isTerminated != true, at: now)
            return false
        }
        // All subscribed presentities were rejected, so the dialog is over (MS-PRES 4.6), but others remain to be subscribed.
        if upstream.shape == .batch, status?.isTerminated == true, upstream.resources.count < before,
            upstream.resources.allSatisfy({ $0.asked == nil })
        {
            perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
            return true
        }
        return false
    }

    /// Passes a new state of one presentity to all its sinks.
    /// - Returns: whether the report has new state.
    private func take(
        _ report: UpstreamContent.Report, of resource: UpstreamResource, _ upstream: UpstreamSubscription, isGranted: Bool, at now: Instant
    ) -> Bool {
        var source: PresenceSource
        if let categories = report.categories {
            source = .categories(resource.merged(categories, at: now))
        } else if let pidf = report.pidf {
            resource.dropPartial()
            source = .pidf(pidf)
        } else if let partial = report.partial {
            guard let made = self.source(ofPartial: partial, instance: report.instance, of: resource, upstream) else { return false }
            source = made
        } else if report.showsNothing {
            source = .offline
        } else if let msrtc = report.msrtc {
            source = .msrtc(msrtc)
        } else {
            return false
        }
        compare(source, with: resource, of: upstream, at: now)
        resource.confirm()
        var redirectHistory = resource.redirectHistory
        redirects.arrived(&redirectHistory, at: upstream.address, now: now)
        resource.note(redirects: redirectHistory)
        show(source, in: resource, isGranted: isGranted, at: now)
        return true
    }

    /// Updates every sink with the known state.
    /// - Parameter isGranted: whether the state itself implies that the watcher is authorized.
    func show(_ source: PresenceSource, in resource: UpstreamResource, isGranted: Bool = false, at now: Instant) {
        resource.noteTimedMoment(of: source, at: now)
        var changed: [(watcher: WatcherDialog, resource: WatchedResource)] = []
        for (watcher, watched) in resource.sinks {
            if watched.source == source {
                counters.notificationsSuppressed += 1
                continue
            }
            watched.show(source)
            changed.append((watcher, watched))
        }
        if isGranted { setAuthorization(.active, resource, at: now) }
        for (watcher, watched) in changed { ports.sourceChanged(watched, of: watcher, at: now) }
    }

    /// Applies a resource list entry without state for one presentity (MS-PRES 2.2.2.4.2).
    /// - Parameter isGranted: whether the list as a whole is not pending.
    private func apply(
        _ instanceState: UpstreamContent.InstanceState, on resource: UpstreamResource, of upstream: UpstreamSubscription, isGranted: Bool,
        _ subscriptions: inout [UpstreamSubscription], at now: Instant
    ) {
        switch instanceState.state {
        case .resubscribe:
            note(.redirected, upstream, resource, rule: "resubscribe to \(instanceState.poolFqdn ?? "the presentity itself")", at: now)
            redirect(resource, of: upstream, to: instanceState.poolFqdn, &subscriptions, at: now)
        case .terminated:
            if awaitsList(instanceState, on: resource, of: upstream, at: now) { return }
            upstream.drop(resource)
            let meaning = UpstreamTermination(instanceState)
            log(
                .info, "far side ended the subscription to one presentity",
                [
                    "call-id": upstream.callID, "reason": instanceState.reason ?? "",
                    "status": instanceState.statusCode.map { String($0) } ?? "",
                ])
            for (watcher, watched) in resource.sinks {
                watched.feed(from: nil)
                ports.sourceEnded(meaning, of: watched, to: watcher, at: now)
            }
        case .pending:
            setAuthorization(.pending, resource, at: now)
        case .active where upstream.list != nil && isGranted:
            setAuthorization(.active, resource, at: now)
            if !resource.source.isKnown { show(.offline, in: resource, at: now) }
        default:
            break
        }
    }

    /// Notifies the watchers of one presentity whether their authorization is pending.
    private func setAuthorization(_ authorization: UpstreamResource.Authorization, _ resource: UpstreamResource, at now: Instant) {
        resource.authorize(authorization)
        for (watcher, watched) in resource.sinks {
            ports.authorizationChanged(isPending: authorization == .pending, of: watched, to: watcher, at: now)
        }
    }

    /// Applies the Subscription-State of the whole subscription; a pending entry of a list is not changed by `active`.
    func follow(_ status: SubscriptionStatus, _ upstream: UpstreamSubscription, at now: Instant) {
        var isPending = false
        if case .pending = status { isPending = true }
        let authorization = isPending ? UpstreamResource.Authorization.pending : .active
        for resource in upstream.resources
        // Apply pending again: the loss of a subscription sets it without a notification to watchers of several presentities.
        where isPending || resource.authorization != .active && (upstream.shape == .single || resource.authorization != .pending) {
            setAuthorization(authorization, resource, at: now)
        }
    }

    /// Handles the loss of a subscription that restarts by itself; watchers keep the last state for a while.
    func lost(_ upstream: UpstreamSubscription, _ failure: Subscriber.Failure, retryIn pause: TimeSpan, at now: Instant) {
        counters.upstreamLost += 1
        upstream.verification.doubt(at: now)
        sampleLost(upstream, at: now)
        note(.lost, upstream, failure, at: now)
        log(
            .notice, "far leg lost",
            [
                "call-id": upstream.callID, "leg": upstream.domain.side.rawValue, "cause": String(describing: failure),
                "retry-in": String(pause.seconds),
            ])
        upstream.attempt.lost()
        keep(upstream)
        if dropReplaced(upstream) { return end(upstream, hasDialog: false, at: now) }
        let wasHeard = upstream.list?.isHeard ?? true
        upstream.reset()
        if case .refused(let status) = failure, Self.isFormRefusal(status), fallBack(upstream, after: status, at: now) {
            if upstream.resources.isEmpty { end(upstream, hasDialog: false, at: now) }
            return
        }
        if let list = upstream.list, !wasHeard, list.isKept || upstream.subscriber.attempt > 1, upstream.hasSink {
            giveUpList(upstream, at: now)
            end(upstream, hasDialog: false, at: now)
            return
        }
        if upstream.isFollowed(at: now), Self.isMoved(failure) {
            sendBack(upstream, at: now)
            end(upstream, hasDialog: false, at: now)
            return
        }
        // A restart at once, as the remote domain requested, is no loss for the watchers.
        applyWhenLost(upstream, isDown: pause > .zero, at: now)
    }

    /// Withdraws an unconfirmed state: a subscription to the presentity alone becomes pending, an entry of a list offline.
    func showPending(_ resource: UpstreamResource, at now: Instant) {
        resource.authorize(.pending)
        for (watcher, watched) in resource.sinks {
            if !watcher.namesResources {
                ports.authorizationChanged(isPending: true, of: watched, to: watcher, at: now)
            } else if watched.source != .offline {
                watched.show(.offline)
                ports.sourceChanged(watched, of: watcher, at: now)
            }
        }
    }

    /// Handles the end of a subscription: as requested (nil), or after a final failure.
    func ended(_ upstream: UpstreamSubscription, _ failure: Subscriber.Failure?, at now: Instant) {
        _ = dropReplaced(upstream)
        if case .refused(let status)? = failure, fallBack(upstream, after: status, at: now) {
            if upstream.resources.isEmpty { forget(upstream) }
            return
        }
        if failure != nil, upstream.list != nil, upstream.hasSink { giveUpList(upstream, at: now) }
        let isFollowed = upstream.isFollowed(at: now)
        endPredecessor(of: upstream, at: now)
        forget(upstream)
        if failure != nil, isFollowed { return sendBack(upstream, at: now) }
        let sinks = upstream.sinks
        for (_, watched) in sinks { watched.feed(from: nil) }
        guard let failure else {
            for resource in upstream.resources where !resource.source.isKnown { show(.offline, in: resource, at: now) }
            return
        }
        guard !sinks.isEmpty else { return }
        note(.farEnded, upstream, failure, at: now)
        log(.info, "far side ended the subscription", ["call-id": upstream.callID, "cause": String(describing: failure)])
        for (watcher, watched) in sinks {
            ports.sourceEnded(
                UpstreamTermination(failure, routingFailure: upstream.attempt.routingFailure), of: watched, to: watcher, at: now)
        }
    }

    /// Whether a pool that the remote domain named probably no longer serves its presentities, rather than being down briefly.
    private static func isMoved(_ failure: Subscriber.Failure) -> Bool {
        switch failure {
        case .terminated, .silent: true
        case .refused(let status): [480, 503].contains(status)
        case .lapsed: false
        }
    }
}
