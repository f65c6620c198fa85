/// Handle to one element of an ``XMLTree``: two words, which keep the tree alive.
public struct XMLElement: Sendable {
    /// Tree that the element belongs to.
    public let tree: XMLTree
    @usableFromInline let index: Int32

    @inlinable
    init(tree: XMLTree, index: Int32) {
        self.tree = tree
        self.index = index
    }

    @inlinable
    var node: UnsafeMutablePointer<XMLTree.Node> { tree.storage.pointee.nodes + Int(index) }

    /// Whether this element has the given expanded name.
    @inlinable
    public func `is`(_ name: XMLName) -> Bool {
        let own = node.pointee.name
        return own == name.id || (own == XMLTree.unknownName && matchesSlowly(name))
    }

    /// Compares by text, for a name registered after the document was parsed.
    @usableFromInline
    func matchesSlowly(_ name: XMLName) -> Bool {
        localNameEquals(name.localName) && namespace == name.namespace.uri
    }

    /// Whether the element is in the given namespace.
    public func isIn(_ namespace: XMLNamespace) -> Bool {
        let binding = node.pointee.binding
        guard binding >= 0 else { return namespace.id == 0 }
        let known = tree.bindings[Int(binding)].namespace
        return known == namespace.id || (known == XMLTree.unknownName && self.namespace == namespace.uri)
    }

    /// Namespace name; empty for none.
    public var namespace: String { tree.namespace(ofBinding: node.pointee.binding) }

    /// Local name, without prefix.
    public var localName: String {
        let range = localNameRange
        return tree.string(range.start, range.end)
    }

    /// Whether the local name has exactly these characters; creates no String.
    public func localNameEquals(_ text: String) -> Bool {
        let range = localNameRange
        return tree.equals(range.start, range.end, text)
    }

    var localNameRange: (start: UInt32, end: UInt32) {
        let node = node.pointee
        let start = node.start + 1 + (node.prefixLength > 0 ? UInt32(node.prefixLength) + 1 : 0)
        return (start, start + UInt32(node.localLength))
    }

    /// The parent element; nil for the root.
    public var parent: XMLElement? {
        let parent = node.pointee.parent
        return parent < 0 ? nil : XMLElement(tree: tree, index: parent)
    }

    // MARK: children

    /// The child elements in document order.
    @inlinable
    public var children: XMLChildren { XMLChildren(tree: tree, first: node.pointee.firstChild) }

    /// First child element with that name; nil when there is none.
    public func first(_ name: XMLName) -> XMLElement? {
        for child in children where child.is(name) { return child }
        return nil
    }

    /// Child elements with that name, in document order.
    public func all(_ name: XMLName) -> [XMLElement] { children.filter { $0.is(name) } }

    /// Whether there are no child elements.
    public var isLeaf: Bool {
        var children = children.makeIterator()
        return children.next() == nil
    }

    // MARK: text

    /// Text of the element without that of its children: pieces joined, white space as written.
    public var text: String { withText { String(decoding: $0, as: UTF8.self) } }

    /// ``text`` without white space at both ends.
    public var trimmedText: String { withTrimmedText { String(decoding: $0, as: UTF8.self) } }

    /// Whether the text without white space at both ends equals this.
    public func textEquals(_ text: StaticString) -> Bool {
        withTrimmedText { own in
            own.count == text.utf8CodeUnitCount
                && own.baseAddress.map { XMLBytes.equal($0, text.utf8Start, own.count) } ?? true
        }
    }

    /// Calls `body` with the bytes of ``text``, valid only during the call.
    public func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(tree) {
            var only: (UInt32, UInt32)?
            var next = node.pointee.firstChild
            while next >= 0 {
                let child = tree.nodes[Int(next)]
                next = child.next
                guard child.name == XMLTree.textNode else { continue }
                guard only == nil else { return try joined().withUnsafeBufferPointer(body) }
                only = (child.start, child.end)
            }
            guard let only else { return try body(UnsafeBufferPointer(start: tree.buffer, count: 0)) }
            return try body(tree.bytes(only.0, only.1))
        }
    }

    /// Same as ``withText(_:)``, without white space at both ends.
    public func withTrimmedText<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try withText { try body(XMLBytes.trim($0)) }
    }

    private func joined() -> [UInt8] {
        var result: [UInt8] = []
        var next = node.pointee.firstChild
        while next >= 0 {
            let child = tree.nodes[Int(next)]
            next = child.next
            if child.name == XMLTree.textNode { result.append(contentsOf: tree.bytes(child.start, child.end)) }
        }
        return result
    }

    // MARK: source

    /// Position of the element's start tag in the document.
    public var position: XMLPosition { tree.position(atOffset: Int(node.pointee.start)) }

    /// Bytes of the element in the document, including its tags.
    public var sourceBytes: [UInt8] { Array(tree.bytes(node.pointee.start, node.pointee.end)) }
}

/// The child elements of an element, in document order.
public struct XMLChildren: Sequence, Sendable {
    @usableFromInline let tree: XMLTree
    @usableFromInline let first: Int32

    @inlinable
    init(tree: XMLTree, first: Int32) {
        self.tree = tree
        self.first = first
    }

    /// Iterator over child elements; texts are skipped.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let tree: XMLTree
        @usableFromInline var upcoming: Int32

        @inlinable
        init(tree: XMLTree, upcoming: Int32) {
            self.tree = tree
            self.upcoming = upcoming
        }

        /// Next child element; nil at the end.
        @inlinable
        public mutating func next() -> XMLElement? {
            while upcoming >= 0 {
                let index = upcoming
                let node = tree.storage.pointee.nodes + Int(index)
                upcoming = node.pointee.next
                if node.pointee.name != XMLTree.textNode { return XMLElement(tree: tree, index: index) }
            }
            return nil
        }
    }

    /// Iterator that starts at the first child element.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(tree: tree, upcoming: first) }
}

extension XMLTree {
    func namespace(ofBinding binding: Int32) -> String {
        guard binding >= 0 else { return "" }
        let binding = bindings[Int(binding)]
        return string(binding.uriStart, binding.uriEnd)
    }

    func equals(_ start: UInt32, _ end: UInt32, _ text: String) -> Bool {
        var text = text
        return text.withUTF8 { $0.count == Int(end - start) && XMLBytes.equal(buffer + Int(start), $0.baseAddress, $0.count) }
    }
}
