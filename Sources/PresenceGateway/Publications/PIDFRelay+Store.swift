import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

/// Storing and restoring relayed publications with their instances and the entity-tag at the compositor, so that nothing is
/// published twice or left behind.
extension PIDFRelay {
    /// The record of a bridge; nil: nothing to store.
    func stored(_ bridge: PIDFBridge) -> StoredBridge? {
        guard !bridge.isIdle else { return nil }
        var details = [StoredBridge.Detail.hopMarks: bridge.dialogContext.hopMarks]
        if let standing = bridge.client.standing {
            details[StoredBridge.Detail.tag] = standing.tag.value
            details[StoredBridge.Detail.lapse] = String(standing.lapsesAt.nanosecondsSince1970)
            details[StoredBridge.Detail.expires] = String(standing.expires)
        }
        details[StoredBridge.Detail.digest] = bridge.document.acceptedDigest.map { String($0) }
        details[StoredBridge.Detail.endpoints] = endpoints(of: bridge).sorted().joined(separator: ",")
        return StoredBridge(
            user: bridge.key, way: .publish, uri: bridge.uri.description, document: bridge.enhanced.storedDocument.encoded(),
            details: details,
            items: bridge.enhanced.computedInstances.map { StoredBridge.Item(kind: StoredBridge.ItemKind.computed, name: $0.id.stored) })
    }

    /// Takes over the stored instances of a user after a failed commit.
    /// - Parameter stored: nil: there is no record.
    func reload(_ user: String, _ stored: StoredBridge?, at now: Instant) {
        guard let bridge = table[user] else { return }
        perform(
            bridge.reload(relayedPresentity(bridge.uri, stored: stored.flatMap { instances($0) }), environment(of: bridge, at: now)),
            on: bridge, at: now)
        settle(bridge)
    }

    /// The instances of a record; nil: it cannot be read.
    private func instances(_ stored: StoredBridge) -> (document: RoamingDataDocument, computed: Set<PublicationID>)? {
        guard let root = try? parser.parse(stored.document).root, let data = try? RoamingDataDocument(reading: root) else { return nil }
        let computed = stored.items.filter { $0.kind == StoredBridge.ItemKind.computed }.compactMap { PublicationID(stored: $0.name) }
        return (data, Set(computed))
    }

    /// Restores a bridge.
    /// - Returns: false if the record cannot be read, or the user's domain no longer accepts publications.
    func restore(_ stored: StoredBridge, _ uri: SIPURI, at now: Instant) -> Bool {
        guard publishingHop(of: uri) != nil else { return false }
        guard let instances = instances(stored) else { return false }
        let timing = configuration.timing
        var client = PublicationClient(
            expires: timing.publication.standard, retryPause: timing.retryMinimum, longestPause: timing.retryMaximum)
        if let tag = stored.details[StoredBridge.Detail.tag], let lapse = stored.details[StoredBridge.Detail.lapse].flatMap({ Int64($0) }),
            let expires = stored.details[StoredBridge.Detail.expires].flatMap({ Int($0) })
        {
            client = PublicationClient(
                restoring: .init(tag: EntityTag(tag), lapsesAt: Instant(nanosecondsSince1970: lapse), expires: expires),
                retryPause: timing.retryMinimum, longestPause: timing.retryMaximum, at: now)
        }
        let bridge = PIDFBridge(
            key: stored.user, uri: uri, enhanced: relayedPresentity(uri, stored: instances), client: client,
            dialogContext: DialogContext(callID: tokens.callID(), hopMarks: stored.details[StoredBridge.Detail.hopMarks] ?? ""),
            acceptedDigest: stored.details[StoredBridge.Detail.digest].flatMap { UInt64($0) },
            endpoints: (stored.details[StoredBridge.Detail.endpoints] ?? "").split(separator: ",").map { String($0) },
            returnBy: now + timing.restartGrace)
        table.insert(bridge)
        perform(bridge.resume(environment(of: bridge, at: now)), on: bridge, at: now)
        // Paced like upstream subscriptions; a publication that is already current is refreshed on schedule.
        if !bridge.isSettled { bridge.retry(at: ports.takeRestoreTurn(at: now)) }
        settle(bridge)
        return true
    }

    /// Answers waiting requests and, without a store, removes all relayed publications, because no restart could restore them.
    func stop(at now: Instant) {
        for bridge in table.inOrder {
            perform(bridge.promiseHeld(), on: bridge, at: now)
            guard store == nil else { continue }
            let empty = relayedPresentity(bridge.uri, stored: nil)
            perform(bridge.withdraw(leaving: empty, environment(of: bridge, at: now)), on: bridge, at: now)
            settle(bridge)
        }
    }
}
