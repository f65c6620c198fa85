import PresenceDocuments

/// Quotas and switches for subscribers, delegates, contacts and the access control list (MS-PRES 3.6.5.1, 3.9.5.1, 10; MS-SIP 9.1).
///
/// The standards name most quotas without numbers; these defaults can be changed by configuration.
public struct RoamingPolicy: Hashable, Sendable {
    /// Largest number of entries of a subscriber list.
    public var subscriberLimit = 5_000
    /// Largest context of one subscription in bytes.
    public var contextByteLimit = 4_096
    /// Largest sum of the contexts of a subscriber list in bytes.
    public var totalContextByteLimit = 262_144
    /// Whether acknowledging a category subscriber removes the entry, which bounds the list (MS-PRES 3.6.5.1).
    public var removesAcknowledgedSubscribers = true
    /// Largest number of delegates of a user.
    public var delegateLimit = 25
    /// Largest number of contacts of a user.
    public var contactLimit = 1_000
    /// Largest number of groups of a user; values above 64 count as 64 (MS-SIP 9.1).
    public var groupLimit = 64
    /// Largest body of a `contactExtension` in bytes (MS-SIP 9.1).
    public var contactExtensionByteLimit = 1_024
    /// Largest number of entries of an access control list.
    public var accessControlLimit = 1_000
    /// Whether contacts may be migrated to a mail server when a client is ready for it (MS-PRES 3.10.4).
    public var allowsUnifiedContactStore = false

    /// Creates the default policy.
    public init() {}
}

extension Diagnostic {
    /// 2000: the subscriber to acknowledge is not listed.
    public static let unknownSubscriber = Diagnostic(id: 2000, reason: "Prompted subscriber does not exist")
    /// 2001: the contact to delete does not exist.
    public static let unknownContact = Diagnostic(id: 2001, reason: "Contact does not exist")
    /// 2002: the group does not exist.
    public static let unknownGroup = Diagnostic(id: 2002, reason: "Group does not exist")
    /// 2007: too many contacts.
    public static let contactLimit = Diagnostic(id: 2007, reason: "Contact limit exceeded")
    /// 2008: too many groups.
    public static let groupLimit = Diagnostic(id: 2008, reason: "Group limit exceeded")
    /// 2009: the `contactExtension` is too large.
    public static let contactExtensionSize = Diagnostic(id: 2009, reason: "Contact extension too large")
    /// 2011: a context, or the sum of all contexts, is too large.
    public static let contextLimit = Diagnostic(id: 2011, reason: "Delivery context per subscriber limit exceeded")
    /// 2015: another group has this name.
    public static let duplicateGroup = Diagnostic(id: 2015, reason: "Duplicate group name")
    /// 2141: the version of the delegates is not the current one.
    public static let delegateVersion = Diagnostic(id: 2141, reason: "Delegate version is out of date")
    /// 2165: a client that can read the mail server subscribes to migrated contacts (MS-PRES 4.14.3.1).
    public static let contactsMigrated = Diagnostic(
        id: 2165, reason: "Contact subscription is not allowed as the user's contact list has migrated to Exchange.")
    /// 2186: the contacts have moved to the mail server during a subscription (MS-PRES 4.14.2).
    public static let contactsMoved = Diagnostic(
        id: 2186, reason: "Contact subscription has been terminated as the user migrated to ucs mode")
}
