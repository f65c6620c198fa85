import EnhancedPresence
import PresenceDocuments
import SIPCore

/// Which record a watcher of a hosted presentity sees: the true one or, blocked, a ``BlockLook``.
extension Gateway {
    /// The record that a watcher sees; made where there is none.
    func hostedRecord(of key: String, _ uri: SIPURI, for identity: WatcherIdentity, at now: Instant) -> HostedPresentity {
        guard let live = presentities[key] else {
            let record = makePresentity(key, uri)
            presentities[key] = record
            return record
        }
        guard live.enhanced.resolver.isBlocked(identity) else { return live }
        if blocks.standing(of: identity.address, at: key) == .shown {
            // No request has blocked the watcher: its domain is of another class than before.
            signOff(live, as: live.enhanced.withoutBlocks(), for: [identity.address], at: now)
        }
        if let record = signOffRecord(of: live, for: identity) { return record }
        let look = BlockLook.neverPublished
        let record = presentities[look.key(of: key)] ?? makePresentity(key, live.uri, look)
        presentities[record.key] = record
        return record
    }

    /// The record that a watcher would see; changes nothing.
    func shownRecord(of live: HostedPresentity, for identity: WatcherIdentity) -> HostedPresentity {
        guard live.enhanced.resolver.isBlocked(identity) else { return live }
        return signOffRecord(of: live, for: identity) ?? makePresentity(live.owner, live.uri, .neverPublished)
    }

    private func signOffRecord(of live: HostedPresentity, for identity: WatcherIdentity) -> HostedPresentity? {
        guard case .signedOff(let number)? = blocks.standing(of: identity.address, at: live.owner) else { return nil }
        return presentities[BlockLook.signedOff(number).key(of: live.owner)]
    }

    /// The records that blocked watchers of the presentity see.
    private func lookRecords(of owner: String) -> [HostedPresentity] {
        let looks = [BlockLook.neverPublished] + blocks.signOffs(of: owner).map { BlockLook.signedOff($0) }
        return looks.compactMap { presentities[$0.key(of: owner)] }
    }

    private func identity(of watcher: PresenceAddress) -> WatcherIdentity {
        let network = configuration.domain(watcher.domain)?.network.rawValue ?? ""
        return WatcherIdentity(uri: watcher.text, network: EnhancedPresence.SourceNetwork(rawValue: network))
    }

    /// The true presentities, and their publications.
    var publishedCounts: (presentities: Int, publications: Int) {
        presentities.values.lazy.filter { $0.look == nil }.reduce((0, 0)) { ($0.0 + 1, $0.1 + $1.publicationCount) }
    }

    // MARK: a block begins or ends

    /// Moves watchers to the records that memberships and classes give them now.
    ///
    /// A watcher that was shown presence sees a sign-off and is notified of it as of one; one that was not learns nothing. Watchers that
    /// are no longer blocked see the true presentity again.
    /// - Parameter before: What blocked watchers saw until now.
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
            } else if resource.isTold, watcher.wasToldActive {
                if resource.isKnown(rendered(resource, for: watcher, at: now)) {
                    // Presence that waited for its moment was not shown, and never is.
                    watcher.changes.remove(resource)
                    schedule(watcher)
                } else {
                    // There was no room to note what the watcher was shown; it must not keep it.
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
                resource.hostedKey = right.key
                resource.rendered = nil
                moved.append((watcher, resource))
            }
        }
        return moved
    }

    /// The classes of watchers may be others than before.
    func placeAllWatchers(at now: Instant) {
        for presentity in presentities.values.sorted(by: { $0.key < $1.key }) where presentity.look == nil {
            placeWatchers(of: presentity, before: presentity.enhanced.withoutBlocks(), at: now)
        }
    }

    /// Signs the presentity off for these watchers; where nothing is left of it, that is one that never published.
    private func signOff(_ live: HostedPresentity, as before: EnhancedPresentity, for watchers: [PresenceAddress], at now: Instant) {
        guard !watchers.isEmpty else { return }
        defer { watchers.forEach { keep(.shownWatcher(presentity: live.owner, watcher: $0.text)) } }
        let enhanced = before.signedOff(at: DateTime(now))
        let trial = makePresentity(live.owner, live.uri, .neverPublished)
        trial.enhanced = enhanced
        guard trial.ownInstanceCount > 0 else { return watchers.forEach { blocks.forget($0, at: live.owner) } }
        guard let number = blocks.signOff(live.owner, for: watchers, at: now) else {
            counters.limitsReached += 1
            return
        }
        let record = makePresentity(live.owner, live.uri, .signedOff(number))
        record.enhanced = enhanced
        record.serverPublicationsDue = live.serverPublicationsDue
        presentities[record.key] = record
        keep(record)
        schedule(record)
    }

    /// Drops a sign-off that no watcher sees.
    func end(signOff number: UInt32, of owner: String) {
        let key = BlockLook.signedOff(number).key(of: owner)
        if presentities.removeValue(forKey: key) != nil { wakes.set(.presentity(key), at: nil) }
        for watcher in blocks.end(signOff: number, of: owner) { keep(.shownWatcher(presentity: owner, watcher: watcher.text)) }
        keep(.signOff(presentity: owner, number: number))
    }

    // MARK: watchers that were shown presence

    /// Notes that a watcher is shown the true presentity, unless that looks like one that never published.
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
    /// Whether a watcher of these categories is sent the same octets.
    fileprivate func hasSameOctets(as other: RenderedPresence, among requested: [CategoryName]) -> Bool {
        switch (self, other) {
        case (.document(let one), .document(let other)): one.bytes == other.bytes
        case (.categories(let one), .categories(let other)): one.merge.elements(of: requested) == other.merge.elements(of: requested)
        default: false
        }
    }
}
