import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

/// Storing and restoring relayed publications with their entity-tags, versions and documents, so that nothing is
/// published twice or left behind.
extension CategoryRelay {
    /// The record of a bridge; nil: nothing to store.
    func stored(_ bridge: CategoryBridge) -> StoredBridge? {
        let standings = bridge.client.keptStandings
        guard !bridge.publications.sources.isEmpty || !standings.isEmpty else { return nil }
        let sources = bridge.publications.sources.map { tag, source in
            StoredBridge.Item(
                kind: StoredBridge.ItemKind.source, name: tag, document: source.document,
                details: [
                    StoredBridge.Detail.number: String(source.number),
                    StoredBridge.Detail.arrived: String(source.arrived.nanosecondsSince1970),
                    StoredBridge.Detail.until: String(source.until.nanosecondsSince1970),
                ])
        }
        let instances = standings.map { id, standing in
            var details = [
                StoredBridge.Detail.version: String(standing.version), StoredBridge.Detail.digest: String(standing.digest),
                StoredBridge.Detail.until: String(standing.until.nanosecondsSince1970),
                StoredBridge.Detail.renew: String(standing.renewAt.nanosecondsSince1970),
            ]
            if standing.isUncertain { details[StoredBridge.Detail.isUncertain] = "yes" }
            return StoredBridge.Item(kind: StoredBridge.ItemKind.standing, name: id.stored, details: details)
        }
        var details = [StoredBridge.Detail.hopMarks: bridge.dialogContext.hopMarks]
        if bridge.homeComputesState { details[StoredBridge.Detail.computesState] = "yes" }
        return StoredBridge(
            user: bridge.key, way: .service, uri: bridge.uri.description, details: details,
            items: sources + instances)
    }

    /// Takes over the stored publications of a user after a failed commit.
    /// - Parameter stored: nil: there is no record.
    func reload(_ user: String, _ stored: StoredBridge?, at now: Instant) {
        guard let bridge = table[user] else { return }
        let publications = stored.flatMap { self.publications($0, at: now) } ?? noPublications
        perform(bridge.reload(publications, environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    /// The publications of a record; nil: one cannot be read.
    private func publications(_ stored: StoredBridge, at now: Instant) -> CategoryBridge.Publications? {
        var restored = noPublications
        for item in stored.items where item.kind == StoredBridge.ItemKind.source {
            let until = item.details[StoredBridge.Detail.until].flatMap { Int64($0) }.map { Instant(nanosecondsSince1970: $0) }
            let arrived = item.details[StoredBridge.Detail.arrived].flatMap { Int64($0) }.map { Instant(nanosecondsSince1970: $0) }
            let number = item.details[StoredBridge.Detail.number].flatMap { UInt64($0) }
            guard let until, let source = try? source(item.document, number: number ?? 0, arrived: arrived ?? now, until: until)
            else { return nil }
            restored.restore(source, as: item.name)
        }
        return restored
    }

    /// Restores a bridge.
    /// - Returns: false if the record cannot be read, or the user's domain no longer accepts publications.
    func restore(_ stored: StoredBridge, _ uri: SIPURI, at now: Instant) -> Bool {
        guard publishingHop(of: uri) != nil else { return false }
        var standings: [PublicationID: CategoryPublicationClient.Standing] = [:]
        for item in stored.items where item.kind == StoredBridge.ItemKind.standing {
            guard let id = PublicationID(stored: item.name),
                let version = item.details[StoredBridge.Detail.version].flatMap({ UInt32($0) }),
                let digest = item.details[StoredBridge.Detail.digest].flatMap({ UInt64($0) }),
                let until = item.details[StoredBridge.Detail.until].flatMap({ Int64($0) }),
                let renew = item.details[StoredBridge.Detail.renew].flatMap({ Int64($0) })
            else { return false }
            standings[id] = .init(
                version: version, digest: digest, until: DateTime(nanosecondsSince1970: until),
                renewAt: DateTime(nanosecondsSince1970: renew), isUncertain: item.details[StoredBridge.Detail.isUncertain] != nil)
        }
        guard let restored = self.publications(stored, at: now) else { return false }
        let bridge = CategoryBridge(
            key: stored.user, uri: uri, publications: restored, client: client(of: uri, standings: standings),
            dialogContext: DialogContext(callID: tokens.callID(), hopMarks: stored.details[StoredBridge.Detail.hopMarks] ?? ""),
            homeComputesState: stored.details[StoredBridge.Detail.computesState] != nil)
        table.insert(bridge)
        bridge.resume(environment(of: bridge, at: now))
        timers.set(table.ticket(of: bridge), at: ports.takeRestoreTurn(at: now))
        return true
    }

    /// Refuses waiting requests and, without a store, removes all relayed publications, because no restart could restore them.
    func stop(at now: Instant) {
        for bridge in table.inOrder {
            perform(bridge.refuseAll(.shutdown, environment(of: bridge, at: now)), on: bridge, at: now)
            guard store == nil else { continue }
            perform(bridge.withdraw(environment(of: bridge, at: now)), on: bridge, at: now)
            settle(bridge)
        }
    }
}
