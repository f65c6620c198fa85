import EnhancedPresence
import PresenceRules
import SIPCore

/// Watchers of presentities with rules, and changes of the decisions about them.
///
///     documents, sphere, time, configuration --> review --> block:          the watch ends
///                                                      --> confirm:        pending, without presence
///                                                      --> polite-block:   the record of a presentity that never published
///                                                      --> allow:          the granted part
extension PresentitiesFlow {
    /// Replaces the documents of a user that decide about its watchers, and notifies these; nil: the user has none.
    func use(_ documents: UserDocuments?, of key: String, at now: Instant) {
        replace(documents, of: key)
        reviewWatchers(of: key, at: now)
    }

    /// Replaces the documents of a user of this shard. The caller reviews the user's watchers.
    func replace(_ documents: UserDocuments?, of key: String) {
        if place.has(key) { authorization.use(documents, of: key) }
    }

    /// Sphere of a presentity by all of its published documents (RFC 5025 3.1.2).
    func sphere(of key: String, at now: Instant) -> PresentitySphere {
        guard let presentity = table[key], !presentity.documents.isEmpty else { return .undefined }
        return PresentitySphere(of: presentity.documents.published, at: now)
    }

    /// - Throws: 403 if the rules of a presentity of this shard block the watcher.
    func checkAccess(
        of identity: WatcherIdentity, hidesIdentity: Bool, to key: String, _ uri: SIPURI, at now: Instant
    ) throws(Refusal) {
        let access = authorization.access(
            of: RuleWatcher(identity, hidesIdentity: hidesIdentity), to: key, uri, isWatching: false, at: now)
        if access?.isBlocked == true { throw .blockedByRules }
    }

    /// Decides again about all watchers of a presentity.
    ///
    /// If the domain is no longer a hosted SIMPLE domain, rules do not decide, and live watches keep their access.
    func reviewWatchers(of key: String, at now: Instant) {
        authorization.beginReview(of: key)
        ports.decisionsChanged(of: key, at: now)
        let records = records(of: key)
        guard let uri = records.first?.uri, configuration.domain(uri.domainKey)?.unruledHandling != nil else { return }
        // All watchers before the first of them moves to another of the records.
        let watchers = records.flatMap { record in record.watchersInOrder.map { (record: record, tag: $0.tag, resource: $0.resource) } }
        var changes: [(tag: String, resource: WatchedResource, former: WatchAccess?)] = []
        for (record, tag, resource) in watchers {
            guard let identity = ports.identity(ofDialog: tag) else { continue }
            let hidesIdentity = ports.hidesIdentity(ofDialog: tag)
            let access = authorization.access(
                of: RuleWatcher(identity, hidesIdentity: hidesIdentity), to: key, record.uri, isWatching: true, at: now)
            // A blocked watch may be one of a restored dialog, which ends.
            guard access != resource.access || access?.isBlocked == true else { continue }
            changes.append((tag, resource, resource.access))
            resource.permit(access)
            blocking.move(resource, ofDialog: tag, from: record, for: identity, at: now)
            ports.watchChanged(resource, inDialog: tag, by: identity, hidesIdentity: hidesIdentity, isNew: false, at: now)
        }
        for (tag, resource, former) in changes { ports.accessChanged(of: resource, inDialog: tag, from: former, at: now) }
        records.filter(\.isIdle).forEach(settle)
    }

    /// The records of a presentity: its own, and those that blocked watchers are shown.
    func records(of key: String) -> [HostedPresentity] { [table[key]].compactMap(\.self) + blocking.lookRecords(of: key) }

    /// Decides again about the watchers of all presentities, because domains changed.
    func reviewAllWatchers(at now: Instant) {
        authorization.configurationChanged()
        for owner in Set(table.all.map(\.owner)).sorted() { reviewWatchers(of: owner, at: now) }
    }

    /// Ends the watches of blocked watchers with restored dialogs.
    func endBlockedWatches(at now: Instant) {
        guard !blockedWatches.isEmpty else { return }
        let keys = blockedWatches.sorted()
        blockedWatches = []
        for key in keys { reviewWatchers(of: key, at: now) }
    }
}

extension Refusal {
    /// The rules of the presentity block the watcher.
    static let blockedByRules = Refusal.forbidden("RFC 5025 3.2.1: the presentity does not admit this subscriber", errorID: 2004)

    /// Containers of a user with presence rules.
    static let decidedByRules = Refusal.forbidden(
        "RFC 5025 3: presence rules decide about the watchers of this user; container members and subscribers have no effect",
        errorID: 2004)
}
