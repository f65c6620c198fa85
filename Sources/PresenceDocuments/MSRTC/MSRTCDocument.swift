import XMLCore

/// Document of MS-PRES with one root element.
public protocol MSRTCDocument: Sendable {
    /// Root element that readers expect.
    static var rootName: XMLName { get }

    /// Reads the document from its root element.
    init(reading element: XMLElement) throws(DocumentError)

    /// Writes the root element with its namespace declared.
    func write(to writer: inout XMLWriter)
}

extension MSRTCDocument {
    /// Parses and reads a document.
    ///
    /// For many documents keep an ``XMLParser`` and use ``init(reading:)``.
    public init(parsing bytes: [UInt8], limits: XMLLimits = .standard) throws(DocumentError) {
        let tree: XMLTree
        do { tree = try XMLTree.parse(bytes, limits: limits) } catch { throw DocumentError(error) }
        try self.init(reading: tree.root)
    }

    /// Parses and reads a kept element.
    public init(parsing fragment: XMLFragment) throws(DocumentError) {
        try self.init(parsing: fragment.bytes)
    }

    /// Encodes the document.
    /// - Parameter declaration: Whether to begin with an XML declaration, which Microsoft systems omit.
    public func encoded(declaration: Bool = false) -> [UInt8] {
        var writer = XMLWriter(declaration: declaration)
        write(to: &writer)
        return writer.finish()
    }

    /// Document as a self-contained element; nil if its encoded form cannot be parsed.
    public var fragment: XMLFragment? { try? XMLFragment(parsing: encoded()) }
}

extension XMLElement {
    /// Refuses an element with another name.
    func expect(_ name: XMLName, rule: StaticString) throws(DocumentError) {
        guard !self.is(name) else { return }
        throw DocumentError.wrongRoot(self, expected: name, rule: "\(rule)")
    }
}
