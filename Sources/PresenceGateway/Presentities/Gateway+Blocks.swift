import EnhancedPresence
import PresenceDocuments
import SIPCore

/// Selects the record for a watcher of a hosted presentity: the true one or, if blocked, a ``BlockLook``.
extension Gateway {
    /// The record shown to a watcher; created if missing.
    func hostedRecord(of key: String, _ uri: SIPURI, for identity: WatcherIdentity, at now: Instant) -> HostedPresentity {
        guard let live = presentities[key] else {
            let record = makePresentity(key, uri)
            presentities[key] = record
            return record
        }
        guard live.enhanced.resolver.isBlocked(identity) else { return live }
        if blocks.standing(of: identity.address, at: key) == .shown {
            // The watcher was blocked without a request: the class of its domain changed.
            signOff(live, as: live.enhanced.withoutBlocks(), for: [identity.address], at: now)
        }
        if let record = signOffRecord(of: live, for: identity) { return record }
        let look = BlockLook.neverPublished
        let record = presentities[look.key(of: key)] ?? makePresentity(key, live.uri, look)
        presentities[record.key] = record
        return record
    }

    /// The record that would be shown to a watcher; changes nothing.
    func shownRecord(of live: HostedPresentity, for identity: WatcherIdentity) -> HostedPresentity {
        guard live.enhanced.resolver.isBlocked(identity) else { return live }
        return signOffRecord(of: live, for: identity) ?? makePresentity(live.owner, live.uri, .neverPublished)
    }

    /// Whether ``hostedRecord(of:_:for:at:)`` needs no new entry of the table. A watcher that is blocked and was never shown presence needs
    /// one where a presentity that never published does, so that a full table does not show the block.
    func hasHostedRecord(of key: String, for identity: WatcherIdentity) -> Bool {
        guard let live = presentities[key] else { return false }
        guard live.enhanced.resolver.isBlocked(identity), blocks.standing(of: identity.address, at: key) == nil else { return true }
        return presentities[BlockLook.neverPublished.key(of: key)] != nil
    }

    private func signOffRecord(of live: HostedPresentity, for identity: WatcherIdentity) -> HostedPresentity? {
        guard case .signedOff(let number)? = blocks.standing(of: identity.address, at: live.owner) else { return nil }
        return presentities[BlockLook.signedOff(number).key(of: live.owner)]
    }

    /// The records shown to blocked watchers of the presentity.
    private func lookRecords(of owner: String) -> [HostedPresentity] {
        let looks = [BlockLook.neverPublished] + blocks.signOffs(of: owner).map { BlockLook.signedOff($0) }
        return looks.compactMap { presentities[$0.key(of: owner)] }
    }

    private func identity(of watcher: PresenceAddress) -> WatcherIdentity {
        WatcherIdentity(uri: watcher.text, network: .init(configuration.domain(watcher.domain)?.network, ofDomain: watcher.domain))
    }

    /// Number of true presentities and of their publications.
    var publishedCounts: (presentities: Int, publications: Int) {
        presentities.values.lazy.filter { $0.look == nil }.reduce((0, 0)) { ($0.0 + 1, $0.1 + $1.publicationCount) }
    }

    // MARK: changes of blocks

    /// Moves watchers to the records that memberships and classes assign to them now.
    ///
    /// A blocked watcher that was shown presence is notified of a sign-off; one that was not is sent nothing. Unblocked watchers see the
    /// true presentity again.
    /// - Parameter before: the state that blocked watchers have seen until now.
    func placeWatchers(of live: HostedPresentity, before: EnhancedPresentity, at now: Instant) {
        guard live.look == nil, presentities[live.key] === live else { return }
        let resolver = live.enhanced.resolver
        let hasBlocks = resolver.memberships[.blocked]?.members.isEmpty == false
        let looks = lookRecords(of: live.owner)
        guard hasBlocks || !looks.isEmpty else { return }
        var leaving: [PresenceAddress] = []
        if hasBlocks {
            leaving = blocks.shownWatchers(of: live.owner).filter { resolver.isBlocked(identity(of: $0)) }
            signOff(live, as: before, for: leaving, at: now)
        }
        let notified = Set(leaving)
        for (watcher, resource) in move([live] + looks, of: live, at: now) {
            let address = watcher.identity.address
            let isLive = resource.hostedKey == live.key
            if isLive || notified.contains(address) || blocks.standing(of: address, at: live.owner) != nil {
                sourceChanged(resource, of: watcher, at: now)
            } else if resource.isNotified, watcher.wasNotifiedActive {
                if resource.isKnown(rendered(resource, for: watcher, at: now)) {
                    // A pending change was not shown before the block and must not be shown after it.
                    watcher.presence?.changes.remove(resource)
                    schedule(watcher)
                } else {
                    // The table had no room to record what the watcher was shown, so the watcher is notified.
                    sourceChanged(resource, of: watcher, at: now)
                }
            }
        }
        looks.filter(\.isIdle).forEach(settle)
    }

