/// Attribute of an element, copied out of the tree; namespace declarations are not attributes.
public struct XMLAttribute: Hashable, Sendable {
    /// Namespace name; empty for unqualified attributes.
    public var namespace: String
    /// Prefix as written; empty for none.
    public var prefix: String
    /// Local name, without prefix.
    public var localName: String
    /// Value with references decoded and white space normalised (XML 1.0 3.3.3).
    public var value: String

    /// Creates an attribute; by default unqualified.
    public init(namespace: String = "", prefix: String = "", localName: String, value: String) {
        self.namespace = namespace
        self.prefix = prefix
        self.localName = localName
        self.value = value
    }
}

extension XMLElement {
    /// Value of an unqualified attribute; nil when absent.
    public func attribute(_ localName: StaticString) -> String? {
        guard let found = find(localName) else { return nil }
        return tree.string(found.valueStart, found.valueEnd)
    }

    /// Value of the attribute with that expanded name; nil when absent.
    public func attribute(_ name: XMLName) -> String? {
        guard let found = find(name) else { return nil }
        return tree.string(found.valueStart, found.valueEnd)
    }

    /// Whether an unqualified attribute is present and has this value, white space at both ends ignored.
    public func attribute(_ localName: StaticString, equals value: StaticString) -> Bool {
        withAttribute(localName) { own in
            own.count == value.utf8CodeUnitCount && (own.baseAddress.map { XMLBytes.equal($0, value.utf8Start, own.count) } ?? true)
        } ?? false
    }

    /// Calls `body` with the trimmed bytes of an unqualified attribute, valid only during the call; nil when absent.
    public func withAttribute<Result>(
        _ localName: StaticString, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        guard let found = find(localName) else { return nil }
        return try withExtendedLifetime(tree) { try body(XMLBytes.trim(tree.bytes(found.valueStart, found.valueEnd))) }
    }

    /// Longest accepted `xml:lang` in octets: RFC 5646 4.4.1 allows a bound, and many elements inherit one value.
    static let maximumLanguageLength = 255

    /// Language by `xml:lang` of this element or the nearest ancestor with one (XML 1.0 2.12); nil when absent, empty or over 255
    /// octets.
    public var language: String? {
        var element: XMLElement? = self
        while let current = element {
            if current.node.pointee.attributeCount > 0, let found = current.find(.lang) {
                let length = Int(found.valueEnd - found.valueStart)
                return (1...Self.maximumLanguageLength).contains(length) ? current.tree.string(found.valueStart, found.valueEnd) : nil
            }
            element = current.parent
        }
        return nil
    }

    /// Number of attributes, without namespace declarations.
    public var attributeCount: Int { Int(node.pointee.attributeCount) }

    /// Attributes in document order, without namespace declarations.
    public var attributes: [XMLAttribute] {
        let first = Int(node.pointee.attributes)
        return (first..<first + attributeCount).map { index in
            let attribute = tree.attributes[index]
            let start = attribute.nameStart
            let localStart = start + (attribute.prefixLength > 0 ? UInt32(attribute.prefixLength) + 1 : 0)
            return XMLAttribute(
                namespace: tree.namespace(ofBinding: attribute.binding), prefix: tree.string(start, start + UInt32(attribute.prefixLength)),
                localName: tree.string(localStart, localStart + UInt32(attribute.localLength)),
                value: tree.string(attribute.valueStart, attribute.valueEnd))
        }
    }

    private func find(_ localName: StaticString) -> XMLTree.Attribute? {
        let node = node.pointee
        var index = Int(node.attributes)
        let end = index + Int(node.attributeCount)
        let count = localName.utf8CodeUnitCount
        while index < end {
            let attribute = tree.attributes + index
            if attribute.pointee.prefixLength == 0, Int(attribute.pointee.localLength) == count,
                XMLBytes.equal(tree.buffer + Int(attribute.pointee.nameStart), localName.utf8Start, count)
            {
                return attribute.pointee
            }
            index += 1
        }
        return nil
    }

    private func find(_ name: XMLName) -> XMLTree.Attribute? {
        let node = node.pointee
        var index = Int(node.attributes)
        let end = index + Int(node.attributeCount)
        while index < end {
            let attribute = tree.attributes[index]
            if attribute.name == name.id { return attribute }
            if attribute.name == XMLTree.unknownName {
                let start = attribute.nameStart + (attribute.prefixLength > 0 ? UInt32(attribute.prefixLength) + 1 : 0)
                if tree.equals(start, start + UInt32(attribute.localLength), name.localName),
                    tree.namespace(ofBinding: attribute.binding) == name.namespace.uri
                {
                    return attribute
                }
            }
            index += 1
        }
        return nil
    }
}

extension XMLElement {
    /// Attributes except the unqualified ones named, in document order; creates no String when only those are present.
    public func attributes(besides known: [StaticString]) -> [XMLAttribute] {
        guard attributeCount > 0 else { return [] }
        let first = Int(node.pointee.attributes)
        var hasOthers = false
        for index in first..<first + attributeCount {
            let attribute = tree.attributes[index]
            let isKnown =
                attribute.prefixLength == 0
                && known.contains { name in
                    name.utf8CodeUnitCount == Int(attribute.localLength)
                        && XMLBytes.equal(tree.buffer + Int(attribute.nameStart), name.utf8Start, name.utf8CodeUnitCount)
                }
            if !isKnown {
                hasOthers = true
                break
            }
        }
        guard hasOthers else { return [] }
        return attributes.filter { attribute in
            !(attribute.namespace.isEmpty && known.contains { attribute.localName == String(describing: $0) })
        }
    }
}
