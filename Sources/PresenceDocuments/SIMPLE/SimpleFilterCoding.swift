import XMLCore

/// Names of RFC 4661.
private enum FilterName {
    static let root = XMLName("filter-set", in: .simpleFilter)
    static let bindings = XMLName("ns-bindings", in: .simpleFilter)
    static let binding = XMLName("ns-binding", in: .simpleFilter)
    static let filter = XMLName("filter", in: .simpleFilter)
    static let what = XMLName("what", in: .simpleFilter)
    static let include = XMLName("include", in: .simpleFilter)
    static let exclude = XMLName("exclude", in: .simpleFilter)
    static let trigger = XMLName("trigger", in: .simpleFilter)
    static let changed = XMLName("changed", in: .simpleFilter)
    static let added = XMLName("added", in: .simpleFilter)
    static let removed = XMLName("removed", in: .simpleFilter)
}

extension SimpleFilterDocument: PresenceDocument {
    /// 65,536 octets, depth 32 and 4,000 nodes.
    public static var limits: XMLLimits { XMLLimits(bytes: 65_536, depth: 32, nodes: 4_000) }

    /// Reads a `filter-set` element within the standard limits.
    public init(_ root: XMLElement) throws(DocumentError) { try self.init(root, limits: .standard) }

    /// Reads a `filter-set` element within limits; elements of other namespaces are skipped.
    public init(_ root: XMLElement, limits: FilterLimits) throws(DocumentError) {
        let rule = "RFC 4661 3.2"
        guard root.is(FilterName.root) else { throw .wrongRoot(root, expected: FilterName.root, rule: rule) }
        self.init(package: try root.optional("package", rule: rule), filters: [])
        var hasBindings = false
        var ids: Set<String> = []
        for child in root.children {
            switch child {
            case FilterName.bindings:
                guard !hasBindings else { throw .repeated(child, in: root, rule: "RFC 4661 3.3") }
                hasBindings = true
                bindings = try Self.bindings(child, limit: limits.bindings)
            case FilterName.filter:
                guard filters.count < limits.filters else { throw .tooMany("filters", limits.filters, in: root, rule: rule) }
                let filter = try SimpleFilter(child, limits: limits)
                guard ids.insert(filter.id).inserted else { throw .invalid("attribute id", filter.id, in: child, rule: "RFC 4661 3.4") }
                filters.append(filter)
            default: try child.refuseOwnNamespace(in: root, rule: rule)
            }
        }
        guard !filters.isEmpty else { throw .missing("filter", in: root, rule: rule) }
    }

    private static func bindings(_ element: XMLElement, limit: Int) throws(DocumentError) -> [Binding] {
        let rule = "RFC 4661 3.3"
        var result: [Binding] = []
        var prefixes: Set<String> = []
        for child in element.children {
            guard child.is(FilterName.binding) else {
                try child.refuseOwnNamespace(in: element, rule: rule)
                continue
            }
            guard result.count < limit else { throw .tooMany("namespace bindings", limit, in: element, rule: rule) }
            guard let prefix = child.attribute("prefix")?.trimmed else { throw .missing("prefix", in: child, rule: rule) }
            guard prefixes.insert(prefix).inserted else { throw .invalid("attribute prefix", prefix, in: child, rule: rule) }
            result.append(Binding(prefix: prefix, namespace: try child.required("urn", rule: rule)))
        }
        guard !result.isEmpty else { throw .missing("ns-binding", in: element, rule: rule) }
        return result
    }

    /// Encodes the document; unknown elements and attributes that were read are not kept.
    public func encode() -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        writer.start("filter-set")
        writer.namespace("", .simpleFilter)
        writer.attribute("package", ifPresent: package)
        if !bindings.isEmpty {
            writer.start("ns-bindings")
            for binding in bindings {
                writer.start("ns-binding")
                writer.attribute("prefix", binding.prefix)
                writer.attribute("urn", binding.namespace)
                writer.end()
            }
            writer.end()
        }
        for filter in filters { filter.write(to: &writer) }
        return writer.finish()
    }
}

