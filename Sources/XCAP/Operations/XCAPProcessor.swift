import XMLCore

/// Processor of XCAP requests (RFC 4825 8): computes responses and changed documents, without I/O.
///
/// It keeps a reusable XML parser and nothing else, so a response depends only on the arguments. Keep one per event loop; it is not
/// Sendable.
public final class XCAPProcessor {
    /// XCAP root.
    public let root: XCAPRoot
    /// Limits of requests and documents.
    public let limits: XCAPLimits
    /// Supported application usages.
    public let usages: [ApplicationUsage]
    private let parser: XMLParser

    /// Creates a processor.
    public init(root: XCAPRoot, limits: XCAPLimits = XCAPLimits(), usages: [ApplicationUsage] = ApplicationUsage.all) {
        self.root = root
        self.limits = limits
        self.usages = usages
        parser = XMLParser(limits: limits.document)
    }

    /// Parses a request URI and finds its application usage.
    ///
    /// - Throws: The response 400, 404, 409 or 414.
    public func resolve(_ method: XCAPMethod, target: String) throws(XCAPRefusal) -> (uri: XCAPURI, usage: ApplicationUsage) {
        let uri: XCAPURI
        do throws(XCAPURIError) { uri = try XCAPURI(target: target, root: root, limits: limits) } catch {
            throw XCAPRefusal(XCAPResponse(error, method: method, root: root))
        }
        guard let usage = usages.first(where: { $0.auid == uri.document.auid }) else {
            throw XCAPRefusal(.unknownUsage(uri.document.auid))
        }
        return (uri, usage)
    }

    /// Computes the response to a request on a document and the change of the document.
    ///
    /// - Parameter stored: Document as it is stored, for computed ones as computed; nil when there is none.
    public func perform(
        _ request: XCAPRequest, on stored: StoredDocument?, usage: ApplicationUsage, facts: UsageFacts = UsageFacts()
    ) -> XCAPResponse {
        let context = UsageContext(root: root, document: request.uri.document, facts: facts, limits: limits)
        let operation = XCAPOperation(request: request, stored: stored, usage: usage, context: context, parser: parser)
        do throws(XCAPRefusal) { return try operation.perform() } catch { return error.response }
    }
}

/// One request on one document.
struct XCAPOperation {
    let request: XCAPRequest
    let stored: StoredDocument?
    let usage: ApplicationUsage
    let context: UsageContext
    let parser: XMLParser

    var limits: XCAPLimits { context.limits }
    var namespaces: [String] { usage.defaultNamespaces }

    func perform() throws(XCAPRefusal) -> XCAPResponse {
        let isReadOnly = usage.isReadOnly || request.uri.document.tree == .global || request.uri.node?.terminal == .namespaceBindings
        let allowed: [XCAPMethod] = isReadOnly ? [.get, .head] : [.get, .head, .put, .delete]
        guard allowed.contains(request.method) else {
            throw XCAPRefusal(.notAllowed(allowed, reason: "RFC 4825 8: \(request.method.rawValue.prefix(40)) is not allowed here"))
        }
        try checkName()
        switch request.method {
        case .put:
            try checkContent()
            return try request.uri.node == nil ? putDocument() : putNode()
        case .delete: return try delete()
        default: return try fetch()
        }
    }

    /// Whether the application usage may have a document of that name.
    private func checkName() throws(XCAPRefusal) {
        let document = request.uri.document
        guard !usage.allows(document) else { return }
        let reason = "RFC 4825 5.8: \(usage.auid) has no documents named \(document.path.joined(separator: "/").prefix(120))"
        guard request.method == .put else { throw XCAPRefusal(XCAPResponse(404, reason: reason)) }
        throw XCAPRefusal(document.path.count > 1 ? noParent(steps: nil, reason) : .constraint(reason))
    }

    /// Media type that the selected resource takes and gives (RFC 4825 7, 15.2).
    private var mediaType: String {
        switch request.uri.node?.terminal {
        case nil: usage.mediaType
        case .element: "application/xcap-el+xml"
        case .attribute: "application/xcap-att+xml"
        case .namespaceBindings: "application/xcap-ns+xml"
        }
    }

