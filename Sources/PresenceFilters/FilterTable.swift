import PresenceDocuments
import XMLCore

/// Filters of one subscription (RFC 4660 5.2).
///
/// Tables with the same filters are equal, in whatever order and with whatever prefixes the filters were sent.
public struct FilterTable: Sendable {
    private struct Entry: Hashable, Sendable {
        var scope: SimpleFilter.Scope
        var isEnabled: Bool
        var filter: CompiledFilter
    }

    /// Limits of the filters together, and of each.
    public let limits: FilterLimits
    private var entries: [String: Entry] = [:]

    /// Creates a table without filters.
    public init(limits: FilterLimits = .standard) { self.limits = limits }

    /// Reads a table that ``octets`` wrote.
    ///
    /// - Throws: ``PresenceDocuments/DocumentError`` or ``FilterError``.
    public init(octets: [UInt8], limits: FilterLimits = .standard) throws {
        self.init(limits: limits)
        guard !octets.isEmpty else { return }
        // Generated prefixes and separators make an expression longer, and the bindings of all filters are in one document.
        var stored = limits
        stored.expressionOctets *= 4
        stored.bindings = limits.filters * limits.expressions * limits.steps
        let tree: XMLTree
        do throws(XMLError) {
            tree = try XMLTree.parse(octets, limits: XMLLimits(bytes: 4 << 20, depth: 8, nodes: 200_000))
        } catch {
            throw DocumentError(error)
        }
        try apply(SimpleFilterDocument(tree.root, limits: stored), limits: stored)
    }

    /// Whether there are no filters.
    public var isEmpty: Bool { entries.isEmpty }

    // MARK: change

    /// Merges the filters of a SUBSCRIBE (RFC 4660 5.2.2): a filter replaces the one with its id, or removes it.
    ///
    /// - Throws: ``FilterError``, also for two enabled filters for one resource or domain; the table is then as before.
    public mutating func apply(_ document: SimpleFilterDocument) throws(FilterError) { try apply(document, limits: limits) }

    private mutating func apply(_ document: SimpleFilterDocument, limits: FilterLimits) throws(FilterError) {
        if let package = document.package, package != "presence" {
            throw FilterError(.package, "RFC 4661 3.2: attribute package has the value '\(package.prefix(60))', expected 'presence'")
        }
        var merged = entries
        for filter in document.filters {
            if filter.removes {
                merged[filter.id] = nil
            } else {
                merged[filter.id] = Entry(
                    scope: filter.scope.normalised, isEnabled: filter.isEnabled,
                    filter: try CompiledFilter(filter, bindings: document.bindings, limits: limits))
            }
        }
        guard merged.count <= limits.filters else {
            throw FilterError(.limit, "RFC 4660 5.2: the subscription has \(merged.count) filters, more than the \(limits.filters) allowed")
        }
        var owners: [SimpleFilter.Scope: String] = [:]
        for (id, entry) in merged.sorted(by: { $0.key < $1.key }) where entry.isEnabled {
            if let other = owners.updateValue(id, forKey: entry.scope) {
                throw FilterError(
                    .conflict, "RFC 4660 5.2: the filters '\(other.prefix(60))' and '\(id.prefix(60))' are for the same \(entry.scope.noun)"
                )
            }
        }
        entries = merged
    }

    // MARK: use

    /// Filter of a resource: the one with its URI, else the one of its domain, else the one with neither; nil without filter.
    ///
    /// The filter with neither is for the resource of the Request-URI (RFC 4661 3.4). A server of lists asks for each member with
    /// `isRequestURI` false, and uses the filter of the list where a member has none (RFC 4660 4.1).
    public func filter(for uri: String, isRequestURI: Bool, domain: String) -> CompiledFilter? {
        filter(.resource(uri)) ?? filter(.domain(domain)) ?? (isRequestURI ? filter(.request) : nil)
    }

