/// Response to a request, and the change of the document that it confirms.
///
/// A response with a change is sent only after the change is kept; every other one leaves the document as it is.
public struct XCAPResponse: Hashable, Sendable {
    /// Change of the stored document.
    public enum Change: Hashable, Sendable {
        /// The document stays as it is.
        case none
        /// The document is created or replaced.
        case store(StoredDocument)
        /// The document is removed.
        case remove
    }

    /// HTTP status code.
    public var status: Int
    /// ETag; nil for none.
    package var entityTag: EntityTag?
    /// Content-Type; nil without content.
    public var contentType: String?
    /// Content.
    public var body: [UInt8] = []
    /// Whether only the length of the content is sent, for HEAD.
    package var omitsBody = false
    /// Allow, for 405.
    public var allow: [XCAPMethod] = []
    /// Accept, for 415: the media type that the selected resource takes.
    public var accept: String?
    /// Change of the document.
    public var change = Change.none
    /// Reason of a refusal, for logs and explanations; nil for success.
    public var reason: String?

    init(_ status: Int, tag: EntityTag? = nil, reason: String? = nil) {
        self.status = status
        entityTag = tag
        self.reason = reason
    }

    /// Response 409 with its reason as content (RFC 4825 11).
    public init(_ conflict: XCAPConflict) {
        self.init(409, reason: conflict.description)
        contentType = "application/xcap-error+xml"
        body = conflict.encode()
    }

    /// Response to a refused request URI: 400, 414, 404, or for a PUT below no directory 409 `no-parent`.
    public init(_ error: XCAPURIError, method: XCAPMethod, root: XCAPRoot) {
        switch error.kind {
        case .malformed: self.init(400, reason: error.description)
        case .tooLong: self.init(414, reason: error.description)
        case .notFound where method == .put: self.init(.noParent(ancestor: root.description, phrase: error.description))
        case .notFound: self.init(404, reason: error.description)
        }
    }

    /// Response 404 to a request for an application usage that is not supported.
    package static func unknownUsage(_ auid: String) -> XCAPResponse {
        XCAPResponse(404, reason: "RFC 4825 5.1: no application usage '\(auid.prefix(120))'")
    }

    static func notAllowed(_ allow: [XCAPMethod], reason: String) -> XCAPResponse {
        var response = XCAPResponse(405, reason: reason)
        response.allow = allow
        return response
    }
}

/// Refusal of a request, thrown with its response.
public struct XCAPRefusal: Error, Hashable, Sendable {
    /// Response to send.
    public let response: XCAPResponse

    /// Wraps a response.
    public init(_ response: XCAPResponse) { self.response = response }

    init(_ conflict: XCAPConflict) { response = XCAPResponse(conflict) }
}
