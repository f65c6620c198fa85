import SIPCore

/// Publications relayed for a user of another domain, reduced to the data that a restart needs (RFC 3903, MS-PRES 3.2).
public struct StoredBridge: Hashable, Sendable {
    /// Requests that relay the publications to the user's domain.
    public enum Way: String, Hashable, Sendable, CaseIterable {
        /// PUBLISH to a simple domain: instances of enterprise clients.
        case publish
        /// SERVICE to an enterprise domain: PIDF of standard clients.
        case service
    }

    /// The user's `aorKey`.
    public var user: String
    /// Requests that relay the publications.
    public var way: Way
    /// The user's URI.
    public var uri: String
    /// Self document (MS-PRES 2.2.2.3.2), for ``Way/publish``; else empty.
    public var document: [UInt8]
    /// Entity-tag and lifetimes at the user's domain, hop marks of the received publication.
    public var details: [String: String]
    /// Sorted by kind and name, which together are unique.
    public let items: [Item]

    /// Source, instance at the user's domain, or key of a computed instance (`CONTAINER/INSTANCE/CATEGORY`).
    public struct Item: Hashable, Sendable {
        /// Kind of the item.
        public var kind: String
        /// Name among the items of its kind.
        public var name: String
        /// Published body of a source; else empty.
        public var document: [UInt8]
        /// Versions, times and digests, as text.
        public var details: [String: String]

        /// Creates an item.
        public init(kind: String, name: String, document: [UInt8] = [], details: [String: String] = [:]) {
            self.kind = kind
            self.name = name
            self.document = document
            self.details = details
        }
    }

    /// Creates a record; sorts the items.
    public init(
        user: String, way: Way, uri: String, document: [UInt8] = [], details: [String: String] = [:], items: [Item] = []
    ) {
        self.user = user
        self.way = way
        self.uri = uri
        self.document = document
        self.details = details
        self.items = items.sorted { ($0.kind, $0.name) < ($1.kind, $1.name) }
    }
}
