import SIPCore

/// What is published for a user of another domain over this node, as much of it as a restart needs (RFC 3903, MS-PRES 3.2).
public struct StoredBridge: Hashable, Sendable {
    /// By which requests it goes on to the user's domain.
    public enum Way: String, Hashable, Sendable, CaseIterable {
        /// By PUBLISH to a simple domain: instances of enterprise clients.
        case publish
        /// By SERVICE to an enterprise domain: PIDF of standard clients.
        case service
    }

    /// The user's `aorKey`.
    public var user: String
    public var way: Way
    public var uri: String
    /// Of ``Way/publish``: the self document (MS-PRES 2.2.2.3.2).
    public var document: [UInt8]
    /// Entity-tag and lives at the far side, marks of the way here.
    public var details: [String: String]
    /// In the order of kinds and names, of which no two are the same.
    public let items: [Item]

    /// A source, an instance at the far side, or the key of a computed instance (`CONTAINER/INSTANCE/CATEGORY`).
    public struct Item: Hashable, Sendable {
        public var kind: String
        public var name: String
        public var document: [UInt8]
        public var details: [String: String]

        public init(kind: String, name: String, document: [UInt8] = [], details: [String: String] = [:]) {
            self.kind = kind
            self.name = name
            self.document = document
            self.details = details
        }
    }

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
