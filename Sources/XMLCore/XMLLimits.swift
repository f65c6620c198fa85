/// What a document may at most be before it is refused; every bound is checked while reading, not afterwards.
public struct XMLLimits: Hashable, Sendable {
    /// Bytes of the document as it came.
    public var bytes: Int
    /// Nesting of elements, at most 250; the root is 1.
    public var depth: Int
    /// Elements and pieces of text together.
    public var nodes: Int
    /// Attributes of one element, namespace declarations included.
    public var attributes: Int
    /// What a DOCTYPE line means.
    public var doctype: Doctype
    /// Whether white space between tags is kept as text; a document that is patched needs it (RFC 5261 4.5).
    public var keepsSpace: Bool

    public enum Doctype: Hashable, Sendable {
        /// Any DOCTYPE is refused.
        case refuse
        /// A DOCTYPE without internal subset is passed over unresolved, as old xpidf senders need.
        case skip
    }

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

    public static let standard = XMLLimits()
    /// As ``standard``, but a DOCTYPE line is passed over.
    public static let skippingDoctype = XMLLimits(doctype: .skip)
    /// As ``standard``, with white space between tags.
    public static let keepingSpace = XMLLimits(keepsSpace: true)
}
