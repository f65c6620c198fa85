import CLibXML2

/// SAX2 parse with libxml2 that only counts: the baseline of benchmarks for the cost of building a tree.
///
/// Not used by the running program. An instance is one reused parser context; not Sendable.
public final class LibXML2 {
    private let context: xmlParserCtxtPtr
    private let counts: UnsafeMutablePointer<Counts>

    /// Counts of a SAX parse.
    public struct Counts: Hashable, Sendable {
        /// Start tags.
        public var elements = 0
        /// Attributes, without namespace declarations.
        public var attributes = 0
        /// Octets of character data and CDATA sections.
        public var textBytes = 0
    }

    /// Creates a parser context; nil when memory is exhausted.
    public init?() {
        guard XMLContext.isInitialized, let context = xmlNewParserCtxt() else { return nil }
        self.context = context
        counts = .allocate(capacity: 1)
        counts.initialize(to: Counts())
        context.pointee._private = UnsafeMutableRawPointer(counts)
        var handler = xmlSAXHandler()
        handler.initialized = UInt32(XML_SAX2_MAGIC)
        handler.internalSubset = { raw, _, _, _ in xmlStopParser(raw?.assumingMemoryBound(to: xmlParserCtxt.self)) }
        handler.startElementNs = { raw, _, _, _, _, _, count, _, _ in
            LibXML2.counts(raw)?.pointee.elements += 1
            LibXML2.counts(raw)?.pointee.attributes += Int(count)
        }
        handler.endElementNs = { _, _, _, _ in }
        let characters: charactersSAXFunc = { raw, _, count in LibXML2.counts(raw)?.pointee.textBytes += Int(count) }
        handler.characters = characters
        handler.ignorableWhitespace = characters
        handler.cdataBlock = characters
        context.pointee.sax.pointee = handler
    }

    deinit {
        xmlFreeParserCtxt(context)
        counts.deallocate()
    }

    /// Parses a document and counts; nil when libxml2 rejects it or it has a DOCTYPE.
    public func count(_ bytes: [UInt8]) -> Counts? {
        counts.pointee = Counts()
        let document = bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                xmlCtxtReadMemory(context, bytes.baseAddress, Int32(clamping: bytes.count), nil, nil, XMLContext.options)
            }
        }
        if let document { xmlFreeDoc(document) }
        return context.pointee.wellFormed != 0 && context.pointee.disableSAX == 0 ? counts.pointee : nil
    }

    private static func counts(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Counts>? {
        raw?.assumingMemoryBound(to: xmlParserCtxt.self).pointee._private?.assumingMemoryBound(to: Counts.self)
    }
}
