import XMLCore

/// PUT and DELETE (RFC 4825 8.2, 8.4). A conflict is found in the resulting document, which is dropped then.
extension XCAPOperation {
    // MARK: documents

    func putDocument() throws(XCAPRefusal) -> XCAPResponse {
        try preconditions(nodeExists: stored != nil)
        if let name = XMLDeclaredEncoding.name(in: request.body), !["UTF-8", "UTF8"].contains(name.uppercased()) {
            throw XCAPRefusal(.notUTF8("RFC 4825 8.2.5: the document is declared as \(name.prefix(60))"))
        }
        let tree = try parse(request.body) { .notWellFormed("\($0)") }
        return try finish(request.body, tree, created: stored == nil)
    }

    func delete() throws(XCAPRefusal) -> XCAPResponse {
        guard let stored else { throw notFound("no such document") }
        guard let node = request.uri.node else {
            try preconditions(nodeExists: true)
            var response = XCAPResponse(200)
            response.change = .remove
            return response
        }
        let tree = try tree(of: stored)
        guard let element = node.element(in: tree.root, namespaces: namespaces) else { throw notFound("the node selector selects nothing") }
        var range = element.sourceRange
        if case .attribute(let name) = node.terminal {
            guard let ranges = ranges(of: name, in: element) else { throw notFound("the element has no such attribute") }
            range = ranges.whole
        }
        try preconditions(nodeExists: true)
        if case .element = node.terminal, element.parent == nil {
            throw XCAPRefusal(.schemaValidation("XML 1.0 2.1: a document without \(element.place) has no document element"))
        }
        let octets = OctetEdit(removing: range).applied(to: stored.octets)
        let after = try parse(octets) { .cannotDelete("\($0)") }
        if selectedRange(by: node, in: after) != nil {
            throw XCAPRefusal(.cannotDelete("RFC 4825 8.4: after the removal the URI would select another node"))
        }
        return try finish(octets, after, created: false)
    }

    // MARK: nodes

    func putNode() throws(XCAPRefusal) -> XCAPResponse {
        guard let node = request.uri.node else { return try putDocument() }
        guard let stored else {
            try preconditions(nodeExists: false)
            throw XCAPRefusal(noParent(steps: nil, "RFC 4825 8.2.1: the document does not exist"))
        }
        let tree = try tree(of: stored)
        let found = node.elements(in: tree.root, namespaces: namespaces)
        let current = found.count == node.steps.count ? found.last : nil
        switch node.terminal {
        case .attribute(let name):
            let ranges = current.flatMap { self.ranges(of: name, in: $0) }
            try preconditions(nodeExists: ranges != nil)
            guard let element = current else { throw XCAPRefusal(missingParent(found.count)) }
            return try put(name, ranges, of: element, in: stored)
        case .element:
            try preconditions(nodeExists: current != nil)
            guard found.count >= node.steps.count - 1 else { throw XCAPRefusal(missingParent(found.count)) }
            return try put(node, current: current, parent: found.dropLast(current == nil ? 0 : 1).last, tree, in: stored)
        case .namespaceBindings:
            throw notFound("namespace bindings are not put")
        }
    }

    private func missingParent(_ found: Int) -> XCAPConflict {
        noParent(steps: found, "RFC 4825 8.2.1: step \(found + 1) of the node selector selects no element, or several")
    }

    private func put(
        _ node: NodeSelector, current: XMLElement?, parent: XMLElement?, _ tree: XMLTree, in stored: StoredDocument
    ) throws(XCAPRefusal) -> XCAPResponse {
        let body = try fragment()
        let edit: OctetEdit
        if let current {
            edit = OctetEdit(replacing: current, with: body)
        } else {
            edit = try insertion(of: body, by: node, below: parent, tree)
        }
        let octets = try grown(edit.applied(to: stored.octets))
        let after = try parse(octets) { error in
            let offset = error.position.offset - edit.nodeRange.lowerBound
            let place = (0...body.count).contains(offset) ? "at octet \(offset) of the content: " : "the content is not balanced: "
            return .notXMLFragment("RFC 4825 8.2.2: \(place)\(error.message)")
        }
        guard selectedRange(by: node, in: after) == edit.nodeRange else {
            throw XCAPRefusal(
                Self.isElement(edit.nodeRange, in: after.root)
                    ? .cannotInsert("RFC 4825 8.2.3: a GET of the URI would not select the element that was put")
                    : .notXMLFragment("RFC 4825 8.2.2: the content is not exactly one element"))
        }
        return try finish(octets, after, created: current == nil)
    }