    /// Checks media type, charset and length of the content of a PUT before anything is parsed.
    private func checkContent() throws(XCAPRefusal) {
        guard request.body.count <= limits.document.bytes else {
            throw tooLarge("the content has more than the \(limits.document.bytes) octets allowed")
        }
        let parts = (request.contentType ?? "").lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        guard parts.first == mediaType else {
            var response = XCAPResponse(415, reason: "RFC 4825 8.2: the Content-Type here is \(mediaType)")
            response.accept = mediaType
            throw XCAPRefusal(response)
        }
        for part in parts.dropFirst() where part.hasPrefix("charset=") {
            guard ["utf-8", "\"utf-8\""].contains(part.dropFirst(8)) else {
                throw XCAPRefusal(.notUTF8("RFC 4825 8.2.5: the Content-Type has the \(part.prefix(60))"))
            }
        }
        let marks: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE]]
        guard !marks.contains(where: { request.body.starts(with: $0) }), String(validating: request.body, as: UTF8.self) != nil else {
            throw XCAPRefusal(.notUTF8("RFC 4825 8.2.5: the content is not UTF-8"))
        }
    }

    // MARK: GET and conditions

    private func fetch() throws(XCAPRefusal) -> XCAPResponse {
        guard let stored else { throw notFound("no such document") }
        let body: [UInt8]
        if let node = request.uri.node {
            let tree = try tree(of: stored)
            guard let found = content(of: node, in: tree) else { throw notFound("the node selector selects nothing") }
            body = found
        } else {
            body = stored.octets
        }
        if let refusal = try preconditions(nodeExists: true) { return refusal }
        var response = XCAPResponse(200, tag: stored.tag)
        response.contentType = mediaType
        response.body = body
        response.omitsBody = request.method == .head
        return response
    }

    /// Content of a node as in the document; nil where the selector selects nothing.
    private func content(of node: NodeSelector, in tree: XMLTree) -> [UInt8]? {
        guard let element = node.element(in: tree.root, namespaces: namespaces) else { return nil }
        switch node.terminal {
        case .element: return element.sourceBytes
        case .attribute(let name): return ranges(of: name, in: element).map { Array(tree.source[$0.value]) }
        case .namespaceBindings:
            // The element without content and attributes, with all bindings in scope (RFC 4825 7.10).
            var writer = XMLWriter(declaration: false, capacity: 512)
            writer.start(element.qualifiedName)
            for declaration in element.declarationsInScope where !declaration.uri.isEmpty {
                writer.namespace(declaration.prefix, declaration.uri)
            }
            return writer.finish()
        }
    }

    func ranges(of name: NodeSelector.Name, in element: XMLElement) -> XMLElement.AttributeRanges? {
        guard case .named(let namespace) = name.namespace else { return nil }
        return element.sourceRange(ofAttribute: name.localName, in: namespace)
    }

    /// Response 304 where a GET is not needed; throws 412 where a precondition fails.
    @discardableResult
    func preconditions(nodeExists: Bool) throws(XCAPRefusal) -> XCAPResponse? {
        switch request.conditions.evaluate(tag: stored?.tag, nodeExists: nodeExists) {
        case .holds: return nil
        case .match where request.method == .get || request.method == .head: return XCAPResponse(304, tag: stored?.tag)
        case .match: throw XCAPRefusal(XCAPResponse(412, reason: "RFC 7232 3.2: If-None-Match names what is there"))
        case .noMatch: throw XCAPRefusal(XCAPResponse(412, reason: "RFC 7232 3.1: If-Match names another document than the current one"))
        }
    }

    // MARK: refusals

    func notFound(_ reason: String) -> XCAPRefusal { XCAPRefusal(XCAPResponse(404, reason: "RFC 4825 8: \(reason)")) }

    func tooLarge(_ reason: String) -> XCAPRefusal { XCAPRefusal(XCAPResponse(413, reason: reason)) }

    /// Conflict `no-parent` with the closest ancestor: the element of the first steps, or the home directory.
    func noParent(steps: Int?, _ reason: String) -> XCAPConflict {
        let document = request.uri.document
        let home = DocumentSelector(auid: document.auid, tree: document.tree, path: [])
        return .noParent(ancestor: "\(context.root)/\(steps.map { request.uri.text(steps: $0) } ?? home.description)", phrase: reason)
    }

    /// Parses the stored document; throws 500 where it is not well-formed or exceeds limits that were larger once.
    func tree(of stored: StoredDocument) throws(XCAPRefusal) -> XMLTree {
        do throws(XMLError) { return try parser.parse(stored.octets) } catch {
            throw XCAPRefusal(XCAPResponse(500, reason: "the stored document \(request.uri.document) is not read: \(error)"))
        }
    }
}
