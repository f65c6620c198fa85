/// Media type of a presence document in lower case; compare ignoring case (RFC 2045 5.1).
public struct DocumentMediaType: Hashable, Sendable, CustomStringConvertible {
    /// Type and subtype in lower case.
    public let name: String
    /// Wraps a media type, converted to lower case.
    public init(_ name: String) { self.name = name.lowercased() }
    public var description: String { name }

    /// RFC 3863
    public static let pidf = DocumentMediaType("application/pidf+xml")
    /// Name before RFC 3863, requested by old watchers.
    public static let cpimPIDF = DocumentMediaType("application/cpim-pidf+xml")
    /// RFC 5262
    public static let pidfDiff = DocumentMediaType("application/pidf-diff+xml")
    /// Format of an expired draft, requested by old watchers.
    public static let xpidf = DocumentMediaType("application/xpidf+xml")
    /// RFC 4661
    public static let simpleFilter = DocumentMediaType("application/simple-filter+xml")
    /// RFC 4662
    public static let rlmi = DocumentMediaType("application/rlmi+xml")
    /// RFC 4826
    public static let resourceLists = DocumentMediaType("application/resource-lists+xml")
}
