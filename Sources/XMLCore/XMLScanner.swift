/// The scanner behind ``XMLParser``: one pass over the bytes of a document that is known to be UTF-8, straight into a tree.
///
/// Text and attribute values that need no decoding stay where they are in the source; the rest is decoded into the same buffer
/// behind it. Eight zero bytes behind the source end every loop, so loops test no bounds: a zero is either the end or forbidden.
struct XMLScanner {
    struct Frame {
        var node: Int32
        var lastChild: Int32
        var activeCount: Int32
        var defaultBinding: Int32
    }

    struct Name {
        var start: Int
        var prefixLength: Int
        var localLength: Int
        var hash: UInt32
        var localStart: Int { prefixLength > 0 ? start + prefixLength + 1 : start }
        var end: Int { localStart + localLength }
    }

    static let maximumActiveBindings = 256
    static let maximumNameLength = 1_024
    static let xmlnsPrefix: StaticString = "xmlns"
    static let xmlPrefix: StaticString = "xml"

    let tree: XMLTree
    let limits: XMLLimits
    let names: XMLVocabularyTable
    let namespaces: XMLVocabularyTable
    let classes: UnsafePointer<UInt8>
    let frames: UnsafeMutablePointer<Frame>
    let active: UnsafeMutablePointer<Int32>
    let wasUTF16: Bool
    let base: UnsafeMutablePointer<UInt8>
    let end: Int
    var at = 0
    var arena: Int
    var nodes: UnsafeMutablePointer<XMLTree.Node>
    var nodeCapacity: Int
    var nodeCount = 0
    var depth = 0
    var activeCount = 1
    var defaultBinding: Int32 = -1
    /// Where the bindings of the element whose tag is being read begin.
    var ownBindingsStart = 1

    init(
        tree: XMLTree, limits: XMLLimits, names: XMLVocabularyTable, namespaces: XMLVocabularyTable, frames: UnsafeMutablePointer<Frame>,
        active: UnsafeMutablePointer<Int32>, wasUTF16: Bool
    ) {
        self.tree = tree
        self.limits = limits
        self.names = names
        self.namespaces = namespaces
        self.frames = frames
        self.active = active
        self.wasUTF16 = wasUTF16
        classes = XMLCharacterClass.table
        base = tree.buffer
        end = tree.sourceCount
        arena = end + 8 + XMLTree.xmlPrefix.utf8CodeUnitCount
        nodes = tree.nodes
        nodeCapacity = tree.nodeCapacity
        active[0] = 0
    }

    /// Gives the node array back to the tree; call once, also after an error.
    func handBack() {
        tree.nodes = nodes
        tree.nodeCapacity = nodeCapacity
        tree.nodeCount = nodeCount
    }

    // MARK: document

    mutating func scanDocument() throws(XMLError) {
        if base[0] == 0xEF, base[1] == 0xBB, base[2] == 0xBF { at = 3 }
        if starts(with: "<?xml"), XMLBytes.isSpace(base[at + 5]) { try scanDeclaration() }
        try scanMisc(beforeRoot: true)
        guard base[at] == UInt8(ascii: "<") else {
            if at == end { throw failure(.truncated, "XML 1.0 2.1: there is no document element") }
            throw failure(.notWellFormed, "XML 1.0 2.1: a document starts with an element, not with text")
        }
        try scanStartTag()
        while depth > 0 { try scanContent() }
        try scanMisc(beforeRoot: false)
        guard at == end else { throw failure(.notWellFormed, "XML 1.0 2.1: something follows the end of the document element") }
    }

    mutating func scanMisc(beforeRoot: Bool) throws(XMLError) {
        var doctypeSeen = false
        while true {
            skipSpace()
            if starts(with: "<!--") {
                try scanComment()
            } else if starts(with: "<?") {
                try scanInstruction()
            } else if starts(with: "<!DOCTYPE") {
                guard limits.doctype == .skip, beforeRoot, !doctypeSeen else {
                    throw failure(.documentType, "a DOCTYPE is not allowed in this document")
                }
                doctypeSeen = true
                try skipDoctype()
            } else {
                return
            }
        }
    }

