/// Method of an XCAP request (RFC 4825 7), compared with case.
public struct XCAPMethod: RawRepresentable, Hashable, Sendable {
    public var rawValue: String
    /// Creates a method of any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Fetches a document or node.
    public static let get = XCAPMethod(rawValue: "GET")
    /// As GET, without content in the response.
    package static let head = XCAPMethod(rawValue: "HEAD")
    /// Creates or replaces a document or node.
    public static let put = XCAPMethod(rawValue: "PUT")
    /// Removes a document or node.
    public static let delete = XCAPMethod(rawValue: "DELETE")
}

/// Request on one document, with the request URI parsed.
public struct XCAPRequest: Hashable, Sendable {
    /// Method.
    public var method: XCAPMethod
    /// Selected document and node.
    public var uri: XCAPURI
    /// Content-Type as received; nil when absent.
    public var contentType: String?
    /// If-Match and If-None-Match.
    public var conditions: XCAPConditions
    /// Content; empty for none.
    public var body: [UInt8]

    /// Creates a request; by default without preconditions and content.
    public init(
        _ method: XCAPMethod, _ uri: XCAPURI, contentType: String? = nil, conditions: XCAPConditions = XCAPConditions(),
        body: [UInt8] = []
    ) {
        self.method = method
        self.uri = uri
        self.contentType = contentType
        self.conditions = conditions
        self.body = body
    }
}

/// Document as it is stored.
public struct StoredDocument: Hashable, Sendable {
    /// Octets, UTF-8.
    public var octets: [UInt8]
    /// Current entity-tag.
    public var tag: EntityTag

    /// Creates a stored document.
    public init(octets: [UInt8], tag: EntityTag) {
        self.octets = octets
        self.tag = tag
    }
}
