import PresenceDocuments
import SIPCore
import SIPEvents

/// List subscriptions toward standard domains: one dialog for all presentities of a watcher there (RFC 4662, RFC 5367).
///
///     batch watcher --> list leg --refused, no list, silent--> single legs (remembered for a while)
///                          |
///                          +--presentities come or go: a new list leg beside it, which takes its place when it shows something
extension Gateway {
    /// How long after a change an ad hoc list is asked for anew, so that several changes are one: something came, something went.
    private static let growPause = TimeSpan.milliseconds(500)
    private static let shrinkPause = TimeSpan.seconds(5)

    /// The list leg that a presentity joins; nil: it is asked for alone.
    func listLeg(for resource: WatchedResource, of watcher: WatcherDialog, _ order: UpstreamOrder, at now: Instant) -> UpstreamSubscription?
    {
        guard order.poll == nil, watcher.namesResources || watcher.resources.count > 1, order.domain.side == .simple,
            let lists = order.domain.configuration.lists, order.domain.takesLists(at: now), let uri = lists.uri(of: order.watcher)
        else { return nil }
        let key = UpstreamBatchKey(order, pool: uri)
        let open = batches[key] ?? []
        if let leg = open.first(where: { $0.resource(resource.key) != nil }) {
            refetch(leg, for: resource)
            return leg
        }
        if case .kept = lists {
            guard let leg = open.first else { return makeList(at: uri, isKept: true, order, key, at: now) }
            guard let list = leg.list, list.state.version != nil else { return leg }
            // Not in the list: nobody would speak of it.
            guard list.members.contains(resource.key) else { return nil }
            leg.fullState.want()
            return leg
        }
        let room = open.filter { $0.resources.count < configuration.limits.resourcesPerBatch }
        if let leg = room.first(where: { $0.subscriber.attempt == 0 }) { return leg }
        if let leg = room.first { return renewed(leg, after: Self.growPause, at: now) }
        return makeList(at: uri, isKept: false, order, key, at: now)
    }

    private func makeList(
        at uri: SIPURI, isKept: Bool, _ order: UpstreamOrder, _ key: UpstreamBatchKey, at now: Instant
    ) -> UpstreamSubscription {
        let leg = makeLeg(at: .list(uri), order, form: .pidf, at: now)
        leg.list = UpstreamList(isKept: isKept)
        open(leg, as: key)
        return leg
    }

    /// Somebody joins who sees nothing yet, although the far side has said what there is.
    private func refetch(_ leg: UpstreamSubscription, for resource: WatchedResource) {
        if leg.list?.isHeard == true, leg.resource(resource.key)?.source.isKnown == false { leg.fullState.want() }
    }

    // MARK: changes

    /// A leg with the same presentities that takes the place of an ad hoc list once that shows something: such a list cannot be changed
    /// (RFC 5367 4). Until then the old one feeds the watchers too.
    private func renewed(_ old: UpstreamSubscription, after pause: TimeSpan, at now: Instant) -> UpstreamSubscription {
        guard let key = old.batchKey else { return old }
        close(old)
        let leg = makeList(at: old.target, isKept: false, old.order(poll: nil), key, at: now)
        leg.list?.predecessor = old
        old.list?.isReplaced = true
        leg.restsUntil = now + pause
        for (watcher, resource) in old.sinks { leg.join(resource, of: watcher) }
        for resource in old.resources where resource.standing == .pending { leg.resource(resource.key)?.standing = .pending }
        upstreams[leg.id] = leg
        schedule(leg)
        return leg
    }

    /// Somebody left an ad hoc list.
    func shrinkList(_ leg: UpstreamSubscription, at now: Instant) {
        guard let list = leg.list, !list.isKept, leg.subscriber.attempt > 0, leg.batchKey != nil else { return }
        _ = renewed(leg, after: Self.shrinkPause, at: now)
    }

    /// The leg before is not needed any more.
    func endPredecessor(of leg: UpstreamSubscription, at now: Instant) {
        guard let old = leg.list?.predecessor else { return }
        leg.list?.predecessor = nil
        old.dropAll()
        endPredecessor(of: old, at: now)
        end(old, hasDialog: old.dialog != nil, at: now)
    }

    /// A leg whose place is taken is over: the other one goes on. False: it is none.
    func dropReplaced(_ leg: UpstreamSubscription) -> Bool {
        guard leg.list?.isReplaced == true else { return false }
        leg.dropAll()
        return true
    }

    // MARK: what it says

