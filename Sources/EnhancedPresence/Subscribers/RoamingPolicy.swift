import PresenceDocuments

/// Quotas and switches of what a user keeps on his server beside his publications: subscribers, delegates, contacts
/// (MS-PRES 3.6.5.1, 3.9.5.1, 10; MS-SIP 9.1).
///
/// The standards name most of the quotas without numbers; those here are defaults for a configuration to change.
public struct RoamingPolicy: Hashable, Sendable {
    /// Most entries of a subscriber list.
    public var subscriberLimit = 5_000
    /// Largest context of one subscription, in bytes.
    public var contextByteLimit = 4_096
    /// Largest sum of the contexts of one subscriber list, in bytes.
    public var totalContextByteLimit = 262_144
    /// Whether acknowledging removes the entry of a category subscriber, so that lists do not grow for ever (MS-PRES 3.6.5.1).
    public var removesAcknowledgedSubscribers = true
    /// Most delegates of one user.
    public var delegateLimit = 25
    /// Most contacts of one user.
    public var contactLimit = 1_000
    /// Most groups of one user, 64 at most (MS-SIP 9.1).
    public var groupLimit = 64
    /// Largest body of a `contactExtension`, in bytes (MS-SIP 9.1).
    public var contactExtensionByteLimit = 1_024
    /// Most entries of an access control list.
    public var accessControlLimit = 1_000
    /// Whether contacts may move to a mail server when a client says it is ready (MS-PRES 3.10.4).
    public var allowsUnifiedContactStore = false

    public init() {}
}

extension Diagnostic {
    public static let unknownSubscriber = Diagnostic(id: 2000, reason: "Prompted subscriber does not exist")
    public static let unknownContact = Diagnostic(id: 2001, reason: "Contact does not exist")
    public static let unknownGroup = Diagnostic(id: 2002, reason: "Group does not exist")
    public static let contactLimit = Diagnostic(id: 2007, reason: "Contact limit exceeded")
    public static let groupLimit = Diagnostic(id: 2008, reason: "Group limit exceeded")
    public static let contactExtensionSize = Diagnostic(id: 2009, reason: "Contact extension too large")
    public static let contextLimit = Diagnostic(id: 2011, reason: "Delivery context per subscriber limit exceeded")
    public static let duplicateGroup = Diagnostic(id: 2015, reason: "Duplicate group name")
    public static let delegateVersion = Diagnostic(id: 2141, reason: "Delegate version is out of date")
    public static let contactsMigrated = Diagnostic(
        id: 2165, reason: "Contact subscription is not allowed as the user's contact list has migrated to Exchange.")
    public static let contactsMoved = Diagnostic(
        id: 2186, reason: "Contact subscription has been terminated as the user migrated to ucs mode")
}
