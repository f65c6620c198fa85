import XMLCore

/// Structural validator of one document. Time is linear in the document; its depth is bounded by the parser.
struct SchemaValidator {
    private let schema: DocumentSchema
    private var identifiers: Set<String> = []

    /// Validates a document element; throws `schema-validation-error` with path, position and rule.
    static func validate(_ root: XMLElement, by schema: DocumentSchema) throws(XCAPConflict) {
        guard root.is(schema.root) else {
            throw .schemaValidation(
                "\(schema.rule): the document element is \(schema.root.localName) of \(schema.root.namespace.uri), not \(root.place)")
        }
        var validator = SchemaValidator(schema: schema)
        try validator.element(root, validator.rule(for: root, in: schema.elements))
    }

    private init(schema: DocumentSchema) {
        self.schema = schema
    }

    private func rule(for element: XMLElement, in rules: [XMLName: SchemaElement]) -> SchemaElement? {
        for (name, rule) in rules where element.is(name) { return rule }
        return nil
    }

    private mutating func element(_ element: XMLElement, _ rule: SchemaElement?) throws(XCAPConflict) {
        guard let rule else { return }
        try attributes(of: element, rule)
        switch rule.content {
        case .empty:
            guard element.isLeaf, element.trimmedText.isEmpty else { throw flaw(element, "has content, but is an empty element") }
        case .text(let type):
            guard element.isLeaf else { throw flaw(element, "has child elements, but holds a text") }
            let text = type == .string ? element.text : element.trimmedText
            if let flaw = type.flaw(in: text) { throw self.flaw(element, "holds '\(text.prefix(60))', which \(flaw)") }
        case .children(let particle):
            guard element.trimmedText.isEmpty else { throw flaw(element, "holds text beside its child elements") }
            try children(of: element, particle)
        }
    }

    // MARK: attributes

    private mutating func attributes(of element: XMLElement, _ rule: SchemaElement) throws(XCAPConflict) {
        let attributes = element.attributes
        for attribute in attributes {
            if attribute.namespace.isEmpty {
                guard let declared = rule.attributes.first(where: { $0.name == attribute.localName }) else {
                    throw flaw(element, "has the attribute \(attribute.localName), which is not allowed")
                }
                let value = declared.type == .string ? attribute.value : Self.trim(attribute.value)
                if let flaw = declared.type.flaw(in: value) {
                    throw self.flaw(element, "has \(declared.name)=\"\(value.prefix(60))\", which \(flaw)")
                }
                if declared.type == .identifier, !identifiers.insert(value).inserted {
                    throw flaw(
                        element, "has the \(declared.name) '\(value.prefix(60))' of another element; an ID is unique in the document")
                }
            } else if attribute.namespace == XMLNamespace.xml.uri, attribute.localName == "lang" {
                guard rule.allowsLanguage || rule.allowsOtherAttributes else { throw flaw(element, "has xml:lang, which is not allowed") }
            } else if !rule.allowsOtherAttributes, attribute.namespace != XMLNamespace.xsi.uri {
                throw flaw(element, "has an attribute of the namespace \(attribute.namespace.prefix(120)), which is not allowed")
            }
        }
        for declared in rule.attributes where declared.isRequired {
            guard attributes.contains(where: { $0.namespace.isEmpty && $0.localName == declared.name }) else {
                throw flaw(element, "needs the attribute \(declared.name)")
            }
        }
    }

    private static func trim(_ text: String) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    // MARK: children

    private mutating func children(of parent: XMLElement, _ particle: SchemaParticle) throws(XCAPConflict) {
        let children = Array(parent.children)
        var index = 0
        let isComplete = try match(particle, children, &index)
        if index < children.count {
            throw flaw(children[index], "is not allowed here")
        }
        guard isComplete else { throw flaw(parent, "is incomplete: \(Self.first(of: particle)) is missing") }
    }

    /// Takes as many children as the particle does, and validates them; false when a required one is missing.
    private mutating func match(
        _ particle: SchemaParticle, _ children: [XMLElement], _ index: inout Int
    ) throws(XCAPConflict) -> Bool {
        switch particle {
        case .element(let name):
            guard index < children.count, children[index].is(name) else { return false }
            try element(children[index], schema.elements[name] ?? schema.extensions[name])
            index += 1
            return true
        case .other(let own):
            guard index < children.count, try other(children[index], than: own) else { return false }
            index += 1
            return true
        case .sequence(let particles):
            for particle in particles {
                guard try match(particle, children, &index) else { return false }
            }
            return true
        case .choice(let particles):
            for particle in particles {
                let start = index
                if try match(particle, children, &index) { return true }
                if index > start { return false }
            }
            return false
        case .repeated(let inner, let range):
            var count = 0
            while count < range.upperBound {
                let start = index
                guard try match(inner, children, &index) else {
                    if index > start { return false }
                    break
                }
                if index == start { break }
                count += 1
            }
            return count >= range.lowerBound
        }
    }

    /// Whether a wildcard takes the element; validates it where it is declared.
    private mutating func other(_ element: XMLElement, than own: XMLNamespace) throws(XCAPConflict) -> Bool {
        let namespace = element.namespace
        guard !namespace.isEmpty, !element.isIn(own) else { return false }
        if let rule = rule(for: element, in: schema.extensions) {
            try self.element(element, rule)
            return true
        }
        guard !schema.closedNamespaces.contains(namespace) else {
            throw flaw(element, "is unknown in the namespace \(namespace)")
        }
        return true
    }

    private static func first(of particle: SchemaParticle) -> String {
        switch particle {
        case .element(let name): name.localName
        case .other: "an element of another namespace"
        case .sequence(let particles): particles.map { first(of: $0) }.joined(separator: ", ")
        case .choice(let particles): particles.map { first(of: $0) }.joined(separator: " or ")
        case .repeated(let inner, _): first(of: inner)
        }
    }

    private func flaw(_ element: XMLElement, _ text: String) -> XCAPConflict {
        .schemaValidation("\(schema.rule): \(element.place) \(text)")
    }
}
