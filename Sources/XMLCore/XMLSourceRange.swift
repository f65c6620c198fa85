/// Ranges of tree parts in the source, for readers that skip a faulty part and parse the rest again, and for editors that leave every
/// other octet alone.
extension XMLElement {
    /// Ranges of an attribute in ``XMLTree/source``: with the white space before its name, and of its value alone.
    public typealias AttributeRanges = (whole: Range<Int>, value: Range<Int>)

    /// Range of the element in ``XMLTree/source``, including its tags.
    public var sourceRange: Range<Int> { Int(node.pointee.start)..<Int(node.pointee.end) }

    /// Range of the start tag, or of the empty-element tag, in ``XMLTree/source``, brackets included (XML 1.0 3.1).
    public var startTagRange: Range<Int> {
        let range = sourceRange
        var quote: UInt8 = 0
        var cursor = range.lowerBound
        while cursor < range.upperBound {
            let byte = tree.buffer[cursor]
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return range.lowerBound..<cursor + 1
            }
            cursor += 1
        }
        return range
    }

    /// Range between start tag and end tag in ``XMLTree/source``; nil for an empty-element tag (XML 1.0 3.1).
    public var contentRange: Range<Int>? {
        let start = startTagRange.upperBound
        let end = sourceRange.upperBound
        guard start < end else { return nil }
        // An end tag holds no other '<'.
        var cursor = end - 1
        while cursor > start, tree.buffer[cursor] != UInt8(ascii: "<") { cursor -= 1 }
        return start..<cursor
    }

    /// Ranges of an unqualified attribute; nil when absent.
    public func sourceRange(ofAttribute localName: String) -> AttributeRanges? {
        let first = Int(node.pointee.attributes)
        for index in first..<first + attributeCount {
            let attribute = tree.attributes[index]
            guard attribute.prefixLength == 0,
                tree.equals(attribute.nameStart, attribute.nameStart + UInt32(attribute.localLength), localName)
            else { continue }
            return ranges(of: attribute)
        }
        return nil
    }

    /// Ranges of the attribute with that expanded name, empty namespace for none; nil when absent.
    public func sourceRange(ofAttribute localName: String, in namespace: String) -> AttributeRanges? {
        attribute(localName, in: namespace).flatMap { ranges(of: $0) }
    }

    /// Value of the attribute with that expanded name, empty namespace for none; nil when absent.
    public func value(ofAttribute localName: String, in namespace: String) -> String? {
        attribute(localName, in: namespace).map { tree.string($0.valueStart, $0.valueEnd) }
    }

    /// Whether the element has that expanded name, empty namespace for none; for names from a peer, which are not registered.
    public func isNamed(_ localName: String, in namespace: String) -> Bool {
        localNameEquals(localName) && tree.namespaceEquals(node.pointee.binding, namespace)
    }

    /// Name as written, prefix included.
    public var qualifiedName: String {
        let range = localNameRange
        return tree.string(node.pointee.start + 1, range.end)
    }

    /// Namespace declarations in scope, one for each prefix, those of the nearest element first; `xmlns=""` included.
    public var declarationsInScope: [XMLFragment.Declaration] {
        var result: [XMLFragment.Declaration] = []
        var seen: Set<String> = []
        var element: XMLElement? = self
        while let current = element {
            for declaration in current.ownDeclarations where seen.insert(declaration.prefix).inserted { result.append(declaration) }
            element = current.parent
        }
        return result
    }

    private func attribute(_ localName: String, in namespace: String) -> XMLTree.Attribute? {
        let first = Int(node.pointee.attributes)
        for index in first..<first + attributeCount {
            let attribute = tree.attributes[index]
            let start = attribute.nameStart + (attribute.prefixLength > 0 ? UInt32(attribute.prefixLength) + 1 : 0)
            if tree.equals(start, start + UInt32(attribute.localLength), localName),
                tree.namespaceEquals(attribute.binding, namespace)
            {
                return attribute
            }
        }
        return nil
    }

    private func ranges(of attribute: XMLTree.Attribute) -> AttributeRanges? {
        let limit = sourceRange.upperBound
        var low = Int(attribute.nameStart)
        while low < limit, tree.buffer[low] != UInt8(ascii: "\""), tree.buffer[low] != UInt8(ascii: "'") { low += 1 }
        guard low < limit else { return nil }
        var high = low + 1
        while high < limit, tree.buffer[high] != tree.buffer[low] { high += 1 }
        guard high < limit else { return nil }
        var start = Int(attribute.nameStart)
        while start > 0, XMLBytes.isSpace(tree.buffer[start - 1]) { start -= 1 }
        return (start..<high + 1, low + 1..<high)
    }
}

extension XMLTree {
    /// Document as UTF-8, as it was parsed.
    public var source: [UInt8] { Array(bytes(0, UInt32(sourceCount))) }

    func namespaceEquals(_ binding: Int32, _ namespace: String) -> Bool {
        guard binding >= 0 else { return namespace.isEmpty }
        let binding = bindings[Int(binding)]
        return equals(binding.uriStart, binding.uriEnd, namespace)
    }
}
