import EnhancedPresence
import PresenceRules
import SIPCore

/// Watchers of presentities with rules, and changes of the decisions about them.
///
///     documents, sphere, time, configuration --> review --> block:          the watch ends
///                                                      --> confirm:        pending, without presence
///                                                      --> polite-block:   the record of a presentity that never published
///                                                      --> allow:          the granted part
final class WatchReview: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The flow of the presentities, which owns this part.
    private unowned let presentities: PresentitiesFlow
    /// Presentities with a blocked watcher in a dialog that is to be ended.
    private var blockedWatches: Set<String> = []

    init(_ presentities: PresentitiesFlow) {
        kernel = presentities.kernel
        context = presentities.context
        self.presentities = presentities
    }

    /// Notes a blocked watcher of a presentity in a dialog that is to be ended.
    func noteBlockedWatch(of key: String) { blockedWatches.insert(key) }

    /// Whether a watcher of a presentity waits for a decision; one that hides its identity does not count.
    func hasPendingWatcher(_ watcher: PresenceAddress, of key: String) -> Bool {
        presentities.records(of: key).contains { record in
            record.watchersInOrder.contains { tag, resource in
                resource.access?.isPending == true && !presentities.ports.hidesIdentity(ofDialog: tag)
                    && presentities.ports.identity(ofDialog: tag)?.address == watcher
            }
        }
    }

    /// Decides again about all watchers of a presentity.
    ///
    /// If the domain is no longer a hosted SIMPLE domain, rules do not decide, and live watches keep their access.
    func reviewWatchers(of key: String, at now: Instant) {
        presentities.authorization.beginReview(of: key)
        presentities.ports.decisionsChanged(of: key, at: now)
        let records = presentities.records(of: key)
        guard let uri = records.first?.uri, configuration.domain(uri.domainKey)?.unruledHandling != nil else { return }
        // All watchers before the first of them moves to another of the records.
        let watchers = records.flatMap { record in record.watchersInOrder.map { (record: record, tag: $0.tag, resource: $0.resource) } }
        var changes: [(tag: String, resource: WatchedResource, former: WatchAccess?)] = []
        for (record, tag, resource) in watchers {
            guard let identity = presentities.ports.identity(ofDialog: tag) else { continue }
            let hidesIdentity = presentities.ports.hidesIdentity(ofDialog: tag)
            let access = presentities.authorization.access(
                of: RuleWatcher(identity, hidesIdentity: hidesIdentity), to: key, record.uri, isWatching: true, at: now)
            // A blocked watch may be one of a restored dialog, which ends.
            guard access != resource.access || access?.isBlocked == true else { continue }
            changes.append((tag, resource, resource.access))
            resource.permit(access)
            presentities.blocking.move(resource, ofDialog: tag, from: record, for: identity, at: now)
            presentities.ports.watchChanged(resource, inDialog: tag, by: identity, hidesIdentity: hidesIdentity, isNew: false, at: now)
        }
        for (tag, resource, former) in changes { presentities.ports.accessChanged(of: resource, inDialog: tag, from: former, at: now) }
        records.filter(\.isIdle).forEach(presentities.settle)
    }

    /// Decides again about the watchers of all presentities, because domains changed.
    func reviewAllWatchers(at now: Instant) {
        presentities.authorization.configurationChanged()
        for owner in Set(presentities.table.all.map(\.owner)).sorted() { reviewWatchers(of: owner, at: now) }
    }

    /// Ends the watches of blocked watchers with restored dialogs.
    func endBlockedWatches(at now: Instant) {
        guard !blockedWatches.isEmpty else { return }
        let keys = blockedWatches.sorted()
        blockedWatches = []
        for key in keys { reviewWatchers(of: key, at: now) }
    }
}
