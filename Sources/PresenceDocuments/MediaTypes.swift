/// A media type of a presence document, lower case; compare without regard to case (RFC 2045 5.1).
public struct DocumentMediaType: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    public init(_ name: String) { self.name = name.lowercased() }
    public var description: String { name }

    /// RFC 3863
    public static let pidf = DocumentMediaType("application/pidf+xml")
    /// The name before RFC 3863, still asked for by old watchers
    public static let cpimPIDF = DocumentMediaType("application/cpim-pidf+xml")
    /// RFC 5262
    public static let pidfDiff = DocumentMediaType("application/pidf-diff+xml")
    public static let xpidf = DocumentMediaType("application/xpidf+xml")
    /// RFC 4662
    public static let rlmi = DocumentMediaType("application/rlmi+xml")
    /// RFC 4826
    public static let resourceLists = DocumentMediaType("application/resource-lists+xml")
}
