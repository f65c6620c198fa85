import SIPSecurity

/// Strong entity-tag of a document (RFC 7232 2.3, RFC 4825 7.11), without quotes.
public struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    /// Opaque characters between the quotes.
    public let value: String

    /// Wraps the characters between the quotes; they are not checked.
    public init(value: String) { self.value = value }

    /// Derives the tag of a document from its path, its octets and the tag before: a chain, so that each change has a tag of its own
    /// although no counter is kept. 128 bits of SHA-256.
    public init(of octets: [UInt8], at document: DocumentSelector, after previous: EntityTag?) {
        let head = "\(document)\n\(previous?.value ?? "")\n"
        value = Self.hexadecimal(HashAlgorithm.sha256.digest(Array(head.utf8) + octets).prefix(16))
    }

    /// Header field value, with quotes.
    public var description: String { "\"\(value)\"" }

    private static func hexadecimal(_ octets: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for octet in octets {
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 0x0F)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Value of If-Match or If-None-Match (RFC 7232 3.1, 3.2).
public enum EntityTagCondition: Hashable, Sendable {
    /// `*`: the node exists.
    case any
    /// One of these tags; weak ones are compared only by If-None-Match.
    case tags(strong: [EntityTag], weak: [EntityTag])

    /// Parses a header field value; nil where it is malformed or has more than `limit` tags.
    public init?(_ text: String, limit: Int = XCAPLimits().entityTags) {
        var rest = Array(text.utf8)[...]
        func skip(_ octets: String) { rest = rest.drop { octets.utf8.contains($0) } }
        skip(" \t")
        if rest.first == UInt8(ascii: "*") {
            rest = rest.dropFirst()
            skip(" \t")
            guard rest.isEmpty else { return nil }
            self = .any
            return
        }
        var strong: [EntityTag] = []
        var weak: [EntityTag] = []
        skip(" \t,")
        while !rest.isEmpty {
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.first == UInt8(ascii: "\""), let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else { return nil }
            let value = rest[(rest.startIndex + 1)..<end]
            guard value.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), strong.count + weak.count < limit else { return nil }
            let tag = EntityTag(value: String(decoding: value, as: UTF8.self))
            if isWeak { weak.append(tag) } else { strong.append(tag) }
            rest = rest[(end + 1)...]
            skip(" \t")
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
            skip(" \t,")
        }
        guard !strong.isEmpty || !weak.isEmpty else { return nil }
        self = .tags(strong: strong, weak: weak)
    }
}

/// Preconditions of a request (RFC 7232 6).
public struct XCAPConditions: Hashable, Sendable {
    /// If-Match; nil when absent.
    package var ifMatch: EntityTagCondition?
    /// If-None-Match; nil when absent.
    package var ifNoneMatch: EntityTagCondition?

    /// Creates preconditions; by default none.
    public init(ifMatch: EntityTagCondition? = nil, ifNoneMatch: EntityTagCondition? = nil) {
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
    }

    /// Parses header field values; throws 400 where one is malformed.
    public init(ifMatch: String?, ifNoneMatch: String?, limits: XCAPLimits = XCAPLimits()) throws(XCAPRefusal) {
        for (name, text) in [("If-Match", ifMatch), ("If-None-Match", ifNoneMatch)] {
            guard let text else { continue }
            guard let condition = EntityTagCondition(text, limit: limits.entityTags) else {
                throw XCAPRefusal(
                    XCAPResponse(400, reason: "RFC 7232 3: \(name) is malformed, or has more than \(limits.entityTags) entity-tags"))
            }
            if name == "If-Match" { self.ifMatch = condition } else { self.ifNoneMatch = condition }
        }
    }

    enum Outcome {
        case holds
        /// If-Match is false.
        case noMatch
        /// If-None-Match is false.
        case match
    }

    /// Evaluates the preconditions: tags are those of the document, `*` is the existence of the selected node.
    func evaluate(tag: EntityTag?, nodeExists: Bool) -> Outcome {
        switch ifMatch {
        case .any? where !nodeExists: return .noMatch
        case .tags(let strong, _)?:
            guard let tag, strong.contains(tag) else { return .noMatch }
        default: break
        }
        switch ifNoneMatch {
        case .any? where nodeExists: return .match
        case .tags(let strong, let weak)?:
            if let tag, strong.contains(tag) || weak.contains(tag) { return .match }
        default: break
        }
        return .holds
    }
}
