import PresenceDocuments
import XMLCore

/// The contacts and groups of a user with the version of the list (MS-SIP 3.7, MS-PRES 3.10).
///
/// Group 1 is named `~` and cannot be deleted; it holds the contacts that are in no other group (MS-SIP 3.7.4.4).
public struct ContactList: Hashable, Sendable {
    /// The version; starts at 1, never 0, and grows by 1 with each change (MS-SIP 3.7.1).
    public private(set) var deltaNum: UInt32 = 1
    /// The groups by number.
    public private(set) var groups: [RoamingGroup] = [ContactList.defaultGroup]
    /// The location of the list; see ``UCSMigration``.
    public internal(set) var mode: UCSMode = .disabled
    private var byAddress: [PresenceAddress: RoamingContact] = [:]
    private var order: [PresenceAddress] = []
    /// Quotas and switches.
    public private(set) var policy: RoamingPolicy

    /// Group 1, for contacts in no other group (MS-SIP 3.7.4.4, 3.7.5.2).
    public static let defaultGroup = RoamingGroup(id: 1, name: "~")

    /// Creates a list with version 1 that has only the default group.
    public init(policy: RoamingPolicy = RoamingPolicy()) { self.policy = policy }

    /// Applies other quotas to later requests.
    public mutating func use(_ policy: RoamingPolicy) { self.policy = policy }

    /// The contacts in the order in which they were added; their URIs have no scheme.
    public var contacts: [RoamingContact] { order.compactMap { byAddress[$0] } }

    /// The contact with an address; nil if there is none.
    public subscript(address: PresenceAddress) -> RoamingContact? { byAddress[address] }

    /// Whether the list is unchanged since its creation, so that a store need not keep it.
    public var isPristine: Bool { deltaNum == 1 && mode == .disabled }

    /// The complete list.
    /// - Parameter showsMode: Whether the client supports the unified contact store (MS-PRES 10).
    public func document(showsMode: Bool) -> ContactListDocument {
        ContactListDocument(deltaNum: deltaNum, ucsMode: showsMode ? mode : nil, groups: groups, contacts: contacts)
    }

    /// Creates the list of a document; absent parts are as in a new list.
    public init(_ document: ContactListDocument, policy: RoamingPolicy = RoamingPolicy()) {
        self.init(policy: policy)
        deltaNum = max(1, document.deltaNum)
        mode = document.ucsMode ?? .disabled
        for group in document.groups { put(group) }
        for contact in document.contacts { put(contact) }
    }

    // MARK: Changes

    /// The result of a change.
    public struct Outcome: Hashable, Sendable {
        /// The notification for every contact dialog of the user.
        public var delta: ContactDeltaDocument
        /// The number of an added group, for the response (MS-SIP 4.8); nil for other changes.
        public var newGroup: UInt32?
    }

    /// Applies one operation, or refuses it and changes nothing.
    /// - Throws: 409 for a version other than ``deltaNum``, 404 for an unknown contact or group, 413 for an exceeded quota, 400 for
    ///   an invalid value, 403 for a read-only list, the deletion of group 1 or of a group with contacts (MS-SIP 3.7.4, MS-OCER).
    public mutating func apply(_ operation: ContactOperation) throws(EnhancedPresenceRefusal) -> Outcome {
        guard !mode.isReadOnly else {
            throw EnhancedPresenceRefusal(status: 403, message: "the contact list is \(mode) and read-only here (MS-PRES 3.10.4)")
        }
        if let deltaNum = operation.deltaNum, deltaNum != self.deltaNum {
            throw EnhancedPresenceRefusal(
                status: 409, message: "deltaNum \(deltaNum) is not the current \(self.deltaNum) (MS-SIP 2.2.4.2)")
        }
        var newGroup: UInt32?
        let change: ContactChange
        switch operation.kind {
        case .setContact(let contact): change = try set(contact)
        case .deleteContact(let uri): change = try delete(uri)
        case .addGroup(let name, let externalURI):
            let group = RoamingGroup(id: try freeGroup(), name: name, externalURI: externalURI)
            try check(group)
            put(group)
            newGroup = group.id
            change = .addedGroup(group)
        case .modifyGroup(let group):
            guard groups.contains(where: { $0.id == group.id }) else { throw Self.unknownGroup(group.id) }
            try check(group)
            put(group)
            change = .modifiedGroup(group)
        case .deleteGroup(let id): change = try delete(group: id)
        }
        let previous = deltaNum
        deltaNum = deltaNum == .max ? 1 : deltaNum + 1
        return Outcome(
            delta: ContactDeltaDocument(deltaNum: deltaNum, previousDeltaNum: previous, change: change), newGroup: newGroup)
    }

