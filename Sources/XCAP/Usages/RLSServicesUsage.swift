import PresenceDocuments
import SIPCore
import XMLCore

extension ApplicationUsage {
    /// Resource list services (RFC 4826 4.4): `rls-services/users/XUI/index`, and the computed union `rls-services/global/index`.
    package static let rlsServices = ApplicationUsage(
        auid: "rls-services", mediaType: "application/rls-services+xml", defaultNamespaces: [XMLNamespace.rlsServices.uri],
        namespaces: [XMLNamespace.rlsServices.uri], userDocuments: .only("index"), globalDocuments: .only("index"), isReadOnly: false
    ) { (root, context) throws(XCAPConflict) in
        try SchemaValidator.validate(root, by: RLSServicesSchema.schema)
        try ServiceConstraints(context: context).check(root)
    }
}

/// Content model of RFC 4826 4.2.
enum RLSServicesSchema {
    static let root = XMLName("rls-services", in: .rlsServices)
    static let service = XMLName("service", in: .rlsServices)
    static let resourceList = XMLName("resource-list", in: .rlsServices)
    static let list = XMLName("list", in: .rlsServices)
    static let packages = XMLName("packages", in: .rlsServices)
    static let package = XMLName("package", in: .rlsServices)

    static let schema = DocumentSchema(
        rule: "RFC 4826 4.2", root: root,
        elements: ResourceListsSchema.parts.merging([
            root: SchemaElement(content: .children(.any(.element(service)))),
            service: SchemaElement(
                content: .children(
                    .sequence([
                        .choice([.element(resourceList), .element(list)]), .optional(.element(packages)), .any(.other(.rlsServices)),
                    ])), attributes: [.required("uri", .anyURI)], allowsOtherAttributes: true),
            resourceList: .text(.anyURI),
            list: ResourceListsSchema.listType,
            packages: SchemaElement(content: .children(.any(.sequence([.element(package), .any(.other(.rlsServices))])))),
            package: .text(.string),
        ]) { $1 }, closedNamespaces: [XMLNamespace.rlsServices.uri, XMLNamespace.resourceLists.uri])
}

/// Constraints on list services (RFC 4826 4.4.5).
private struct ServiceConstraints {
    let context: UsageContext
    private static let rule = "RFC 4826 4.4.5"

    func check(_ root: XMLElement) throws(XCAPConflict) {
        let lists = ListConstraints(context: context, rule: Self.rule)
        var seen: Set<String> = []
        var repeated: [XCAPConflict.Existing] = []
        for service in root.children {
            let text = service.value(ofAttribute: "uri", in: "") ?? ""
            guard let uri = SIPURI(text), uri.scheme == .sip || uri.scheme == .sips, !uri.host.isEmpty else {
                throw .constraint("\(Self.rule): the uri of \(service.place) is no SIP URI")
            }
            guard context.facts.isHosted(uri.domainKey) else {
                throw .constraint("\(Self.rule): the uri of \(service.place) is not in a domain of this server")
            }
            if !seen.insert(uri.aorKey).inserted || context.facts.isServiceURITaken(uri.aorKey) {
                repeated.append(XCAPConflict.Existing(field: "\(service.path)/@uri", alternatives: alternatives(to: uri, beside: seen)))
                if repeated.count == 8 { break }
            }
            if let list = service.first(RLSServicesSchema.list) { try lists.checkChildren(of: list) }
            if let reference = service.first(RLSServicesSchema.resourceList) {
                try lists.checkList(reference.trimmedText, reference, "URI", allowsOthers: false)
            }
        }
        guard repeated.isEmpty else {
            throw .uniqueness(
                repeated, phrase: "\(Self.rule): \(repeated[0].field) is the URI of another list service or of a user")
        }
    }

    private func alternatives(to uri: SIPURI, beside seen: Set<String>) -> [String] {
        guard uri.user != nil else { return [] }
        var bare = uri
        bare.parameters = SIPParameters()
        bare.headers = nil
        return Alternatives.free(bare.description) { text, number in
            var other = bare
            other.user = "\(bare.user ?? "")-\(number)"
            return other.description
        } isFree: { text in
            guard let key = SIPURI(text)?.aorKey else { return false }
            return !seen.contains(key) && !context.facts.isServiceURITaken(key)
        }
    }
}

/// Global document of all list services (RFC 4826 4.4.7).
package enum RLSServicesIndex {
    /// Selector of the document.
    package static let selector = DocumentSelector(auid: ApplicationUsage.rlsServices.auid, tree: .global, path: ["index"])

    /// Canonical URIs of the list services of one document; empty where it cannot be read.
    package static func serviceURIs(in document: [UInt8], limits: XMLLimits = XCAPLimits().document) -> Set<String> {
        guard let tree = try? XMLParser(limits: limits).parse(document) else { return [] }
        return Set(tree.root.children.compactMap { $0.value(ofAttribute: "uri", in: "").flatMap { SIPURI($0)?.aorKey } })
    }

    /// The first service of a document whose URI fulfils a condition; nil: there is none, or the document cannot be read.
    package static func service(
        in document: [UInt8], limits: XMLLimits = XCAPLimits().document, where isNamed: (String) -> Bool
    ) -> RLSService? {
        guard let tree = try? XMLParser(limits: limits).parse(document) else { return nil }
        let found = tree.root.children.first { $0.is(RLSServicesSchema.service) && isNamed($0.value(ofAttribute: "uri", in: "") ?? "") }
        return found.flatMap { RLSService($0) }
    }

    /// Computes the document from the `rls-services` documents of all users, in their order. Documents that cannot be read are left out.
    package static func document(of documents: some Sequence<[UInt8]>, limits: XMLLimits = XCAPLimits().document) -> [UInt8] {
        let parser = XMLParser(limits: limits)
        var writer = XMLWriter()
        writer.start("rls-services")
        writer.namespace("", .rlsServices)
        for document in documents {
            guard let tree = try? parser.parse(document), tree.root.is(RLSServicesSchema.root) else { continue }
            for service in tree.root.children where service.is(RLSServicesSchema.service) { writer.fragment(service.fragment()) }
        }
        return writer.finish()
    }
}

/// List service (RFC 4826 4.2).
package struct RLSService: Hashable, Sendable {
    /// Members of a service.
    package enum Members: Hashable, Sendable {
        /// Element `list`, as a resource-lists document of one list.
        case list([UInt8])
        /// Element `resource-list`: URI of a list.
        case reference(String)
    }

    /// Members of the service.
    package var members: Members
    /// Event packages of the service; empty: all.
    package var packages: [String]

    init?(_ service: XMLElement) {
        if let list = service.first(RLSServicesSchema.list) {
            var writer = XMLWriter()
            writer.start("resource-lists")
            writer.namespace("", .resourceLists)
            writer.start("list")
            for child in list.children { writer.fragment(child.fragment()) }
            members = .list(writer.finish())
        } else if let reference = service.first(RLSServicesSchema.resourceList) {
            members = .reference(reference.trimmedText)
        } else {
            return nil
        }
        packages = []
        guard let list = service.first(RLSServicesSchema.packages) else { return }
        for child in list.children where child.is(RLSServicesSchema.package) { packages.append(child.trimmedText) }
    }
}
