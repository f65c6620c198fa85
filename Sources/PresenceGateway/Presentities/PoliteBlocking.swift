import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import XMLCore

/// Selects the record for a watcher of a hosted presentity: the true one or, if blocked, a ``BlockLook``.
final class PoliteBlocking: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive this part.
    unowned let ports: any PresentitiesPorts
    private let table: PresentityTable
    /// Watchers that were shown presence, and the sign-offs that blocked watchers see.
    private(set) var memory: BlockMemory

    init(_ table: PresentityTable, _ ports: any PresentitiesPorts) {
        kernel = table.kernel
        context = table.context
        self.ports = ports
        self.table = table
        memory = BlockMemory(bounds: BlockMemory.Bounds(table.configuration.limits))
    }

    /// Applies the limits of a new configuration.
    func use(_ bounds: BlockMemory.Bounds) { memory.use(bounds) }

    /// The record shown to a watcher; created if missing.
    /// - Parameter access: access by the presentity's rules, which precede its containers; nil: everything.
    func record(
        of key: String, _ uri: SIPURI, for identity: WatcherIdentity, _ access: WatchAccess?, at now: Instant
    ) -> HostedPresentity {
        if let access, access.showsNothing { return neverPublishedRecord(of: key, table[key]?.uri ?? uri) }
        guard let live = table[key] else {
            let record = table.make(key, uri)
            table.insert(record)
            return record
        }
        guard live.enhanced.resolver.isBlocked(identity) else { return live }
        if memory.standing(of: identity.address, at: key) == .shown {
            // The watcher was blocked without a request: the class of its domain changed.
            signOff(live, as: live.enhanced.withoutBlocks(), for: [identity.address], at: now)
        }
        if let record = signOffRecord(of: live, for: identity) { return record }
        return neverPublishedRecord(of: key, live.uri)
    }

    private func neverPublishedRecord(of key: String, _ uri: SIPURI) -> HostedPresentity {
        let look = BlockLook.neverPublished
        if let record = table[look.key(of: key)] { return record }
        let record = table.make(key, uri, look)
        table.insert(record)
        return record
    }

    /// The record that would be shown to a watcher; changes nothing.
    func shownRecord(of live: HostedPresentity, for identity: WatcherIdentity, _ access: WatchAccess?) -> HostedPresentity {
        if let access, access.showsNothing { return table.make(live.owner, live.uri, .neverPublished) }
        guard live.enhanced.resolver.isBlocked(identity) else { return live }
        return signOffRecord(of: live, for: identity) ?? table.make(live.owner, live.uri, .neverPublished)
    }

    /// Whether ``record(of:_:for:at:)`` needs no new entry of the table. A watcher that is blocked and was never shown presence needs
    /// one where a presentity that never published does, so that a full table does not show the block.
    func hasRecord(of key: String, for identity: WatcherIdentity, _ access: WatchAccess?) -> Bool {
        if let access, access.showsNothing { return table[BlockLook.neverPublished.key(of: key)] != nil }
        guard let live = table[key] else { return false }
        guard live.enhanced.resolver.isBlocked(identity), memory.standing(of: identity.address, at: key) == nil else { return true }
        return table[BlockLook.neverPublished.key(of: key)] != nil
    }

    private func signOffRecord(of live: HostedPresentity, for identity: WatcherIdentity) -> HostedPresentity? {
        guard case .signedOff(let number)? = memory.standing(of: identity.address, at: live.owner) else { return nil }
        return table[BlockLook.signedOff(number).key(of: live.owner)]
    }

    /// The records shown to blocked watchers of the presentity.
    func lookRecords(of owner: String) -> [HostedPresentity] {
        let looks = [BlockLook.neverPublished] + memory.signOffs(of: owner).map { BlockLook.signedOff($0) }
        return looks.compactMap { table[$0.key(of: owner)] }
    }

    private func identity(of watcher: PresenceAddress) -> WatcherIdentity {
        WatcherIdentity(uri: watcher.text, network: .init(configuration.domain(watcher.domain)?.network, ofDomain: watcher.domain))
    }

    // MARK: changes of blocks

    /// Moves watchers to the records that memberships and classes assign to them now.
    ///
    /// A blocked watcher that was shown presence is notified of a sign-off; one that was not is sent nothing. Unblocked watchers see the
    /// true presentity again.
    /// - Parameter before: the state that blocked watchers have seen until now.
    func placeWatchers(of live: HostedPresentity, before: EnhancedPresentity, at now: Instant) {
        guard live.look == nil, table.contains(live) else { return }
        let resolver = live.enhanced.resolver
        let hasBlocks = resolver.memberships[.blocked]?.members.isEmpty == false
        let looks = lookRecords(of: live.owner)
        guard hasBlocks || !looks.isEmpty else { return }
        var leaving: [PresenceAddress] = []
        if hasBlocks {
            leaving = memory.shownWatchers(of: live.owner).filter { resolver.isBlocked(identity(of: $0)) }
            signOff(live, as: before, for: leaving, at: now)
        }
        let notified = Set(leaving)
        for (tag, watcher, resource) in move([live] + looks, of: live, at: now) {
            let isLive = resource.hostedKey == live.key
            if isLive || notified.contains(watcher) || memory.standing(of: watcher, at: live.owner) != nil {
                ports.sourceChanged(resource, inDialog: tag, at: now)
            } else {
                ports.hideChange(of: resource, inDialog: tag, at: now)
            }
        }
        looks.filter(\.isIdle).forEach(settle)
    }

    private func move(
        _ records: [HostedPresentity], of live: HostedPresentity, at now: Instant
    ) -> [(tag: String, watcher: PresenceAddress, resource: WatchedResource)] {
        var moved: [(tag: String, watcher: PresenceAddress, resource: WatchedResource)] = []
        for record in records {
            for (tag, resource) in record.watchersInOrder {
                guard let identity = ports.identity(ofDialog: tag) else { continue }
                if move(resource, ofDialog: tag, from: record, for: identity, at: now) { moved.append((tag, identity.address, resource)) }
            }
        }
        return moved
    }

    /// Moves a watcher to the record that it is shown now.
    /// - Returns: whether that is another one.
    @discardableResult
    func move(
        _ resource: WatchedResource, ofDialog tag: String, from record: HostedPresentity, for identity: WatcherIdentity, at now: Instant
    ) -> Bool {
        let right = self.record(of: record.owner, record.uri, for: identity, resource.access, at: now)
        guard right !== record else { return false }
        record.removeWatcher(tag)
        right.add(resource, of: tag)
        resource.place(at: right.key)
        return true
    }

    /// Moves the watchers of all presentities, because the classes of their domains may have changed.
    func placeAllWatchers(at now: Instant) {
        for presentity in table.inOrder where presentity.look == nil {
            placeWatchers(of: presentity, before: presentity.enhanced.withoutBlocks(), at: now)
        }
    }

    /// Signs the presentity off for these watchers. If no instance survives the sign-off, the look is that of a user that never published.
    private func signOff(_ live: HostedPresentity, as before: EnhancedPresentity, for watchers: [PresenceAddress], at now: Instant) {
        guard !watchers.isEmpty else { return }
        defer { watchers.forEach { keep(.shownWatcher(presentity: live.owner, watcher: $0.text)) } }
        let enhanced = before.signedOff(at: DateTime(now))
        let trial = table.make(live.owner, live.uri, .neverPublished)
        trial.show(enhanced, timerOf: nil)
        guard trial.ownInstanceCount > 0 else { return watchers.forEach { memory.forget($0, at: live.owner) } }
        guard let number = memory.signOff(live.owner, for: watchers, at: now) else {
            counters.limitsReached += 1
            return
        }
        let record = table.make(live.owner, live.uri, .signedOff(number))
        record.show(enhanced, timerOf: live)
        table.insert(record)
        table.keep(record)
        table.schedule(record)
    }

    /// Drops a record that holds nothing, and with its record a sign-off.
    func settle(_ presentity: HostedPresentity) {
        guard table.contains(presentity), presentity.isIdle else { return }
        table.remove(presentity)
        if case .signedOff(let number) = presentity.look { end(signOff: number, of: presentity.owner) }
    }

    /// Drops a sign-off that no watcher sees, and its record.
    private func end(signOff number: UInt32, of owner: String) {
        if let record = table[BlockLook.signedOff(number).key(of: owner)] { table.remove(record) }
        for watcher in memory.end(signOff: number, of: owner) { keep(.shownWatcher(presentity: owner, watcher: watcher.text)) }
        keep(.signOff(presentity: owner, number: number))
    }

    // MARK: watchers that were shown presence

    /// Records that a watcher is shown the true presentity, unless that looks like one that never published.
    func noteShown(
        _ rendered: RenderedPresence, of resource: WatchedResource, as format: WatcherFormat, to identity: WatcherIdentity, at now: Instant
    ) {
        let address = identity.address
        // Most notifications are of this kind.
        if memory.isShown(address, at: resource.key, now) { return }
        let standing = memory.standing(of: address, at: resource.key)
        if standing == nil {
            switch memory.makeRoom(at: resource.key, now) {
            case .free: break
            case .made(let place):
                counters.limitsReached += 1
                keep(.shownWatcher(presentity: place.presentity, watcher: place.watcher.text))
            case .none:
                counters.limitsReached += 1
                return
            }
        }
        if standing != .shown, looksNeverPublished(rendered, of: resource, as: format, to: identity, at: now) { return }
        if memory.noteShown(address, at: resource.key, now) {
            keep(.shownWatcher(presentity: resource.key, watcher: address.text))
        }
        if case .signedOff(let number)? = standing, !memory.isSeen(signOff: number, of: resource.key) {
            end(signOff: number, of: resource.key)
        }
    }

    private func looksNeverPublished(
        _ rendered: RenderedPresence, of resource: WatchedResource, as format: WatcherFormat, to identity: WatcherIdentity, at now: Instant
    ) -> Bool {
        func compare() -> Bool {
            rendered.hasSameOctets(as: neverPublished(resource, as: format, to: identity, at: now), among: resource.categories)
        }
        // The server publishes nothing for users of a simple domain, so a user that never published looks the same to all watchers.
        guard case .document(let view) = rendered, table[resource.key]?.side == .simple else { return compare() }
        return view.looksNeverPublished(compare)
    }

    private func neverPublished(
        _ resource: WatchedResource, as format: WatcherFormat, to identity: WatcherIdentity, at now: Instant
    ) -> RenderedPresence {
        var unused = GatewayCounters()
        let record = table.make(resource.key, resource.uri, .neverPublished)
        let plan = record.plan(format, resource.categories, for: identity)
        return record.make(plan, of: resource.entity, for: nil, by: translator.noting(nil), counters: &unused, at: now)
    }

    // MARK: the store

    func storedShownWatcher(_ presentity: String, _ watcher: String) -> StoredShownWatcher? {
        guard let entry = memory.entry(of: PresenceAddress(watcher), at: presentity) else { return nil }
        var stored = StoredShownWatcher(presentity: presentity, watcher: watcher, shownAt: entry.shownAt)
        if case .signedOff(let number) = entry.standing { stored.signOff = number }
        return stored
    }

    func storedSignOff(_ presentity: String, _ number: UInt32) -> StoredSignOff? {
        guard let record = table[BlockLook.signedOff(number).key(of: presentity)],
            let moment = memory.moment(ofSignOff: number, at: presentity)
        else { return nil }
        return StoredSignOff(
            presentity: presentity, number: number, uri: record.uri.description, moment: moment,
            document: record.enhanced.storedDocument.encoded(), computed: record.enhanced.computedInstances.map(\.id.stored))
    }

    /// Restores an entry, in the order in which presence was shown, so that the oldest is again forgotten first.
    func restore(_ stored: StoredShownWatcher) {
        let standing = stored.signOff.map { BlockMemory.Standing.signedOff($0) } ?? .shown
        memory.restore(
            BlockMemory.Entry(standing: standing, shownAt: stored.shownAt), PresenceAddress(stored.watcher), at: stored.presentity)
    }

    func restore(_ stored: StoredSignOff) -> Bool {
        guard let uri = SIPURI(stored.uri), let root = try? parser.parse(stored.document).root,
            let data = try? RoamingDataDocument(reading: root)
        else { return false }
        let record = table.make(stored.presentity, uri, .signedOff(stored.number))
        record.restore(data, computed: stored.computed)
        table.publishForServer(record)
        table.insert(record)
        memory.restore(signOff: stored.number, of: stored.presentity, at: stored.moment)
        return true
    }
}

extension RenderedPresence {
    /// Whether a watcher of these categories is sent the same bytes.
    fileprivate func hasSameOctets(as other: RenderedPresence, among requested: [CategoryName]) -> Bool {
        switch (self, other) {
        case (.document(let one), .document(let other)): one.bytes == other.bytes
        case (.categories(let one), .categories(let other)): one.merge.elements(of: requested) == other.merge.elements(of: requested)
        default: false
        }
    }
}
