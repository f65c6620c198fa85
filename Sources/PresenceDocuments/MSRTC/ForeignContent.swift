import XMLCore

/// Attributes and elements of other namespaces, which the request schemas allow in most places (MS-PRES 6.8, 6.10, 6.11).
public struct ForeignContent: Hashable, Sendable {
    /// Foreign attributes in document order.
    public var attributes: [XMLAttribute]
    /// Foreign elements in document order.
    public var elements: [XMLFragment]

    public init(attributes: [XMLAttribute] = [], elements: [XMLFragment] = []) {
        self.attributes = attributes
        self.elements = elements
    }
}
