/// URI of the schemes `sip`, `sips`, `pres`, `im` and `tel` (RFC 3261 19.1, RFC 3859, RFC 3860, RFC 3966); other schemes are kept
/// opaque.
///
/// `==` compares the written parts; ``isEquivalent(to:)`` follows RFC 3261 19.1.4; ``aorKey`` identifies the user.
public struct SIPURI: Hashable, Sendable, CustomStringConvertible {
    /// URI scheme in lower case; unknown schemes are kept.
    public struct Scheme: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// RFC 3261 19.1.
        public static let sip = Scheme(rawValue: "sip")
        /// RFC 3261 19.1: TLS is required.
        public static let sips = Scheme(rawValue: "sips")
        /// RFC 3859.
        public static let pres = Scheme(rawValue: "pres")
        /// RFC 3860.
        public static let im = Scheme(rawValue: "im")
        /// RFC 3966.
        public static let tel = Scheme(rawValue: "tel")

        /// Whether URIs of the scheme have the form `user@host` with parameters and headers.
        public var hasHost: Bool { self == .sip || self == .sips || self == .pres || self == .im }
    }

    /// Scheme in lower case.
    public var scheme: Scheme
    /// User as written, escapes included; for `tel` the number; see ``decodedUser``.
    public var user: String?
    /// Password as written; not interpreted (RFC 3261 19.1.1 advises against it).
    public var password: String?
    /// Name or address literal without brackets, as written; empty for schemes without a host.
    public var host: String
    /// Port, at most 65535; nil when absent.
    public var port: Int?
    /// URI parameters with escapes as written, `gruu` and `opaque` of MS-SIPRE 2.2.3 included.
    public var parameters: SIPParameters
    /// Text after `?`, as written; nil when absent.
    public var headers: String?
    /// Text after the scheme, for schemes that are not parsed.
    public var opaque: String?

    /// Creates a URI without password and headers; the parts are not checked.
    public init(
        _ scheme: Scheme = .sip, user: String? = nil, host: String, port: Int? = nil, parameters: SIPParameters = SIPParameters()
    ) {
        self.scheme = scheme
        self.user = user
        self.host = host
        self.port = port
        self.parameters = parameters
    }

    /// Parses the whole text as one URI without angle brackets; nil if it is malformed.
    public init?(_ text: String) {
        var text = text
        let parsed: SIPURI? = text.withUTF8 { buffer in
            let scanner = ByteScanner(buffer, 0..<buffer.count)
            guard let spans = URISpans(scanner) else { return nil }
            return SIPURI(scanner, spans)
        }
        guard let parsed else { return nil }
        self = parsed
    }

    /// Creates a URI of a scheme that is not parsed.
    public init(opaque: String, scheme: Scheme) {
        self.scheme = scheme
        self.opaque = opaque
        host = ""
        parameters = SIPParameters()
    }

    public var description: String {
        var text = scheme.rawValue + ":"
        if let opaque { return text + opaque }
        if let user {
            text += user
            if let password { text += ":" + password }
            if scheme.hasHost { text += "@" }
        }
        text += host.utf8.contains(0x3A) ? "[\(host)]" : host
        if let port { text += ":\(port)" }
        text += parameters.uriDescription
        if let headers { text += "?" + headers }
        return text
    }

    /// Whether the scheme is `sips`.
    public var isSecure: Bool { scheme == .sips }

    /// User with its escapes resolved; invalid UTF-8 becomes U+FFFD.
    public var decodedUser: String? { user.map { SIPURI.unescape($0) } }

    /// Transport of the `transport` parameter (RFC 3261 19.1.1); nil if absent or unknown. `sips` is always TLS.
    public var transport: TransportProtocol? {
        if isSecure { return .tls }
        return parameters["transport"].flatMap { TransportProtocol(rawValue: ASCII.lowercased($0)) }
    }

    /// Whether this is a loose route (RFC 3261 19.1.1 `lr`).
    public var isLooseRoute: Bool { parameters.contains("lr") }

    /// Whether this is a GRUU (RFC 5627 `gr`, MS-SIPRE 2.2.3 `gruu`).
    public var isGRUU: Bool { parameters.contains("gr") || parameters.contains("gruu") }

    /// Parameter `opaque` of MS-SIPRE 2.2.3, such as `srvr:HomeServer:...`.
    public var opaqueParameter: String? { parameters["opaque"] }

    /// Key of the identity: `sip:user@host`, for telephone numbers `tel:+digits`.
    ///
    /// Ignores the scheme (`sip`, `sips`, `pres` and `im` name the same presentity), password, port, parameters and headers. The
    /// host is in lower case, unnecessary escapes are resolved and the others have upper-case digits; the case of the user is kept.
    public var aorKey: String {
        if let opaque { return scheme.rawValue + ":" + opaque }
        if scheme == .tel {
            let number = (user ?? "").utf8.filter { !($0 == 0x2D || $0 == 0x2E || $0 == 0x28 || $0 == 0x29) }.map(ASCII.lower)
            return "tel:" + String(decoding: number, as: UTF8.self)
        }
        var domain = ASCII.lowercased(host)
        if domain.utf8.last == 0x2E { domain.removeLast() }
        if domain.utf8.contains(0x3A) { domain = "[" + domain + "]" }
        guard let user else { return "sip:" + domain }
        return "sip:" + SIPURI.canonicalEscapes(user) + "@" + domain
    }

    /// Key of the domain: the host in lower case, without final dot.
    public var domainKey: String {
        var domain = ASCII.lowercased(host)
        if domain.utf8.last == 0x2E { domain.removeLast() }
        return domain
    }

    /// Host to send requests to in place of the URI's own, without brackets; nil when absent or empty (RFC 3261 19.1.1).
    public var maddr: String? {
        guard let value = parameters["maddr"], !value.isEmpty else { return nil }
        return Via.withoutBrackets(value)
    }

    /// Same identity without password, port, parameters and headers, in the given scheme; URIs without a host are unchanged.
    public func addressOfRecord(_ scheme: Scheme = .sip) -> SIPURI {
        guard self.scheme.hasHost else { return self }
        return SIPURI(scheme, user: user, host: host)
    }
}

