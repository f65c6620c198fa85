import Synchronization

/// Reusable parser of XML 1.0 with namespaces; keep one per event loop, it is not Sendable.
///
/// libxml2 parses and sends SAX2 events, from which ``XMLTreeBuilder`` builds the tree. DTDs are not read, so nothing is expanded
/// or fetched. Memory is bounded by a fixed multiple of the limits; time is linear in the document.
public final class XMLParser {
    /// Limits of every document that this parser reads.
    public let limits: XMLLimits
    private var tree = XMLTree()
    private var version = -1
    private let builder: UnsafeMutablePointer<XMLTreeBuilder>
    private var context: XMLContext?

    /// Creates a parser; its libxml2 context is created with the first document.
    public init(limits: XMLLimits = .standard) {
        self.limits = limits
        builder = .allocate(capacity: 1)
        builder.initialize(to: XMLTreeBuilder(limits: limits, tree: tree))
    }

    deinit {
        context = nil
        builder.pointee.deallocate()
        builder.deinitialize(count: 1)
        builder.deallocate()
    }

    /// Parses one document.
    ///
    /// The storage of the tree returned before is reused when nothing references it.
    /// - Throws: ``XMLError`` with the position of the first error.
    public func parse(_ bytes: [UInt8]) throws(XMLError) -> XMLTree {
        let result: Result<XMLTree, XMLError> = bytes.withUnsafeBufferPointer { bytes in
            do throws(XMLError) { return .success(try parse(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Same as ``parse(_:)-([UInt8])``; copies the bytes once.
    public func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(XMLError) -> XMLTree {
        guard bytes.count <= limits.bytes else {
            throw XMLError(
                code: .limit, message: "the document has \(bytes.count) bytes, more than the \(limits.bytes) allowed",
                position: XMLPosition(line: 1, column: 1, offset: 0))
        }
        if let converted = try XMLEncoding.utf8(fromMarkedUTF16: bytes) {
            return try converted.withUnsafeBufferPointer { converted in
                Result { () throws(XMLError) in try read(converted, wasUTF16: true) }
            }.get()
        }
        return try read(bytes, wasUTF16: false)
    }

    private func read(_ bytes: UnsafeBufferPointer<UInt8>, wasUTF16: Bool) throws(XMLError) -> XMLTree {
        try XMLEncoding.validate(bytes)
        try XMLEncoding.checkDeclaration(bytes, wasUTF16: wasUTF16)
        try refuseFloodOfAttributes(bytes)
        if XMLVocabulary.shared.version.load(ordering: .acquiring) != version {
            let snapshot = XMLVocabulary.shared.snapshot()
            builder.pointee.names = XMLVocabularyTable(snapshot.names)
            builder.pointee.namespaces = XMLVocabularyTable(snapshot.namespaces)
            builder.pointee.cache.clear()
            version = snapshot.version
        }
        if context == nil || context?.isFlooded == true {
            context = XMLContext(builder)
            builder.pointee.cache.clear()
        }
        guard let context else {
            throw XMLError(code: .limit, message: "there is no memory left", position: XMLPosition(line: 1, column: 1, offset: 0))
        }
        if !isKnownUniquelyReferenced(&tree) { tree = XMLTree() }
        tree.prepare(bytes)
        builder.pointee.begin(tree)
        context.parse()
        if let failure = builder.pointee.failure { throw failure }
        return tree
    }

    /// Rejects a tag with too many attributes before libxml2 compares each of them with every other.
    ///
    /// A tag extends from a `<` to the next one, inside comments and CDATA sections too. An attribute takes at least five bytes.
    private func refuseFloodOfAttributes(_ bytes: UnsafeBufferPointer<UInt8>) throws(XMLError) {
        let least = (limits.attributes + 1) * 5
        guard let base = bytes.baseAddress, bytes.count > least else { return }
        let end = bytes.count
        var tag = 0
        while tag < end, base[tag] != UInt8(ascii: "<") { tag += 1 }
        while end - tag > least {
            // Skip to the last tag that begins within reach; the tags before it are shorter.
            var last = tag + least
            while last > tag, base[last] != UInt8(ascii: "<") { last -= 1 }
            guard last == tag else {
                tag = last
                continue
            }
            var next = tag + least + 1
            while next < end, base[next] != UInt8(ascii: "<") { next += 1 }
            if base[tag + 1] != UInt8(ascii: "!"), base[tag + 1] != UInt8(ascii: "?") {
                guard Self.attributes(base, tag, next) <= limits.attributes else {
                    throw XMLError(
                        code: .limit, message: "an element has more than the \(limits.attributes) attributes allowed",
                        position: XMLTree.position(in: bytes, offset: tag))
                }
            }
            tag = next
        }
    }

    /// Number of quoted values between a `<` and the `>` of its tag.
    private static func attributes(_ base: UnsafePointer<UInt8>, _ low: Int, _ high: Int) -> Int {
        var count = 0
        var quote: UInt8 = 0
        var cursor = low
        while cursor < high {
            let byte = base[cursor]
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                count += 1
            } else if byte == UInt8(ascii: ">") {
                break
            }
            cursor += 1
        }
        return count
    }
}

extension XMLTree {
    /// Zero bytes after the source: libxml2 needs one, loops over the source rely on more.
    static let padding = 8
    static let xmlPrefix: StaticString = "xmlhttp://www.w3.org/XML/1998/namespace"

    /// Allocates space for a document and its decoded text (which is not longer), and copies the document.
    fileprivate func prepare(_ bytes: UnsafeBufferPointer<UInt8>) {
        let needed = bytes.count * 2 + 128
        if bufferCapacity < needed || (bufferCapacity > 1 << 20 && needed < 1 << 18) {
            buffer.deallocate()
            bufferCapacity = max(needed, 8_192)
            buffer = .allocate(capacity: bufferCapacity)
        }
        if let source = bytes.baseAddress { buffer.update(from: source, count: bytes.count) }
        (buffer + bytes.count).update(repeating: 0, count: Self.padding)
        // The xml binding is number 0 of every tree.
        let xml = bytes.count + Self.padding
        (buffer + xml).update(from: Self.xmlPrefix.utf8Start, count: Self.xmlPrefix.utf8CodeUnitCount)
        sourceCount = bytes.count
        nodeCount = 0
        attributeCount = 0
        bindingCount = 1
        bindings[0] = Binding(
            namespace: XMLNamespace.xml.id, prefixStart: UInt32(xml), prefixLength: 3, uriStart: UInt32(xml + 3),
            uriEnd: UInt32(xml + Self.xmlPrefix.utf8CodeUnitCount))
    }
}
