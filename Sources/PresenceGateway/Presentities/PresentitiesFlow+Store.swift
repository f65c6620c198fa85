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

    // MARK: failed commits

    /// Takes the stored publications in place of those of a failed commit.
    /// - Returns: the step that notifies the watchers of these presentities.
    func reload(_ stored: StoredRecords, at now: Instant) -> (() -> Void)? {
        let users = stored.users {
            switch $0 {
            case .presentity, .publication: true
            default: false
            }
        }
        let changed = users.compactMap { (user) -> HostedPresentity? in
            let keys = stored.users[user] ?? []
            let records = keys.compactMap { stored[$0] }
            guard let presentity = table[user] ?? records.lazy.compactMap(\.presentityURI).first.map({ addRecord(user, $0) }) else {
                return nil
            }
            reload(presentity, keys, records)
            return presentity
        }
        return changed.isEmpty ? nil : { for presentity in changed { self.notifyReloaded(presentity, at: now) } }
    }

    private func reload(_ presentity: HostedPresentity, _ keys: Set<StoreKey>, _ records: [StoreRecord]) {
        if keys.contains(.presentity(presentity.key)) { presentity.restore(RoamingDataDocument(), computed: []) }
        for case .publication(_, let tag) in keys { presentity.forget(tag) }
        var state = RestoredState()
        for record in records {
            switch record {
            case .presentity(let one): _ = restore(one, &state)
            case .publication(let one): _ = restore(one, &state)
            default: break
            }
        }
        table.publishForServer(presentity)
    }

    /// Composes the publications after a failed commit, and notifies the watchers that see a difference.
    private func notifyReloaded(_ presentity: HostedPresentity, at now: Instant) {
        composeAgain(presentity)
        presentity.noteTimedMoment(at: now)
        blocking.placeWatchers(of: presentity, before: presentity.enhanced.withoutBlocks(), at: now)
        notifyWatchers(of: presentity, at: now)
        advance(presentity, at: now)
        settle(presentity)
        table.schedule(presentity)
    }

    // MARK: restart

    func rank(of record: StoreRecord, at now: Instant) -> RestoreRank? {
        switch record {
        case .presentity, .signOff: RestoreRank(phase: .users)
        // Composition depends on the order in which bodies came.
        case .publication(let stored): RestoreRank(phase: .publications, number: Int64(clamping: stored.number))
        case .shownWatcher(let stored):
            RestoreRank(
                phase: .shownWatchers, number: stored.shownAt.nanosecondsSince1970, name: stored.presentity, secondName: stored.watcher)
        default: nil
        }
    }

    func restore(_ record: StoreRecord, _ restart: inout Restart, at now: Instant) -> Bool {
        switch record {
        case .presentity(let stored): return restore(stored, &restart.state)
        case .publication(let stored): return restore(stored, &restart.state)
        case .signOff(let stored): return blocking.restore(stored)
        case .shownWatcher(let stored):
            blocking.restore(stored)
            return true
        default: return false
        }
    }

    func complete(_ phase: RestartPhase, _ restart: inout Restart, at now: Instant) -> Bool {
        if phase == .rights {
            review.endBlockedWatches(at: now)
            return true
        }
        guard phase == .expiry else { return true }
        let (keys, isLast) = restart.next(of: table.inOrder.map(\.key))
        for presentity in keys.compactMap({ table[$0] }) {
            let before = presentity.publicationCount
            resume(presentity, at: now)
            if presentity.look == nil { restart.state.expired += before - presentity.publicationCount }
        }
        return isLast
    }

    /// - Returns: false: the record cannot be read.
    private func restore(_ stored: StoredPresentity, _ state: inout RestoredState) -> Bool {
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
    private func restore(_ stored: StoredPublication, _ state: inout RestoredState) -> Bool {
        guard let uri = SIPURI(stored.uri), let document = try? PIDFDocument.decode(stored.document, using: parser) else { return false }
        if table[stored.presentity] == nil { state.presentities += 1 }
        let presentity = table[stored.presentity] ?? addRecord(stored.presentity, uri)
        presentity.restore(stored, document)
        state.publications += 1
        return true
    }

    /// Composes restored publications, ends what expired, and waits for the endpoints.
    private func resume(_ presentity: HostedPresentity, at now: Instant) {
        endpoints.awaitReturn(to: presentity, at: now)
        composeAgain(presentity)
        presentity.noteTimedMoment(at: now)
        advance(presentity, at: now)
        table.schedule(presentity)
    }
}

extension StoreRecord {
    /// The URI of the presentity of a publication; nil: another record, or unreadable.
    fileprivate var presentityURI: SIPURI? {
        switch self {
        case .presentity(let stored): SIPURI(stored.uri)
        case .publication(let stored): SIPURI(stored.uri)
        default: nil
        }
    }
}
