import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// List subscriptions to standard domains: one dialog for all presentities that a watcher watches there (RFC 4662, RFC 5367).
///
///     batch watcher --> list subscription --refused, no list, silent--> single subscriptions (for an hour)
///                          |
///                          +--presentities added or removed: a new list subscription, which replaces it with its first state
final class UpstreamListSubscriber: UpstreamPart {
    unowned let flow: UpstreamFlow

    init(_ flow: UpstreamFlow) { self.flow = flow }

    /// Pauses before an ad hoc list is subscribed to again after an addition and after a removal, so that several changes need one SUBSCRIBE.
    private static let growPause = TimeSpan.milliseconds(500)
    private static let shrinkPause = TimeSpan.seconds(5)

    /// Returns the list subscription that a presentity joins; nil: it gets a subscription of its own.
    func listUpstream(for resource: WatchedResource, of watcher: WatcherDialog, _ order: UpstreamOrder, at now: Instant)
        -> UpstreamSubscription?
    {
        guard order.poll == nil, watcher.namesResources || watcher.resources.count > 1, order.domain.side == .simple,
            let lists = order.domain.configuration.lists, order.domain.takesLists(at: now), let uri = lists.uri(of: order.watcher)
        else { return nil }
        let key = UpstreamBatchKey(order, pool: uri)
        let open = upstreams.open(key)
        if let subscription = open.first(where: { $0.resource(resource.key) != nil }) {
            refetch(subscription, for: resource)
            return subscription
        }
        if case .kept = lists {
            guard let subscription = open.first else { return makeList(UpstreamList(isKept: true), at: uri, order, key, at: now) }
            guard let list = subscription.list, list.state.version != nil else { return subscription }
            // A presentity outside the list would never be reported.
            guard list.members.contains(resource.key) else { return nil }
            subscription.reading.fullState.want()
            return subscription
        }
        let room = open.filter { $0.resources.count < configuration.limits.resourcesPerBatch }
        if let subscription = room.first(where: { $0.subscriber.attempt == 0 }) { return subscription }
        if let subscription = room.first { return renewed(subscription, after: Self.growPause, at: now) }
        return makeList(UpstreamList(isKept: false), at: uri, order, key, at: now)
    }

    private func makeList(
        _ list: UpstreamList, at uri: SIPURI, _ order: UpstreamOrder, _ key: UpstreamBatchKey, at now: Instant
    ) -> UpstreamSubscription {
        let subscription = flow.makeUpstream(at: .list(uri), order, form: .pidf, list: list, at: now)
        upstreams.open(subscription, as: key)
        return subscription
    }

    /// Requests the full state for a watcher that joined without a state although the list has reported.
    private func refetch(_ subscription: UpstreamSubscription, for resource: WatchedResource) {
        if subscription.list?.isHeard == true, subscription.resource(resource.key)?.source.isKnown == false {
            subscription.reading.fullState.want()
        }
    }

    // MARK: changes

    /// Makes a subscription to the same presentities that replaces an ad hoc list with its first state, because the members of such a list
    /// are fixed (RFC 5367 4). Until then both feed the watchers.
    private func renewed(_ old: UpstreamSubscription, after pause: TimeSpan, at now: Instant) -> UpstreamSubscription {
        guard let key = old.batch.key else { return old }
        upstreams.close(old)
        let subscription = makeList(UpstreamList(replacing: old), at: old.target, old.order(poll: nil), key, at: now)
        subscription.rest(until: now + pause)
        for (watcher, resource) in old.sinks { subscription.join(resource, of: watcher) }
        for resource in old.resources { subscription.resource(resource.key)?.succeed(resource) }
        subscription.reading.adopt(old.reading)
        upstreams.insert(subscription)
        flow.schedule(subscription)
        return subscription
    }

    /// Replaces an ad hoc list that a presentity has left.
    func shrinkList(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let list = subscription.list, !list.isKept, subscription.subscriber.attempt > 0, subscription.batch.key != nil else { return }
        _ = renewed(subscription, after: Self.shrinkPause, at: now)
    }

    /// Ends the subscriptions that this one replaces.
    func endPredecessor(of subscription: UpstreamSubscription, at now: Instant) {
        guard let old = subscription.list?.releasePredecessor() else { return }
        old.dropAll()
        endPredecessor(of: old, at: now)
        flow.end(old, hasDialog: old.dialog != nil, at: now)
    }

    /// Removes all presentities of a subscription that is being replaced; its successor feeds them. Returns false if it is not being
    /// replaced.
    func dropReplaced(_ subscription: UpstreamSubscription) -> Bool {
        guard subscription.list?.isReplaced == true else { return false }
        subscription.dropAll()
        return true
    }

