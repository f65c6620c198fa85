import EnhancedPresence
import PresenceDocuments
import SIPCore
import XMLCore

/// Stored state of blocked watchers (`docs/blocking.md`).
extension Gateway {
    func storedShownWatcher(_ presentity: String, _ watcher: String) -> StoredShownWatcher? {
        guard let entry = blocks.entry(of: PresenceAddress(watcher), at: presentity) else { return nil }
        var stored = StoredShownWatcher(presentity: presentity, watcher: watcher, shownAt: entry.shownAt)
        if case .signedOff(let number) = entry.standing { stored.signOff = number }
        return stored
    }

    func storedSignOff(_ presentity: String, _ number: UInt32) -> StoredSignOff? {
        guard let record = presentities[BlockLook.signedOff(number).key(of: presentity)],
            let moment = blocks.moment(ofSignOff: number, at: presentity)
        else { return nil }
        return StoredSignOff(
            presentity: presentity, number: number, uri: record.uri.description, moment: moment,
            document: record.enhanced.storedDocument.encoded(), computed: record.enhanced.computedInstances.map(\.id.stored))
    }

    /// Restores entries in the order in which presence was shown, so that the oldest is again forgotten first.
    func restore(_ watchers: [StoredShownWatcher]) {
        for stored in watchers.sorted(by: { ($0.shownAt, $0.presentity, $0.watcher) < ($1.shownAt, $1.presentity, $1.watcher) }) {
            let standing = stored.signOff.map { BlockMemory.Standing.signedOff($0) } ?? .shown
            blocks.restore(
                BlockMemory.Entry(standing: standing, shownAt: stored.shownAt), PresenceAddress(stored.watcher), at: stored.presentity)
        }
    }

    func restore(_ stored: StoredSignOff) -> Bool {
        guard let uri = SIPURI(stored.uri), let root = try? parser.parse(stored.document).root,
            let data = try? RoamingDataDocument(reading: root)
        else { return false }
        let record = makePresentity(stored.presentity, uri, .signedOff(stored.number))
        record.restore(data, computed: stored.computed)
        publishForServer(record)
        presentities[record.key] = record
        blocks.restore(signOff: stored.number, of: stored.presentity, at: stored.moment)
        return true
    }
}
