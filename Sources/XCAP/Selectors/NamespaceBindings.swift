/// Namespace bindings in the query of a request URI: `xmlns(p=urn:x)xmlns(q=urn:y)` (RFC 4825 6.4, XPointer `xmlns()` scheme).
struct NamespaceBindings: Hashable, Sendable {
    private var namespaces: [String: String] = [:]
    /// Query as received, percent-encoded; empty for none.
    private(set) var query = ""

    init() {}

    /// Parses a query; the last binding of a prefix is in effect.
    init(query: String, limits: XCAPLimits) throws(XCAPURIError) {
        self.query = query
        guard let decoded = PercentCoding.decode(query.utf8) else {
            throw .malformed("RFC 3986 2.1: the query has a malformed escape, or is not UTF-8")
        }
        var rest = Array(decoded.utf8)[...]
        var count = 0
        while true {
            rest = rest.drop(while: Self.isSpace)
            guard !rest.isEmpty else { return }
            count += 1
            guard count <= limits.bindings else {
                throw .malformed("RFC 4825 6.4: the query has more than the \(limits.bindings) namespace bindings allowed")
            }
            try bind(try Self.part(&rest))
        }
    }

    /// Namespace bound to a prefix; nil when it is not bound.
    func namespace(ofPrefix prefix: String) -> String? {
        prefix == "xml" ? "http://www.w3.org/XML/1998/namespace" : namespaces[prefix]
    }

    private mutating func bind(_ data: [UInt8]) throws(XCAPURIError) {
        guard let equals = data.firstIndex(of: UInt8(ascii: "=")) else {
            throw .malformed("RFC 4825 6.4: a namespace binding has the form xmlns(prefix=uri)")
        }
        let prefix = Array(data[..<equals].drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed())
        let uri = String(decoding: data[(equals + 1)...].drop(while: Self.isSpace), as: UTF8.self)
        guard XMLNameSyntax.isNCName(prefix[...]) else { throw .malformed("RFC 4825 6.4: a namespace binding without a valid prefix") }
        let name = String(decoding: prefix, as: UTF8.self)
        guard name != "xml", name != "xmlns", !uri.isEmpty else {
            throw .malformed("RFC 4825 6.4: the prefix '\(name)' cannot be bound to '\(uri.prefix(80))'")
        }
        namespaces[name] = uri
    }

    /// Reads one `xmlns(...)` and returns its data without escapes; `^` escapes parentheses and itself.
    private static func part(_ rest: inout ArraySlice<UInt8>) throws(XCAPURIError) -> [UInt8] {
        let name = rest.prefix { $0 != UInt8(ascii: "(") }
        guard name.elementsEqual("xmlns".utf8) else {
            throw .malformed("RFC 4825 6.4: the query holds something other than xmlns()")
        }
        rest = rest.dropFirst(name.count + 1)
        var data: [UInt8] = []
        var depth = 1
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "^"):
                guard let escaped = rest.popFirst(), [UInt8(ascii: "^"), UInt8(ascii: "("), UInt8(ascii: ")")].contains(escaped) else {
                    throw .malformed("RFC 4825 6.4: '^' in the query escapes only '^', '(' and ')'")
                }
                data.append(escaped)
                continue
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth == 0 { return data }
            default: break
            }
            data.append(octet)
        }
        throw .malformed("RFC 4825 6.4: a namespace binding without a closing parenthesis")
    }

    private static func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0D }
}

/// Characters of names (Namespaces in XML 1.0, 3); non-ASCII characters count as name characters.
enum XMLNameSyntax {
    static func isStart(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }

    static func isPart(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: isStart(octet)
        }
    }

    static func isNCName(_ octets: ArraySlice<UInt8>) -> Bool {
        guard let first = octets.first else { return false }
        return isStart(first) && octets.allSatisfy(isPart)
    }
}
