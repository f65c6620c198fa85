import Synchronization

/// A reusable parser for XML 1.0 with namespaces; keep one per event loop, it is not Sendable.
///
/// It reads documents without a DTD only, so nothing is ever expanded or fetched. Memory is at most a fixed multiple of the limits,
/// time is linear in the document. libxml2 is the referee in the tests; it is not on this path (see ``LibXML2``).
public final class XMLParser {
    public let limits: XMLLimits
    private var tree = XMLTree()
    private var names = XMLVocabularyTable([])
    private var namespaces = XMLVocabularyTable([])
    private var version = -1
    private let frames: UnsafeMutablePointer<XMLScanner.Frame>
    private let active: UnsafeMutablePointer<Int32>

    public init(limits: XMLLimits = .standard) {
        self.limits = limits
        frames = .allocate(capacity: limits.depth + 1)
        active = .allocate(capacity: XMLScanner.maximumActiveBindings)
    }

    deinit {
        frames.deallocate()
        active.deallocate()
    }

    /// Parses one document.
    ///
    /// The storage of the tree returned before is used again when nobody holds it any more.
    /// - Throws: ``XMLError``, with the position of the first thing that is wrong.
    public func parse(_ bytes: [UInt8]) throws(XMLError) -> XMLTree {
        let result: Result<XMLTree, XMLError> = bytes.withUnsafeBufferPointer { bytes in
            do throws(XMLError) { return .success(try parse(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// As ``parse(_:)-([UInt8])``; the bytes are copied once.
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
        if XMLVocabulary.shared.version.load(ordering: .acquiring) != version {
            let snapshot = XMLVocabulary.shared.snapshot()
            names = XMLVocabularyTable(snapshot.names)
            namespaces = XMLVocabularyTable(snapshot.namespaces)
            version = snapshot.version
        }
        if !isKnownUniquelyReferenced(&tree) { tree = XMLTree() }
        tree.prepare(bytes)
        var scanner = XMLScanner(
            tree: tree, limits: limits, names: names, namespaces: namespaces, frames: frames, active: active, wasUTF16: wasUTF16)
        do throws(XMLError) {
            try scanner.scanDocument()
        } catch {
            scanner.handBack()
            throw error
        }
        scanner.handBack()
        return tree
    }
}

extension XMLTree {
    static let xmlPrefix: StaticString = "xmlhttp://www.w3.org/XML/1998/namespace"

    /// Makes room for a document and what is decoded from it (never longer than the document), and copies it in.
    fileprivate func prepare(_ bytes: UnsafeBufferPointer<UInt8>) {
        let needed = bytes.count * 2 + 64
        if bufferCapacity < needed || (bufferCapacity > 1 << 20 && needed < 1 << 18) {
            buffer.deallocate()
            bufferCapacity = max(needed, 8_192)
            buffer = .allocate(capacity: bufferCapacity)
        }
        if let source = bytes.baseAddress { buffer.update(from: source, count: bytes.count) }
        // Zeros behind the end stop every scanning loop; the xml binding is number 0 of every tree.
        (buffer + bytes.count).update(repeating: 0, count: 8)
        let xml = bytes.count + 8
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
