import EnhancedPresence
import PresenceDocuments
import SIPCore
import XMLCore

/// Storing and restoring of hosted presentities.
extension PresentitiesFlow {
    func record(of key: StoreKey) -> StoreRecord? {
        switch key {
        case .presentity(let user): table[user]?.stored.map(StoreRecord.presentity)
        case .publication(let user, let tag): table[user]?.stored(tag).map(StoreRecord.publication)
        case .shownWatcher(let presentity, let watcher):
            blocking.storedShownWatcher(presentity, watcher).map(StoreRecord.shownWatcher)
        case .signOff(let presentity, let number): blocking.storedSignOff(presentity, number).map(StoreRecord.signOff)
        default: nil
        }
    }

    /// Saves the presentity's publications, to restore them if the coming change cannot be stored.
    func undoable(_ key: String) {
        guard store != nil else { return }
        let before = table[key]?.published
        ifNotKept { [unowned self] now in
            guard let presentity = table[key] ?? before.map({ table.make(key, $0.uri) }) else { return }
            table.insert(presentity)
            presentity.revert(to: before ?? table.make(key, presentity.uri).published)
            composeAgain(presentity)
            presentity.noteTimedMoment(at: now)
            blocking.placeWatchers(of: presentity, before: presentity.enhanced.withoutBlocks(), at: now)
            notifyWatchers(of: presentity, at: now)
            settle(presentity)
            table.schedule(presentity)
        }
    }

    // MARK: restart

    /// - Returns: false: the record cannot be read.
    func restore(_ stored: StoredPresentity, _ state: inout RestoredState) -> Bool {
        guard let uri = SIPURI(stored.uri), let root = try? parser.parse(stored.document).root,
            let data = try? RoamingDataDocument(reading: root)
        else { return false }
        let presentity = table[stored.user] ?? addRecord(stored.user, uri)
        presentity.restore(data, computed: stored.computed, isSimpleNewer: stored.isSimpleNewer)
        // The directory may have changed.
        table.publishForServer(presentity)
        state.presentities += 1
        state.publications += presentity.enhanced.instanceCount
        return true
    }

    /// - Returns: false: the record cannot be read.
    func restore(_ stored: StoredPublication, _ state: inout RestoredState) -> Bool {
        guard let uri = SIPURI(stored.uri), let document = try? PIDFDocument.decode(stored.document, using: parser) else { return false }
        if table[stored.presentity] == nil { state.presentities += 1 }
        let presentity = table[stored.presentity] ?? addRecord(stored.presentity, uri)
        presentity.restore(stored, document)
        state.publications += 1
        return true
    }

    /// Composes the restored publications, ends what expired, and waits for the endpoints.
    func resume(at now: Instant) {
        for presentity in table.inOrder {
            awaitEndpoints(of: presentity, at: now)
            composeAgain(presentity)
            presentity.noteTimedMoment(at: now)
            advance(presentity, at: now)
            table.schedule(presentity)
        }
    }
}
