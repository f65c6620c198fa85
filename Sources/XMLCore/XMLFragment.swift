/// Element cut out of a document and independent of it: the form in which unknown extensions and passed-through bodies are kept.
public struct XMLFragment: Hashable, Sendable {
    /// Namespace declaration.
    public struct Declaration: Hashable, Sendable {
        /// Declared prefix; empty for the default namespace.
        public var prefix: String
        /// Namespace name; empty for `xmlns=""`.
        public var uri: String

        /// Creates a declaration; the prefix is not checked.
        public init(prefix: String, uri: String) {
            self.prefix = prefix
            self.uri = uri
        }
    }

    /// Element as in its document, byte for byte.
    public let source: [UInt8]
    /// Outer declarations that the source relies on; empty when it stands alone.
    public let inherited: [Declaration]
    /// Namespace name of the element; empty for none.
    public let namespace: String
    /// Local name of the element, without prefix.
    public let localName: String
    /// Offset of the end of the root name in the source, at which declarations can be inserted.
    let nameEnd: Int

    /// Element as a document of its own: ``source`` with the ``inherited`` declarations in its first tag.
    public var bytes: [UInt8] { bytes(adding: inherited) }

    func bytes(adding declarations: [Declaration]) -> [UInt8] {
        guard !declarations.isEmpty else { return source }
        var result: [UInt8] = []
        result.reserveCapacity(source.count + declarations.count * 64)
        result.append(contentsOf: source[..<nameEnd])
        for declaration in declarations { XMLWriter.append(declaration, to: &result) }
        result.append(contentsOf: source[nameEnd...])
        return result
    }

    /// Parses bytes that hold one element, such as a literal in code.
    ///
    /// - Throws: ``XMLError`` when they are not a well-formed document within the limits.
    public init(parsing bytes: [UInt8], limits: XMLLimits = .standard) throws(XMLError) {
        self = try XMLTree.parse(bytes, limits: limits).root.fragment()
    }

    init(source: [UInt8], inherited: [Declaration], namespace: String, localName: String, nameEnd: Int) {
        self.source = source
        self.inherited = inherited
        self.namespace = namespace
        self.localName = localName
        self.nameEnd = nameEnd
    }

    /// Whether the element has the given expanded name.
    public func `is`(_ name: XMLName) -> Bool { localName == name.localName && namespace == name.namespace.uri }

    /// Parses the fragment to inspect it; throws ``XMLError`` when it exceeds the standard limits.
    public func parsed() throws(XMLError) -> XMLElement { try XMLTree.parse(bytes).root }
}

extension XMLElement {
    /// Copies this element so that it does not depend on the document.
    public func fragment() -> XMLFragment {
        let node = node.pointee
        let nameLength = Int(node.localLength) + (node.prefixLength > 0 ? Int(node.prefixLength) + 1 : 0)
        return XMLFragment(
            source: sourceBytes, inherited: inheritedDeclarations(), namespace: namespace, localName: localName, nameEnd: 1 + nameLength)
    }

    /// Namespace bound to a prefix in this element, empty prefix for the default; nil when the prefix is not declared.
    public func namespace(ofPrefix prefix: String) -> String? {
        if prefix == "xml" { return XMLNamespace.xml.uri }
        var element: XMLElement? = self
        while let current = element {
            for binding in current.declarations where tree.equals(binding.prefixStart, binding.prefixStart + binding.prefixLength, prefix) {
                return tree.string(binding.uriStart, binding.uriEnd)
            }
            element = current.parent
        }
        return prefix.isEmpty ? "" : nil
    }

    /// Resolves a QName in content, such as the value of `xsi:type`; nil when its prefix is not declared.
    public func resolve(qualifiedName text: String) -> (namespace: String, localName: String)? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return (namespace(ofPrefix: "") ?? "", text) }
        guard let namespace = namespace(ofPrefix: String(text[..<colon])) else { return nil }
        return (namespace, String(text[text.index(after: colon)...]))
    }

    var declarations: UnsafeBufferPointer<XMLTree.Binding> {
        UnsafeBufferPointer(start: tree.bindings + Int(node.pointee.bindings), count: Int(node.pointee.bindingCount))
    }

    /// Outer declarations that the source of this element relies on: prefixes before a colon, in values too (`xsi:type` holds such
    /// names), and the default namespace if an unprefixed name is not below an inner default.
    private func inheritedDeclarations() -> [XMLFragment.Declaration] {
        var result: [XMLFragment.Declaration] = []
        // Nearest first, so that the first match is in effect.
        var outer: [XMLTree.Binding] = []
        var ancestor = parent
        while let element = ancestor {
            for binding in element.declarations where binding.prefixLength > 0 { outer.append(binding) }
            ancestor = element.parent
        }
        if !outer.isEmpty {
            var needed: [Int] = []
            collectPrefixes(of: outer, into: &needed)
            for index in needed {
                let binding = outer[index]
                if declares(binding) { continue }
                result.append(
                    XMLFragment.Declaration(
                        prefix: tree.string(binding.prefixStart, binding.prefixStart + binding.prefixLength),
                        uri: tree.string(binding.uriStart, binding.uriEnd)))
            }
        }
        if reliesOnOuterDefault() { result.append(XMLFragment.Declaration(prefix: "", uri: parent?.namespace(ofPrefix: "") ?? "")) }
        if result.count > 1 { result.sort { $0.prefix < $1.prefix } }
        return result
    }

    private func declares(_ other: XMLTree.Binding) -> Bool {
        declarations.contains {
            $0.prefixLength == other.prefixLength
                && XMLBytes.equal(tree.buffer + Int($0.prefixStart), tree.buffer + Int(other.prefixStart), Int(other.prefixLength))
        }
    }

    /// Collects the bindings of all names before a colon in the source, in values too.
    private func collectPrefixes(of bindings: [XMLTree.Binding], into needed: inout [Int]) {
        let source = tree.bytes(node.pointee.start, node.pointee.end)
        guard let base = source.baseAddress else { return }
        var index = 1
        while index < source.count {
            defer { index += 1 }
            guard base[index] == UInt8(ascii: ":") else { continue }
            var start = index
            while start > 0, XMLBytes.isName(base[start - 1]) { start -= 1 }
            let length = index - start
            guard length > 0 else { continue }
            for (number, binding) in bindings.enumerated()
            where Int(binding.prefixLength) == length && XMLBytes.equal(tree.buffer + Int(binding.prefixStart), base + start, length) {
                if !needed.contains(number) { needed.append(number) }
                break
            }
        }
    }

    private var declaresDefault: Bool { declarations.contains { $0.prefixLength == 0 } }

    private func reliesOnOuterDefault() -> Bool {
        if declaresDefault { return false }
        if node.pointee.prefixLength == 0 { return true }
        // A value may be an unprefixed QName, which is in the default namespace.
        if attribute(.xsiType)?.utf8.contains(UInt8(ascii: ":")) == false { return true }
        return children.contains { $0.reliesOnOuterDefault() }
    }
}
