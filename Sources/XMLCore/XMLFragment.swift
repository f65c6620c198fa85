/// One element cut out of a document, self-contained and independent of it: how unknown extensions and pass-through bodies are kept.
public struct XMLFragment: Hashable, Sendable {
    /// A namespace declaration; the prefix is empty for the default namespace, the URI is empty for `xmlns=""`.
    public struct Declaration: Hashable, Sendable {
        public var prefix: String
        public var uri: String

        public init(prefix: String, uri: String) {
            self.prefix = prefix
            self.uri = uri
        }
    }

    /// The element as it stood in its document, byte for byte.
    public let source: [UInt8]
    /// Declarations of outer elements that the source relies on; empty when it stands on its own.
    public let inherited: [Declaration]
    /// The namespace name of the element, empty for none.
    public let namespace: String
    public let localName: String
    /// Where the source's root name ends, that is where declarations may be put.
    let nameEnd: Int

    /// The element as a document of its own: ``source`` with the ``inherited`` declarations added to its first tag.
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

    /// Parses bytes that are one element, for instance a literal in code.
    ///
    /// - Throws: ``XMLError`` when they are not a well-formed document.
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

    /// Parses the fragment again, to look into it.
    public func parsed() throws(XMLError) -> XMLElement { try XMLTree.parse(bytes).root }
}

extension XMLElement {
    /// A copy of this element that outlives the document.
    public func fragment() -> XMLFragment {
        let node = node.pointee
        let nameLength = Int(node.localLength) + (node.prefixLength > 0 ? Int(node.prefixLength) + 1 : 0)
        return XMLFragment(
            source: sourceBytes, inherited: inheritedDeclarations(), namespace: namespace, localName: localName, nameEnd: 1 + nameLength)
    }

    /// The namespace that a prefix means here, empty prefix for the default; nil when it is not declared.
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

    /// A QName in content, such as the value of `xsi:type`, as namespace and local name; nil when its prefix is not declared.
    public func resolve(qualifiedName text: String) -> (namespace: String, localName: String)? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return (namespace(ofPrefix: "") ?? "", text) }
        guard let namespace = namespace(ofPrefix: String(text[..<colon])) else { return nil }
        return (namespace, String(text[text.index(after: colon)...]))
    }

    var declarations: UnsafeBufferPointer<XMLTree.Binding> {
        UnsafeBufferPointer(start: tree.bindings + Int(node.pointee.bindings), count: Int(node.pointee.bindingCount))
    }

    /// Outer declarations that this element's source relies on: prefixes that occur in it before a colon, also in values
    /// (`xsi:type` holds such names), and the default namespace where a name without prefix is not under an inner default.
    private func inheritedDeclarations() -> [XMLFragment.Declaration] {
        var result: [XMLFragment.Declaration] = []
        // Nearest first, so that the first match is the one that holds.
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

    /// Looks at every name that stands before a colon in the source, also in values, and notes which of the bindings it means.
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
        // A value may be a QName without prefix, which means the default namespace.
        if attribute(.xsiType)?.utf8.contains(UInt8(ascii: ":")) == false { return true }
        return children.contains { $0.reliesOnOuterDefault() }
    }
}
