import EnhancedPresence
import PresenceRules
import SIPCore

/// Documents of presentities that decide about their watchers.
extension PresentitiesFlow {
    /// Replaces the documents of a user that decide about its watchers, and notifies these; nil: the user has none.
    func use(_ documents: UserDocuments?, of key: String, at now: Instant) {
        replace(documents, of: key)
        review.reviewWatchers(of: key, at: now)
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

    /// The records of a presentity: its own, and those that blocked watchers are shown.
    func records(of key: String) -> [HostedPresentity] { [table[key]].compactMap(\.self) + blocking.lookRecords(of: key) }
}

extension Refusal {
    /// The rules of the presentity block the watcher.
    static let blockedByRules = Refusal.forbidden("RFC 5025 3.2.1: the presentity does not admit this subscriber", errorID: 2004)
}
