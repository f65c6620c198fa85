import CLibXML2

/// Start and end tags (XML 1.0 3.1) and namespace declarations.
extension XMLTreeBuilder {
    /// Range of a name in the source.
    struct Name {
        var start: Int
        var end: Int
        /// Length of the prefix; 0 without one.
        var prefixLength: Int
        var localStart: Int { prefixLength > 0 ? start + prefixLength + 1 : start }
        var localLength: Int { end - localStart }
    }

    /// Lists of a start tag as libxml2 passes them: (prefix, URI) and (name, prefix, URI, value, end of value).
    struct Lists {
        var declarationCount: Int
        var declarations: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
        var attributeCount: Int
        var attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
    }

    mutating func startElement(
        _ local: UnsafePointer<UInt8>, prefix: UnsafePointer<UInt8>?, uri: UnsafePointer<UInt8>?, _ lists: Lists,
        _ context: xmlParserCtxtPtr
    ) {
        guard failure == nil else { return }
        if text.end > text.start { flushText(beforeEndTag: false, context) }
        let tagEnd = position(context)
        // An attribute value holds no '<', so the nearest one begins the tag.
        var start = tagEnd - 1
        while start > 0, base[start] != UInt8(ascii: "<") { start -= 1 }
        guard depth < limits.depth else {
            return refuse(.limit, "elements are nested deeper than the \(limits.depth) allowed", at: start, context)
        }
        guard failure == nil, let index = appendNode(start: start, context) else { return }
        let name = readName(start + 1, tagEnd)
        guard name.end - name.start <= Self.maximumNameLength else { return refuseName(name, context) }
        let firstAttribute = tree.pointee.attributeCount
        let firstBinding = tree.pointee.bindingCount
        let activeBefore = activeCount
        if lists.declarationCount + lists.attributeCount > 0 {
            readLists(name.end, tagEnd, lists, context)
            guard failure == nil else { return }
        }
        let binding = uri == nil ? -1 : find(prefix, context)
        let node = tree.pointee.nodes + Int(index)
        node.pointee.name = id(local, uri, name, binding)
        node.pointee.binding = binding
        node.pointee.attributes = UInt32(firstAttribute)
        node.pointee.attributeCount = UInt16(truncatingIfNeeded: tree.pointee.attributeCount - firstAttribute)
        node.pointee.bindings = UInt32(firstBinding)
        node.pointee.bindingCount = UInt16(truncatingIfNeeded: tree.pointee.bindingCount - firstBinding)
        node.pointee.prefixLength = UInt16(truncatingIfNeeded: name.prefixLength)
        node.pointee.localLength = UInt16(truncatingIfNeeded: name.localLength)
        depth += 1
        frames[depth] = Frame(node: index, lastChild: -1, activeCount: Int32(activeBefore))
    }

    mutating func endElement(_ context: xmlParserCtxtPtr) {
        guard failure == nil, depth > 0 else { return }
        if text.end > text.start { flushText(beforeEndTag: true, context) }
        let frame = frames[depth]
        tree.pointee.nodes[Int(frame.node)].end = UInt32(position(context))
        activeCount = Int(frame.activeCount)
        depth -= 1
    }

    // MARK: attributes

    @inline(__always)
    func readName(_ start: Int, _ tagEnd: Int) -> Name {
        var cursor = start
        var colon = 0
        while cursor < tagEnd, case let byte = base[cursor], byte > 0x20, byte != UInt8(ascii: "="), byte != UInt8(ascii: "/"),
            byte != UInt8(ascii: ">")
        {
            if byte == UInt8(ascii: ":"), colon == 0 { colon = cursor }
            cursor += 1
        }
        return Name(start: start, end: cursor, prefixLength: colon > 0 ? colon - start : 0)
    }

