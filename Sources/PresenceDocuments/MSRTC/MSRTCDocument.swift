import XMLCore

/// A document of MS-PRES with one root element.
public protocol MSRTCDocument: Sendable {
    /// The root element that readers expect.
    static var rootName: XMLName { get }

    /// Reads the document from its root element.
    init(reading element: XMLElement) throws(DocumentError)

    /// Writes the root element with its namespace declared.
    func write(to writer: inout XMLWriter)
}

extension MSRTCDocument {
    /// Parses and reads a document.
    ///
    /// For a stream of documents keep an ``XMLParser`` and use ``init(reading:)``.
    public init(parsing bytes: [UInt8], limits: XMLLimits = .standard) throws(DocumentError) {
        let tree: XMLTree
        do { tree = try XMLTree.parse(bytes, limits: limits) } catch { throw DocumentError(error) }
        try self.init(reading: tree.root)
    }

    /// Reads a kept element.
    public init(parsing fragment: XMLFragment) throws(DocumentError) {
        try self.init(parsing: fragment.bytes)
    }

    /// The document as bytes.
    /// - Parameter declaration: Whether to begin with an XML declaration, which MS systems do not.
    public func encoded(declaration: Bool = false) -> [UInt8] {
        var writer = XMLWriter(declaration: declaration)
        write(to: &writer)
        return writer.finish()
    }

    /// The document as an element to be kept.
    public var fragment: XMLFragment? { try? XMLFragment(parsing: encoded()) }
}

extension XMLElement {
    /// Refuses an element of another name.
    func expect(_ name: XMLName, rule: StaticString) throws(DocumentError) {
        guard !self.is(name) else { return }
        throw DocumentError.wrongRoot(self, expected: name, rule: "\(rule)")
    }
}
