import PresenceDocuments

/// Reads a document of the `documents` suite and writes it again; by the name that vectors use for it.
enum DocumentFormats {
    static let codecs: [String: @Sendable ([UInt8]) throws -> [UInt8]] = [
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
    ]
}
