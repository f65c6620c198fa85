import PresenceDocuments
import SIPCore
import SIPEvents

/// Upstream subscriptions of an earlier process, until the dialogs that they feed are restored.
struct RestoredLegs {
    private var bySink: [Sink: UpstreamSubscription] = [:]
    private(set) var all: [(leg: UpstreamSubscription, stored: StoredLeg)] = []

    private struct Sink: Hashable {
        var tag: String
        var presentity: String
    }

    /// Upstream subscription that feeds a presentity of the dialog with this local tag.
    func leg(of presentity: String, for tag: String) -> UpstreamSubscription? { bySink[Sink(tag: tag, presentity: presentity)] }

    fileprivate mutating func add(_ leg: UpstreamSubscription, _ stored: StoredLeg) {
        all.append((leg, stored))
        for resource in stored.resources {
            guard let key = SIPURI(resource.uri)?.aorKey else { continue }
            for tag in resource.sinks { bySink[Sink(tag: tag, presentity: key)] = leg }
        }
    }
}

/// Upstream subscriptions continue in their dialogs: each is refreshed in its turn, which requests the whole state.
///
///     stored --alive--> dialog resumed --watchers restored--> feeds some: refresh, paced --2xx, NOTIFY--> changes are notified
///               |                               |                             \--481, silence--> made anew
///               +--lapsed: made anew            +--feeds none: unsubscribe, paced
extension Gateway {
    /// Record of an upstream subscription; nil: a restart could not continue it.
    func stored(_ upstream: UpstreamSubscription) -> StoredLeg? {
        let subscriber = upstream.subscriber
        guard !subscriber.isFetch, !subscriber.isOver, upstream.shape != .list else { return nil }
        let dialog = subscriber.isListening ? upstream.dialog : nil
        guard dialog != nil || (subscriber.restsUntil != nil && upstream.hasSink) else { return nil }
        return StoredLeg(
            tag: upstream.localTag, owner: upstream.sinks.first?.watcher.owner ?? upstream.resources.first?.key ?? upstream.watcher.aorKey,
            watcher: upstream.watcher.description, domain: upstream.domain.name, dialog: dialog?.snapshot,
            hasNotified: upstream.hasNotified, expiry: dialog == nil ? nil : subscriber.lapsesAt,
            restsUntil: dialog == nil ? subscriber.restsUntil : nil, failures: subscriber.failures,
            expires: subscriber.configuration.expires, target: upstream.target.description, shape: upstream.shape.rawValue,
            format: upstream.format.rawValue, maxForwards: upstream.maxForwards, hopMarks: upstream.hopMarks,
            resources: upstream.resources.map { resource in
                StoredLeg.Resource(
                    uri: resource.uri.description, categories: (resource.asked ?? resource.categories).map(\.rawValue),
                    sinks: resource.sinks.map(\.watcher.localTag))
            })
    }

    /// Marks the stored record of an upstream subscription as changed.
    func keep(_ upstream: UpstreamSubscription) {
        if store != nil, !upstream.localTag.isEmpty { keep(.leg(upstream.localTag)) }
    }

    /// Resumes the upstream subscriptions; those that lapse first are refreshed first.
    func restore(_ stored: [StoredLeg], _ state: inout RestoredState, at now: Instant) -> RestoredLegs {
        var legs = RestoredLegs()
        let order = { (leg: StoredLeg) in leg.expiry ?? leg.restsUntil ?? now }
        for leg in stored.sorted(by: { (order($0), $0.tag) < (order($1), $1.tag) }) {
            guard let upstream = resumed(leg, at: now) else {
                // Its watchers get a new upstream subscription.
                keep(.leg(leg.tag))
                continue
            }
            legs.add(upstream, leg)
            upstreams[upstream.id] = upstream
            upstreamsByTag[upstream.localTag] = upstream
            state.legs += 1
        }
        return legs
    }

    private func resumed(_ stored: StoredLeg, at now: Instant) -> UpstreamSubscription? {
        let uris = stored.resources.compactMap { SIPURI($0.uri) }
        guard let watcher = SIPURI(stored.watcher), let target = SIPURI(stored.target), uris.count == stored.resources.count,
            let shape = UpstreamSubscription.Shape(rawValue: stored.shape), shape != .list,
            let format = UpstreamFormat(rawValue: stored.format), let domain = configuration.domain(stored.domain), domain.refuse == nil,
            !domain.hosted, let first = uris.first, let hop = hop(toward: first, in: domain)
        else { return nil }
        let order = UpstreamOrder(
            watcher: watcher, network: configuration.domain(watcher.domainKey)?.network ?? .federated,
            domain: upstreamDomain(stored.domain, domain, hop), maxForwards: stored.maxForwards, hopMarks: stored.hopMarks, poll: nil)
        let moment = max(now, nextFarLeg)
        let leg = makeLeg(at: shape == .batch ? .pool(target) : .presentity(target), order, form: format, at: now)
        var policy = leg.subscriber.configuration
        policy.expires = max(stored.expires, 1)
        if let snapshot = stored.dialog {
            // A dialog that lapses before its turn is made anew.
            guard let dialog = Dialog.resumed(from: snapshot), stored.expiry.map({ $0 > moment }) ?? true else { return nil }
            leg.subscriber = Subscriber(resuming: policy, expiry: stored.expiry ?? moment + policy.timerN, refreshAt: moment)
            leg.dialog = dialog
        } else {
            guard let restsUntil = stored.restsUntil else { return nil }
            leg.subscriber = Subscriber(resting: policy, until: max(restsUntil, moment), failures: stored.failures)
        }
        nextFarLeg = moment + configuration.timing.restorePace
        leg.localTag = stored.tag
        leg.callID = stored.dialog?.callID ?? ""
        leg.hasNotified = stored.hasNotified
        for uri in uris {
            let resource = UpstreamResource(uri: uri, key: uri.aorKey)
            resource.isResumed = true
            // The last notified state is shown no longer than after any other loss of an upstream subscription.
            resource.staleAt = moment + configuration.timing.staleAfter
            leg.resume(resource)
        }
        if shape == .batch { open(leg, as: UpstreamBatchKey(order, pool: target)) }
        return leg
    }

    /// Unsubscribes upstream subscriptions that feed no restored dialog, in their turn, and drops unwatched presentities from the others.
    func settle(_ legs: RestoredLegs, at now: Instant) {
        for (leg, stored) in legs.all where upstreams[leg.id] === leg {
            let hasSink = leg.hasSink
            for (resource, kept) in zip(leg.resources, stored.resources) where !resource.hasSink {
                if hasSink, leg.shape == .batch {
                    resource.resume(asked: kept.categories.map { CategoryName(rawValue: $0) })
                } else {
                    leg.drop(resource)
                }
            }
            if hasSink {
                leg.restoredAt = now
            } else {
                close(leg)
                leg.startsAt = leg.subscriber.nextDeadline ?? now
            }
            schedule(leg)
        }
    }
}
