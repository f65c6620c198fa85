import EnhancedPresence
import PresenceDocuments

/// Contact lists and access control lists by user; a user without changes has no entry and gets a new list.
struct RoamingLists {
    private var contactLists: [String: ContactList] = [:]
    private var accessLists: [String: AccessControlList] = [:]
    private var policy: RoamingPolicy

    init(policy: RoamingPolicy) { self.policy = policy }

    /// Applies other quotas to all lists.
    mutating func use(_ policy: RoamingPolicy) {
        self.policy = policy
        for user in contactLists.keys { contactLists[user]?.use(policy) }
        for user in accessLists.keys { accessLists[user]?.use(policy) }
    }

    /// Number of lists of both kinds.
    var count: Int { contactLists.count + accessLists.count }

    /// Users that await migration of their contacts to the mail server, sorted (MS-PRES 3.10.4).
    var awaitingMigration: [String] { contactLists.filter { $0.value.waitsForMigration }.keys.sorted() }

    func knows(_ user: String) -> Bool { contactLists[user] != nil || accessLists[user] != nil }

    func contacts(of user: String) -> ContactList { contactLists[user] ?? ContactList(policy: policy) }

    mutating func set(_ list: ContactList, of user: String) { contactLists[user] = list.isPristine ? nil : list }

    /// The record of the contact list in the store; nil: no list.
    func stored(contactsOf user: String) -> StoredUserDocument? {
        contactLists[user].map {
            StoredUserDocument(user: user, deltaNumber: $0.deltaNum, document: $0.document(showsMode: true).encoded())
        }
    }

    /// The record of the access control list in the store; nil: no list.
    func stored(accessControlOf user: String) -> StoredUserDocument? {
        accessLists[user].map { StoredUserDocument(user: user, deltaNumber: $0.deltaNum, document: $0.document.encoded()) }
    }

    /// Restores a contact list.
    /// - Returns: false if the record cannot be read.
    mutating func restore(contactsOf stored: StoredUserDocument) -> Bool {
        guard let document = try? ContactListDocument(parsing: stored.document) else { return false }
        contactLists[stored.user] = ContactList(document, policy: policy)
        return true
    }

    /// Restores an access control list.
    /// - Returns: false if the record cannot be read.
    mutating func restore(accessControlOf stored: StoredUserDocument) -> Bool {
        guard let document = try? AccessControlListDocument(parsing: stored.document) else { return false }
        accessLists[stored.user] = AccessControlList(document, policy: policy)
        return true
    }

    func accessControl(of user: String) -> AccessControlList { accessLists[user] ?? AccessControlList(policy: policy) }

    mutating func set(_ list: AccessControlList, of user: String) { accessLists[user] = list.isPristine ? nil : list }
}
