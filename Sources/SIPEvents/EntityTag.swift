/// The name of one publication at the event state compositor: a token in SIP-ETag and SIP-If-Match (RFC 3903 section 11.3).
/// Compared byte for byte.
public struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    public let value: String

    public init(_ value: String) {
        self.value = value
    }

    public var description: String { value }
}