    private mutating func set(_ wanted: RoamingContact) throws(EnhancedPresenceRefusal) -> ContactChange {
        let address = PresenceAddress(wanted.uri)
        guard !address.domain.isEmpty, address.text.utf8.count <= 450 else {
            throw Self.bad("contact \"\(wanted.uri.prefix(60))\" is no SIP URI of at most 454 characters (MS-SIP 10)")
        }
        try Self.checkLength(wanted.name, "displayName", 256)
        try Self.checkLength(wanted.externalURI ?? "", "externalURI", 1_024)
        guard wanted.extension?.source.count ?? 0 <= policy.contactExtensionByteLimit else {
            throw EnhancedPresenceRefusal(
                status: 413, diagnostic: .contactExtensionSize,
                message: "contactExtension has more than \(policy.contactExtensionByteLimit) bytes (MS-SIP 9.1)")
        }
        var contact = wanted
        contact.uri = address.text
        contact.groups = []
        for id in wanted.groups.map({ $0 == 0 ? Self.defaultGroup.id : $0 }) where !contact.groups.contains(id) {
            guard groups.contains(where: { $0.id == id }) else { throw Self.unknownGroup(id) }
            contact.groups.append(id)
        }
        if contact.groups.isEmpty { contact.groups = [Self.defaultGroup.id] }
        let isNew = byAddress[address] == nil
        guard !isNew || order.count < policy.contactLimit else {
            throw EnhancedPresenceRefusal(
                status: 413, diagnostic: .contactLimit, message: "a user has at most \(policy.contactLimit) contacts (MS-SIP 3.7.1)")
        }
        put(contact)
        contact.uri = "sip:" + address.text
        return isNew ? .addedContact(contact) : .modifiedContact(contact)
    }

    private mutating func delete(_ uri: String) throws(EnhancedPresenceRefusal) -> ContactChange {
        let address = PresenceAddress(uri)
        guard byAddress.removeValue(forKey: address) != nil else {
            throw EnhancedPresenceRefusal(
                status: 404, diagnostic: .unknownContact, message: "\"\(uri.prefix(60))\" is no contact (MS-SIP 3.7.4.3)")
        }
        order.removeAll { $0 == address }
        return .deletedContact(uri: "sip:" + address.text)
    }

    private mutating func delete(group id: UInt32) throws(EnhancedPresenceRefusal) -> ContactChange {
        guard id != Self.defaultGroup.id else {
            throw EnhancedPresenceRefusal(status: 403, message: "group 1 cannot be deleted (MS-SIP 3.7.4.4)")
        }
        guard groups.contains(where: { $0.id == id }) else { throw Self.unknownGroup(id) }
        guard !byAddress.values.contains(where: { $0.groups.contains(id) }) else {
            throw EnhancedPresenceRefusal(status: 403, message: "group \(id) still has contacts (MS-SIP 3.7.4.4)")
        }
        groups.removeAll { $0.id == id }
        return .deletedGroup(id: id)
    }

    // MARK: Checks

    /// The lowest unused group number, from 1 to 64.
    private func freeGroup() throws(EnhancedPresenceRefusal) -> UInt32 {
        let limit = min(policy.groupLimit, 64)
        let taken = Set(groups.map(\.id))
        guard groups.count < limit, let id = (1...64).first(where: { !taken.contains($0) }) else {
            throw EnhancedPresenceRefusal(
                status: 413, diagnostic: .groupLimit, message: "a user has at most \(limit) groups (MS-SIP 9.1)")
        }
        return id
    }

    private func check(_ group: RoamingGroup) throws(EnhancedPresenceRefusal) {
        try Self.checkLength(group.name, "name", 256)
        try Self.checkLength(group.externalURI ?? "", "externalURI", 1_024)
        guard !group.name.isEmpty else { throw Self.bad("a group needs a name (MS-SIP 3.7.1)") }
        guard !groups.contains(where: { $0.id != group.id && $0.name == group.name }) else {
            throw EnhancedPresenceRefusal(
                status: 400, diagnostic: .duplicateGroup, message: "there is a group \"\(group.name)\" already (MS-SIP 3.7.1)")
        }
    }

    private static func checkLength(_ text: String, _ name: String, _ limit: Int) throws(EnhancedPresenceRefusal) {
        guard text.utf8.count <= limit else { throw bad("\(name) has more than \(limit) bytes (MS-SIP 9.1)") }
    }

    private static func unknownGroup(_ id: UInt32) -> EnhancedPresenceRefusal {
        EnhancedPresenceRefusal(status: 404, diagnostic: .unknownGroup, message: "there is no group \(id) (MS-SIP 3.7.4.4)")
    }

    private static func bad(_ message: String) -> EnhancedPresenceRefusal { EnhancedPresenceRefusal(status: 400, message: message) }

    // MARK: Tables

    private mutating func put(_ group: RoamingGroup) {
        if let index = groups.firstIndex(where: { $0.id >= group.id }) {
            if groups[index].id == group.id { groups[index] = group } else { groups.insert(group, at: index) }
        } else {
            groups.append(group)
        }
    }

    private mutating func put(_ contact: RoamingContact) {
        let address = PresenceAddress(contact.uri)
        if byAddress.updateValue(contact, forKey: address) == nil { order.append(address) }
    }
}
