import EnhancedPresence
import PresenceDocuments
import SIPCore

/// The data that the packages of a user's own data show.
protocol OwnDataSource: AnyObject {
    /// Contacts and groups of a user.
    func contacts(of user: String) -> ContactList

    /// Decides about the migration of contacts for a client that subscribes, and whether it is shown their mode.
    /// - Throws: 488 if the contacts were migrated and the client can read them from the mail server (MS-PRES 3.10.4, 4.14).
    func showsContactMode(_ request: SIPRequest) throws(Refusal) -> Bool

    /// Access control list of a user.
    func accessControl(of user: String) -> AccessControlList

    /// The groups of settings that a request names.
    func provisioningGroups(_ request: SIPRequest) throws(Refusal) -> [String]

    /// The parts of the data that a self SUBSCRIBE requests (MS-PRES 3.3.5.1, 3.3.5.3).
    func roamingScope(_ request: SIPRequest) throws(Refusal) -> Set<RoamingScope>

    /// Encodes the user's publications, containers, subscribers and delegates; nil: nothing in `scope` changed.
    /// - Parameter change: what has changed; nil for the full state.
    func roamingData(of owner: DataOwner, scope: Set<RoamingScope>, after change: PresentityChange?, at now: Instant) -> [UInt8]?
}
