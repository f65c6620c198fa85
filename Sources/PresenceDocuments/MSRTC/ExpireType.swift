/// What ends the life of a published category instance (MS-PRES 2.2.2.1, 6.10).
public struct ExpireType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

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

    /// Whether the schema lists the value; a publication may carry no other (MS-PRES 6.10).
    public var isKnown: Bool { self == .static || self == .endpoint || self == .user || self == .time }

    public var description: String { rawValue }
}
