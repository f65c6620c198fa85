import SIPCore

/// Publications relayed for a user of another domain, reduced to the data that a restart needs (RFC 3903, MS-PRES 3.2).
package struct StoredBridge: Hashable, Sendable {
    /// Requests that relay the publications to the user's domain.
    package enum Way: String, Hashable, Sendable, CaseIterable {
        /// PUBLISH to a simple domain: instances of enterprise clients.
        case publish
        /// SERVICE to an enterprise domain: PIDF of standard clients.
        case service
    }

    /// The user's `aorKey`.
    package var user: String
    /// Requests that relay the publications.
    package var way: Way
    /// The user's URI.
    package var uri: String
    /// Self document (MS-PRES 2.2.2.3.2), for ``Way/publish``; else empty.
    package var document: [UInt8]
    /// Entity-tag and lifetimes at the user's domain, hop marks of the received publication.
    package var details: [String: String]
    /// Sorted by kind and name, which together are unique.
    package let items: [Item]

    /// Source, instance at the user's domain, or key of a computed instance (`CONTAINER/INSTANCE/CATEGORY`).
    package struct Item: Hashable, Sendable {
        /// Kind of the item.
        package var kind: String
        /// Name among the items of its kind.
        package var name: String
        /// Published body of a source; else empty.
        package var document: [UInt8]
        /// Versions, times and digests, as text.
        package var details: [String: String]

        /// Creates an item.
        package init(kind: String, name: String, document: [UInt8] = [], details: [String: String] = [:]) {
            self.kind = kind
            self.name = name
            self.document = document
            self.details = details
        }
    }

    /// Creates a record; sorts the items.
    package init(
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
