import PresenceDocuments

/// The access control list of the 2005 model, kept for clients that sign in with it (MS-SIP 2.2.3, 3.7.5.1).
///
/// It is stored and shown to the user's endpoints. What a watcher sees is decided by containers (MS-PRES 3.2.5.3), not by this list.
public struct AccessControlList: Hashable, Sendable {
    /// The version, never 0 (MS-SIP 2.2.3).
    public private(set) var deltaNum: UInt32 = 1
    /// In the order in which they were set first.
    public private(set) var entries: [AccessControlEntry] = []
    /// The places of the entries, by what makes two entries one.
    private var places: [[String]: Int] = [:]
    public var policy: RoamingPolicy

    public init(policy: RoamingPolicy = RoamingPolicy()) { self.policy = policy }

    /// The list as its document describes it.
    public init(_ document: AccessControlListDocument, policy: RoamingPolicy = RoamingPolicy()) {
        self.init(policy: policy)
        deltaNum = max(1, document.deltaNum)
        for entry in document.entries { put(entry) }
    }

    public var document: AccessControlListDocument { AccessControlListDocument(deltaNum: deltaNum, entries: entries) }

    /// Whether nothing was ever set.
    public var isPristine: Bool { deltaNum == 1 }

    /// Sets one entry; another one of the same scope and mask is replaced.
    /// - Throws: 409 when the client's version is not the current one, 400 for a mask that is none, 413 for too many.
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

    /// What makes two entries one.
    private static func key(_ entry: AccessControlEntry) -> [String] {
        switch entry.scope {
        case .all: [entry.scope.rawValue]
        case .domain: [entry.scope.rawValue, PresenceAddress("@" + entry.mask).domain]
        case .user: [entry.scope.rawValue, PresenceAddress(entry.mask).text]
        }
    }
}
