/// Mutable element of a document that is being patched; with its descendants it belongs to one application of an ``XMLPatch``.
///
/// Elements and attributes are identified by expanded names; prefixes are preferences, which ``write(to:)`` keeps where possible.
/// Adjacent texts are joined (XPath 1.0 5.7). Comments and processing instructions are not kept.
final class XMLDraft {
    enum Child {
        case element(XMLDraft)
        case text(String)
    }

    var namespace: String
    var prefix: String
    var localName: String
    var declarations: [XMLFragment.Declaration]
    var attributes: [XMLAttribute]
    var children: [Child] = []

    /// Copies a parsed element.
    /// - Parameter standsAlone: Whether to add the outer declarations that it relies on, in values too.
    init(_ element: XMLElement, standsAlone: Bool) {
        namespace = element.namespace
        prefix = element.prefix
        localName = element.localName
        attributes = element.attributes
        declarations = element.ownDeclarations
        if standsAlone { declarations += element.fragment().inherited }
        children = Self.children(of: element, standAlone: false)
    }

    /// Returns the child elements and texts of an element.
    static func children(of element: XMLElement, standAlone: Bool) -> [Child] {
        var result: [Child] = []
        var next = element.node.pointee.firstChild
        while next >= 0 {
            let node = element.tree.nodes[Int(next)]
            if node.name == XMLTree.textNode {
                append(.text(element.tree.string(node.start, node.end)), to: &result)
            } else {
                result.append(.element(XMLDraft(XMLElement(tree: element.tree, index: next), standsAlone: standAlone)))
            }
            next = node.next
        }
        return result
    }

    private static func append(_ child: Child, to children: inout [Child]) {
        guard case .text(let text) = child else {
            children.append(child)
            return
        }
        if text.isEmpty { return }
        if case .text(let before)? = children.last {
            children[children.count - 1] = .text(before + text)
        } else {
            children.append(child)
        }
    }

    /// Inserts content and joins adjacent texts.
    func insert(_ content: [Child], at index: Int) {
        children.insert(contentsOf: content, at: index)
        joinTexts(around: index + content.count)
        if !content.isEmpty { joinTexts(around: index) }
    }

    @discardableResult
    func remove(at index: Int) -> Child {
        let child = children.remove(at: index)
        joinTexts(around: index)
        return child
    }

    /// Joins the text at an index with the one before it. Only these two can have become adjacent; a scan of all children for each
    /// operation would make a patch quadratic.
    private func joinTexts(around index: Int) {
        guard index > 0, index < children.count, case .text(let before) = children[index - 1], case .text(let after) = children[index]
        else { return }
        children[index - 1] = .text(before + after)
        children.remove(at: index)
    }

    /// Levels of nested elements, this one included.
    var height: Int {
        children.reduce(1) { height, child in
            if case .element(let element) = child { max(height, element.height + 1) } else { height }
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start(localName, prefix: prefix, namespace: namespace, declaring: declarations)
        for attribute in attributes { writer.attribute(attribute) }
        for child in children {
            switch child {
            case .element(let element): element.write(to: &writer)
            case .text(let text): writer.text(text)
            }
        }
        writer.end()
    }

    func encoded() -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        write(to: &writer)
        return writer.finish()
    }
}

extension XMLElement {
    /// Prefix as written; empty for none.
    var prefix: String {
        let node = node.pointee
        return tree.string(node.start + 1, node.start + 1 + UInt32(node.prefixLength))
    }

    /// Namespace declarations on this element itself.
    public var ownDeclarations: [XMLFragment.Declaration] {
        declarations.map { binding in
            XMLFragment.Declaration(
                prefix: tree.string(binding.prefixStart, binding.prefixStart + binding.prefixLength),
                uri: tree.string(binding.uriStart, binding.uriEnd))
        }
    }

    /// Encodes this root element as a document under another name, without prefix; texts and declarations are kept as parsed.
    /// - Parameter attributes: Local names of unqualified attributes to omit.
    public func document(as name: XMLName, without attributes: [String]) -> [UInt8] {
        let draft = XMLDraft(self, standsAlone: false)
        draft.localName = name.localName
        draft.namespace = name.namespace.uri
        draft.prefix = ""
        draft.attributes.removeAll { $0.namespace.isEmpty && attributes.contains($0.localName) }
        return draft.encoded()
    }
}
