/// Patch of a document (RFC 5261): `add`, `replace` and `remove` operations, each on the node that an XPath selector selects.
///
/// Operations are applied in order, all or none. Namespaces are matched by name, not by prefix; inserted content keeps its
/// declarations. Comments and processing instructions are not kept, so operations on them change nothing, and nothing can be
/// inserted beside them.
public struct XMLPatch: Sendable {
    /// Limits of a patch and of its result; the error beyond one is `limit`.
    public struct Limits: Hashable, Sendable {
        /// Number of operations.
        public var operations: Int
        /// Octets of one selector.
        public var selectorBytes: Int
        /// Nodes that all selectors together may visit.
        public var visits: Int
        /// Limits of the result; its size and the depth of inserted elements are checked.
        public var document: XMLLimits

        /// Creates limits; by default 500 operations, selectors of 2,048 octets, 1,000,000 visits and ``XMLLimits/keepingSpace``.
        public init(operations: Int = 500, selectorBytes: Int = 2_048, visits: Int = 1_000_000, document: XMLLimits = .keepingSpace) {
            self.operations = operations
            self.selectorBytes = selectorBytes
            self.visits = visits
            self.document = document
        }
    }

    /// Conventions of a document type that selectors may rely on.
    public struct Dialect: Sendable {
        /// Names accepted for the root in the first step, besides its own.
        public var rootAliases: [XMLName]
        /// Unqualified attribute that the schema declares as xs:ID, for `id('x')`; `xml:id` is one in any case.
        public var identifier: String?

        /// Creates conventions; by default selectors use only names from the document.
        public init(rootAliases: [XMLName] = [], identifier: String? = nil) {
            self.rootAliases = rootAliases
            self.identifier = identifier
        }
    }

    enum Place {
        case last, first, before, after
        case attribute(XMLAttribute)
        case declaration(prefix: String)
    }

    enum Change {
        case add(Place)
        case replace
        case remove(before: Bool, after: Bool)
    }

    struct Operation {
        var change: Change
        var selector: XMLSelector
        /// Element of the operation, which holds the content to insert.
        var source: XMLElement
    }

    private let operations: [Operation]
    private let limits: Limits

    /// Reads the operations, which are the child elements of a patch document.
    /// - Parameters:
    ///   - document: Parsed with ``XMLLimits/keepingSpace``, so that no text is lost.
    ///   - namespace: Namespace of `add`, `replace` and `remove`.
    /// - Throws: ``XMLPatchError`` for a malformed operation or one beyond the limits.
    public init(_ document: XMLElement, namespace: XMLNamespace, limits: Limits = Limits()) throws(XMLPatchError) {
        self.limits = limits
        var operations: [Operation] = []
        for element in document.children {
            guard operations.count < limits.operations else {
                throw XMLPatchError(.limit, "more than the \(limits.operations) operations allowed", position: element.position)
            }
            operations.append(try Operation(element, namespace: namespace, limits: limits))
        }
        self.operations = operations
    }

    /// Applies the patch and returns the changed document.
    /// - Parameter document: Parsed with ``XMLLimits/keepingSpace``; not modified.
    /// - Throws: ``XMLPatchError`` of the first operation that fails.
    public func applied(to document: XMLElement, dialect: Dialect = Dialect()) throws(XMLPatchError) -> [UInt8] {
        var search = XMLSelector.Search(
            root: XMLDraft(document, standsAlone: true), aliases: dialect.rootAliases, identifier: dialect.identifier, budget: limits.visits
        )
        for operation in operations {
            guard let node = operation.selector.locate(in: &search) else {
                if search.budget <= 0 { throw operation.error(.limit, "the selectors look at too much") }
                throw operation.error(.unlocatedNode, "RFC 5261 4.1: 'sel' does not select exactly one node")
            }
            try operation.apply(to: node, search: &search, depthLimit: limits.document.depth)
        }
        let bytes = search.root.encoded()
        guard bytes.count <= limits.document.bytes else {
            throw XMLPatchError(
                .limit, "the result has \(bytes.count) octets, more than the \(limits.document.bytes) allowed",
                position: XMLPosition(line: 1, column: 1, offset: 0))
        }
        return bytes
    }
}

extension XMLPatch.Operation {
    init(_ element: XMLElement, namespace: XMLNamespace, limits: XMLPatch.Limits) throws(XMLPatchError) {
        func wrong(_ condition: XMLPatchError.Condition, _ message: String) -> XMLPatchError {
            XMLPatchError(condition, message, position: element.position)
        }
        guard element.isIn(namespace) else { throw wrong(.invalidPatchDirective, "'\(element.localName.prefix(60))' is no operation") }
        switch element.localName {
        case "add": change = .add(try Self.place(element))
        case "replace": change = .replace
        case "remove":
            let space = element.attribute("ws")
            guard [nil, "before", "after", "both"].contains(space) else {
                throw wrong(.invalidAttributeValue, "RFC 5261 4.5: 'ws' is none of before, after and both")
            }
            change = .remove(before: space == "before" || space == "both", after: space == "after" || space == "both")
        default: throw wrong(.invalidPatchDirective, "'\(element.localName.prefix(60))' is no operation")
        }
        guard let text = element.attribute("sel") else { throw wrong(.invalidAttributeValue, "RFC 5261 4.1: 'sel' is missing") }
        guard text.utf8.count <= limits.selectorBytes else {
            throw wrong(.limit, "'sel' has more than the \(limits.selectorBytes) octets allowed")
        }
        selector = try XMLSelector(text, in: element)
        source = element
    }

    /// Position at which `add` inserts its content (RFC 5261 4.3).
    private static func place(_ element: XMLElement) throws(XMLPatchError) -> XMLPatch.Place {
        func wrong(_ message: String) -> XMLPatchError { XMLPatchError(.invalidAttributeValue, message, position: element.position) }
        let position = element.attribute("pos")
        if let type = element.attribute("type") {
            guard position == nil else { throw wrong("RFC 5261 4.3: 'pos' and 'type' exclude each other") }
            if type.hasPrefix("namespace::"), type.utf8.count > 11 { return .declaration(prefix: String(type.dropFirst(11))) }
            guard type.hasPrefix("@"), type.utf8.count > 1 else {
                throw wrong("RFC 5261 4.3: 'type' is neither @name nor namespace::prefix")
            }
            let name = String(type.dropFirst())
            guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else {
                return .attribute(XMLAttribute(localName: name, value: ""))
            }
            let prefix = String(name[..<colon])
            guard let namespace = element.namespace(ofPrefix: prefix) else {
                throw XMLPatchError(
                    .invalidNamespacePrefix, "RFC 5261 4.3.2: the prefix of '\(name.prefix(60))' is not declared",
                    position: element.position)
            }
            let local = String(name[name.index(after: colon)...])
            return .attribute(XMLAttribute(namespace: namespace, prefix: prefix, localName: local, value: ""))
        }
        switch position {
        case nil: return .last
        case "prepend": return .first
        case "before": return .before
        case "after": return .after
        default: throw wrong("RFC 5261 4.3: 'pos' is none of prepend, before and after")
        }
    }

    func error(_ condition: XMLPatchError.Condition, _ message: String) -> XMLPatchError {
        XMLPatchError(condition, message, position: source.position)
    }
}
