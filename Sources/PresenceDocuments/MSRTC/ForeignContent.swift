import XMLCore

/// Attributes and elements of other namespaces, which the request schemas allow nearly everywhere (MS-PRES 6.8, 6.10, 6.11).
public struct ForeignContent: Hashable, Sendable {
    public var attributes: [XMLAttribute]
    public var elements: [XMLFragment]

    public init(attributes: [XMLAttribute] = [], elements: [XMLFragment] = []) {
        self.attributes = attributes
        self.elements = elements
    }
}
