import CLibXML2

/// Builder of an ``XMLTree`` from the SAX2 events of libxml2; one per ``XMLParser``, reused for every document.
///
/// libxml2 reads the tree's own buffer, so names and most texts and values are ranges of the source. Decoded text is copied behind
/// it, each source byte at most once, so that twice the source is enough.
struct XMLTreeBuilder {
    struct Frame {
        var node: Int32
        var lastChild: Int32
        var activeCount: Int32
    }

    /// Namespace declaration in scope; prefixes are compared by their address in the context's dictionary.
    struct ActiveBinding {
        var prefix: UnsafePointer<UInt8>?
        var binding: Int32
    }

    /// Character data since the last tag, as a range of the buffer.
    struct Text {
        var start = 0
        var end = 0
        /// Whether the range holds decoded text behind the source.
        var isDecoded = false
        /// Whether part of it was a reference or a CDATA section, so that it is not white space between tags.
        var isMarked = false
    }

    static let maximumActiveBindings = 256
    static let maximumNameLength = 1_024

    let limits: XMLLimits
    let frames: UnsafeMutablePointer<Frame>
    let active: UnsafeMutablePointer<ActiveBinding>
    let cache: XMLNameCache
    var names = XMLVocabularyTable([])
    var namespaces = XMLVocabularyTable([])

    // Document being read.
    var tree: UnsafeMutablePointer<XMLTree.Storage>
    var base: UnsafeMutablePointer<UInt8>
    var end = 0
    /// Offset of the next decoded byte.
    var arena = 0
    var depth = 0
    var activeCount = 0
    var text = Text()
    /// First reason for rejecting the document.
    var failure: XMLError?

    init(limits: XMLLimits, tree: XMLTree) {
        self.limits = limits
        frames = .allocate(capacity: limits.depth + 1)
        active = .allocate(capacity: Self.maximumActiveBindings)
        cache = XMLNameCache()
        self.tree = tree.storage
        base = tree.buffer
    }

    func deallocate() {
        frames.deallocate()
        active.deallocate()
        cache.deallocate()
    }

    /// Starts a tree with a buffer that already holds the document.
    mutating func begin(_ tree: XMLTree) {
        self.tree = tree.storage
        base = tree.buffer
        end = tree.sourceCount
        arena = end + XMLTree.padding + XMLTree.xmlPrefix.utf8CodeUnitCount
        depth = 0
        activeCount = 0
        text = Text()
        failure = nil
    }

    // MARK: nodes

    mutating func appendNode(start: Int, _ context: xmlParserCtxtPtr) -> Int32? {
        guard tree.pointee.nodeCount < limits.nodes else {
            refuse(.limit, "the document has more than the \(limits.nodes) nodes allowed", at: start, context)
            return nil
        }
        let count = tree.pointee.nodeCount
        if count == tree.pointee.nodeCapacity { XMLTree.grow(&tree.pointee.nodes, &tree.pointee.nodeCapacity, keeping: count) }
        let index = Int32(count)
        let nodes = tree.pointee.nodes
        nodes[count] = XMLTree.Node(
            name: XMLTree.textNode, parent: depth > 0 ? frames[depth].node : -1, next: -1, firstChild: -1, start: UInt32(start), end: 0,
            attributes: 0, bindings: 0, binding: -1, attributeCount: 0, bindingCount: 0, prefixLength: 0, localLength: 0)
        tree.pointee.nodeCount = count + 1
        if depth > 0 {
            let last = frames[depth].lastChild
            if last >= 0 { nodes[Int(last)].next = index } else { nodes[Int(frames[depth].node)].firstChild = index }
            frames[depth].lastChild = index
        }
        return index
    }

    // MARK: text

    /// Handles character data or a CDATA section; libxml2 passes a text in several pieces.
    mutating func characters(_ piece: UnsafePointer<UInt8>, _ count: Int, isCDATA: Bool, _ context: xmlParserCtxtPtr) {
        guard count > 0, failure == nil, depth > 0 else { return }
        let place = position(context)
        var low = UnsafePointer(base).distance(to: piece)
        if low < 0 || low >= end {
            // Decoded or copied by libxml2; text with non-ASCII characters often equals the source.
            low = place - count - (isCDATA ? 3 : 0)
            if low < 0 || !XMLBytes.equal(base + low, piece, count) { low = -1 }
            if isCDATA || (place > 0 && base[place - 1] == UInt8(ascii: ";")) { text.isMarked = true }
        }
        let isEmpty = text.start == text.end
        if low >= 0, isEmpty {
            text.start = low
            text.end = low + count
            text.isDecoded = false
            return
        }
        if low >= 0, !text.isDecoded, text.end == low {
            text.end = low + count
            return
        }
        if isEmpty || !text.isDecoded {
            let start = arena
            guard put(base + text.start, text.end - text.start, context) else { return }
            text.start = start
            text.isDecoded = true
        }
        guard put(piece, count, context) else { return }
        text.end = arena
    }

    /// Creates a node for the text before a tag; drops white space between tags, keeps it as the only content of an element.
    mutating func flushText(beforeEndTag: Bool, _ context: xmlParserCtxtPtr) {
        let found = text
        guard found.end > found.start, depth > 0 else { return text = Text() }
        text = Text()
        if !limits.keepsSpace, !found.isMarked, !beforeEndTag || frames[depth].lastChild >= 0, isSpace(found.start, found.end) { return }
        guard let index = appendNode(start: found.start, context) else { return }
        tree.pointee.nodes[Int(index)].end = UInt32(found.end)
    }

    func isSpace(_ low: Int, _ high: Int) -> Bool {
        for index in low..<high where !XMLBytes.isSpace(base[index]) { return false }
        return true
    }

    /// Copies decoded bytes behind the source; rejects the document when the buffer is full.
    mutating func put(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ context: xmlParserCtxtPtr) -> Bool {
        guard arena + count <= tree.pointee.bufferCapacity else {
            refuse(.limit, "the decoded text is longer than the document", at: position(context), context)
            return false
        }
        (base + arena).update(from: bytes, count: count)
        arena += count
        return true
    }

    // MARK: positions and failures

    /// Offset up to which libxml2 has read.
    @inline(__always)
    func position(_ context: xmlParserCtxtPtr) -> Int {
        guard let cursor = context.pointee.input?.pointee.cur else { return end }
        return min(max(UnsafePointer(base).distance(to: cursor), 0), end)
    }

    /// Records the reason if it is the first, and stops the parse.
    @inline(never)
    mutating func refuse(_ code: XMLError.Code, _ message: String, at offset: Int, _ context: xmlParserCtxtPtr) {
        if failure == nil {
            let source = UnsafeBufferPointer(start: base, count: end)
            failure = XMLError(code: code, message: message, position: XMLTree.position(in: source, offset: min(offset, end)))
        }
        xmlStopParser(context)
    }

    func string(_ low: Int, _ high: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: base + low, count: high - low), as: UTF8.self)
    }
}
