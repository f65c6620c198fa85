import SIPCore

/// Which URIs name one user, by configuration: other names of a domain, other schemes, telephone numbers.
///
/// The canonical form is `sip:user@domain`. Everything that is kept of a user, and everything that is decided, goes by it; how
/// somebody asked is only kept to answer in the same words.
public struct IdentityTable: Hashable, Sendable {
    /// How the users of one domain may be named besides `sip:user@domain`.
    public struct Forms: Hashable, Sendable {
        /// Other names of the domain.
        public var aliases: [String]
        /// Schemes that are taken besides `sip`; `tel` goes by ``numbers`` alone.
        public var schemes: Set<SIPURI.Scheme>
        /// Prefixes of the global numbers that are users of the domain, each a `+` and digits.
        public var numbers: [String]

        public static let standardSchemes: Set<SIPURI.Scheme> = [.sips, .pres]

        public init(aliases: [String] = [], schemes: Set<SIPURI.Scheme> = standardSchemes, numbers: [String] = []) {
            self.aliases = aliases
            self.schemes = schemes
            self.numbers = numbers
        }
    }

    private var domainOfAlias: [String: String] = [:]
    /// Of domains that differ from the standard.
    private var schemesOfDomain: [String: Set<SIPURI.Scheme>] = [:]
    private var domainOfPrefix: [String: String] = [:]

    /// Of two domains that claim the same alias or prefix the first by name has it; whoever reads a configuration refuses both.
    public init(_ domains: [String: Forms] = [:]) {
        for (name, forms) in domains.sorted(by: { $0.key < $1.key }) {
            let name = Self.key(name)
            for alias in forms.aliases where domainOfAlias[Self.key(alias)] == nil { domainOfAlias[Self.key(alias)] = name }
            if forms.schemes != Forms.standardSchemes { schemesOfDomain[name] = forms.schemes }
            for prefix in forms.numbers where domainOfPrefix[prefix] == nil { domainOfPrefix[prefix] = name }
        }
        for name in domains.keys { domainOfAlias[Self.key(name)] = nil }
    }

    /// The user behind a URI.
    public struct Identity: Hashable, Sendable {
        /// `sip:user@domain`; what was asked, if no user of a domain is meant by it.
        public var uri: SIPURI
        /// What led from one to the other, for an operator; empty when nothing had to.
        public var reason: String

        /// For use as a key.
        public var key: String { uri.aorKey }
        /// The domain in lower case; empty when there is none.
        public var domain: String { uri.domainKey }
    }

    /// The canonical form of a URI. Numbers are compared without their visual separators (RFC 3966 5), a SIP URI that holds one
    /// (`user=phone`, RFC 3261 19.1.6) is the same user as the number.
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
        // An extension or a local number is nobody's address of record.
        guard !uri.parameters.contains("ext"), !uri.parameters.contains("isub"), let number = uri.user.flatMap(Self.globalNumber),
            let (prefix, domain) = prefix(of: number)
        else { return Identity(uri: uri, reason: "") }
        return Identity(
            uri: SIPURI(user: number, host: domain), reason: "\(number) is a user of \(domain), whose numbers begin with \(prefix)")
    }

    /// Whether the user part is a telephone number: it says so, or the domain's users have numbers and this is one of them.
    private func isNumber(_ uri: SIPURI, in canonical: SIPURI) -> Bool {
        if uri.parameters["user"].map({ $0.lowercased() == "phone" }) == true { return true }
        guard !domainOfPrefix.isEmpty, let user = uri.user, user.utf8.first == UInt8(ascii: "+"), let number = Self.globalNumber(user)
        else { return false }
        return prefix(of: number)?.domain == canonical.domainKey
    }

    /// The longest prefix decides.
    private func prefix(of number: String) -> (prefix: String, domain: String)? {
        guard !domainOfPrefix.isEmpty else { return nil }
        var candidate = number
        while candidate.utf8.count > 1 {
            if let domain = domainOfPrefix[candidate] { return (candidate, domain) }
            candidate.removeLast()
        }
        return nil
    }

    /// Whether the domain's users may be named in this scheme.
    public func accepts(_ scheme: SIPURI.Scheme, for domain: String) -> Bool {
        scheme == .sip || scheme == .tel || (schemesOfDomain[domain] ?? schemesOfDomain["*"] ?? Forms.standardSchemes).contains(scheme)
    }

    /// Whether any domain's users have telephone numbers.
    public var hasNumbers: Bool { !domainOfPrefix.isEmpty }

    /// The domain that an alias stands for; any other name is its own.
    public func domain(_ name: String) -> String { domainOfAlias.isEmpty ? name : domainOfAlias[Self.key(name)] ?? name }

    /// A global number (RFC 3966 5.1.4) without visual separators, `+` and 1 to 20 digits; nil: it is none.
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
    /// How a document names the presentity for somebody who asked by this URI: scheme and address as he wrote them, without port, headers
    /// and parameters, `user=phone` excepted.
    public var entityForm: SIPURI {
        guard scheme.hasHost else { return scheme == .tel ? SIPURI(.tel, user: user, host: "") : self }
        var form = addressOfRecord(scheme)
        if let kind = parameters["user"] { form.parameters["user"] = kind }
        return form
    }
}