    private func move(
        _ records: [HostedPresentity], of live: HostedPresentity, at now: Instant
    ) -> [(watcher: WatcherDialog, resource: WatchedResource)] {
        var moved: [(watcher: WatcherDialog, resource: WatchedResource)] = []
        for record in records {
            for (tag, resource) in record.watchersInOrder {
                guard let watcher = dialogs[tag] else { continue }
                let right = hostedRecord(of: live.owner, live.uri, for: watcher.identity, at: now)
                guard right !== record else { continue }
                record.removeWatcher(tag)
                right.add(resource, of: tag)
                resource.place(at: right.key)
                moved.append((watcher, resource))
            }
        }
        return moved
    }

    /// Moves the watchers of all presentities, because the classes of their domains may have changed.
    func placeAllWatchers(at now: Instant) {
        for presentity in presentities.values.sorted(by: { $0.key < $1.key }) where presentity.look == nil {
            placeWatchers(of: presentity, before: presentity.enhanced.withoutBlocks(), at: now)
        }
    }

    /// Signs the presentity off for these watchers. If no instance survives the sign-off, the look is that of a user that never published.
    private func signOff(_ live: HostedPresentity, as before: EnhancedPresentity, for watchers: [PresenceAddress], at now: Instant) {
        guard !watchers.isEmpty else { return }
        defer { watchers.forEach { keep(.shownWatcher(presentity: live.owner, watcher: $0.text)) } }
        let enhanced = before.signedOff(at: DateTime(now))
        let trial = makePresentity(live.owner, live.uri, .neverPublished)
        trial.show(enhanced, timerOf: nil)
        guard trial.ownInstanceCount > 0 else { return watchers.forEach { blocks.forget($0, at: live.owner) } }
        guard let number = blocks.signOff(live.owner, for: watchers, at: now) else {
            counters.limitsReached += 1
            return
        }
        let record = makePresentity(live.owner, live.uri, .signedOff(number))
        record.show(enhanced, timerOf: live)
        presentities[record.key] = record
        keep(record)
        schedule(record)
    }

    /// Drops a sign-off that no watcher sees, and its record.
    func end(signOff number: UInt32, of owner: String) {
        let key = BlockLook.signedOff(number).key(of: owner)
        if let record = presentities.removeValue(forKey: key) { flows.presentities.remove(record) }
        for watcher in blocks.end(signOff: number, of: owner) { keep(.shownWatcher(presentity: owner, watcher: watcher.text)) }
        keep(.signOff(presentity: owner, number: number))
    }

    // MARK: watchers that were shown presence

    /// Records that a watcher is shown the true presentity, unless that looks like one that never published.
    func noteShown(_ rendered: RenderedPresence, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        let address = watcher.identity.address
        let standing = blocks.standing(of: address, at: resource.key)
        if standing == nil {
            switch blocks.makeRoom(at: resource.key, now) {
            case .free: break
            case .made(let place):
                counters.limitsReached += 1
                keep(.shownWatcher(presentity: place.presentity, watcher: place.watcher.text))
            case .none:
                counters.limitsReached += 1
                return
            }
        }
        if standing != .shown, looksNeverPublished(rendered, of: resource, to: watcher, at: now) { return }
        if blocks.noteShown(address, at: resource.key, now) {
            keep(.shownWatcher(presentity: resource.key, watcher: address.text))
        }
        if case .signedOff(let number)? = standing, !blocks.isSeen(signOff: number, of: resource.key) {
            end(signOff: number, of: resource.key)
        }
    }

    private func looksNeverPublished(
        _ rendered: RenderedPresence, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant
    ) -> Bool {
        var translator = translator
        translator.note = nil
        var unused = GatewayCounters()
        let record = makePresentity(resource.key, resource.uri, .neverPublished)
        let plan = record.plan(watcher.format, resource.categories, for: watcher.identity)
        let silent = record.make(plan, of: resource.entity, by: translator, counters: &unused, at: now)
        return rendered.hasSameOctets(as: silent, among: resource.categories)
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