    private func filter(_ scope: SimpleFilter.Scope) -> CompiledFilter? {
        let scope = scope.normalised
        return entries.values.first { $0.isEnabled && $0.scope == scope }?.filter
    }

    // MARK: storage

    /// Filters as one filter document, sorted by id, for ``init(octets:limits:)``; empty without filters.
    public var octets: [UInt8] {
        guard !entries.isEmpty else { return [] }
        let namespaces = Set(entries.values.flatMap { $0.filter.namespaces }).subtracting([XMLNamespace.xml.uri]).sorted()
        var prefixes = Dictionary(uniqueKeysWithValues: namespaces.enumerated().map { ($1, "n\($0)") })
        let bindings = namespaces.map { SimpleFilterDocument.Binding(prefix: prefixes[$0] ?? "", namespace: $0) }
        prefixes[XMLNamespace.xml.uri] = "xml"
        let filters = entries.sorted { $0.key < $1.key }.map { id, entry in
            var filter = SimpleFilter(
                id: id, scope: entry.scope, what: entry.filter.content.document(prefixes: prefixes),
                triggers: entry.filter.triggers.map { $0.document(prefixes: prefixes) })
            filter.isEnabled = entry.isEnabled
            return filter
        }
        return SimpleFilterDocument(package: "presence", bindings: bindings, filters: filters).encode()
    }
}

extension FilterTable: Hashable {
    public static func == (left: FilterTable, right: FilterTable) -> Bool { left.entries == right.entries }
    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

extension SimpleFilter.Scope {
    /// Scope in lower case where case has no meaning: the scheme and host of a URI, and a domain (RFC 3261 19.1.4).
    fileprivate var normalised: SimpleFilter.Scope {
        switch self {
        case .request: return .request
        case .domain(let domain): return .domain(domain.lowercased())
        case .resource(let uri):
            guard let at = uri.utf8.lastIndex(of: UInt8(ascii: "@")), let colon = uri.utf8.firstIndex(of: UInt8(ascii: ":")), colon < at
            else {
                return .resource(uri)
            }
            let user = uri[colon..<at]
            return .resource(uri[..<colon].lowercased() + user + uri[at...].lowercased())
        }
    }

    fileprivate var noun: String {
        switch self {
        case .request: "Request-URI"
        case .resource: "uri"
        case .domain: "domain"
        }
    }
}

extension CompiledFilter {
    /// Namespaces of all expressions.
    fileprivate var namespaces: Set<String> {
        var result: Set<String> = []
        for selector in content.includes.union(content.excludes) {
            if case .expression(let expression) = selector { result.formUnion(expression.namespaces) }
        }
        for trigger in triggers {
            for change in trigger.changes { result.formUnion(change.expression.namespaces) }
            for expression in trigger.additions + trigger.removals { result.formUnion(expression.namespaces) }
        }
        return result
    }
}

extension ContentFilter {
    fileprivate func document(prefixes: [String: String]) -> FilterContent? {
        if isEverything { return nil }
        func selections(_ selectors: Set<Selector>) -> [FilterSelection] {
            selectors.map { selector in
                switch selector {
                case .expression(let expression): FilterSelection(expression.text(prefixes: prefixes))
                case .namespace(let namespace): FilterSelection(namespace, kind: .namespace)
                }
            }.sorted { ($0.kind.rawValue, $0.text) < ($1.kind.rawValue, $1.text) }
        }
        return FilterContent(includes: selections(includes), excludes: selections(excludes))
    }
}

extension CompiledTrigger {
    fileprivate func document(prefixes: [String: String]) -> FilterTrigger {
        FilterTrigger(
            changes: changes.map { FilterChange($0.expression.text(prefixes: prefixes), from: $0.from, to: $0.to, by: $0.by) },
            additions: additions.map { $0.text(prefixes: prefixes) }, removals: removals.map { $0.text(prefixes: prefixes) })
    }
}