    /// Place of a new element (RFC 4825 8.2.3): before the element at its position, else after the last sibling of its name, else as the
    /// last child.
    private func insertion(
        of body: [UInt8], by node: NodeSelector, below parent: XMLElement?, _ tree: XMLTree
    ) throws(XCAPRefusal) -> OctetEdit {
        guard let parent, let step = node.steps.last else {
            throw XCAPRefusal(.cannotInsert("XML 1.0 2.1: the document has another document element, \(tree.root.place)"))
        }
        let match = step.match(below: parent, root: tree.root, namespaces: namespaces)
        if match.isAmbiguous {
            throw XCAPRefusal(.cannotInsert("RFC 4825 8.2.3: the last step selects several of the \(match.count) children of its name"))
        }
        if let next = match.atPosition { return OctetEdit(inserting: body, at: next.sourceRange.lowerBound) }
        if let position = step.position, position > match.count + 1 {
            throw XCAPRefusal(
                .cannotInsert("RFC 4825 8.2.3: position \(position) leaves a gap after the \(match.count) elements that are there"))
        }
        if let last = match.last { return OctetEdit(inserting: body, at: last.sourceRange.upperBound) }
        return OctetEdit(appending: body, to: parent)
    }

    private func put(
        _ name: NodeSelector.Name, _ ranges: XMLElement.AttributeRanges?, of element: XMLElement, in stored: StoredDocument
    ) throws(XCAPRefusal) -> XCAPResponse {
        let rule = "RFC 4825 8.2.2"
        let edit =
            ranges.map { OctetEdit(replacing: $0, in: stored.octets, with: request.body) }
            ?? OctetEdit(adding: name, value: request.body, to: element, in: stored.octets)
        guard let edit else { throw XCAPRefusal(.notXMLAttributeValue("\(rule): an attribute value holds only one kind of quotes")) }
        let octets = try grown(edit.applied(to: stored.octets))
        let after = try parse(octets) { .notXMLAttributeValue("\(rule): \($0.message)") }
        guard let node = request.uri.node, selectedRange(by: node, in: after) == edit.nodeRange else {
            throw XCAPRefusal(.cannotInsert("RFC 4825 8.2.3: a GET of the URI would not select the attribute that was put"))
        }
        return try finish(octets, after, created: ranges == nil)
    }

    // MARK: steps of a change

    /// Content without white space at its ends; throws `not-xml-frag` where it does not begin with a start tag.
    private func fragment() throws(XCAPRefusal) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        let body = Array(request.body.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
        guard body.count > 3, body[0] == UInt8(ascii: "<"), XMLNameSyntax.isStart(body[1]) else {
            throw XCAPRefusal(.notXMLFragment("RFC 4825 8.2.2: the content does not begin with a start tag"))
        }
        return body
    }

    private func grown(_ octets: [UInt8]) throws(XCAPRefusal) -> [UInt8] {
        guard octets.count <= limits.document.bytes else {
            throw tooLarge("the document would have more than the \(limits.document.bytes) octets allowed")
        }
        return octets
    }

    private func parse(_ octets: [UInt8], _ conflict: (XMLError) -> XCAPConflict) throws(XCAPRefusal) -> XMLTree {
        do throws(XMLError) { return try parser.parse(octets) } catch {
            switch error.code {
            case .limit: throw tooLarge(error.description)
            case .encoding: throw XCAPRefusal(.notUTF8("RFC 4825 8.2.5: \(error)"))
            default: throw XCAPRefusal(conflict(error))
            }
        }
    }

    /// Range of the node that a selector selects; of an attribute its value.
    private func selectedRange(by node: NodeSelector, in tree: XMLTree) -> Range<Int>? {
        guard let element = node.element(in: tree.root, namespaces: namespaces) else { return nil }
        if case .attribute(let name) = node.terminal { return ranges(of: name, in: element)?.value }
        return element.sourceRange
    }

    /// Whether one element has exactly that range.
    private static func isElement(_ range: Range<Int>, in root: XMLElement) -> Bool {
        var current: XMLElement? = root
        while let element = current {
            if element.sourceRange == range { return true }
            current = element.children.first {
                $0.sourceRange.lowerBound <= range.lowerBound && $0.sourceRange.upperBound >= range.upperBound
            }
        }
        return false
    }

    /// Validates the resulting document and makes the response; equal octets change nothing and keep the entity-tag.
    private func finish(_ octets: [UInt8], _ tree: XMLTree, created: Bool) throws(XCAPRefusal) -> XCAPResponse {
        do throws(XCAPConflict) { try usage.validate(tree.root, context) } catch { throw XCAPRefusal(error) }
        if let stored, stored.octets == octets { return XCAPResponse(200, tag: stored.tag) }
        let tag = EntityTag(of: octets, at: request.uri.document, after: stored?.tag)
        var response = XCAPResponse(created ? 201 : 200, tag: tag)
        response.change = .store(StoredDocument(octets: octets, tag: tag))
        return response
    }
}
