import PresenceDocuments

/// Support of a contact subscriber for the unified contact store on the mail server (MS-PRES 3.10.4).
public struct UCSOffer: Hashable, Sendable {
    /// Whether Supported has `ms-ucs`: the client can read contacts from the mail server.
    public var isCapable: Bool
    /// Whether Supported has `ms-ucs-ready`: the contacts may be migrated.
    public var isReady: Bool

    /// Creates an offer; by default without support.
    public init(isCapable: Bool = false, isReady: Bool = false) {
        self.isCapable = isCapable
        self.isReady = isReady
    }
}

/// Migration of a contact list to the mail server (MS-PRES 1.3.5, 3.10.4). The operator of the mail server copies the contacts
/// outside of this protocol.
///
/// ```
/// disabled --ms-ucs-ready, if permitted--> allowed --beginMigration--> migrating --completeMigration--> migrated
///                                             ^-------------------------- cancelMigration --|
/// ```
extension ContactList {
    /// Answers a subscription to the contact list (MS-PRES 3.10.4, 4.14).
    ///
    /// A client that is ready queues the user for migration if the policy allows it.
    /// - Returns: The complete list, with the mode for clients that support it. After migration, clients without access to the mail
    ///   server keep using this list.
    /// - Throws: 488 with diagnostic 2165 if the list was migrated and the client can read it from the mail server (MS-PRES
    ///   4.14.3.1).
    public mutating func answer(_ offer: UCSOffer) throws(EnhancedPresenceRefusal) -> ContactListDocument {
        if mode == .migrated, offer.isCapable || offer.isReady {
            throw EnhancedPresenceRefusal(
                status: 488, diagnostic: .contactsMigrated, message: "the contacts are on the mail server (MS-PRES 4.14.3.1)")
        }
        if mode == .disabled, offer.isReady, policy.allowsUnifiedContactStore { mode = .allowed }
        return document(showsMode: offer.isReady || offer.isCapable && mode != .disabled)
    }

    /// Whether the user is queued for migration.
    public var waitsForMigration: Bool { mode == .allowed }

    /// Starts the migration: the list becomes read-only.
    /// - Returns: False, with no change, unless the user is queued for migration.
    public mutating func beginMigration() -> Bool { advance(from: .allowed, to: .migrating) }

    /// Ends the migration; the caller terminates contact subscriptions with diagnostic 2186 (MS-PRES 4.14.2).
    /// - Returns: False, with no change, unless the list is migrating.
    public mutating func completeMigration() -> Bool { advance(from: .migrating, to: .migrated) }

    /// Aborts the migration: the list can be changed again, and the user is queued again.
    /// - Returns: False, with no change, unless the list is migrating.
    public mutating func cancelMigration() -> Bool { advance(from: .migrating, to: .allowed) }

    private mutating func advance(from: UCSMode, to next: UCSMode) -> Bool {
        guard mode == from else { return false }
        mode = next
        return true
    }
}