    // MARK: notifications

    /// Applies the parts of a list notification that concern the list as a whole.
    func applyList(_ content: UpstreamContent, of upstream: UpstreamSubscription, _ status: SubscriptionStatus, at now: Instant) {
        guard let list = upstream.list, content.hasList else { return }
        if content.isOverfull {
            counters.limitsReached += 1
            log(.notice, "a list has more resources or instances than are kept", ["call-id": upstream.callID])
        }
        if content.needsFullState {
            counters.partialStateMissed += 1
            upstream.reading.fullState.miss()
        } else if content.isDifference {
            upstream.reading.fullState.fitted()
        }
        if !content.reports.isEmpty {
            list.heard()
            endPredecessor(of: upstream, at: now)
        }
        awaitStates(content, of: upstream, at: now)
        let alone = content.unlisted.compactMap { upstream.resource($0) }
        if !alone.isEmpty { askAlone(alone, of: upstream, at: now) }
        if !upstream.hasSink { flow.end(upstream, hasDialog: upstream.dialog != nil && !status.isTerminated, at: now) }
    }

    /// Time in which a list may leave members without a state before the full state is requested once more.
    private static let silencePause = TimeSpan.seconds(5)

    /// Schedules one refresh per dialog for members without a state in the present dialog (RFC 4662 4.5), because a list server that lost
    /// its own subscriptions might otherwise report nothing until they change.
    private func awaitStates(_ content: UpstreamContent, of upstream: UpstreamSubscription, at now: Instant) {
        guard let list = upstream.list, list.completion == .open, hasSilentMember(upstream, besides: content) else { return }
        list.planCompletion(at: now + Self.silencePause)
        flow.schedule(upstream)
    }

    private func hasSilentMember(_ upstream: UpstreamSubscription, besides content: UpstreamContent? = nil) -> Bool {
        let spokenOf = Set(content?.reports.map(\.key) ?? [])
        return upstream.resources.contains {
            $0.hasSink && $0.freshness == .ofEarlierDialog && $0.authorization != .pending && $0.unreadable == nil
                && !spokenOf.contains($0.key)
        }
    }

    func askListAgain(_ upstream: UpstreamSubscription, at now: Instant) {
        let isNeeded = { [unowned self] in upstream.subscriber.isListening && hasSilentMember(upstream) }
        guard let list = upstream.list, list.advance(at: now, isNeeded: isNeeded) else { return }
        upstream.reading.fullState.want()
        flow.reader.fetchFullState(upstream, at: now)
    }

    /// Keeps the last state of a presentity that the list lost temporarily (RFC 4662 5.5), for `staleAfter` at most. Returns false if the
    /// loss is final.
    func awaitsList(
        _ instanceState: UpstreamContent.InstanceState, on resource: UpstreamResource, of upstream: UpstreamSubscription, at now: Instant
    )
        -> Bool
    {
        guard upstream.list != nil, let reason = instanceState.reason, TerminationReason(rlmi: reason).retry != .never else { return false }
        resource.expireState(at: now + configuration.timing.staleAfter)
        return true
    }

    // MARK: without a list

    /// Subscribes to each presentity separately because there is no list, and to others of the domain for an hour. Leaves the list
    /// subscription without presentities.
    func giveUpList(_ upstream: UpstreamSubscription, at now: Instant) {
        log(.notice, "no list subscription, presentities are asked for one by one", ["call-id": upstream.callID])
        counters.listsGivenUp += 1
        flow.note(.redirected, upstream, rule: "no list at \(upstream.target), each presentity is asked for alone", at: now)
        upstream.domain.declineLists(at: now)
        upstreams.close(upstream)
        askAlone(upstream.resources, of: upstream, at: now)
        endPredecessor(of: upstream, at: now)
    }

    private func askAlone(_ resources: [UpstreamResource], of upstream: UpstreamSubscription, at now: Instant) {
        let order = upstream.order(poll: nil)
        var subscriptions: [UpstreamSubscription] = []
        for resource in resources {
            upstream.drop(resource)
            guard resource.hasSink else { continue }
            let subscription = flow.makeUpstream(at: .presentity(resource.uri), order, form: .pidf, at: now)
            flow.moves.pace(subscription, after: subscriptions.count, at: now)
            flow.moves.move(resource, to: subscription, &subscriptions, at: now)
        }
        for subscription in subscriptions { flow.proceed(subscription, at: now) }
    }
}
