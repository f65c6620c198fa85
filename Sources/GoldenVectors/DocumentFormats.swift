import PresenceDocuments
import XMLCore

/// Codecs of the `documents` suite: parse a document and encode it again, by the format name used in vectors and fuzz
/// targets.
public enum DocumentFormats {
    /// One codec per document type of `PresenceDocuments`. A codec rethrows the error of the parser.
    public static let codecs: [String: @Sendable ([UInt8]) throws -> [UInt8]] = [
        "categories": { try CategoriesDocument(parsing: $0).encoded() },
        "legacy-interop": { try LegacyInteropDocument(parsing: $0).encoded() },
        "msrtc": { try MSRTCPIDFDocument(parsing: $0).encoded() },
        "pidf": { try PIDFDocument.decode($0).encode() },
        "xpidf": { try XPIDFDocument.decode($0).encode() },
        "rlmi": { try RLMIDocument.decode($0).encode() },
        "state": { try StateDocument(parsing: $0).encoded() },
        "note": { try NoteDocument(parsing: $0).encoded() },
        "contact-card": { try ContactCardDocument(parsing: $0).encoded() },
        "services": { try ServicesDocument(parsing: $0).encoded() },
        "device": { try DeviceDocument(parsing: $0).encoded() },
        "calendar-data": { try CalendarDataDocument(parsing: $0).encoded() },
        "category-publish": { try CategoryPublishDocument(parsing: $0).encoded() },
        "batch-subscribe": { try BatchSubscribeDocument(parsing: $0).encoded() },
        "roaming-list": { try RoamingListDocument(parsing: $0).encoded() },
        "roaming-data": { try RoamingDataDocument(parsing: $0).encoded() },
        "containers": { try ContainersDocument(parsing: $0).encoded() },
        "set-container-members": { try SetContainerMembersDocument(parsing: $0).encoded() },
        "subscribers": { try SubscribersDocument(parsing: $0).encoded() },
        "delegates": { try DelegatesDocument(parsing: $0).encoded() },
        "subscription-context": { try SubscriptionContextDocument(parsing: $0).encoded() },
        "fault": { try FaultDocument(parsing: $0).encoded() },
        "access-control-list": { try AccessControlListDocument(parsing: $0).encoded() },
        "contact-delta": { try ContactDeltaDocument(parsing: $0).encoded() },
        "contact-list": { try ContactListDocument(parsing: $0).encoded() },
        "contact-operation": { try operation($0) { element throws(DocumentError) in try ContactOperation(reading: element)?.encoded() } },
        "directory-search-request": { try DirectorySearchRequest(parsing: $0).encoded() },
        "directory-search-response": { try DirectorySearchResponse(parsing: $0).encoded() },
        "presence-rules": { try PresenceRulesDocument.decode($0).encode() },
        "provision-group-list": { try ProvisionGroupListDocument(parsing: $0).encoded() },
        "provisioning-group-list": { try ProvisioningGroupListDocument(parsing: $0).encoded() },
        "resource-lists": { try ResourceListsDocument.decode($0).encode() },
        "set-ace": { try operation($0) { element throws(DocumentError) in try SetACEOperation(reading: element)?.encoded() } },
        "set-delegates": { try SetDelegatesDocument(parsing: $0).encoded() },
        "set-subscribers": { try SetSubscribersDocument(parsing: $0).encoded() },
        "simple-filter": { try SimpleFilterDocument.decode($0).encode() },
        "watcherinfo": { try WatcherInfoDocument.decode($0).encode() },
        "user-properties": { try UserPropertiesDocument(parsing: $0).encoded() },
    ]

    /// Rewrites the operation of a SOAP envelope; throws `wrongDocument` if the reader returns nil because the operation is
    /// another one.
    private static func operation(
        _ bytes: [UInt8], _ rewrite: (XMLElement) throws(DocumentError) -> [UInt8]?
    ) throws(DocumentError) -> [UInt8] {
        let operation = try SOAPEnvelope(parsing: bytes).operation
        guard let written = try rewrite(operation) else {
            throw DocumentError(code: .wrongDocument, message: "\(operation.localName) is another operation", position: operation.position)
        }
        return written
    }
}
