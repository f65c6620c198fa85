import XMLCore

// RFC 4826 3, resource lists
// namespace urn:ietf:params:xml:ns:resource-lists, media type application/resource-lists+xml; body of a SUBSCRIBE to a list (RFC 5367 4)

/// Lists of resources (RFC 4826 3.1): an XCAP document, or the body that names the resources of a SUBSCRIBE (RFC 5367).
public struct ResourceListsDocument: Hashable, Sendable {
    /// Lists in document order.
    public var lists: [ResourceList]

    /// Creates a document; by default without lists.
    public init(lists: [ResourceList] = []) { self.lists = lists }

    /// Creates the flat form of RFC 5363 4: one list without a name.
    public init(entries uris: [String]) {
        lists = [ResourceList(members: uris.map { .entry(ResourceListEntry(uri: $0)) })]
    }

    /// Entries in document order, those of inner lists included, references to other documents (`external`, `entry-ref`) excluded.
    public var entries: [ResourceListEntry] { lists.flatMap(\.entries) }

    /// Whether a part of a list is in another document.
    public var refersElsewhere: Bool { lists.contains(where: \.refersElsewhere) }
}

/// List, which may contain other lists (RFC 4826 3.1).
public struct ResourceList: Hashable, Sendable {
    /// Member of a list.
    public enum Member: Hashable, Sendable {
        case entry(ResourceListEntry)
        case list(ResourceList)
        /// Element `external`: absolute URI of a list in another document.
        case external(anchor: String?, displayName: PIDFNote?)
        /// Element `entry-ref`: path of an entry, relative to the XCAP root.
        case reference(path: String, displayName: PIDFNote?)
        /// Unknown element.
        case other(XMLFragment)
    }

    /// Name, unique among sibling lists; nil when absent.
    public var name: String?
    /// Display name; nil when absent.
    public var displayName: PIDFNote?
    /// Members in document order.
    public var members: [Member]

    public init(name: String? = nil, displayName: PIDFNote? = nil, members: [Member] = []) {
        self.name = name
        self.displayName = displayName
        self.members = members
    }

    /// Entries in document order, those of inner lists included.
    public var entries: [ResourceListEntry] {
        members.flatMap { member -> [ResourceListEntry] in
            switch member {
            case .entry(let entry): [entry]
            case .list(let list): list.entries
            case .external, .reference, .other: []
            }
        }
    }

    var refersElsewhere: Bool {
        members.contains { member in
            switch member {
            case .external, .reference: true
            case .list(let list): list.refersElsewhere
            case .entry, .other: false
            }
        }
    }
}

/// Resource (RFC 4826 3.1).
public struct ResourceListEntry: Hashable, Sendable {
    /// URI of the resource.
    public var uri: String
    /// Display name; nil when absent.
    public var displayName: PIDFNote?
    /// Attributes without a field here, such as `copyControl` of RFC 5364; kept and written again.
    public var attributes: [XMLAttribute] = []
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment] = []

    public init(uri: String, displayName: PIDFNote? = nil) {
        self.uri = uri
        self.displayName = displayName
    }
}

/// Names of RFC 4826.
enum ResourceListsName {
    static let resourceLists = XMLName("resource-lists", in: .resourceLists)
    static let list = XMLName("list", in: .resourceLists)
    static let entry = XMLName("entry", in: .resourceLists)
    static let entryRef = XMLName("entry-ref", in: .resourceLists)
    static let external = XMLName("external", in: .resourceLists)
    static let displayName = XMLName("display-name", in: .resourceLists)
}

extension ResourceListsDocument: PresenceDocument {
    /// Standard limits, with an XML depth of 20; the caller limits the number of entries.
    public static var limits: XMLLimits { XMLLimits(depth: 20) }

    /// Reads a `resource-lists` element; requires `uri` of each entry and `ref` of each reference.
    public init(_ root: XMLElement) throws(DocumentError) {
        guard root.is(ResourceListsName.resourceLists) else {
            throw .wrongRoot(root, expected: ResourceListsName.resourceLists, rule: "RFC 4826 3.1")
        }
        lists = []
        for child in root.children where child.is(ResourceListsName.list) { lists.append(try ResourceList(child)) }
    }

    /// Encodes the lists in order.
    public func encode() -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        writer.start("resource-lists")
        writer.namespace("", .resourceLists)
        for list in lists { list.write(to: &writer) }
        return writer.finish()
    }
}

extension ResourceList {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init(name: element.attribute("name"))
        for child in element.children {
            switch child {
            case ResourceListsName.displayName: displayName = child.note
            case ResourceListsName.entry: members.append(.entry(try ResourceListEntry(child)))
            case ResourceListsName.list: members.append(.list(try ResourceList(child)))
            case ResourceListsName.external:
                let name = child.first(ResourceListsName.displayName)?.note
                members.append(.external(anchor: child.attribute("anchor"), displayName: name))
            case ResourceListsName.entryRef:
                let path = try child.required("ref", rule: "RFC 4826 3.1")
                members.append(.reference(path: path, displayName: child.first(ResourceListsName.displayName)?.note))
            default: members.append(.other(child.fragment()))
            }
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("list")
        writer.attribute("name", ifPresent: name)
        displayName?.write("display-name", to: &writer)
        for member in members {
            switch member {
            case .entry(let entry): entry.write(to: &writer)
            case .list(let list): list.write(to: &writer)
            case .external(let anchor, let displayName):
                writer.start("external")
                writer.attribute("anchor", ifPresent: anchor)
                displayName?.write("display-name", to: &writer)
                writer.end()
            case .reference(let path, let displayName):
                writer.start("entry-ref")
                writer.attribute("ref", path)
                displayName?.write("display-name", to: &writer)
                writer.end()
            case .other(let fragment): writer.fragment(fragment)
            }
        }
        writer.end()
    }
}

extension ResourceListEntry {
    private static let ownAttributes: [StaticString] = ["uri"]

    init(_ element: XMLElement) throws(DocumentError) {
        self.init(uri: try element.required("uri", rule: "RFC 4826 3.1"))
        attributes = element.attributes(besides: Self.ownAttributes)
        for child in element.children {
            if child.is(ResourceListsName.displayName) { displayName = child.note } else { extensions.append(child.fragment()) }
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("entry")
        writer.attribute("uri", uri)
        for attribute in attributes { writer.attribute(attribute) }
        displayName?.write("display-name", to: &writer)
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }
}
