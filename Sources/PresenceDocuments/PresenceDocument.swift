import XMLCore

/// A document that is read from and written as XML.
public protocol PresenceDocument: Hashable, Sendable {
    /// Reads the document element.
    init(_ root: XMLElement) throws(DocumentError)
    /// The whole document as UTF-8, XML declaration included.
    func encode() -> [UInt8]
    /// Bounds of the parse.
    static var limits: XMLLimits { get }
}

extension PresenceDocument {
    public static var limits: XMLLimits { .standard }

    /// Reads a document; for a stream of documents keep a parser and use ``decode(_:using:)``.
    ///
    /// - Throws: ``DocumentError`` with the position, the element, the value and the rule.
    public static func decode(_ bytes: [UInt8]) throws(DocumentError) -> Self {
        try decode(bytes, using: XMLParser(limits: limits))
    }

    /// As ``decode(_:)``, with a parser that is kept.
    public static func decode(_ bytes: [UInt8], using parser: XMLParser) throws(DocumentError) -> Self {
        let tree: XMLTree
        do throws(XMLError) { tree = try parser.parse(bytes) } catch { throw DocumentError(error) }
        return try Self(tree.root)
    }
}
