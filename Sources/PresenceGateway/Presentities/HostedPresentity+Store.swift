import EnhancedPresence
import PresenceDocuments
import SIPCore
import SimplePresence

extension HostedPresentity {
    /// The enhanced presence data as the store keeps it; nil: none.
    var stored: StoredPresentity? {
        guard hasEnhancedState else { return nil }
        return StoredPresentity(
            user: key, uri: uri.description, document: enhanced.storedDocument.encoded(),
            computed: enhanced.computedInstances.map(\.id.stored), isSimpleNewer: isSimpleNewer)
    }

    /// A live publication as the store keeps it.
    func stored(_ tag: String) -> StoredPublication? {
        guard let (body, standing) = documents.stored(tag) else { return nil }
        return StoredPublication(
            presentity: key, uri: uri.description, tag: tag, document: body, number: standing.number,
            arrived: Instant(standing.arrived),
            expiry: Instant(standing.until), ids: standing.ids)
    }
}
