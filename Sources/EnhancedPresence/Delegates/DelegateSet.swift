import PresenceDocuments

/// The delegates of a user with the version of the set (MS-PRES 3.9.1 DelegateSet).
public struct DelegateSet: Hashable, Sendable {
    /// One delegate (MS-PRES 3.9.1 DelegateEntry).
    public struct Entry: Hashable, Sendable {
        /// The address of the delegate.
        public let address: PresenceAddress
        /// Whether the delegate may publish for the user.
        public var mayPublish: Bool
        /// Whether the delegate has the `redelegate` right (MS-PRES 2.2.2.10.1).
        public var mayRedelegate: Bool
    }

    /// The version; 0 until the first change, then grows with every change (MS-PRES 3.9.5.1).
    public private(set) var version: UInt32 = 0
    /// The delegates in the order in which they were added.
    public private(set) var entries: [Entry] = []

    /// Creates an empty set with version 0.
    public init() {}

    /// The entry of a delegate; nil if the address is no delegate.
    public subscript(address: PresenceAddress) -> Entry? { entries.first { $0.address == address } }

    /// The complete set for self dialogs and responses, with addresses without scheme (MS-PRES 2.2.2.10.1).
    public var document: DelegatesDocument {
        DelegatesDocument(
            version: version,
            delegates: entries.map { DelegateElement(uri: $0.address.text, publish: $0.mayPublish, redelegate: $0.mayRedelegate) })
    }

    /// Creates the set of a document.
    public init(_ document: DelegatesDocument) {
        version = document.version
        for element in document.delegates {
            put(Entry(address: PresenceAddress(element.uri), mayPublish: element.publish, mayRedelegate: element.redelegate))
        }
    }

    mutating func set(_ entry: Entry) {
        put(entry)
        advance()
    }

    mutating func remove(_ address: PresenceAddress) {
        entries.removeAll { $0.address == address }
        advance()
    }

    private mutating func put(_ entry: Entry) {
        if let index = entries.firstIndex(where: { $0.address == entry.address }) {
            entries[index] = entry
        } else {
            entries.append(entry)
        }
    }

    private mutating func advance() { version = version == .max ? 1 : version + 1 }
}
