/// Application of one operation to the node that it selects (RFC 5261 4.3 to 4.5).
extension XMLPatch.Operation {
    func apply(to node: XMLSelector.Node, search: inout XMLSelector.Search, depthLimit: Int) throws(XMLPatchError) {
        switch change {
        case .add(let place):
            try add(at: place, of: node, depthLimit: depthLimit)
        case .replace:
            try replace(node, search: &search, depthLimit: depthLimit)
        case .remove(let before, let after):
            try remove(node, spaceBefore: before, spaceAfter: after)
        }
    }

    // MARK: add

    private func add(at place: XMLPatch.Place, of node: XMLSelector.Node, depthLimit: Int) throws(XMLPatchError) {
        switch place {
        case .attribute(var attribute):
            let element = try element(node).element
            let isThere = element.attributes.contains { $0.namespace == attribute.namespace && $0.localName == attribute.localName }
            guard !isThere else { throw error(.invalidAttributeValue, "RFC 5261 4.3.2: the attribute is there already") }
            attribute.value = try text()
            guard attribute.localName.utf8.allSatisfy({ XMLBytes.isName($0) }) else {
                throw error(.invalidAttributeValue, "RFC 5261 4.3.2: 'type' is not the name of an attribute")
            }
            element.attributes.append(attribute)
        case .declaration(let prefix):
            let element = try element(node).element
            guard prefix.utf8.allSatisfy({ XMLBytes.isName($0) }), !element.declarations.contains(where: { $0.prefix == prefix }) else {
                throw error(.invalidNamespacePrefix, "RFC 5261 4.3.3: the prefix is declared already, or is none")
            }
            element.declarations.append(XMLFragment.Declaration(prefix: prefix, uri: try namespaceName()))
        case .first:
            let place = try element(node)
            place.element.insert(try content(below: place.depth, limit: depthLimit), at: 0)
        case .last:
            let place = try element(node)
            place.element.insert(try content(below: place.depth, limit: depthLimit), at: place.element.children.count)
        case .before, .after:
            try addSibling(of: node, isAfter: { if case .after = place { true } else { false } }(), depthLimit: depthLimit)
        }
    }

    private func addSibling(of node: XMLSelector.Node, isAfter: Bool, depthLimit: Int) throws(XMLPatchError) {
        let parent: XMLDraft
        let index: Int
        let depth: Int
        switch node {
        case .element(let place):
            guard let above = place.parent else {
                if !source.isLeaf { throw error(.invalidRootElementOperation, "RFC 5261 4.3: the root element has no sibling") }
                guard source.trimmedText.isEmpty else {
                    throw error(.invalidXMLPrologOperation, "RFC 5261 4.3: no text stands beside the root")
                }
                return
            }
            (parent, index, depth) = (above, place.index, place.depth - 1)
        case .text(let place, let child):
            (parent, index, depth) = (place.element, child, place.depth)
        case .unkept:
            throw error(.unlocatedNode, "RFC 5261 4.3: comments and processing instructions are not kept")
        case .attribute, .declaration:
            throw error(.invalidAttributeValue, "RFC 5261 4.3: nothing stands before or after an attribute")
        }
        parent.insert(try content(below: depth, limit: depthLimit), at: isAfter ? index + 1 : index)
    }

    // MARK: replace

    private func replace(_ node: XMLSelector.Node, search: inout XMLSelector.Search, depthLimit: Int) throws(XMLPatchError) {
        switch node {
        case .element(let place):
            let new = try content(below: place.depth - 1, limit: depthLimit).filter { child in
                if case .text(let text) = child { !text.utf8.allSatisfy { XMLBytes.isSpace($0) } } else { true }
            }
            guard new.count == 1, case .element(let element) = new[0] else {
                throw error(.invalidNodeTypes, "RFC 5261 4.4.1: an element is replaced by exactly one element")
            }
            if let parent = place.parent { parent.children[place.index] = .element(element) } else { search.root = element }
        case .text(let place, let index):
            let value = try text()
            if value.isEmpty { place.element.remove(at: index) } else { place.element.children[index] = .text(value) }
        case .attribute(let place, let index):
            place.element.attributes[index].value = try text()
        case .declaration(let place, let index):
            place.element.declarations[index].uri = try namespaceName()
        case .unkept:
            break
        }
    }

    // MARK: remove

    private func remove(_ node: XMLSelector.Node, spaceBefore: Bool, spaceAfter: Bool) throws(XMLPatchError) {
        switch node {
        case .element(let place):
            guard let parent = place.parent else {
                throw error(.invalidRootElementOperation, "RFC 5261 4.5.1: the root element cannot be removed")
            }
            func isSpace(_ index: Int) -> Bool {
                guard parent.children.indices.contains(index), case .text(let text) = parent.children[index] else { return false }
                return text.utf8.allSatisfy { XMLBytes.isSpace($0) }
            }
            guard !spaceBefore || isSpace(place.index - 1), !spaceAfter || isSpace(place.index + 1) else {
                throw error(.invalidWhitespaceDirective, "RFC 5261 4.5: there is no white space where 'ws' says")
            }
            if spaceAfter { parent.children.remove(at: place.index + 1) }
            if spaceBefore { parent.children.remove(at: place.index - 1) }
            parent.remove(at: spaceBefore ? place.index - 1 : place.index)
        case .unkept:
            break
        case .text, .attribute, .declaration:
            guard !spaceBefore, !spaceAfter else {
                throw error(.invalidWhitespaceDirective, "RFC 5261 4.5: 'ws' is for elements, comments and processing instructions")
            }
            switch node {
            case .text(let place, let index): place.element.remove(at: index)
            case .attribute(let place, let index): place.element.attributes.remove(at: index)
            case .declaration(let place, let index): place.element.declarations.remove(at: index)
            case .element, .unkept: break
            }
        }
    }

    // MARK: inserted content

    private func element(_ node: XMLSelector.Node) throws(XMLPatchError) -> XMLSelector.Place {
        if case .element(let place) = node { return place }
        throw error(.invalidAttributeValue, "RFC 5261 4.3: 'sel' does not select an element")
    }

    /// Returns the content of the operation for insertion below an element of that depth; throws `limit` when it nests too deep.
    private func content(below depth: Int, limit: Int) throws(XMLPatchError) -> [XMLDraft.Child] {
        let content = XMLDraft.children(of: source, standAlone: true)
        for child in content {
            guard case .element(let element) = child, depth + element.height > limit else { continue }
            throw error(.limit, "elements are nested deeper than the \(limit) allowed")
        }
        return content
    }

    private func text() throws(XMLPatchError) -> String {
        guard source.isLeaf else { throw error(.invalidNodeTypes, "RFC 5261 4.4: a text or a value is replaced by text") }
        return source.text
    }

    private func namespaceName() throws(XMLPatchError) -> String {
        let name = try text()
        guard !name.isEmpty else { throw error(.invalidNamespaceURI, "RFC 5261 4.3.3: the name of a namespace is empty") }
        return name
    }
}
