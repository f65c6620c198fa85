import PresenceDocuments

/// The access control list of the 2005 model, for clients that require it at sign-in (MS-SIP 2.2.3, 3.7.5.1).
///
/// Stored and sent to the user's endpoints only; containers decide what a watcher sees (MS-PRES 3.2.5.3).
public struct AccessControlList: Hashable, Sendable {
    /// The version; starts at 1 and is never 0 (MS-SIP 2.2.3).
    public private(set) var deltaNum: UInt32 = 1
    /// The entries in the order in which they were first set.
    public private(set) var entries: [AccessControlEntry] = []
    /// Indexes of the entries by identity key.
    private var places: [[String]: Int] = [:]
    /// Quotas; only the number of entries applies here.
    public private(set) var policy: RoamingPolicy

    /// Creates an empty list with version 1.
    public init(policy: RoamingPolicy = RoamingPolicy()) { self.policy = policy }

    /// Applies other quotas to later requests.
    public mutating func use(_ policy: RoamingPolicy) { self.policy = policy }

    /// Creates the list of a document; a version of 0 becomes 1.
    public init(_ document: AccessControlListDocument, policy: RoamingPolicy = RoamingPolicy()) {
        self.init(policy: policy)
        deltaNum = max(1, document.deltaNum)
        for entry in document.entries { put(entry) }
    }

    /// The list as a document.
    public var document: AccessControlListDocument { AccessControlListDocument(deltaNum: deltaNum, entries: entries) }

    /// Whether the list is unchanged since its creation, so that a store need not keep it.
    public var isPristine: Bool { deltaNum == 1 }

    /// Sets one entry, replacing an entry of equal scope and mask.
    /// - Throws: 409 for a version other than ``deltaNum``, 400 for an invalid mask, 413 for too many entries.
    public mutating func set(_ operation: SetACEOperation) throws(EnhancedPresenceRefusal) {
        guard operation.deltaNum == deltaNum else {
            throw EnhancedPresenceRefusal(
                status: 409, message: "deltaNum \(operation.deltaNum) is not the current \(deltaNum) (MS-SIP 3.7.1)")
        }
        let entry = operation.entry
        let length = entry.mask.utf8.count
        guard entry.scope == .all || (1...454).contains(length),
            entry.scope != .user || !PresenceAddress(entry.mask).domain.isEmpty
        else {
            throw EnhancedPresenceRefusal(
                status: 400, message: "mask \"\(entry.mask.prefix(60))\" is no \(entry.scope.rawValue) (MS-SIP 8)")
        }
        guard entries.count < policy.accessControlLimit || places[Self.key(entry)] != nil else {
            throw EnhancedPresenceRefusal(
                status: 413, message: "an access control list has at most \(policy.accessControlLimit) entries (MS-SIP 3.7.1)")
        }
        put(entry)
        deltaNum = deltaNum == .max ? 1 : deltaNum + 1
    }

    private mutating func put(_ entry: AccessControlEntry) {
        let key = Self.key(entry)
        if let place = places[key] {
            entries[place] = entry
        } else {
            places[key] = entries.count
            entries.append(entry)
        }
    }

    /// The identity key of an entry: scope and normalised mask.
    private static func key(_ entry: AccessControlEntry) -> [String] {
        switch entry.scope {
        case .all: [entry.scope.rawValue]
        case .domain: [entry.scope.rawValue, PresenceAddress("@" + entry.mask).domain]
        case .user: [entry.scope.rawValue, PresenceAddress(entry.mask).text]
        }
    }
}