    /// What a message of any far leg says.
    func content(_ body: [UInt8], _ type: MediaType?, of upstream: UpstreamSubscription) throws(Refusal) -> UpstreamContent {
        let keys = upstream.resources.map(\.key)
        guard let list = upstream.list, let type, type.essence == WatcherFormat.relatedType else {
            return try UpstreamContent(body, contentType: type, presentities: keys, parser: parser)
        }
        return try UpstreamContent(
            list: body, contentType: type, state: &list.state, isKept: list.isKept, presentities: keys, parser: parser,
            limit: max(configuration.limits.resourcesPerBatch, 1_000))
    }

    /// What a list's message means beyond each presentity.
    func heedList(_ content: UpstreamContent, of upstream: UpstreamSubscription, _ status: SubscriptionStatus, at now: Instant) {
        guard let list = upstream.list, content.hasList else { return }
        for problem in content.unreadable {
            log(.notice, "a part of a list cannot be read", ["call-id": upstream.callID, "rule": problem])
        }
        if content.isOverfull {
            counters.limitsReached += 1
            log(.notice, "a list has more resources or instances than are kept", ["call-id": upstream.callID])
        }
        if content.needsFullState {
            counters.partialStateMissed += 1
            upstream.fullState.miss()
        } else if content.isDifference {
            upstream.fullState.fitted()
        }
        if !content.reports.isEmpty {
            list.isHeard = true
            endPredecessor(of: upstream, at: now)
        }
        awaitStates(content, of: upstream, at: now)
        let alone = content.unlisted.compactMap { upstream.resource($0) }
        if !alone.isEmpty { askAlone(alone, of: upstream, at: now) }
        if !upstream.hasSink { end(upstream, hasDialog: upstream.dialog != nil && !status.isTerminated, at: now) }
    }

    /// How long a list may leave members without a state before it is asked for the whole once more.
    private static let silencePause = TimeSpan.seconds(5)

    /// Members whose state of the present dialog is not known are asked for once more, with a refresh (RFC 4662 4.5); a list that forgot
    /// its subscriptions might else show nothing of them until they change.
    private func awaitStates(_ content: UpstreamContent, of upstream: UpstreamSubscription, at now: Instant) {
        guard let list = upstream.list, !list.hasAskedAgain, list.asksAgainAt == nil, hasSilentMember(upstream, besides: content) else {
            return
        }
        list.asksAgainAt = now + Self.silencePause
        schedule(upstream)
    }

    private func hasSilentMember(_ upstream: UpstreamSubscription, besides content: UpstreamContent? = nil) -> Bool {
        let spokenOf = Set(content?.reports.map(\.key) ?? [])
        return upstream.resources.contains { $0.hasSink && $0.isOld && $0.standing != .pending && !spokenOf.contains($0.key) }
    }

    func askListAgain(_ upstream: UpstreamSubscription, at now: Instant) {
        guard let list = upstream.list, let moment = list.asksAgainAt, now >= moment else { return }
        list.asksAgainAt = nil
        guard upstream.subscriber.isListening, hasSilentMember(upstream) else { return }
        list.hasAskedAgain = true
        upstream.fullState.want()
        fetchFullState(upstream, at: now)
    }

    /// The list says that it lost one presentity for now, and goes on trying (RFC 4662 5.5): the last state is shown for a while.
    func awaitsList(_ verdict: UpstreamContent.Verdict, on resource: UpstreamResource, of upstream: UpstreamSubscription, at now: Instant)
        -> Bool
    {
        guard upstream.list != nil, let reason = verdict.reason, TerminationReason(rlmi: reason).retry != .never else { return false }
        if resource.staleAt == nil { resource.staleAt = now + configuration.timing.staleAfter }
        return true
    }

    // MARK: without a list

    /// A list cannot be had: each presentity is asked for alone, and others are for a while. The leg is left without any.
    func giveUpList(_ upstream: UpstreamSubscription, at now: Instant) {
        log(.notice, "no list subscription, presentities are asked for one by one", ["call-id": upstream.callID])
        counters.listsGivenUp += 1
        note(.redirected, upstream, rule: "no list at \(upstream.target), each presentity is asked for alone", at: now)
        upstream.domain.declineLists(at: now)
        close(upstream)
        askAlone(upstream.resources, of: upstream, at: now)
        endPredecessor(of: upstream, at: now)
    }

    private func askAlone(_ resources: [UpstreamResource], of upstream: UpstreamSubscription, at now: Instant) {
        let order = upstream.order(poll: nil)
        var legs: [UpstreamSubscription] = []
        for resource in resources {
            upstream.drop(resource)
            guard resource.hasSink else { continue }
            let leg = makeLeg(at: .presentity(resource.uri), order, form: .pidf, at: now)
            pace(leg, after: legs.count, at: now)
            move(resource, to: leg, &legs, at: now)
        }
        for leg in legs { proceed(leg, at: now) }
    }
}
