/// Entity-tag of a publication at the event state compositor: the case-sensitive token in SIP-ETag and SIP-If-Match (RFC 3903
/// 11.3).
public struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    /// Token as it appears in the header.
    public let value: String

    /// Wraps a token without checking its syntax.
    public init(_ value: String) {
        self.value = value
    }

    public var description: String { value }
}
