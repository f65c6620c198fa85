import CLibXML2

/// Reused parser context of libxml2, configured to expand, load and print nothing.
///
/// Its dictionary of strings only grows; ``isFlooded`` tells when the context must be replaced.
final class XMLContext {
    private let context: xmlParserCtxtPtr
    private let builder: UnsafeMutablePointer<XMLTreeBuilder>

    private static let maximumNames: Int32 = 4_096
    private static let maximumNameBytes = 1 << 20
    static let options = Int32(
        XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue | XML_PARSE_COMPACT.rawValue
            | XML_PARSE_IGNORE_ENC.rawValue)

    /// Initialises libxml2 once per process, before the first context.
    static let isInitialized: Bool = {
        xmlInitParser()
        xmlCatalogSetDefaults(XML_CATA_ALLOW_NONE)
        return true
    }()

    /// Creates a context; nil when memory is exhausted.
    init?(_ builder: UnsafeMutablePointer<XMLTreeBuilder>) {
        guard Self.isInitialized, let context = xmlNewParserCtxt() else { return nil }
        self.context = context
        self.builder = builder
        context.pointee._private = UnsafeMutableRawPointer(builder)
        context.pointee.sax.pointee = Self.handler()
    }

    deinit {
        xmlFreeParserCtxt(context)
    }

    /// Whether the dictionary holds more than 4,096 names or 1 MiB, so that a new context is due.
    var isFlooded: Bool {
        xmlDictSize(context.pointee.dict) > Self.maximumNames || xmlDictGetUsage(context.pointee.dict) > Self.maximumNameBytes
    }

    /// Parses the document of the builder directly from the tree's buffer.
    func parse() {
        xmlCtxtReset(context)
        _ = xmlCtxtUseOptions(context, Self.options)
        guard let input = xmlNewInputStream(context) else {
            return builder.pointee.refuse(.limit, "there is no memory left", at: 0, context)
        }
        let base = UnsafePointer(builder.pointee.base)
        input.pointee.base = base
        input.pointee.cur = base
        input.pointee.end = base + builder.pointee.end
        guard inputPush(context, input) >= 0 else {
            xmlFreeInputStream(input)
            return builder.pointee.refuse(.limit, "there is no memory left", at: 0, context)
        }
        _ = xmlParseDocument(context)
        if let document = context.pointee.myDoc {
            xmlFreeDoc(document)
            context.pointee.myDoc = nil
        }
        if builder.pointee.failure == nil, context.pointee.wellFormed == 0 || builder.pointee.depth > 0 {
            builder.pointee.refuse(.notWellFormed, "XML 1.0 2.1: the document is not well-formed", at: builder.pointee.end, context)
        }
        // The buffer belongs to the tree; keep no pointer to it.
        if let input = inputPop(context) { xmlFreeInputStream(input) }
    }

    // MARK: events

    private static func handler() -> xmlSAXHandler {
        var handler = xmlSAXHandler()
        handler.initialized = UInt32(XML_SAX2_MAGIC)
        handler.internalSubset = { raw, _, _, _ in
            guard let context = XMLContext.context(raw), let builder = XMLContext.builder(context) else { return }
            builder.pointee.documentType(context)
        }
        handler.startElementNs = { raw, local, prefix, uri, declarationCount, declarations, attributeCount, _, attributes in
            guard let context = XMLContext.context(raw), let builder = XMLContext.builder(context), let local else { return }
            builder.pointee.startElement(
                local, prefix: prefix, uri: uri,
                XMLTreeBuilder.Lists(
                    declarationCount: Int(declarationCount), declarations: declarations, attributeCount: Int(attributeCount),
                    attributes: attributes), context)
        }
        handler.endElementNs = { raw, _, _, _ in
            guard let context = XMLContext.context(raw), let builder = XMLContext.builder(context) else { return }
            builder.pointee.endElement(context)
        }
        // Set the same function twice, so that libxml2 does not look for white space itself.
        let characters: charactersSAXFunc = { raw, piece, count in
            guard let context = XMLContext.context(raw), let builder = XMLContext.builder(context), let piece else { return }
            builder.pointee.characters(piece, Int(count), isCDATA: false, context)
        }
        handler.characters = characters
        handler.ignorableWhitespace = characters
        handler.cdataBlock = { raw, piece, count in
            guard let context = XMLContext.context(raw), let builder = XMLContext.builder(context), let piece else { return }
            builder.pointee.characters(piece, Int(count), isCDATA: true, context)
        }
        handler.serror = { raw, error in
            guard let context = XMLContext.context(raw), let builder = XMLContext.builder(context), let error else { return }
            builder.pointee.refuse(UnsafePointer(error), context)
        }
        return handler
    }

    private static func context(_ raw: UnsafeMutableRawPointer?) -> xmlParserCtxtPtr? { raw?.assumingMemoryBound(to: xmlParserCtxt.self) }

    private static func builder(_ context: xmlParserCtxtPtr) -> UnsafeMutablePointer<XMLTreeBuilder>? {
        context.pointee._private?.assumingMemoryBound(to: XMLTreeBuilder.self)
    }
}
