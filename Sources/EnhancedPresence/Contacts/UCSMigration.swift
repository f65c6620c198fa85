import PresenceDocuments

/// What a client that subscribes to its contacts says about the mail server (MS-PRES 3.10.4).
public struct UCSOffer: Hashable, Sendable {
    /// `Supported: ms-ucs`: it can read its contacts from the mail server.
    public var isCapable: Bool
    /// `Supported: ms-ucs-ready`: the contacts may be moved there.
    public var isReady: Bool

    public init(isCapable: Bool = false, isReady: Bool = false) {
        self.isCapable = isCapable
        self.isReady = isReady
    }
}

/// The way of a contact list to the mail server (MS-PRES 1.3.5, 3.10.4). The contacts themselves are carried by whoever owns the mail
/// server, outside of this protocol.
///
/// ```
/// disabled --ms-ucs-ready, if permitted--> allowed --beginMigration--> migrating --completeMigration--> migrated
///                                             ^-------------------------- cancelMigration --|
/// ```
extension ContactList {
    /// Answers a subscription to the contact list (MS-PRES 3.10.4, 4.14).
    ///
    /// A client that is ready puts the user into the queue for migration, if that is permitted at all.
    /// - Returns: The whole list, with the mode for those who know of it. After migration that is what a client without access to the
    ///   mail server goes on with.
    /// - Throws: 488 with diagnostic 2165 when the list has moved and the client can read it there (MS-PRES 4.14.3.1).
    public mutating func answer(_ offer: UCSOffer) throws(EnhancedPresenceRefusal) -> ContactListDocument {
        if mode == .migrated, offer.isCapable || offer.isReady {
            throw EnhancedPresenceRefusal(
                status: 488, diagnostic: .contactsMigrated, message: "the contacts are on the mail server (MS-PRES 4.14.3.1)")
        }
        if mode == .disabled, offer.isReady, policy.allowsUnifiedContactStore { mode = .allowed }
        return document(showsMode: offer.isReady || offer.isCapable && mode != .disabled)
    }

    /// Whether the user waits for migration.
    public var waitsForMigration: Bool { mode == .allowed }

    /// The contacts are being carried over: nobody may change them now.
    /// - Returns: False, and nothing changed, when the user does not wait for migration.
    public mutating func beginMigration() -> Bool { advance(from: .allowed, to: .migrating) }

    /// The contacts are on the mail server; subscriptions to the list end with diagnostic 2186 (MS-PRES 4.14.2).
    public mutating func completeMigration() -> Bool { advance(from: .migrating, to: .migrated) }

    /// The contacts could not be carried over, and may be changed here again.
    public mutating func cancelMigration() -> Bool { advance(from: .migrating, to: .allowed) }

    private mutating func advance(from: UCSMode, to next: UCSMode) -> Bool {
        guard mode == from else { return false }
        mode = next
        return true
    }
}
