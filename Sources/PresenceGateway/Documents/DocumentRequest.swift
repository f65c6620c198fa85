import SIPCore
import XCAP

/// XCAP request of an authenticated user (RFC 4825 7).
package struct DocumentRequest: Hashable, Sendable {
    /// The user's `aorKey`.
    package var user: String
    /// Method, with case.
    package var method: String
    /// Request target as received.
    package var target: String
    /// Content-Type; nil when absent.
    package var contentType: String?
    /// If-Match, several values joined by commas; nil when absent.
    package var ifMatch: String?
    /// If-None-Match, as ``ifMatch``.
    package var ifNoneMatch: String?
    /// Content.
    package var body: [UInt8]

    /// Creates a request; by default without preconditions and content.
    package init(
        user: String, method: String, target: String, contentType: String? = nil, ifMatch: String? = nil, ifNoneMatch: String? = nil,
        body: [UInt8] = []
    ) {
        self.user = user
        self.method = method
        self.target = target
        self.contentType = contentType
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.body = body
    }
}

/// Response to a ``DocumentRequest``, in the terms of HTTP.
package struct DocumentAnswer: Hashable, Sendable {
    /// Header field.
    package struct Header: Hashable, Sendable {
        /// Name.
        package var name: String
        /// Complete value.
        package var value: String
    }

    /// HTTP status code.
    package var status: Int
    /// Header fields, without Content-Length.
    package var headers: [Header] = []
    /// Content.
    package var body: [UInt8] = []
    /// Whether only the length of the content is sent (HEAD).
    package var omitsBody = false

    init(_ response: XCAPResponse) {
        status = response.status
        if let tag = response.entityTag { headers.append(Header(name: "ETag", value: tag.description)) }
        if let type = response.contentType { headers.append(Header(name: "Content-Type", value: type)) }
        if !response.allow.isEmpty {
            headers.append(Header(name: "Allow", value: response.allow.map(\.rawValue).joined(separator: ", ")))
        }
        if let accept = response.accept { headers.append(Header(name: "Accept", value: accept)) }
        body = response.body
        omitsBody = response.omitsBody
    }

    /// Refusal without content; a pause in seconds becomes Retry-After.
    init(refusing status: Int, retryAfter: Int? = nil) {
        self.status = status
        if let retryAfter { headers.append(Header(name: "Retry-After", value: String(retryAfter))) }
    }

    /// Refusal of the kernel.
    init(_ refusal: Refusal) {
        status = refusal.status.rawValue
        for header in refusal.headers where header.name == .retryAfter {
            headers.append(Header(name: "Retry-After", value: header.value))
        }
    }
}
