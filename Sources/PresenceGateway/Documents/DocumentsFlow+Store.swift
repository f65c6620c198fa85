import SIPCore
import XCAP

/// Storing and restoring documents, and the port of other flows.
extension DocumentsFlow: StoredDocuments {
    func document(auid: String, name: String, of user: String) -> StoredXCAPDocument? {
        homes.stored(HomeDirectories.Place(auid: auid, name: name), of: user)
    }

    func documents(auid: String, of user: String) -> [StoredXCAPDocument] {
        homes.storedDocuments(of: user).filter { $0.auid == auid }
    }

    func record(of key: StoreKey) -> StoreRecord? {
        guard case .document(let user, let auid, let name) = key else { return nil }
        return homes.current(HomeDirectories.Place(auid: auid, name: name), of: user).map(StoreRecord.document)
    }

    // MARK: restart

    func rank(of record: StoreRecord, at now: Instant) -> RestoreRank? {
        if case .document = record { RestoreRank(phase: .users) } else { nil }
    }

    /// Restores a document, also one of a usage that is not offered now, or of a domain that is not configured: it is the user's.
    func restore(_ record: StoreRecord, _ restart: inout Restart, at now: Instant) -> Bool {
        guard case .document(let document) = record else { return false }
        let place = HomeDirectories.Place(auid: document.auid, name: document.name)
        homes.set(current: document, place, of: document.user)
        _ = homes.set(stored: document, place, of: document.user)
        restoreServices(document, place, of: document.user)
        return true
    }

    /// Tells the observers of the restored documents before any watcher is restored.
    func complete(_ phase: RestartPhase, _ restart: inout Restart, at now: Instant) -> Bool {
        if phase == .users { noteRestored() }
        return true
    }

    private func restoreServices(_ document: StoredXCAPDocument?, _ place: HomeDirectories.Place, of user: String) {
        guard place.auid == ApplicationUsage.rlsServices.auid else { return }
        context.serviceURIs.restore(serviceURIs(in: document), of: user)
    }

    // MARK: failed commits

    /// Takes the stored documents in place of those of a failed commit; observers are told where the commit was stored after all.
    func reload(_ stored: StoredRecords, at now: Instant) -> (() -> Void)? {
        var changed: [(StoredXCAPDocument?, HomeDirectories.Place, String)] = []
        for user in stored.users.keys.sorted() {
            for key in stored.users[user] ?? [] {
                guard case .document(_, let auid, let name) = key else { continue }
                let place = HomeDirectories.Place(auid: auid, name: name)
                var document: StoredXCAPDocument?
                if case .document(let found)? = stored[key] { document = found }
                homes.set(current: document, place, of: user)
                restoreServices(document, place, of: user)
                changed.append((document, place, user))
            }
        }
        guard !changed.isEmpty else { return nil }
        return { [changed] in for (document, place, user) in changed { self.noteStored(document, place, of: user, at: now) } }
    }

    // MARK: reports

    var sizes: [String: Int] { ["documents": homes.count] }

    var tables: [TableSize] { [TableSize(name: "documents", entries: homes.count, limit: configuration.limits.documents)] }
}
