/// Limits of a document; each is checked during parsing.
public struct XMLLimits: Hashable, Sendable {
    /// Bytes of the document as received.
    public var bytes: Int
    /// Nesting of elements, 1 to 250; the root is 1.
    public var depth: Int
    /// Elements and pieces of text together.
    public var nodes: Int
    /// Attributes of one element, namespace declarations included.
    public var attributes: Int
    /// Handling of a DOCTYPE.
    public var doctype: Doctype
    /// Whether white space between tags is kept as text, as patches require (RFC 5261 4.5).
    public var keepsSpace: Bool

    /// Handling of a DOCTYPE line.
    public enum Doctype: Hashable, Sendable {
        /// Any DOCTYPE is refused.
        case refuse
        /// A DOCTYPE without internal subset is skipped unresolved, as old xpidf senders require.
        case skip
    }

    /// Creates limits; out-of-range values are clamped to 1 GiB, depth 1 to 250, 2^26 nodes and 10,000 attributes.
    public init(
        bytes: Int = 262_144, depth: Int = 64, nodes: Int = 20_000, attributes: Int = 64, doctype: Doctype = .refuse,
        keepsSpace: Bool = false
    ) {
        self.bytes = min(max(bytes, 0), 1 << 30)
        self.depth = min(max(depth, 1), 250)
        self.nodes = min(max(nodes, 1), 1 << 26)
        self.attributes = min(max(attributes, 0), 10_000)
        self.doctype = doctype
        self.keepsSpace = keepsSpace
    }

    /// Default limits: 262,144 bytes, depth 64, 20,000 nodes, 64 attributes, DOCTYPE refused.
    public static let standard = XMLLimits()
    /// Same as ``standard``, but a DOCTYPE line is skipped.
    public static let skippingDoctype = XMLLimits(doctype: .skip)
    /// Same as ``standard``, but white space between tags is kept.
    public static let keepingSpace = XMLLimits(keepsSpace: true)
}
