import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Upstream subscriptions of an earlier process, until the dialogs that they feed are restored.
struct RestoredUpstreamSubscriptions {
    private var bySink: [Sink: UpstreamSubscription] = [:]
    /// The subscriptions, each with the categories of its resources; the records themselves are not kept, which bounds the memory.
    private(set) var all: [(subscription: UpstreamSubscription, categories: [[String]])] = []

    private struct Sink: Hashable {
        var tag: String
        var presentity: String
    }

    /// Upstream subscription that feeds a presentity of the dialog with this local tag.
    func subscription(of presentity: String, for tag: String) -> UpstreamSubscription? { bySink[Sink(tag: tag, presentity: presentity)] }

    fileprivate mutating func add(_ subscription: UpstreamSubscription, _ stored: StoredUpstreamSubscription) {
        all.append((subscription, stored.resources.map(\.categories)))
        for resource in stored.resources {
            guard let key = SIPURI(resource.uri)?.aorKey else { continue }
            for tag in resource.sinks { bySink[Sink(tag: tag, presentity: key)] = subscription }
        }
    }
}

/// Upstream subscriptions continue in their dialogs: each is refreshed in its turn, which requests the whole state.
///
///     stored --alive--> dialog resumed --watchers restored--> feeds some: refresh, paced --2xx, NOTIFY--> changes are notified
///               |                               |                             \--481, silence--> restarted
///               +--lapsed: restarted            +--feeds none: unsubscribe, paced
final class UpstreamRestorer: UpstreamPart {
    unowned let flow: UpstreamFlow
    /// Earliest time for the next subscription after a restart.
    private var nextTurn = Instant(nanosecondsSince1970: 0)

    init(_ flow: UpstreamFlow) { self.flow = flow }

    // MARK: turns

    /// The next free turn at the pace of a restart.
    func freeTurn(at now: Instant) -> Instant { max(now, nextTurn) }

    /// Takes the turn at `moment`; the next one follows after the pace of a restart.
    func takeTurn(_ moment: Instant) { nextTurn = moment + configuration.timing.restorePace }

    // MARK: records

    /// Resumes an upstream subscription in the next turn.
    /// - Returns: false: its watchers get a new one.
    func restore(_ stored: StoredUpstreamSubscription, _ restored: inout RestoredUpstreamSubscriptions, at now: Instant) -> Bool {
        guard let upstream = resumed(stored, at: now) else {
            keep(.upstreamSubscription(stored.tag))
            return false
        }
        restored.add(upstream, stored)
        upstreams.insert(upstream)
        return true
    }

    private func resumed(_ stored: StoredUpstreamSubscription, at now: Instant) -> UpstreamSubscription? {
        let uris = stored.resources.compactMap { SIPURI($0.uri) }
        guard let watcher = SIPURI(stored.watcher), let target = SIPURI(stored.target), uris.count == stored.resources.count,
            let shape = UpstreamSubscription.Shape(rawValue: stored.shape), shape != .list,
            let format = UpstreamFormat(rawValue: stored.format), let domain = configuration.domain(stored.domain), domain.refuse == nil,
            !domain.hosted, let first = uris.first, let hop = hop(toward: first, in: domain)
        else { return nil }
        let order = UpstreamOrder(
            watcher: watcher, network: configuration.domain(watcher.domainKey)?.network ?? .federated,
            domain: upstreams.domain(stored.domain, domain, hop), maxForwards: stored.maxForwards, hopMarks: stored.hopMarks, poll: nil)
        let moment = freeTurn(at: now)
        let subscription = flow.makeUpstream(at: shape == .batch ? .pool(target) : .presentity(target), order, form: format, at: now)
        var policy = subscription.subscriber.configuration
        policy.expires = max(stored.expires, 1)
        let subscriber: Subscriber
        var dialog: Dialog?
        if let snapshot = stored.dialog {
            // A dialog that lapses before its turn is restarted.
            guard let resumed = Dialog.resumed(from: snapshot), stored.expiry.map({ $0 > moment }) ?? true else { return nil }
            subscriber = Subscriber(resuming: policy, expiry: stored.expiry ?? moment + policy.timerN, refreshAt: moment)
            dialog = resumed
        } else {
            guard let restsUntil = stored.restsUntil else { return nil }
            subscriber = Subscriber(resting: policy, until: max(restsUntil, moment), failures: stored.failures)
        }
        takeTurn(moment)
        subscription.resume(
            UpstreamAttempt(
                resuming: stored.tag, callID: stored.dialog?.callID ?? "", dialog: dialog, hasNotified: stored.hasNotified),
            subscriber)
        // The last notified state is shown no longer than after any other loss of an upstream subscription.
        let staleAt = moment + configuration.timing.staleAfter
        for uri in uris { subscription.resume(UpstreamResource(restoring: uri, staleAt: staleAt)) }
        if shape == .batch { upstreams.open(subscription, as: UpstreamBatchKey(order, pool: target)) }
        return subscription
    }

    /// Unsubscribes upstream subscriptions that feed no restored dialog, in their turn, and drops unwatched presentities from the others.
    func settle(_ subscriptions: RestoredUpstreamSubscriptions, at now: Instant) {
        for (subscription, categories) in subscriptions.all where upstreams.contains(subscription) {
            let hasSink = subscription.hasSink
            for (resource, kept) in zip(subscription.resources, categories) where !resource.hasSink {
                if hasSink, subscription.shape == .batch {
                    resource.resume(asked: kept.map { CategoryName(rawValue: $0) })
                } else {
                    subscription.drop(resource)
                }
            }
            if hasSink {
                subscription.verification.restored(at: now)
            } else {
                upstreams.close(subscription)
                subscription.leave(inTurn: subscription.subscriber.nextDeadline ?? now)
            }
            flow.schedule(subscription)
        }
    }

    /// Takes the next moment for a restored request, by ``GatewayTiming/restorePace``.
    func takeRestoreTurn(at now: Instant) -> Instant {
        let moment = freeTurn(at: now)
        takeTurn(moment)
        return moment
    }

    /// Schedules an upstream subscription; starts are paced by ``GatewayTiming/restorePace``.
    func startLater(_ resource: WatchedResource, at now: Instant) {
        guard let upstream = resource.upstream else { return }
        let moment = freeTurn(at: now)
        if upstream.start(inTurn: moment) {
            takeTurn(moment)
            upstream.verification.restored(at: now)
            upstreams.insert(upstream)
        }
        // The last notified state is shown as long as after a loss, counted from the next SUBSCRIBE of the upstream subscription.
        let turn = upstream.phase.deadline ?? upstream.subscriber.nextDeadline ?? now
        upstream.resource(resource.key)?.expireState(at: turn + configuration.timing.staleAfter)
        flow.schedule(upstream)
    }
}
