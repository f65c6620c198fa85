import XMLCore

/// Limits of requests and documents; the number of documents and octets of a user is limited by the caller.
public struct XCAPLimits: Hashable, Sendable {
    /// Octets of a request URI; a longer one is 414.
    package var uriOctets: Int
    /// Steps of a node selector; more are 400.
    package var steps: Int
    /// Namespace bindings in the query of a request URI; more are 400.
    package var bindings: Int
    /// Entity-tags in If-Match or If-None-Match; more are 400.
    public var entityTags: Int
    /// Limits of a document and of a request body; a larger one is 413.
    public var document: XMLLimits

    /// Creates limits; by default 8,192 octets of URI, 32 steps, 32 bindings, 64 entity-tags, documents of 262,144 octets, depth 32
    /// and 20,000 elements and texts.
    public init(
        uriOctets: Int = 8_192, steps: Int = 32, bindings: Int = 32, entityTags: Int = 64, document: XMLLimits = XMLLimits(depth: 32)
    ) {
        self.uriOctets = uriOctets
        self.steps = steps
        self.bindings = bindings
        self.entityTags = entityTags
        self.document = document
    }
}
