/// Request URI below an XCAP root: document selector and node selector (RFC 4825 6).
public struct XCAPURI: Hashable, Sendable {
    /// Selected document.
    public var document: DocumentSelector
    /// Selected node of the document; nil for the whole document.
    public var node: NodeSelector?

    /// Parses a request-target in origin or absolute form (RFC 7230 5.3); the origin of an absolute form is not compared.
    public init(target: String, root: XCAPRoot, limits: XCAPLimits = XCAPLimits()) throws(XCAPURIError) {
        try Self.check(target, limits)
        let path = target.hasPrefix("/") ? target[...] : XCAPRoot.split(target)?.rest ?? ""
        guard let rest = root.below(path) else { throw .notFound("RFC 4825 6.1: the path is not below the XCAP root") }
        try self.init(below: rest, limits: limits)
    }

    /// Parses an absolute URI, as in the `anchor` of a list; it must have the origin and path of the root.
    public init(absolute uri: String, root: XCAPRoot, limits: XCAPLimits = XCAPLimits()) throws(XCAPURIError) {
        try Self.check(uri, limits)
        guard let rest = root.relativeReference(of: uri) else {
            throw .notFound("RFC 4825 6.1: the URI is not below the XCAP root \(root)")
        }
        try self.init(below: rest, limits: limits)
    }

    /// Parses a path relative to the XCAP root, as in the `ref` of an `entry-ref`.
    public init(relative path: String, limits: XCAPLimits = XCAPLimits()) throws(XCAPURIError) {
        try Self.check(path, limits)
        try self.init(below: path[...], limits: limits)
    }

    private static func check(_ text: String, _ limits: XCAPLimits) throws(XCAPURIError) {
        guard text.utf8.count <= limits.uriOctets else {
            throw XCAPURIError(.tooLong, "the URI has more than the \(limits.uriOctets) octets allowed")
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .malformed("RFC 7230 5.3: a request URI has no fragment") }
    }

    /// Parses path and query below the root. The raw path is cut at slashes first, so that an escaped slash separates nothing.
    private init(below text: Substring, limits: XCAPLimits) throws(XCAPURIError) {
        let utf8 = text.utf8
        let mark = utf8.firstIndex(of: UInt8(ascii: "?"))
        let path = utf8[..<(mark ?? utf8.endIndex)]
        let bindings = try mark.map { (mark) throws(XCAPURIError) in
            try NamespaceBindings(query: String(text[text.index(after: mark)...]), limits: limits)
        }
        var segments: [String] = []
        var rest = path
        var selector: Substring.UTF8View?
        while true {
            let raw = rest.prefix { $0 != UInt8(ascii: "/") }
            guard let segment = PercentCoding.decode(raw) else {
                throw .malformed("RFC 3986 2.1: a segment of the path has a malformed escape, or is not UTF-8")
            }
            let isLast = raw.endIndex == rest.endIndex
            if segment == "~~" {
                selector = isLast ? rest[rest.endIndex...] : rest[rest.index(after: raw.endIndex)...]
                break
            }
            guard !segment.isEmpty, segment != ".", segment != "..", !segment.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
            else { throw .notFound("RFC 4825 6.2: a segment of the document selector that can name no document") }
            segments.append(segment)
            guard segments.count <= limits.steps else {
                throw .notFound("RFC 4825 6.2: the document selector has more than the \(limits.steps) segments allowed")
            }
            if isLast { break }
            rest = rest[rest.index(after: raw.endIndex)...]
        }
        document = try Self.document(segments)
        node = try selector.map { (selector) throws(XCAPURIError) in
            try NodeSelector(selector, bindings: bindings ?? NamespaceBindings(), limits: limits)
        }
    }

    private static func document(_ segments: [String]) throws(XCAPURIError) -> DocumentSelector {
        if segments.count > 2, segments[1] == "global" {
            return DocumentSelector(auid: segments[0], tree: .global, path: Array(segments[2...]))
        }
        guard segments.count > 3, segments[1] == "users" else {
            throw .notFound("RFC 4825 6.2: a document selector has the form AUID/users/XUI/path or AUID/global/path")
        }
        guard let user = XUI(segments[2]) else { throw .notFound("RFC 4825 6.2: '\(segments[2].prefix(80))' is not a user") }
        return DocumentSelector(auid: segments[0], tree: .users(user), path: Array(segments[3...]))
    }

    /// Path below the root, percent-encoded, with the first steps of the node selector; the query only where steps are left.
    func text(steps count: Int) -> String {
        guard count > 0, let node else { return document.description }
        let steps = node.steps.prefix(count).map { PercentCoding.encode($0.text) }.joined(separator: "/")
        return document.description + "/~~/" + steps + (node.bindings.query.isEmpty ? "" : "?" + node.bindings.query)
    }
}
