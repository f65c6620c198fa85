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
    private static let xmlnsPrefix: StaticString = "xmlns"
    private static let xmlPrefix: StaticString = "xml"

    private let tree: XMLTree
    private let limits: XMLLimits
    private let names: XMLVocabularyTable
    private let namespaces: XMLVocabularyTable
    private let classes: UnsafePointer<UInt8>
    private let frames: UnsafeMutablePointer<Frame>
    private let active: UnsafeMutablePointer<Int32>
    private let wasUTF16: Bool
    private let base: UnsafeMutablePointer<UInt8>
    private let end: Int
    private var at = 0
    private var arena: Int
    private var nodes: UnsafeMutablePointer<XMLTree.Node>
    private var nodeCapacity: Int
    private var nodeCount = 0
    private var depth = 0
    private var activeCount = 1
    private var defaultBinding: Int32 = -1

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

    private mutating func scanMisc(beforeRoot: Bool) throws(XMLError) {
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
    private mutating func scanDeclaration() throws(XMLError) {
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

    private func checkEncoding(_ value: UnsafeBufferPointer<UInt8>, at offset: Int) throws(XMLError) {
        let name = String(decoding: value, as: UTF8.self)
        let known = wasUTF16 ? ["UTF-16", "UTF-16LE", "UTF-16BE"] : ["UTF-8", "UTF8", "US-ASCII", "ASCII"]
        guard known.contains(name.uppercased()) else {
            throw failure(.encoding, "XML 1.0 4.3.3: encoding '\(name.prefix(40))' is not read here; use UTF-8", at: offset)
        }
    }

    private mutating func skipDoctype() throws(XMLError) {
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

    private mutating func scanComment() throws(XMLError) {
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

    private mutating func scanInstruction() throws(XMLError) {
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
    private mutating func skip(_ byte: UInt8, in what: String, _ start: Int) throws(XMLError) {
        if byte < 0x20 && !XMLBytes.isSpace(byte) {
            if at >= end { throw truncated(what, at: start) }
            throw illegal()
        }
        at += 1
    }

    // MARK: content

    private mutating func scanContent() throws(XMLError) {
        if base[at] != UInt8(ascii: "<") { try scanText() }
        guard at < end else {
            let open = nodes[Int(frames[depth].node)]
            let name = tree.string(open.start + 1, open.start + 1 + UInt32(nameLength(open)))
            throw failure(.truncated, "XML 1.0 3: the document ends inside element '\(name)'")
        }
        switch base[at + 1] {
        case UInt8(ascii: "/"): try scanEndTag()
        case UInt8(ascii: "!"):
            if starts(with: "<!--") {
                try scanComment()
            } else if starts(with: "<![CDATA[") {
                try scanCDATA()
            } else if at + 9 >= end {
                throw truncated("markup")
            } else {
                throw failure(.notWellFormed, "XML 1.0 3.1: a declaration inside an element")
            }
        case UInt8(ascii: "?"): try scanInstruction()
        default: try scanStartTag()
        }
    }

    private mutating func scanText() throws(XMLError) {
        let start = at
        let classes = classes
        let base = base
        var cursor = start
        // White space between tags is not kept; white space that is an element's only content is.
        while XMLBytes.isSpace(base[cursor]), base[cursor] != 0x0D { cursor += 1 }
        if base[cursor] == UInt8(ascii: "<") {
            at = cursor
            let follows = base[cursor + 1]
            if follows == UInt8(ascii: "/") {
                if frames[depth].lastChild >= 0 { return }
            } else if follows != UInt8(ascii: "!") && follows != UInt8(ascii: "?") {
                return
            }
            return try appendText(start, cursor)
        }
        while true {
            while classes[Int(base[cursor])] & XMLCharacterClass.textSpecial == 0 { cursor += 1 }
            at = cursor
            switch base[cursor] {
            case UInt8(ascii: "<"):
                return try appendText(start, cursor)
            case UInt8(ascii: "]"):
                try checkCDATAEnd()
                cursor += 1
            case UInt8(ascii: "&"), 0x0D:
                return try scanTextWithReferences(from: start)
            default:
                guard at >= end else { throw illegal() }
                return
            }
        }
    }

    /// The way through text with references or carriage returns: decoded behind the source.
    private mutating func scanTextWithReferences(from start: Int) throws(XMLError) {
        let decodedStart = arena
        var hasReference = false
        copy(start, at)
        while true {
            let byte = base[at]
            if classes[Int(byte)] & XMLCharacterClass.textSpecial == 0 {
                put(byte)
                at += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "<"):
                let follows = base[at + 1]
                let isBetweenTags =
                    follows == UInt8(ascii: "/")
                    ? frames[depth].lastChild >= 0 : follows != UInt8(ascii: "!") && follows != UInt8(ascii: "?")
                if isBetweenTags, !hasReference, isSpace(from: decodedStart, to: arena) {
                    arena = decodedStart
                    return
                }
                return try appendText(decodedStart, arena)
            case UInt8(ascii: "&"):
                hasReference = true
                try scanReference()
            case 0x0D:
                put(0x0A)
                at += base[at + 1] == 0x0A ? 2 : 1
            case UInt8(ascii: "]"):
                try checkCDATAEnd()
                put(byte)
                at += 1
            default:
                guard at >= end else { throw illegal() }
                return
            }
        }
    }

    private func isSpace(from low: Int, to high: Int) -> Bool {
        for index in low..<high where !XMLBytes.isSpace(base[index]) { return false }
        return true
    }

    private func checkCDATAEnd() throws(XMLError) {
        if base[at + 1] == UInt8(ascii: "]"), base[at + 2] == UInt8(ascii: ">") {
            throw failure(.notWellFormed, "XML 1.0 2.4: ']]>' in text")
        }
    }

    private mutating func scanCDATA() throws(XMLError) {
        let start = at
        at += 9
        let first = at
        let decodedStart = arena
        var decoded = false
        while true {
            let byte = base[at]
            if byte == UInt8(ascii: "]"), base[at + 1] == byte, base[at + 2] == UInt8(ascii: ">") {
                if at > first { try decoded ? appendText(decodedStart, arena) : appendText(first, at) }
                at += 3
                return
            }
            if byte == 0x0D {
                if !decoded {
                    copy(first, at)
                    decoded = true
                }
                put(0x0A)
                at += base[at + 1] == 0x0A ? 2 : 1
                continue
            }
            try skip(byte, in: "a CDATA section", start)
            if decoded { put(byte) }
        }
    }

    /// A character or predefined entity reference (XML 1.0 4.1, 4.6), decoded into the arena.
    private mutating func scanReference() throws(XMLError) {
        let start = at
        at += 1
        if base[at] == UInt8(ascii: "#") {
            at += 1
            let hexadecimal = base[at] == UInt8(ascii: "x")
            if hexadecimal { at += 1 }
            var value: UInt32 = 0
            var digits = 0
            while let digit = Self.digit(base[at], hexadecimal: hexadecimal) {
                value = min(value * (hexadecimal ? 16 : 10) + digit, 0x11_0000)
                digits += 1
                at += 1
            }
            guard digits > 0, base[at] == UInt8(ascii: ";") else {
                if at >= end { throw truncated("a reference", at: start) }
                throw failure(.notWellFormed, "XML 1.0 4.1: malformed character reference", at: start)
            }
            at += 1
            let allowed =
                value == 0x9 || value == 0xA || value == 0xD || (0x20...0xD7FF).contains(value) || (0xE000...0xFFFD).contains(value)
                || (0x10000...0x10FFFF).contains(value)
            guard allowed else {
                throw failure(.notWellFormed, "XML 1.0 4.1: a reference to a character that XML does not allow", at: start)
            }
            arena += XMLEncoding.write(value, to: base + arena)
            return
        }
        let name = try scanName("entity reference")
        guard base[at] == UInt8(ascii: ";") else {
            if at >= end { throw truncated("a reference", at: start) }
            throw failure(.notWellFormed, "XML 1.0 4.1: '&' that is not a reference; write '&amp;'", at: start)
        }
        at += 1
        if equals(name, "amp") {
            put(UInt8(ascii: "&"))
        } else if equals(name, "lt") {
            put(UInt8(ascii: "<"))
        } else if equals(name, "gt") {
            put(UInt8(ascii: ">"))
        } else if equals(name, "quot") {
            put(UInt8(ascii: "\""))
        } else if equals(name, "apos") {
            put(UInt8(ascii: "'"))
        } else {
            let text = tree.string(UInt32(name.start), UInt32(min(name.end, name.start + 40)))
            throw failure(.documentType, "XML 1.0 4.1: entity '\(text)' is not defined, and DTDs are not read", at: start)
        }
    }

    @inline(__always)
    private static func digit(_ byte: UInt8, hexadecimal: Bool) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46 where hexadecimal: UInt32(byte - 0x41 + 10)
        case 0x61...0x66 where hexadecimal: UInt32(byte - 0x61 + 10)
        default: nil
        }
    }

    // MARK: tags

    private mutating func scanStartTag() throws(XMLError) {
        let start = at
        at += 1
        let name = try scanName("element name")
        guard depth < limits.depth else { throw failure(.limit, "elements are nested deeper than the \(limits.depth) allowed", at: start) }
        let index = try appendNode(start: start, parent: depth > 0 ? frames[depth].node : -1)
        let firstAttribute = tree.attributeCount
        let firstBinding = tree.bindingCount
        let activeBefore = activeCount
        let defaultBefore = defaultBinding
        var attributes = 0
        while true {
            let spaced = skipSpace()
            let byte = base[at]
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") { break }
            if at >= end { throw truncated("the tag of element '\(tree.string(UInt32(name.start), UInt32(name.end)))'", at: start) }
            guard spaced else { throw failure(.notWellFormed, "XML 1.0 3.1: malformed start tag") }
            attributes += 1
            guard attributes <= limits.attributes else {
                throw failure(.limit, "an element has more than the \(limits.attributes) attributes allowed", at: start)
            }
            try scanAttribute()
        }
        if tree.attributeCount > firstAttribute { try resolveAttributes(from: firstAttribute) }

        let binding = name.prefixLength == 0 ? defaultBinding : try resolve(name)
        let namespace = binding < 0 ? 0 : tree.bindings[Int(binding)].namespace
        var id = XMLTree.unknownName
        if namespace != XMLTree.unknownName {
            let found = names.find(base + name.localStart, name.localLength, hash: name.hash, namespace: namespace)
            if found != 0 { id = found }
        }
        let node = nodes + Int(index)
        node.pointee.name = id
        node.pointee.binding = binding
        node.pointee.attributes = UInt32(firstAttribute)
        node.pointee.attributeCount = UInt16(tree.attributeCount - firstAttribute)
        node.pointee.bindings = UInt32(firstBinding)
        node.pointee.bindingCount = UInt16(tree.bindingCount - firstBinding)
        node.pointee.prefixLength = UInt16(name.prefixLength)
        node.pointee.localLength = UInt16(name.localLength)

        if base[at] == UInt8(ascii: "/") {
            guard base[at + 1] == UInt8(ascii: ">") else {
                if at + 1 >= end { throw truncated("a tag", at: start) }
                throw failure(.notWellFormed, "XML 1.0 3.1: '/' inside a start tag")
            }
            at += 2
            node.pointee.end = UInt32(at)
            activeCount = activeBefore
            defaultBinding = defaultBefore
            return
        }
        at += 1
        depth += 1
        frames[depth] = Frame(node: index, lastChild: -1, activeCount: Int32(activeBefore), defaultBinding: defaultBefore)
    }

    private mutating func scanEndTag() throws(XMLError) {
        let frame = frames[depth]
        let node = nodes + Int(frame.node)
        let start = Int(node.pointee.start) + 1
        let length = nameLength(node.pointee)
        let own = at + 2
        guard XMLBytes.equal(base + own, base + start, length), classes[Int(base[own + length])] & XMLCharacterClass.name == 0,
            base[own + length] != UInt8(ascii: ":")
        else {
            if own + length >= end { throw truncated("the end tag of '\(tree.string(UInt32(start), UInt32(start + length)))'") }
            throw failure(.notWellFormed, "XML 1.0 3: this end tag does not close '\(tree.string(UInt32(start), UInt32(start + length)))'")
        }
        at = own + length
        skipSpace()
        guard base[at] == UInt8(ascii: ">") else {
            if at >= end { throw truncated("an end tag") }
            throw failure(.notWellFormed, "XML 1.0 3.1: malformed end tag")
        }
        at += 1
        node.pointee.end = UInt32(at)
        activeCount = Int(frame.activeCount)
        defaultBinding = frame.defaultBinding
        depth -= 1
    }

    @inline(__always)
    private func nameLength(_ node: XMLTree.Node) -> Int {
        Int(node.localLength) + (node.prefixLength > 0 ? Int(node.prefixLength) + 1 : 0)
    }

    // MARK: attributes and namespaces

    private mutating func scanAttribute() throws(XMLError) {
        let name = try scanName("attribute name")
        try scanEquals()
        let quote = base[at]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            if at >= end { throw truncated("an attribute") }
            throw failure(.notWellFormed, "XML 1.0 3.1: an attribute value without quotes")
        }
        at += 1
        var low = at
        var high = at
        let classes = classes
        let base = base
        scan: while true {
            var cursor = at
            while classes[Int(base[cursor])] & XMLCharacterClass.attributeSpecial == 0 { cursor += 1 }
            at = cursor
            let byte = base[cursor]
            switch byte {
            case quote:
                high = at
                at += 1
                break scan
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                at += 1
            case UInt8(ascii: "<"):
                throw failure(.notWellFormed, "XML 1.0 3.1: '<' in an attribute value")
            case UInt8(ascii: "&"), 0x09, 0x0A, 0x0D:
                let decodedStart = arena
                copy(low, at)
                try scanDecodedValue(quote)
                low = decodedStart
                high = arena
                break scan
            default:
                if at >= end { throw truncated("an attribute value") }
                throw illegal()
            }
        }
        if name.prefixLength == 0, name.localLength == 5, equals(name, "xmlns") {
            return try bind(prefix: (name.end, 0), low, high, at: name.start)
        }
        if name.prefixLength == 5, XMLBytes.equal(base + name.start, Self.xmlnsPrefix.utf8Start, 5) {
            return try bind(prefix: (name.localStart, name.localLength), low, high, at: name.start)
        }
        if tree.attributeCount == tree.attributeCapacity {
            XMLTree.grow(&tree.attributes, &tree.attributeCapacity, keeping: tree.attributeCount)
        }
        tree.attributes[tree.attributeCount] = XMLTree.Attribute(
            name: name.hash, binding: -1, nameStart: UInt32(name.start), valueStart: UInt32(low), valueEnd: UInt32(high),
            prefixLength: UInt16(name.prefixLength), localLength: UInt16(name.localLength))
        tree.attributeCount += 1
    }

    private mutating func scanDecodedValue(_ quote: UInt8) throws(XMLError) {
        while true {
            let byte = base[at]
            if classes[Int(byte)] & XMLCharacterClass.attributeSpecial == 0 {
                put(byte)
                at += 1
                continue
            }
            switch byte {
            case quote:
                at += 1
                return
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                put(byte)
                at += 1
            case UInt8(ascii: "<"):
                throw failure(.notWellFormed, "XML 1.0 3.1: '<' in an attribute value")
            case UInt8(ascii: "&"):
                try scanReference()
            case 0x09, 0x0A, 0x0D:
                put(0x20)
                at += byte == 0x0D && base[at + 1] == 0x0A ? 2 : 1
            default:
                if at >= end { throw truncated("an attribute value") }
                throw illegal()
            }
        }
    }

    private mutating func bind(prefix: (start: Int, length: Int), _ low: Int, _ high: Int, at position: Int) throws(XMLError) {
        let uri = UnsafeBufferPointer(start: base + low, count: high - low)
        let namespace = uri.isEmpty ? 0 : namespaces.find(base + low, uri.count, hash: XMLNameHash.of(uri), namespace: 0)
        let isXML = prefix.length == 3 && XMLBytes.equal(base + prefix.start, Self.xmlPrefix.utf8Start, 3)
        if prefix.length == 5, XMLBytes.equal(base + prefix.start, Self.xmlnsPrefix.utf8Start, 5) {
            throw failure(.notWellFormed, "Namespaces 1.0 3: the prefix 'xmlns' must not be declared", at: position)
        }
        let xmlns: StaticString = "http://www.w3.org/2000/xmlns/"
        guard isXML == (namespace == XMLNamespace.xml.id),
            !(uri.count == xmlns.utf8CodeUnitCount && XMLBytes.equal(base + low, xmlns.utf8Start, uri.count))
        else { throw failure(.notWellFormed, "Namespaces 1.0 3: a reserved namespace is declared", at: position) }
        if prefix.length > 0, uri.isEmpty {
            throw failure(.notWellFormed, "Namespaces 1.0 5: a prefix cannot be undeclared", at: position)
        }
        for index in activeOwnBindings where tree.bindings[index].prefixLength == UInt32(prefix.length) {
            let other = tree.bindings[index]
            if XMLBytes.equal(base + Int(other.prefixStart), base + prefix.start, prefix.length) {
                throw failure(.notWellFormed, "XML 1.0 3.1: the same namespace declaration twice", at: position)
            }
        }
        if tree.bindingCount == tree.bindingCapacity { XMLTree.grow(&tree.bindings, &tree.bindingCapacity, keeping: tree.bindingCount) }
        let index = tree.bindingCount
        tree.bindings[index] = XMLTree.Binding(
            namespace: uri.isEmpty ? 0 : namespace == 0 ? XMLTree.unknownName : namespace, prefixStart: UInt32(prefix.start),
            prefixLength: UInt32(prefix.length), uriStart: UInt32(low), uriEnd: UInt32(high))
        tree.bindingCount += 1
        if prefix.length == 0 {
            defaultBinding = uri.isEmpty ? -1 : Int32(index)
        } else {
            guard activeCount < Self.maximumActiveBindings else {
                throw failure(.limit, "more than \(Self.maximumActiveBindings) namespace prefixes in scope", at: position)
            }
            active[activeCount] = Int32(index)
            activeCount += 1
        }
    }

    /// Bindings of the element whose tag is being read: its node is the newest, and none of its children has been seen.
    private var activeOwnBindings: Range<Int> { ownBindingsStart..<tree.bindingCount }
    private var ownBindingsStart = 1

    /// Namespace names of prefixed attributes, ids of known ones, and the check that no attribute occurs twice.
    private mutating func resolveAttributes(from first: Int) throws(XMLError) {
        let count = tree.attributeCount
        for index in first..<count {
            let attribute = tree.attributes + index
            let name = Name(
                start: Int(attribute.pointee.nameStart), prefixLength: Int(attribute.pointee.prefixLength),
                localLength: Int(attribute.pointee.localLength), hash: attribute.pointee.name)
            var namespace: UInt32 = 0
            if name.prefixLength > 0 {
                let binding = try resolve(name)
                attribute.pointee.binding = binding
                namespace = tree.bindings[Int(binding)].namespace
            }
            let found =
                namespace == XMLTree.unknownName
                ? 0 : names.find(base + name.localStart, name.localLength, hash: name.hash, namespace: namespace)
            attribute.pointee.name = found == 0 ? XMLTree.unknownName : found
            for other in first..<index where isSame(tree.attributes[other], attribute.pointee) {
                throw failure(
                    .notWellFormed, "XML 1.0 3.1: attribute '\(tree.string(UInt32(name.start), UInt32(name.end)))' occurs twice",
                    at: name.start)
            }
        }
    }

    private func isSame(_ left: XMLTree.Attribute, _ right: XMLTree.Attribute) -> Bool {
        guard left.name == right.name else { return false }
        guard left.name == XMLTree.unknownName else { return true }
        guard left.localLength == right.localLength else { return false }
        let leftLocal = Int(left.nameStart) + (left.prefixLength > 0 ? Int(left.prefixLength) + 1 : 0)
        let rightLocal = Int(right.nameStart) + (right.prefixLength > 0 ? Int(right.prefixLength) + 1 : 0)
        guard XMLBytes.equal(base + leftLocal, base + rightLocal, Int(left.localLength)) else { return false }
        if left.binding == right.binding { return true }
        guard left.binding >= 0, right.binding >= 0 else { return false }
        let one = tree.bindings[Int(left.binding)]
        let two = tree.bindings[Int(right.binding)]
        return one.uriEnd - one.uriStart == two.uriEnd - two.uriStart
            && XMLBytes.equal(base + Int(one.uriStart), base + Int(two.uriStart), Int(one.uriEnd - one.uriStart))
    }

    @inline(__always)
    private func resolve(_ name: Name) throws(XMLError) -> Int32 {
        var index = activeCount - 1
        while index >= 0 {
            let binding = tree.bindings + Int(active[index])
            if Int(binding.pointee.prefixLength) == name.prefixLength,
                XMLBytes.equal(base + Int(binding.pointee.prefixStart), base + name.start, name.prefixLength)
            {
                return active[index]
            }
            index -= 1
        }
        let prefix = tree.string(UInt32(name.start), UInt32(name.start + name.prefixLength))
        throw failure(.notWellFormed, "Namespaces 1.0 5: the prefix '\(prefix)' is not declared", at: name.start)
    }

    // MARK: nodes

    private mutating func appendNode(start: Int, parent: Int32) throws(XMLError) -> Int32 {
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

    private mutating func appendText(_ low: Int, _ high: Int) throws(XMLError) {
        guard high > low else { return }
        let index = try appendNode(start: low, parent: frames[depth].node)
        nodes[Int(index)].end = UInt32(high)
    }

    // MARK: small things

    private mutating func scanName(_ what: StaticString) throws(XMLError) -> Name {
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

    private mutating func scanEquals() throws(XMLError) {
        skipSpace()
        guard base[at] == UInt8(ascii: "=") else {
            if at >= end { throw truncated("an attribute") }
            throw failure(.notWellFormed, "XML 1.0 3.1: an attribute without a value")
        }
        at += 1
        skipSpace()
    }

    /// A quoted literal without references; returns the range between the quotes.
    private mutating func scanQuoted() throws(XMLError) -> (Int, Int) {
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
    private mutating func skipSpace() -> Bool {
        var cursor = at
        while XMLBytes.isSpace(base[cursor]) { cursor += 1 }
        defer { at = cursor }
        return cursor > at
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        base[arena] = byte
        arena += 1
    }

    private mutating func copy(_ low: Int, _ high: Int) {
        (base + arena).update(from: base + low, count: high - low)
        arena += high - low
    }

    private func starts(with text: StaticString) -> Bool {
        at + text.utf8CodeUnitCount <= end && XMLBytes.equal(base + at, text.utf8Start, text.utf8CodeUnitCount)
    }

    private func equals(_ name: Name, _ text: StaticString) -> Bool {
        name.end - name.start == text.utf8CodeUnitCount && XMLBytes.equal(base + name.start, text.utf8Start, text.utf8CodeUnitCount)
    }

    // MARK: failures

    @inline(never)
    private func failure(_ code: XMLError.Code, _ message: String, at offset: Int? = nil) -> XMLError {
        XMLError(code: code, message: message, position: tree.position(atOffset: min(offset ?? at, end)))
    }

    @inline(never)
    private func truncated(_ what: String, at offset: Int? = nil) -> XMLError {
        failure(.truncated, "XML 1.0 2.1: the document ends inside \(what)", at: offset ?? end)
    }

    @inline(never)
    private func illegal() -> XMLError {
        failure(.notWellFormed, "XML 1.0 2.2: a character that XML does not allow (\(base[at]))")
    }
}