    /// XML declaration (XML 1.0 2.8): version 1.x, an encoding that agrees with the bytes, standalone.
    mutating func scanDeclaration() throws(XMLError) {
        at += 5
        var expected = 0
        while true {
            let spaced = skipSpace()
            if starts(with: "?>") {
                guard expected > 0 else { throw failure(.notWellFormed, "XML 1.0 2.8: the XML declaration has no version") }
                at += 2
                return
            }
            if at >= end { throw truncated("the XML declaration") }
            guard spaced else { throw failure(.notWellFormed, "XML 1.0 2.8: malformed XML declaration") }
            let start = at
            let name = try scanName("XML declaration")
            try scanEquals()
            let (low, high) = try scanQuoted()
            let value = UnsafeBufferPointer(start: base + low, count: high - low)
            if expected < 1, equals(name, "version") {
                guard value.count >= 3, value[0] == UInt8(ascii: "1"), value[1] == UInt8(ascii: "."),
                    value[2...].allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
                else { throw failure(.notWellFormed, "XML 1.0 2.8: only XML version 1.0 is read", at: low) }
                expected = 1
            } else if expected == 1, equals(name, "encoding") {
                try checkEncoding(value, at: low)
                expected = 2
            } else if expected >= 1, expected < 3, equals(name, "standalone") {
                let text = String(decoding: value, as: UTF8.self)
                guard text == "yes" || text == "no" else { throw failure(.notWellFormed, "XML 1.0 2.9: standalone is yes or no", at: low) }
                expected = 3
            } else {
                throw failure(.notWellFormed, "XML 1.0 2.8: malformed XML declaration", at: start)
            }
        }
    }

    func checkEncoding(_ value: UnsafeBufferPointer<UInt8>, at offset: Int) throws(XMLError) {
        let name = String(decoding: value, as: UTF8.self)
        let known = wasUTF16 ? ["UTF-16", "UTF-16LE", "UTF-16BE"] : ["UTF-8", "UTF8", "US-ASCII", "ASCII"]
        guard known.contains(name.uppercased()) else {
            throw failure(.encoding, "XML 1.0 4.3.3: encoding '\(name.prefix(40))' is not read here; use UTF-8", at: offset)
        }
    }

    mutating func skipDoctype() throws(XMLError) {
        let start = at
        at += 9
        while true {
            switch base[at] {
            case UInt8(ascii: ">"):
                at += 1
                return
            case UInt8(ascii: "["), UInt8(ascii: "<"):
                throw failure(.documentType, "a DOCTYPE with an internal subset is not allowed")
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                _ = try scanQuoted()
            case 0:
                if at >= end { throw truncated("the DOCTYPE", at: start) }
                throw illegal()
            default:
                at += 1
            }
        }
    }

    mutating func scanComment() throws(XMLError) {
        let start = at
        at += 4
        while true {
            let byte = base[at]
            if byte == UInt8(ascii: "-"), base[at + 1] == byte {
                guard base[at + 2] == UInt8(ascii: ">") else {
                    if at + 2 >= end { throw truncated("a comment", at: start) }
                    throw failure(.notWellFormed, "XML 1.0 2.5: '--' inside a comment")
                }
                at += 3
                return
            }
            try skip(byte, in: "a comment", start)
        }
    }

    mutating func scanInstruction() throws(XMLError) {
        let start = at
        at += 2
        let name = try scanName("processing instruction")
        if name.end - name.start == 3, base[name.start] | 0x20 == UInt8(ascii: "x"), base[name.start + 1] | 0x20 == UInt8(ascii: "m"),
            base[name.start + 2] | 0x20 == UInt8(ascii: "l")
        {
            throw failure(.notWellFormed, "XML 1.0 2.6: an XML declaration may only be the very first thing", at: start)
        }
        guard name.prefixLength == 0 else {
            throw failure(.notWellFormed, "Namespaces 1.0 3: a colon in a processing instruction", at: start)
        }
        guard XMLBytes.isSpace(base[at]) || starts(with: "?>") else {
            if at >= end { throw truncated("a processing instruction", at: start) }
            throw failure(.notWellFormed, "XML 1.0 2.6: malformed processing instruction")
        }
        while true {
            let byte = base[at]
            if byte == UInt8(ascii: "?"), base[at + 1] == UInt8(ascii: ">") {
                at += 2
                return
            }
            try skip(byte, in: "a processing instruction", start)
        }
    }

    /// Passes one byte of a comment or the like.
    @inline(__always)
    mutating func skip(_ byte: UInt8, in what: String, _ start: Int) throws(XMLError) {
        if byte < 0x20 && !XMLBytes.isSpace(byte) {
            if at >= end { throw truncated(what, at: start) }
            throw illegal()
        }
        at += 1
    }

    // MARK: nodes

    mutating func appendNode(start: Int, parent: Int32) throws(XMLError) -> Int32 {
        guard nodeCount < limits.nodes else {
            throw failure(.limit, "the document has more than the \(limits.nodes) nodes allowed", at: start)
        }
        if nodeCount == nodeCapacity { XMLTree.grow(&nodes, &nodeCapacity, keeping: nodeCount) }
        let index = Int32(nodeCount)
        ownBindingsStart = tree.bindingCount
        nodes[nodeCount] = XMLTree.Node(
            name: XMLTree.textNode, parent: parent, next: -1, firstChild: -1, start: UInt32(start), end: 0, attributes: 0, bindings: 0,
            binding: -1, attributeCount: 0, bindingCount: 0, prefixLength: 0, localLength: 0)
        nodeCount += 1
        if depth > 0 {
            let last = frames[depth].lastChild
            if last >= 0 { nodes[Int(last)].next = index } else { nodes[Int(parent)].firstChild = index }
            frames[depth].lastChild = index
        }
        return index
    }

