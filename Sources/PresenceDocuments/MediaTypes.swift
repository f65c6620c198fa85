/// Media types of presence documents, lower case; compare without regard to case (RFC 2045 5.1).
public struct MediaType: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    public init(_ name: String) { self.name = name.lowercased() }
    public var description: String { name }

    /// RFC 3863
    public static let pidf = MediaType("application/pidf+xml")
    /// The name before RFC 3863, still asked for by old watchers
    public static let cpimPIDF = MediaType("application/cpim-pidf+xml")
    /// RFC 5262
    public static let pidfDiff = MediaType("application/pidf-diff+xml")
    public static let xpidf = MediaType("application/xpidf+xml")
    /// RFC 4662
    public static let rlmi = MediaType("application/rlmi+xml")
    /// RFC 2387
    public static let multipartRelated = MediaType("multipart/related")
}
