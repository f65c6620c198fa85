import PresenceDocuments
import XMLCore

extension ApplicationUsage {
    /// Resource lists (RFC 4826 3.4): `resource-lists/users/XUI/index`, and documents of other names.
    package static let resourceLists = ApplicationUsage(
        auid: "resource-lists", mediaType: DocumentMediaType.resourceLists.name, defaultNamespaces: [XMLNamespace.resourceLists.uri],
        namespaces: [XMLNamespace.resourceLists.uri], userDocuments: .any, globalDocuments: .none, isReadOnly: false
    ) { (root, context) throws(XCAPConflict) in
        try SchemaValidator.validate(root, by: ResourceListsSchema.schema)
        try ListConstraints(context: context, rule: "RFC 4826 3.4.5").checkChildren(of: root)
    }
}

/// Content model of RFC 4826 3.2.
enum ResourceListsSchema {
    static let root = XMLName("resource-lists", in: .resourceLists)
    static let list = XMLName("list", in: .resourceLists)
    static let entry = XMLName("entry", in: .resourceLists)
    static let entryRef = XMLName("entry-ref", in: .resourceLists)
    static let external = XMLName("external", in: .resourceLists)
    static let displayName = XMLName("display-name", in: .resourceLists)

    /// Type of a list, which `rls-services` uses too.
    static let listType = SchemaElement(
        content: .children(
            .sequence([
                .optional(.element(displayName)),
                .any(.choice([.element(list), .element(external), .element(entry), .element(entryRef)])), .any(.other(.resourceLists)),
            ])), attributes: [.optional("name")], allowsOtherAttributes: true)

    /// Declarations below the document element.
    static let parts: [XMLName: SchemaElement] = [
        list: listType,
        entry: member(.required("uri", .anyURI)),
        entryRef: member(.required("ref", .anyURI)),
        external: member(.optional("anchor", .anyURI)),
        displayName: SchemaElement(content: .text(.string), allowsLanguage: true),
    ]

    static let schema = DocumentSchema(
        rule: "RFC 4826 3.2", root: root,
        elements: parts.merging([root: SchemaElement(content: .children(.any(.element(list))))]) { $1 })

    private static func member(_ attribute: SchemaAttribute) -> SchemaElement {
        SchemaElement(
            content: .children(.sequence([.optional(.element(displayName)), .any(.other(.resourceLists))])), attributes: [attribute],
            allowsOtherAttributes: true)
    }
}

/// Constraints on lists (RFC 4826 3.4.5): values are unique among siblings, compared with case; references lead to lists and entries.
struct ListConstraints {
    let context: UsageContext
    /// Section of the usage that the document belongs to.
    let rule: String

    private static let fields: [(element: XMLName, attribute: String)] = [
        (ResourceListsSchema.list, "name"), (ResourceListsSchema.entry, "uri"), (ResourceListsSchema.entryRef, "ref"),
        (ResourceListsSchema.external, "anchor"),
    ]

    /// Checks the members of a list, or the lists of a document, and those of lists in it.
    func checkChildren(of parent: XMLElement) throws(XCAPConflict) {
        for (name, attribute) in Self.fields { try checkUnique(name, attribute, in: parent) }
        for child in parent.children {
            switch child {
            case ResourceListsSchema.list: try checkChildren(of: child)
            case ResourceListsSchema.entryRef: try checkReference(child)
            case ResourceListsSchema.external: try checkAnchor(child)
            default: break
            }
        }
    }

    private func checkUnique(_ name: XMLName, _ attribute: String, in parent: XMLElement) throws(XCAPConflict) {
        var seen: Set<String> = []
        var repeated: [XMLElement] = []
        for child in parent.children where child.is(name) {
            guard let value = child.value(ofAttribute: attribute, in: "") else { continue }
            if !seen.insert(value).inserted, repeated.count < 8 { repeated.append(child) }
        }
        guard let first = repeated.first else { return }
        let existing = repeated.map { child in
            let value = child.value(ofAttribute: attribute, in: "") ?? ""
            let alternatives = attribute == "name" ? Alternatives.free(value) { !seen.contains($0) } : []
            return XCAPConflict.Existing(field: "\(child.path)/@\(attribute)", alternatives: alternatives)
        }
        throw .uniqueness(existing, phrase: "\(rule): \(first.place) repeats the \(attribute) of a sibling")
    }

    private func checkReference(_ element: XMLElement) throws(XCAPConflict) {
        let reference = element.value(ofAttribute: "ref", in: "") ?? ""
        let uri: XCAPURI
        do throws(XCAPURIError) { uri = try XCAPURI(relative: reference, limits: context.limits) } catch {
            throw .constraint("\(rule): the ref of \(element.place) is no path of an entry below the XCAP root (\(error))")
        }
        try check(uri, leadsTo: "entry", element, "ref")
    }

    private func checkAnchor(_ element: XMLElement) throws(XCAPConflict) {
        guard let anchor = element.value(ofAttribute: "anchor", in: "") else { return }
        try checkList(anchor, element, "anchor", allowsOthers: context.facts.allowsForeignLists)
    }

    /// Checks an absolute URI of a list below the XCAP root.
    func checkList(_ text: String, _ element: XMLElement, _ field: String, allowsOthers: Bool) throws(XCAPConflict) {
        let uri: XCAPURI
        do throws(XCAPURIError) { uri = try XCAPURI(absolute: text, root: context.root, limits: context.limits) } catch {
            throw .constraint("\(rule): the \(field) of \(element.place) is no absolute URI of a list below \(context.root) (\(error))")
        }
        try check(uri, leadsTo: "list", element, field, allowsOthers: allowsOthers)
    }

    private func check(
        _ uri: XCAPURI, leadsTo name: String, _ element: XMLElement, _ field: String, allowsOthers: Bool? = nil
    ) throws(XCAPConflict) {
        let lists = ApplicationUsage.resourceLists
        guard uri.document.auid == lists.auid, lists.allows(uri.document), let node = uri.node, case .element = node.terminal,
            let last = node.steps.last?.name, last.localName == name,
            last.namespace == .documentDefault || last.namespace == .named(XMLNamespace.resourceLists.uri)
        else { throw .constraint("\(rule): the \(field) of \(element.place) does not lead to \(name) in a document of resource-lists") }
        guard allowsOthers ?? context.facts.allowsForeignLists || uri.document.user == context.document.user else {
            throw .constraint("\(rule): the \(field) of \(element.place) leads to a document of another user")
        }
    }
}

/// Free values to offer in place of one that is taken.
enum Alternatives {
    /// At most two values of the form `value-N` that are free, of 16 that are tried; `insert` puts the number into the value.
    static func free(
        _ value: String, insert: (String, Int) -> String = { "\($0)-\($1)" }, isFree: (String) -> Bool
    ) -> [String] {
        var found: [String] = []
        for number in 2..<18 where found.count < 2 {
            let candidate = insert(value, number)
            if isFree(candidate) { found.append(candidate) }
        }
        return found
    }
}