extension SIPURI {
    /// Compares URIs by RFC 3261 19.1.4; not transitive, so not usable as a hash key.
    public func isEquivalent(to other: SIPURI) -> Bool {
        guard scheme == other.scheme, opaque == other.opaque, port == other.port, ASCII.equal(host, other.host) else { return false }
        guard user.map(SIPURI.canonicalEscapes) == other.user.map(SIPURI.canonicalEscapes),
            password.map(SIPURI.canonicalEscapes) == other.password.map(SIPURI.canonicalEscapes)
        else { return false }
        // Compare by lookup: the peer chooses the number of parameters, and quadratic time would be an attack.
        let (left, right) = (SIPURI.firstValues(parameters), SIPURI.firstValues(other.parameters))
        guard SIPURI.agrees(parameters, with: right), SIPURI.agrees(other.parameters, with: left) else { return false }
        return SIPURI.headerSet(headers) == SIPURI.headerSet(other.headers)
    }

    /// Value of the first parameter of each name, by the name in lower case.
    private static func firstValues(_ parameters: SIPParameters) -> [String: String] {
        var values: [String: String] = [:]
        for parameter in parameters.all {
            let name = ASCII.lowercased(parameter.name)
            if values[name] == nil { values[name] = canonicalEscapes(parameter.value ?? "") }
        }
        return values
    }

    /// Whether each parameter is among the others with the same value, or absent where that makes no difference (RFC 3261 19.1.4).
    private static func agrees(_ parameters: SIPParameters, with others: [String: String]) -> Bool {
        parameters.all.allSatisfy { parameter in
            let name = ASCII.lowercased(parameter.name)
            guard let value = others[name] else { return !["user", "ttl", "method", "maddr", "transport"].contains(name) }
            return ASCII.equal(canonicalEscapes(parameter.value ?? ""), value)
        }
    }

    private static func headerSet(_ headers: String?) -> [String] {
        guard let headers, !headers.isEmpty else { return [] }
        return headers.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? canonicalEscapes(String(parts[1])) : ""
            return SIPHeaderName(unescape(String(parts[0]))).description.lowercased() + "=" + value
        }.sorted()
    }

    /// Resolves escapes of unreserved characters; other escapes get upper-case digits.
    static func canonicalEscapes(_ text: String) -> String {
        guard text.utf8.contains(0x25) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count, let high = ASCII.hexValue(bytes[index + 1]),
                let low = ASCII.hexValue(bytes[index + 2])
            {
                let value = high << 4 | low
                if isUnreserved(value) {
                    result.append(value)
                } else {
                    let digits = Array("0123456789ABCDEF".utf8)
                    result += [0x25, digits[Int(high)], digits[Int(low)]]
                }
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return true
        case 0x2D, 0x5F, 0x2E, 0x21, 0x7E, 0x2A, 0x27, 0x28, 0x29: return true
        default: return false
        }
    }

    /// Resolves every escape; invalid UTF-8 becomes U+FFFD.
    static func unescape(_ text: String) -> String {
        guard text.utf8.contains(0x25) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count, let high = ASCII.hexValue(bytes[index + 1]),
                let low = ASCII.hexValue(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