    mutating func appendText(_ low: Int, _ high: Int) throws(XMLError) {
        guard high > low else { return }
        let index = try appendNode(start: low, parent: frames[depth].node)
        nodes[Int(index)].end = UInt32(high)
    }

    // MARK: small things

    mutating func scanName(_ what: StaticString) throws(XMLError) -> Name {
        let start = at
        let classes = classes
        let base = base
        guard classes[Int(base[start])] & XMLCharacterClass.nameStart != 0 else {
            if at >= end { throw truncated("a tag") }
            throw failure(.notWellFormed, "XML 1.0 2.3: malformed \(what)")
        }
        var cursor = start
        var hash = XMLNameHash.seed
        var seen: UInt8 = 0
        var prefixLength = 0
        var partStart = start
        while true {
            while case let byte = base[cursor], classes[Int(byte)] & XMLCharacterClass.name != 0 {
                hash = XMLNameHash.step(hash, byte)
                seen |= byte
                cursor += 1
            }
            guard base[cursor] == UInt8(ascii: ":") else { break }
            prefixLength = cursor - start
            cursor += 1
            guard partStart == start, prefixLength > 0, classes[Int(base[cursor])] & XMLCharacterClass.nameStart != 0 else {
                at = cursor
                if at >= end { throw truncated("a name") }
                throw failure(.notWellFormed, "Namespaces 1.0 4: malformed \(what)", at: start)
            }
            partStart = cursor
            hash = XMLNameHash.seed
        }
        at = cursor
        guard cursor - start <= Self.maximumNameLength else {
            throw failure(.limit, "a name is longer than \(Self.maximumNameLength) bytes", at: start)
        }
        if seen >= 0x80, !XMLCharacterClass.isName(base, start, cursor) {
            throw failure(.notWellFormed, "XML 1.0 2.3: malformed \(what)", at: start)
        }
        return Name(start: start, prefixLength: prefixLength, localLength: cursor - partStart, hash: hash)
    }

    mutating func scanEquals() throws(XMLError) {
        skipSpace()
        guard base[at] == UInt8(ascii: "=") else {
            if at >= end { throw truncated("an attribute") }
            throw failure(.notWellFormed, "XML 1.0 3.1: an attribute without a value")
        }
        at += 1
        skipSpace()
    }

    /// A quoted literal without references; returns the range between the quotes.
    mutating func scanQuoted() throws(XMLError) -> (Int, Int) {
        let quote = base[at]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            if at >= end { throw truncated("a quoted value") }
            throw failure(.notWellFormed, "XML 1.0 2.3: a value without quotes")
        }
        at += 1
        let low = at
        while base[at] != quote { try skip(base[at], in: "a quoted value", low - 1) }
        at += 1
        return (low, at - 1)
    }

    @discardableResult
    @inline(__always)
    mutating func skipSpace() -> Bool {
        var cursor = at
        while XMLBytes.isSpace(base[cursor]) { cursor += 1 }
        defer { at = cursor }
        return cursor > at
    }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        base[arena] = byte
        arena += 1
    }

    mutating func copy(_ low: Int, _ high: Int) {
        (base + arena).update(from: base + low, count: high - low)
        arena += high - low
    }

    func starts(with text: StaticString) -> Bool {
        at + text.utf8CodeUnitCount <= end && XMLBytes.equal(base + at, text.utf8Start, text.utf8CodeUnitCount)
    }

    func equals(_ name: Name, _ text: StaticString) -> Bool {
        name.end - name.start == text.utf8CodeUnitCount && XMLBytes.equal(base + name.start, text.utf8Start, text.utf8CodeUnitCount)
    }

    // MARK: failures

    @inline(never)
    func failure(_ code: XMLError.Code, _ message: String, at offset: Int? = nil) -> XMLError {
        XMLError(code: code, message: message, position: tree.position(atOffset: min(offset ?? at, end)))
    }

    @inline(never)
    func truncated(_ what: String, at offset: Int? = nil) -> XMLError {
        failure(.truncated, "XML 1.0 2.1: the document ends inside \(what)", at: offset ?? end)
    }

    @inline(never)
    func illegal() -> XMLError {
        failure(.notWellFormed, "XML 1.0 2.2: a character that XML does not allow (\(base[at]))")
    }
}
