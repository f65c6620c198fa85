/// Attributes (XML 1.0 3.1, 3.3.3) and namespaces (Namespaces in XML 1.0).
extension XMLScanner {
    mutating func scanAttribute() throws(XMLError) {
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

    mutating func scanDecodedValue(_ quote: UInt8) throws(XMLError) {
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

    mutating func bind(prefix: (start: Int, length: Int), _ low: Int, _ high: Int, at position: Int) throws(XMLError) {
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
    var activeOwnBindings: Range<Int> { ownBindingsStart..<tree.bindingCount }

    /// Namespace names of prefixed attributes, ids of known ones, and the check that no attribute occurs twice.
    mutating func resolveAttributes(from first: Int) throws(XMLError) {
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

    func isSame(_ left: XMLTree.Attribute, _ right: XMLTree.Attribute) -> Bool {
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
    func resolve(_ name: Name) throws(XMLError) -> Int32 {
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
}
