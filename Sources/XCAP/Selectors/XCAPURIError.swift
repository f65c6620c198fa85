/// Refusal of a request URI (RFC 4825 6).
public struct XCAPURIError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Kind of refusal, which decides the status.
    public enum Kind: Hashable, Sendable {
        /// A rule of syntax or a limit is broken: 400.
        case malformed
        /// The URI is longer than allowed: 414.
        case tooLong
        /// The URI cannot name a document of this server: 404, for a PUT 409 `no-parent`.
        case notFound
    }

    /// Kind of refusal.
    public let kind: Kind
    /// English sentence with the section of the standard.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    static func malformed(_ description: String) -> XCAPURIError { XCAPURIError(.malformed, description) }
    static func notFound(_ description: String) -> XCAPURIError { XCAPURIError(.notFound, description) }
}
