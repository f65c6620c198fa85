/// Rule that ends the life of a published category instance (MS-PRES 2.2.2.1, 6.10).
public struct ExpireType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// Lives until it is deleted.
    public static let `static`: ExpireType = "static"
    /// Ends with the registration of the endpoint that published it.
    public static let endpoint: ExpireType = "endpoint"
    /// Ends with the last registration of the user.
    public static let user: ExpireType = "user"
    /// Ends after `expires` seconds unless it is updated.
    public static let time: ExpireType = "time"

    /// Whether the schema lists the value; a publication must not have another (MS-PRES 6.10).
    public var isKnown: Bool { self == .static || self == .endpoint || self == .user || self == .time }

    public var description: String { rawValue }
}
