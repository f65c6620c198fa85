import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Passes the state and the authorization of presentities at the remote domain to their watchers.
final class SourceReporter: UpstreamPart {
    unowned let flow: UpstreamFlow

    init(_ flow: UpstreamFlow) { self.flow = flow }

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
        for subscription in subscriptions { flow.proceed(subscription, at: now) }
        if !upstream.hasSink, upstream.subscriber.attempt > 0 {
            upstream.dropAll()
            flow.end(upstream, hasDialog: upstream.dialog != nil && status?.isTerminated != true, at: now)
            return false
        }
        // All subscribed presentities were rejected, so the dialog is over (MS-PRES 4.6), but others remain to be subscribed.
        if upstream.shape == .batch, status?.isTerminated == true, upstream.resources.count < before,
            upstream.resources.allSatisfy({ $0.asked == nil })
        {
            flow.perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
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
            guard let made = flow.reader.source(ofPartial: partial, instance: report.instance, of: resource, upstream) else { return false }
            source = made
        } else if report.showsNothing {
            source = .offline
        } else if let msrtc = report.msrtc {
            source = .msrtc(msrtc)
        } else {
            return false
        }
        flow.verifier.compare(source, with: resource, of: upstream, at: now)
        resource.confirm()
        var redirectHistory = resource.redirectHistory
        flow.moves.arrived(&redirectHistory, at: upstream.address, now: now)
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
            flow.note(.redirected, upstream, resource, rule: "resubscribe to \(instanceState.poolFqdn ?? "the presentity itself")", at: now)
            flow.moves.redirect(resource, of: upstream, to: instanceState.poolFqdn, &subscriptions, at: now)
        case .terminated:
            if flow.lists.awaitsList(instanceState, on: resource, of: upstream, at: now) { return }
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

    /// Applies `when-lost` to the known state until the remote domain sends state again.
    /// - Parameter isDown: false if the subscription restarts at once: the last state is shown for `staleAfter`.
    func applyWhenLost(_ subscription: UpstreamSubscription, isDown: Bool, at now: Instant) {
        for resource in subscription.resources { applyWhenLost(resource, of: subscription, isDown: isDown, at: now) }
    }

    func applyWhenLost(_ resource: UpstreamResource, of subscription: UpstreamSubscription, isDown: Bool, at now: Instant) {
        guard resource.source.isKnown else { return }
        switch subscription.domain.configuration.whenLost {
        case .pending where isDown: showPending(resource, at: now)
        case .offline where isDown: show(.offline, in: resource, at: now)
        default:
            if resource.source != .offline { resource.expireState(at: now + configuration.timing.staleAfter) }
        }
    }
}
