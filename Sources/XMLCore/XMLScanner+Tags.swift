/// Start and end tags (XML 1.0 3.1).
extension XMLScanner {
    mutating func scanStartTag() throws(XMLError) {
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

    mutating func scanEndTag() throws(XMLError) {
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
    func nameLength(_ node: XMLTree.Node) -> Int {
        Int(node.localLength) + (node.prefixLength > 0 ? Int(node.prefixLength) + 1 : 0)
    }
}