    /// Locates in the source, in document order, the declarations and attributes that libxml2 reported; the tag is well-formed.
    private mutating func readLists(_ start: Int, _ tagEnd: Int, _ lists: Lists, _ context: xmlParserCtxtPtr) {
        let firstAttribute = tree.pointee.attributeCount
        var cursor = start
        var declaration = 0
        var attribute = 0
        while true {
            while cursor < tagEnd, XMLBytes.isSpace(base[cursor]) { cursor += 1 }
            guard cursor < tagEnd, base[cursor] != UInt8(ascii: "/") else { break }
            let name = readName(cursor, tagEnd)
            cursor = name.end
            while cursor < tagEnd, base[cursor] != UInt8(ascii: "\""), base[cursor] != UInt8(ascii: "'") { cursor += 1 }
            let quote = base[cursor]
            let low = cursor + 1
            cursor = low
            while cursor < tagEnd, base[cursor] != quote { cursor += 1 }
            let high = cursor
            cursor += 1
            guard name.end - name.start <= Self.maximumNameLength else { return refuseName(name, context) }
            let isDefault = name.prefixLength == 0 && name.localLength == 5 && isXMLNS(name.start)
            if isDefault || (name.prefixLength == 5 && isXMLNS(name.start)) {
                // libxml2 does not report a declaration of the prefix xml, which can only repeat its fixed binding.
                let isXML = !isDefault && name.localLength == 3 && XMLBytes.equal(base + name.localStart, XMLTree.xmlPrefix.utf8Start, 3)
                if isXML { continue }
                guard declaration < lists.declarationCount, let pairs = lists.declarations, let uri = pairs[declaration * 2 + 1] else {
                    continue
                }
                bind(pairs[declaration * 2], uri, isDefault ? (name.end, 0) : (name.localStart, name.localLength), low, high, context)
                declaration += 1
            } else {
                guard attribute < lists.attributeCount, let found = lists.attributes.map({ $0 + attribute * 5 }) else { continue }
                append(name, found, low, high, context)
                attribute += 1
            }
            guard failure == nil else { return }
        }
        // Resolve attribute namespaces after all declarations of the tag are known.
        guard let found = lists.attributes else { return }
        for number in 0..<attribute {
            let own = tree.pointee.attributes + firstAttribute + number
            let item = found + number * 5
            guard let local = item[0] else { continue }
            let start = Int(own.pointee.nameStart)
            let prefixLength = Int(own.pointee.prefixLength)
            let binding = item[2] == nil ? -1 : find(item[1], context)
            let length = Int(own.pointee.localLength) + (prefixLength > 0 ? prefixLength + 1 : 0)
            own.pointee.binding = binding
            own.pointee.name = id(local, item[2], Name(start: start, end: start + length, prefixLength: prefixLength), binding)
        }
    }

    private mutating func append(
        _ name: Name, _ item: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ low: Int, _ high: Int, _ context: xmlParserCtxtPtr
    ) {
        var low = low
        var high = high
        if let value = item[3], let valueEnd = item[4], value != UnsafePointer(base + low) {
            let count = value.distance(to: valueEnd)
            if count != high - low || !XMLBytes.equal(base + low, value, count) {
                low = arena
                guard putValue(value, count, context) else { return }
                high = arena
            }
        }
        if tree.pointee.attributeCount == tree.pointee.attributeCapacity {
            XMLTree.grow(&tree.pointee.attributes, &tree.pointee.attributeCapacity, keeping: tree.pointee.attributeCount)
        }
        tree.pointee.attributes[tree.pointee.attributeCount] = XMLTree.Attribute(
            name: XMLTree.unknownName, binding: -1, nameStart: UInt32(name.start), valueStart: UInt32(low), valueEnd: UInt32(high),
            prefixLength: UInt16(truncatingIfNeeded: name.prefixLength), localLength: UInt16(truncatingIfNeeded: name.localLength))
        tree.pointee.attributeCount += 1
    }

    /// Copies a value behind the source. libxml2 passes an ampersand as `&#38;`, because entities are not substituted.
    private mutating func putValue(_ value: UnsafePointer<UInt8>, _ count: Int, _ context: xmlParserCtxtPtr) -> Bool {
        let start = arena
        guard put(value, count, context) else { return false }
        let written = arena
        var from = start
        var to = start
        while from < written {
            let byte = base[from]
            base[to] = byte
            to += 1
            from += byte == UInt8(ascii: "&") ? 5 : 1
        }
        arena = to
        return true
    }

    // MARK: namespaces