extension SimpleFilter {
    fileprivate init(_ element: XMLElement, limits: FilterLimits) throws(DocumentError) {
        let rule = "RFC 4661 3.4"
        self.init(id: try element.required("id", rule: rule))
        switch (try element.optional("uri", rule: rule), try element.optional("domain", rule: rule)) {
        case (nil, nil): scope = .request
        case (let uri?, nil): scope = .resource(uri)
        case (nil, let domain?): scope = .domain(domain)
        case (_?, let domain?): throw .invalid("attribute domain beside uri", domain, in: element, rule: rule)
        }
        removes = try element.flag("remove", rule: rule) ?? false
        isEnabled = try element.flag("enabled", rule: rule) ?? true
        var expressions = 0
        for child in element.children {
            switch child {
            case FilterName.what:
                guard what == nil else { throw .repeated(child, in: element, rule: "RFC 4661 3.5") }
                what = try FilterContent(child, limits: limits)
            case FilterName.trigger: triggers.append(try FilterTrigger(child, limits: limits))
            default:
                try child.refuseOwnNamespace(in: element, rule: rule)
                continue
            }
            expressions += child.children.reduce(0) { count, part in count + (part.isIn(.simpleFilter) ? 1 : 0) }
            guard expressions <= limits.expressions else { throw .tooMany("expressions", limits.expressions, in: element, rule: rule) }
        }
    }

    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("filter")
        writer.attribute("id", id)
        switch scope {
        case .request: break
        case .resource(let uri): writer.attribute("uri", uri)
        case .domain(let domain): writer.attribute("domain", domain)
        }
        if removes { writer.attribute("remove", "true") }
        if !isEnabled { writer.attribute("enabled", "false") }
        if let what {
            writer.start("what")
            for selection in what.includes { selection.write("include", to: &writer) }
            for selection in what.excludes { selection.write("exclude", to: &writer) }
            writer.end()
        }
        for trigger in triggers { trigger.write(to: &writer) }
        writer.end()
    }
}

extension FilterContent {
    fileprivate init(_ element: XMLElement, limits: FilterLimits) throws(DocumentError) {
        self.init()
        for child in element.children {
            switch child {
            case FilterName.include: includes.append(try FilterSelection(child, limits: limits))
            case FilterName.exclude: excludes.append(try FilterSelection(child, limits: limits))
            default: try child.refuseOwnNamespace(in: element, rule: "RFC 4661 3.5")
            }
        }
    }
}

extension FilterSelection {
    fileprivate init(_ element: XMLElement, limits: FilterLimits) throws(DocumentError) {
        let rule = "RFC 4661 3.5.3"
        var kind = Kind.xpath
        if let type = try element.optional("type", rule: rule) {
            guard let known = Kind(rawValue: type) else { throw .invalid("attribute type", type, in: element, rule: rule) }
            kind = known
        }
        self.init(try element.filterText(limits, rule: "RFC 4661 3.5"), kind: kind)
    }

    fileprivate func write(_ name: String, to writer: inout XMLWriter) {
        writer.start(name)
        if kind != .xpath { writer.attribute("type", kind.rawValue) }
        writer.text(text)
        writer.end()
    }
}

extension FilterTrigger {
    fileprivate init(_ element: XMLElement, limits: FilterLimits) throws(DocumentError) {
        let rule = "RFC 4661 3.6"
        self.init()
        for child in element.children {
            switch child {
            case FilterName.changed: changes.append(try FilterChange(child, limits: limits))
            case FilterName.added: additions.append(try child.filterText(limits, rule: "RFC 4661 3.6.2"))
            case FilterName.removed: removals.append(try child.filterText(limits, rule: "RFC 4661 3.6.3"))
            default: try child.refuseOwnNamespace(in: element, rule: rule)
            }
        }
        if changes.isEmpty, additions.isEmpty, removals.isEmpty { throw .missing("changed, added or removed", in: element, rule: rule) }
    }

    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("trigger")
        for change in changes {
            writer.start("changed")
            writer.attribute("from", ifPresent: change.from)
            writer.attribute("to", ifPresent: change.to)
            writer.attribute("by", ifPresent: change.by)
            writer.text(change.expression)
            writer.end()
        }
        for expression in additions { writer.element("added", expression) }
        for expression in removals { writer.element("removed", expression) }
        writer.end()
    }
}

