import XMLCore

/// Document that is read from and written as XML.
public protocol PresenceDocument: Hashable, Sendable {
    /// Reads the document element.
    init(_ root: XMLElement) throws(DocumentError)
    /// Encodes the whole document as UTF-8, with XML declaration.
    func encode() -> [UInt8]
    /// Limits of the parser.
    static var limits: XMLLimits { get }
}

extension PresenceDocument {
    /// Standard limits of ``XMLCore/XMLLimits``.
    public static var limits: XMLLimits { .standard }

    /// Parses and reads a document; for many documents keep a parser and use ``decode(_:using:)``.
    ///
    /// - Throws: ``DocumentError`` with the position, the element, the value and the rule.
    public static func decode(_ bytes: [UInt8]) throws(DocumentError) -> Self {
        try decode(bytes, using: XMLParser(limits: limits))
    }

    /// Same as ``decode(_:)``, with a parser that the caller keeps.
    public static func decode(_ bytes: [UInt8], using parser: XMLParser) throws(DocumentError) -> Self {
        let tree: XMLTree
        do throws(XMLError) { tree = try parser.parse(bytes) } catch { throw DocumentError(error) }
        return try Self(tree.root)
    }
}