    private mutating func bind(
        _ prefix: UnsafePointer<UInt8>?, _ uri: UnsafePointer<UInt8>, _ range: (start: Int, length: Int), _ low: Int, _ high: Int,
        _ context: xmlParserCtxtPtr
    ) {
        guard activeCount < Self.maximumActiveBindings else {
            return refuse(.limit, "more than \(Self.maximumActiveBindings) namespace prefixes in scope", at: low, context)
        }
        var low = low
        var high = high
        if !XMLBytes.equal(uri, base + low, high - low) || uri[high - low] != 0 {
            low = arena
            guard putValue(uri, Int(xmlStrlen(uri)), context) else { return }
            high = arena
        }
        // Limit the name: each element kept as a fragment copies the declarations that it relies on.
        guard high - low <= Self.maximumNameLength else {
            return refuse(.limit, "a namespace name is longer than \(Self.maximumNameLength) bytes", at: range.start, context)
        }
        var namespace: UInt32 = 0
        if high > low {
            let slot = cache.slot(uri, nil)
            if slot.pointee.local == uri, slot.pointee.uri == UnsafePointer(cache.namespaceMark) {
                namespace = slot.pointee.id
            } else {
                let bytes = UnsafeBufferPointer(start: base + low, count: high - low)
                namespace = namespaces.find(base + low, high - low, hash: XMLNameHash.of(bytes), namespace: 0)
                if namespace == 0 { namespace = XMLTree.unknownName }
                slot.pointee = XMLNameCache.Slot(local: uri, uri: UnsafePointer(cache.namespaceMark), id: namespace)
            }
        }
        if tree.pointee.bindingCount == tree.pointee.bindingCapacity {
            XMLTree.grow(&tree.pointee.bindings, &tree.pointee.bindingCapacity, keeping: tree.pointee.bindingCount)
        }
        let index = tree.pointee.bindingCount
        tree.pointee.bindings[index] = XMLTree.Binding(
            namespace: namespace, prefixStart: UInt32(range.start), prefixLength: UInt32(range.length), uriStart: UInt32(low),
            uriEnd: UInt32(high))
        tree.pointee.bindingCount = index + 1
        active[activeCount] = ActiveBinding(prefix: prefix, binding: Int32(index))
        activeCount += 1
    }

    /// Binding of a prefix in scope; libxml2 has checked that it is declared.
    @inline(__always)
    private func find(_ prefix: UnsafePointer<UInt8>?, _ context: xmlParserCtxtPtr) -> Int32 {
        var index = activeCount - 1
        while index >= 0 {
            if active[index].prefix == prefix { return active[index].binding }
            index -= 1
        }
        return prefix != nil && prefix == context.pointee.str_xml ? 0 : -1
    }

    /// Id of an expanded name, cached by the addresses of its two strings, which are stable in the context's dictionary.
    @inline(__always)
    private func id(_ local: UnsafePointer<UInt8>, _ uri: UnsafePointer<UInt8>?, _ name: Name, _ binding: Int32) -> UInt32 {
        let slot = cache.slot(local, uri)
        if slot.pointee.local == local, slot.pointee.uri == uri { return slot.pointee.id }
        let namespace = binding < 0 ? 0 : tree.pointee.bindings[Int(binding)].namespace
        var id = XMLTree.unknownName
        if namespace != XMLTree.unknownName {
            let bytes = UnsafeBufferPointer(start: base + name.localStart, count: name.localLength)
            let found = names.find(base + name.localStart, name.localLength, hash: XMLNameHash.of(bytes), namespace: namespace)
            if found != 0 { id = found }
        }
        slot.pointee = XMLNameCache.Slot(local: local, uri: uri, id: id)
        return id
    }

    private func isXMLNS(_ start: Int) -> Bool {
        let xmlns: StaticString = "xmlns"
        return XMLBytes.equal(base + start, xmlns.utf8Start, 5)
    }

    private mutating func refuseName(_ name: Name, _ context: xmlParserCtxtPtr) {
        refuse(.limit, "a name is longer than \(Self.maximumNameLength) bytes", at: name.start, context)
    }
}

/// Cache of name ids by string addresses in a context's dictionary; a collision only costs a second lookup.
struct XMLNameCache {
    struct Slot {
        var local: UnsafePointer<UInt8>?
        var uri: UnsafePointer<UInt8>?
        var id: UInt32
    }

    private static let bits = 10
    private let slots: UnsafeMutablePointer<Slot>
    /// Takes the place of the URI in entries for namespace names.
    let namespaceMark: UnsafeMutablePointer<UInt8>

    init() {
        slots = .allocate(capacity: 1 << Self.bits)
        namespaceMark = .allocate(capacity: 1)
        namespaceMark.initialize(to: 0)
        clear()
    }

    /// Clears the cache; required when the dictionary or the vocabulary is replaced.
    func clear() { slots.update(repeating: Slot(local: nil, uri: nil, id: 0), count: 1 << Self.bits) }

    func deallocate() {
        slots.deallocate()
        namespaceMark.deallocate()
    }

    @inline(__always)
    func slot(_ local: UnsafePointer<UInt8>, _ uri: UnsafePointer<UInt8>?) -> UnsafeMutablePointer<Slot> {
        let key = UInt64(UInt(bitPattern: local)) &+ UInt64(UInt(bitPattern: uri)) &* 31
        return slots + Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - Self.bits))
    }
}
