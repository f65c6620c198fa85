import SIPCore

/// Maps the URIs of one user to its canonical form `sip:user@domain`, by configuration: domain aliases, other schemes,
/// telephone numbers.
///
/// Stored state and decisions use the canonical form; the URI of a request is kept only for answering in the same form.
public struct IdentityTable: Hashable, Sendable {
    /// Accepted forms for the users of one domain besides `sip:user@domain`.
    public struct Forms: Hashable, Sendable {
        /// Other names of the domain.
        public var aliases: [String]
        /// Schemes accepted besides `sip`; `tel` depends on ``numbers`` only.
        public var schemes: Set<SIPURI.Scheme>
        /// Prefixes of the global numbers of the domain's users, each `+` and digits.
        public var numbers: [String]

        /// The default of ``schemes``: `sips` and `pres`.
        public static let standardSchemes: Set<SIPURI.Scheme> = [.sips, .pres]

        /// Creates the forms of a domain.
        public init(aliases: [String] = [], schemes: Set<SIPURI.Scheme> = standardSchemes, numbers: [String] = []) {
            self.aliases = aliases
            self.schemes = schemes
            self.numbers = numbers
        }
    }

    private var domainOfAlias: [String: String] = [:]
    /// Schemes of domains that differ from the default.
    private var schemesOfDomain: [String: Set<SIPURI.Scheme>] = [:]
    private var domainOfPrefix: [String: String] = [:]

    /// Creates a table by domain name. If two domains claim an alias or prefix, the first by name gets it; the
    /// configuration reader refuses such conflicts.
    public init(_ domains: [String: Forms] = [:]) {
        for (name, forms) in domains.sorted(by: { $0.key < $1.key }) {
            let name = Self.key(name)
            for alias in forms.aliases where domainOfAlias[Self.key(alias)] == nil { domainOfAlias[Self.key(alias)] = name }
            if forms.schemes != Forms.standardSchemes { schemesOfDomain[name] = forms.schemes }
            for prefix in forms.numbers where domainOfPrefix[prefix] == nil { domainOfPrefix[prefix] = name }
        }
        for name in domains.keys { domainOfAlias[Self.key(name)] = nil }
    }

    /// The result of mapping a URI.
    public struct Identity: Hashable, Sendable {
        /// `sip:user@domain`, or the URI as given if it belongs to no configured form.
        public var uri: SIPURI
        /// The mapping step for an operator; empty if none was needed.
        public var reason: String

        /// The identity as a key (`SIPURI.aorKey`).
        public var key: String { uri.aorKey }
        /// The domain in lower case; empty if the URI has none.
        public var domain: String { uri.domainKey }
    }

    /// Maps a URI to its canonical form. Numbers are compared without visual separators (RFC 3966 5); a SIP URI with a
    /// number (`user=phone`, RFC 3261 19.1.6) is the same user as the number.
    public func identity(of uri: SIPURI) -> Identity {
        if uri.scheme == .tel { return identity(ofNumber: uri) }
        guard uri.scheme.hasHost else { return Identity(uri: uri, reason: "") }
        var canonical = uri.addressOfRecord()
        canonical.host = uri.domainKey
        var reason = ""
        if !domainOfAlias.isEmpty, let domain = domainOfAlias[uri.domainKey] {
            reason = "\(uri.domainKey) is an alias of \(domain)"
            canonical.host = domain
        }
        if let user = uri.user, isNumber(uri, in: canonical), let number = Self.globalNumber(user), number != user {
            canonical.user = number
        }
        return Identity(uri: canonical, reason: reason)
    }

    private func identity(ofNumber uri: SIPURI) -> Identity {
        // Numbers with an extension or subaddress, and local numbers, identify no user.
        guard !uri.parameters.contains("ext"), !uri.parameters.contains("isub"), let number = uri.user.flatMap(Self.globalNumber),
            let (prefix, domain) = prefix(of: number)
        else { return Identity(uri: uri, reason: "") }
        return Identity(
            uri: SIPURI(user: number, host: domain), reason: "\(number) is a user of \(domain), whose numbers begin with \(prefix)")
    }

    /// Whether the user part is a telephone number: `user=phone`, or a number with a prefix of the domain.
    private func isNumber(_ uri: SIPURI, in canonical: SIPURI) -> Bool {
        if uri.parameters["user"].map({ $0.lowercased() == "phone" }) == true { return true }
        guard !domainOfPrefix.isEmpty, let user = uri.user, user.utf8.first == UInt8(ascii: "+"), let number = Self.globalNumber(user)
        else { return false }
        return prefix(of: number)?.domain == canonical.domainKey
    }

    /// Finds the longest matching prefix.
    private func prefix(of number: String) -> (prefix: String, domain: String)? {
        guard !domainOfPrefix.isEmpty else { return nil }
        var candidate = number
        while candidate.utf8.count > 1 {
            if let domain = domainOfPrefix[candidate] { return (candidate, domain) }
            candidate.removeLast()
        }
        return nil
    }

    /// Whether the users of a domain may be addressed with a scheme; `sip` and `tel` are always accepted here.
    public func accepts(_ scheme: SIPURI.Scheme, for domain: String) -> Bool {
        scheme == .sip || scheme == .tel || (schemesOfDomain[domain] ?? schemesOfDomain["*"] ?? Forms.standardSchemes).contains(scheme)
    }

    /// Whether any domain has number prefixes.
    public var hasNumbers: Bool { !domainOfPrefix.isEmpty }

    /// The domain of an alias; any other name is returned unchanged.
    public func domain(_ name: String) -> String { domainOfAlias.isEmpty ? name : domainOfAlias[Self.key(name)] ?? name }

    /// Parses a global number (RFC 3966 5.1.4): returns `+` and 1 to 20 digits without visual separators, or nil.
    public static func globalNumber(_ text: String) -> String? {
        var digits: [UInt8] = []
        let bytes = Array((SIPURI(user: text, host: "").decodedUser ?? text).utf8)
        guard bytes.first == UInt8(ascii: "+") else { return nil }
        for byte in bytes.dropFirst() {
            switch byte {
            case 0x30...0x39: digits.append(byte)
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"): continue
            default: return nil
            }
        }
        return (1...20).contains(digits.count) ? "+" + String(decoding: digits, as: UTF8.self) : nil
    }

    private static func key(_ host: String) -> String { SIPURI(host: host).domainKey }
}

extension SIPURI {
    /// The presentity URI for documents sent to a watcher that used this URI: scheme and address as received, without port,
    /// headers and parameters other than `user`.
    public var entityForm: SIPURI {
        guard scheme.hasHost else { return scheme == .tel ? SIPURI(.tel, user: user, host: "") : self }
        var form = addressOfRecord(scheme)
        if let kind = parameters["user"] { form.parameters["user"] = kind }
        return form
    }
}
