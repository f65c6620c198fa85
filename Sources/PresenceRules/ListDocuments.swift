import PresenceDocuments

/// Resource-lists documents that rules may refer to (RFC 4826 3), by their paths below the XCAP root.
public struct ListDocuments: Sendable {
    /// XCAP root that absolute URIs must be below, such as `https://xcap.example.com/root`; nil: any.
    public var root: String?
    private var documents: [String: ResourceListsDocument] = [:]
    private var only: ResourceListsDocument?

    /// Creates an empty set.
    public init(root: String? = nil) { self.root = root }

    /// Creates a set in which every path names the same document, for one file without a server.
    public init(only document: ResourceListsDocument) { only = document }

    /// Adds a document; false if the path is none of a resource-lists document, and nothing is added.
    /// - Parameter path: Path below the root, such as `resource-lists/users/sip:alice@example.com/index`, escaped or not.
    @discardableResult
    public mutating func add(_ document: ResourceListsDocument, at path: String) -> Bool {
        guard let path = ListAnchor.documentPath(path.split(separator: "/")) else { return false }
        documents[path] = document
        return true
    }

    private subscript(path: String) -> ResourceListsDocument? { only ?? documents[path] }

    /// Entry of an expanded list.
    struct Entry {
        var uri: String
        /// Names of the lists from the outermost to the one that has the entry.
        var list: String
    }

    /// Element that a selector can end on.
    private enum Element {
        case list(ResourceList)
        case entry(ResourceListEntry)
    }

    /// List with its place: document, indices and names from the document element.
    private struct Place {
        var document: String
        var indices: [Int]
        var names: [String]
        var list: ResourceList

        var key: String { document + "#" + indices.map(String.init).joined(separator: "/") }
    }

    /// All entries of a list, with those of inner lists and of references; a list that refers to itself is read once.
    /// - Parameters:
    ///   - references: Number of references followed for the ruleset so far.
    ///   - documents: Receives the paths of the documents that the answer depends on, those that do not exist included.
    func entries(
        of anchor: ListAnchor, limits: RuleLimits, references: inout Int, documents used: inout Set<String>
    ) throws(ListFailure) -> [Entry] {
        let start = try element(of: anchor, documents: &used)
        guard case .list(let list) = start.element else { throw .notOneElement }
        var queue = [Place(document: anchor.document, indices: start.indices, names: start.names, list: list)]
        var seen: Set<String> = [queue[0].key]
        var entries: [Entry] = []
        func reference(_ text: String, _ count: inout Int) throws(ListFailure) -> ListAnchor {
            count += 1
            guard count <= limits.references else { throw .tooManyReferences(limits.references) }
            return try ListAnchor(text, root: root)
        }
        while let place = queue.popLast() {
            let name = place.names.joined(separator: "/")
            for (index, member) in place.list.members.enumerated() {
                switch member {
                case .entry(let entry): entries.append(Entry(uri: entry.uri, list: name))
                case .list(let inner):
                    let inner = Place(
                        document: place.document, indices: place.indices + [index],
                        names: place.names + [inner.name ?? "list \(index + 1)"], list: inner)
                    if seen.insert(inner.key).inserted { queue.append(inner) }
                case .external(let anchor, _):
                    guard let anchor else { throw .unsupportedURI }
                    let target = try reference(anchor, &references)
                    let found = try element(of: target, documents: &used)
                    guard case .list(let list) = found.element else { throw .notOneElement }
                    let other = Place(document: target.document, indices: found.indices, names: found.names, list: list)
                    if seen.insert(other.key).inserted { queue.append(other) }
                case .reference(let path, _):
                    let found = try element(of: try reference(path, &references), documents: &used)
                    guard case .entry(let entry) = found.element else { throw .notOneElement }
                    entries.append(Entry(uri: entry.uri, list: name))
                case .other: continue
                }
                guard entries.count + seen.count <= limits.listEntries + 1 else { throw .tooManyEntries(limits.listEntries) }
            }
        }
        return entries
    }

    /// URIs of all entries of a list, those of inner lists and of references included, in document order per list.
    /// - Parameter anchor: URI of the list, or its path below the root.
    package func members(of anchor: String, limits: RuleLimits = RuleLimits()) throws(ListFailure) -> [String] {
        var references = 0
        var used: Set<String> = []
        return try entries(of: try ListAnchor(anchor, root: root), limits: limits, references: &references, documents: &used).map(\.uri)
    }

    /// The one element that a selector names (RFC 4825 6.3).
    private func element(
        of anchor: ListAnchor, documents used: inout Set<String>
    ) throws(ListFailure) -> (element: Element, indices: [Int], names: [String]) {
        used.insert(anchor.document)
        guard let document = self[anchor.document] else { throw .noDocument }
        var members = document.lists.map { ResourceList.Member.list($0) }
        var found: (element: Element, indices: [Int], names: [String])?
        for (number, step) in anchor.steps.dropFirst().enumerated() {
            var matching: [(index: Int, element: Element)] = []
            for (index, member) in members.enumerated() {
                switch member {
                case .list(let list): if step.name == "list" { matching.append((index, .list(list))) }
                case .entry(let entry): if step.name == "entry" { matching.append((index, .entry(entry))) }
                case .external, .reference, .other: continue
                }
            }
            if let position = step.position { matching = position <= matching.count ? [matching[position - 1]] : [] }
            if let attribute = step.attribute {
                matching.removeAll { _, element in
                    switch element {
                    case .list(let list): attribute != "name" || list.name != step.value
                    case .entry(let entry): attribute != "uri" || entry.uri != step.value
                    }
                }
            }
            // A step that selects several elements could still end on one, but clients name each list.
            guard matching.count == 1, let match = matching.first else { throw .notOneElement }
            var names = found?.names ?? []
            members = []
            if case .list(let list) = match.element {
                names.append(list.name ?? "list \(match.index + 1)")
                members = list.members
            } else if number < anchor.steps.count - 2 {
                throw .notOneElement
            }
            found = (match.element, (found?.indices ?? []) + [match.index], names)
        }
        guard let found else { throw .notOneElement }
        return found
    }
}

/// Limits of what one ruleset may make the gateway keep; those of its reading are in ``PresenceDocuments/PresenceRulesDocument``.
public struct RuleLimits: Hashable, Sendable {
    /// Entries and inner lists of one list, those of its references included.
    package var listEntries = 1_000
    /// References that the lists of one ruleset may follow.
    package var references = 200
    /// Different lists that one ruleset may name.
    public var lists = 100

    public init() {}
}
