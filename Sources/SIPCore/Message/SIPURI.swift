/// A SIP, SIPS, presence, instant-messaging or telephone URI (RFC 3261 19.1, RFC 3859, RFC 3860, RFC 3966); others are kept opaque.
///
/// `==` compares what is written; ``isEquivalent(to:)`` follows RFC 3261 19.1.4; ``aorKey`` names the identity behind the URI.
public struct SIPURI: Hashable, Sendable, CustomStringConvertible {
    /// The scheme in lower case; open.
    public struct Scheme: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let sip = Scheme(rawValue: "sip")
        public static let sips = Scheme(rawValue: "sips")
        /// RFC 3859.
        public static let pres = Scheme(rawValue: "pres")
        /// RFC 3860.
        public static let im = Scheme(rawValue: "im")
        /// RFC 3966.
        public static let tel = Scheme(rawValue: "tel")

        /// Whether the URI is `user@host` with parameters and headers.
        public var hasHost: Bool { self == .sip || self == .sips || self == .pres || self == .im }
    }

    public var scheme: Scheme
    /// As written, escapes included; for `tel` the number; see ``decodedUser``.
    public var user: String?
    /// As written; not interpreted (RFC 3261 19.1.1 advises against it).
    public var password: String?
    /// A name or address literal without brackets, as written; empty for schemes without a host.
    public var host: String
    /// 1 to 65535.
    public var port: Int?
    /// With escapes as written. Includes `gruu` and `opaque` of MS-SIPRE 2.2.3.
    public var parameters: SIPParameters
    /// What follows `?`, as written.
    public var headers: String?
    /// What follows the scheme where it is not known.
    public var opaque: String?

    public init(
        _ scheme: Scheme = .sip, user: String? = nil, host: String, port: Int? = nil, parameters: SIPParameters = SIPParameters()
    ) {
        self.scheme = scheme
        self.user = user
        self.host = host
        self.port = port
        self.parameters = parameters
    }

    /// Reads the whole text as one URI without angle brackets; nil if it is malformed.
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

    /// A URI of a scheme that is not taken apart.
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

    public var isSecure: Bool { scheme == .sips }

    /// The user with its escapes resolved.
    public var decodedUser: String? { user.map { SIPURI.unescape($0) } }

    /// The `transport` parameter (RFC 3261 19.1.1) as a transport of ours; nil if absent or unknown. `sips` is always TLS.
    public var transport: TransportProtocol? {
        if isSecure { return .tls }
        return parameters["transport"].flatMap { TransportProtocol(rawValue: ASCII.lowercased($0)) }
    }

    /// Whether this is a loose route (RFC 3261 19.1.1 `lr`).
    public var isLooseRoute: Bool { parameters.contains("lr") }

    /// Whether this is a GRUU (RFC 5627 `gr`, MS-SIPRE 2.2.3 `gruu`).
    public var isGRUU: Bool { parameters.contains("gr") || parameters.contains("gruu") }

    /// The MS-SIPRE 2.2.3 `opaque` parameter, such as `srvr:HomeServer:...`.
    public var opaqueParameter: String? { parameters["opaque"] }

    /// The identity behind the URI, for use as a key: `sip:user@host`, for telephone numbers `tel:+digits`.
    ///
    /// Scheme (`sip`, `sips`, `pres` and `im` name the same presentity), password, port, parameters and headers are left out, the host is
    /// lower case, escapes that need not be are resolved and the others have upper-case digits; the user's case is kept.
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

    /// The host in lower case, for use as the key of a domain.
    public var domainKey: String {
        var domain = ASCII.lowercased(host)
        if domain.utf8.last == 0x2E { domain.removeLast() }
        return domain
    }

    /// The host that requests are sent to instead of the URI's own, without brackets; nil if none is named (RFC 3261 19.1.1).
    public var maddr: String? {
        guard let value = parameters["maddr"], !value.isEmpty else { return nil }
        return Via.withoutBrackets(value)
    }

    /// The same identity without parameters, headers and port, in the given scheme.
    public func addressOfRecord(_ scheme: Scheme = .sip) -> SIPURI {
        guard self.scheme.hasHost else { return self }
        return SIPURI(scheme, user: user, host: host)
    }
}

extension SIPURI {
    /// URI equality of RFC 3261 19.1.4: not transitive, so no basis for a hash key.
    public func isEquivalent(to other: SIPURI) -> Bool {
        guard scheme == other.scheme, opaque == other.opaque, port == other.port, ASCII.equal(host, other.host) else { return false }
        guard user.map(SIPURI.canonicalEscapes) == other.user.map(SIPURI.canonicalEscapes),
            password.map(SIPURI.canonicalEscapes) == other.password.map(SIPURI.canonicalEscapes)
        else { return false }
        // By look-up: whoever writes the URIs chooses how many parameters they have.
        let (left, right) = (SIPURI.firstValues(parameters), SIPURI.firstValues(other.parameters))
        guard SIPURI.agrees(parameters, with: right), SIPURI.agrees(other.parameters, with: left) else { return false }
        return SIPURI.headerSet(headers) == SIPURI.headerSet(other.headers)
    }

    /// The value of the first parameter of each name, by the name in lower case.
    private static func firstValues(_ parameters: SIPParameters) -> [String: String] {
        var values: [String: String] = [:]
        for parameter in parameters.all {
            let name = ASCII.lowercased(parameter.name)
            if values[name] == nil { values[name] = canonicalEscapes(parameter.value ?? "") }
        }
        return values
    }

    /// Whether each parameter is among the others with the same value, or absent where absence means nothing (RFC 3261 19.1.4).
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

    /// Percent escapes resolved where the character is unreserved, upper-case digits elsewhere.
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

    /// Every percent escape resolved; bytes that are no UTF-8 become U+FFFD.
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