extension FilterChange {
    fileprivate init(_ element: XMLElement, limits: FilterLimits) throws(DocumentError) {
        let rule = "RFC 4661 3.6.1"
        self.init(
            try element.filterText(limits, rule: rule), from: element.attribute("from")?.trimmed, to: element.attribute("to")?.trimmed,
            by: try element.optional("by", rule: rule))
        if let by, FilterDecimal(by) == nil { throw .invalid("attribute by", by, in: element, rule: "RFC 4661 3.6.1.3") }
    }
}

/// Decimal number (XML Schema part 2, 3.2.3) of at most 18 digits before and after the point.
public struct FilterDecimal: Hashable, Comparable, Sendable {
    private let units: Int128

    /// Parses `[+-]digits[.digits]`; nil for other text and for more digits.
    public init?(_ text: String) {
        var bytes = Array(text.utf8)[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let (whole, fraction) = (parts[0].drop { $0 == UInt8(ascii: "0") }, parts.count > 1 ? parts[1] : [])
        guard !(parts[0].isEmpty && fraction.isEmpty), whole.count <= 18, fraction.count <= 18 else { return nil }
        var value: Int128 = 0
        for byte in whole + fraction + Array(repeating: UInt8(ascii: "0"), count: 18 - fraction.count) {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = value * 10 + Int128(byte - 0x30)
        }
        units = isNegative ? -value : value
    }

    private init(units: Int128) { self.units = units }

    /// Distance from zero.
    public var magnitude: FilterDecimal { FilterDecimal(units: units < 0 ? -units : units) }

    /// Absolute difference of two numbers.
    public func distance(to other: FilterDecimal) -> FilterDecimal { FilterDecimal(units: units - other.units).magnitude }

    public static func < (left: FilterDecimal, right: FilterDecimal) -> Bool { left.units < right.units }
}

extension XMLElement {
    /// Trimmed text of an expression or namespace name within the limit; an empty one is refused.
    fileprivate func filterText(_ limits: FilterLimits, rule: String) throws(DocumentError) -> String {
        let text = trimmedText
        guard !text.isEmpty, isLeaf else { throw .invalid("the expression", text, in: self, rule: rule) }
        guard text.utf8.count <= limits.expressionOctets else {
            throw DocumentError(
                code: .limit,
                message: "\(rule): the expression in '\(localName)' has \(text.utf8.count) octets, more than the "
                    + "\(limits.expressionOctets) allowed", position: position)
        }
        return text
    }

    /// Optional attribute, trimmed; an empty one is refused.
    fileprivate func optional(_ attribute: StaticString, rule: String) throws(DocumentError) -> String? {
        self.attribute(attribute) == nil ? nil : try required(attribute, rule: rule)
    }

    /// Optional attribute as xs:boolean.
    fileprivate func flag(_ attribute: StaticString, rule: String) throws(DocumentError) -> Bool? {
        guard let value = self.attribute(attribute) else { return nil }
        switch value.trimmed {
        case "true", "1": return true
        case "false", "0": return false
        default: throw .invalid("attribute \(attribute)", value, in: self, rule: rule)
        }
    }

    /// Refuses an element of the filter namespace where the schema has none; others are extensions (RFC 4661 4).
    fileprivate func refuseOwnNamespace(in parent: XMLElement, rule: String) throws(DocumentError) {
        guard isIn(.simpleFilter) else { return }
        throw .invalid("the element", localName, in: parent, rule: rule)
    }
}

extension DocumentError {
    fileprivate static func repeated(_ element: XMLElement, in parent: XMLElement, rule: String) -> DocumentError {
        .invalid("a second element", element.localName, in: parent, rule: rule)
    }

    fileprivate static func tooMany(_ parts: String, _ limit: Int, in element: XMLElement, rule: String) -> DocumentError {
        DocumentError(
            code: .limit, message: "\(rule): '\(element.localName)' has more than the \(limit) \(parts) allowed", position: element.position
        )
    }
}
