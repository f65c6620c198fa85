/// Rule for proof of a name by a certificate, and for its roots (RFC 5922 7.1).
public struct PeerNameRule: Hashable, Sendable {
    /// Whether the common name counts in a certificate without subjectAltName.
    public var allowsCommonName: Bool
    /// Whether `dNSName`s count although a SIP URI names a domain.
    public var takesHostsBesideDomains: Bool
    /// Whether `*.example.com` covers names with one label more than `example.com`, which RFC 5922 7.2 forbids.
    public var allowsWildcards: Bool
    /// Set of roots to which the certificate must lead: that of a domain, or ``PeerIdentity/commonRoots``.
    public var roots: String

    /// Creates a rule; by default that of ``domain``.
    public init(
        allowsCommonName: Bool = false, takesHostsBesideDomains: Bool = false, allowsWildcards: Bool = false,
        roots: String = PeerIdentity.commonRoots
    ) {
        self.allowsCommonName = allowsCommonName
        self.takesHostsBesideDomains = takesHostsBesideDomains
        self.allowsWildcards = allowsWildcards
        self.roots = roots
    }

    /// Rule of RFC 5922 for a domain.
    public static let domain = PeerNameRule()
    /// Rule for the host name of an enterprise partner's server: any name of subjectAltName, or the common name without one.
    public static let enterprise = PeerNameRule(allowsCommonName: true, takesHostsBesideDomains: true)
}

/// Result of checking a name against a certificate.
public enum PeerNameVerdict: Hashable, Sendable, CustomStringConvertible {
    /// Field of the certificate that holds the name.
    public enum Place: String, Hashable, Sendable {
        case sipURI = "a SIP URI of subjectAltName"
        case dnsName = "a dNSName of subjectAltName"
        case wildcard = "a wildcard of subjectAltName"
        case commonName = "the common name"
    }

    case proved(by: Place)
    /// The certificate proves other names only.
    case otherNames([String])
    /// Only a wildcard covers the name, and wildcards do not count (RFC 5922 7.2).
    case wildcardOnly([String])
    /// The subjectAltName has addresses only, which prove no domain (RFC 5922 7.1).
    case addressOnly([String])
    /// Only the common name could prove the name, and it does not count.
    case commonNameOnly(String)
    /// The certificate has no name.
    case noName
    /// The name is an address, which no certificate proves (RFC 5922 7.1).
    case addressAsked
    /// The certificate leads to trusted roots, but not to the required ones.
    case otherRoots(needed: String)

    /// Whether the certificate proves the name.
    public var isProved: Bool { if case .proved = self { true } else { false } }

    /// English explanation for logs, with the section of RFC 5922.
    public var description: String {
        func list(_ names: [String]) -> String { PeerIdentity.brief(names) }
        switch self {
        case .proved(let place): return "proved by \(place.rawValue)"
        case .otherNames(let names): return "the certificate proves other names: \(list(names)) (RFC 5922 7.2)"
        case .wildcardOnly(let names): return "only a wildcard covers the name: \(list(names)) (RFC 5922 7.2)"
        case .addressOnly(let addresses):
            return "the certificate names addresses only, which prove no domain: \(list(addresses)) (RFC 5922 7.1)"
        case .commonNameOnly(let name): return "only the common name \(name) could prove the name, and it does not count (RFC 5922 7.1)"
        case .noName: return "the certificate names nothing (RFC 5922 7.1)"
        case .addressAsked: return "an address was asked for, which no certificate proves (RFC 5922 7.1)"
        case .otherRoots(let needed):
            return needed == PeerIdentity.commonRoots
                ? "the certificate leads to the roots of another domain only" : "the certificate does not lead to the roots of \(needed)"
        }
    }
}

extension PeerIdentity {
    /// Names that count by this rule, in lower case; wildcards only if they count (RFC 5922 7.1).
    public func names(by rule: PeerNameRule) -> [String] { counted(by: rule).map(\.name) }

    /// Checks this name against the certificate: as a whole, ignoring case and a final dot (RFC 5922 7.2).
    ///
    /// - Parameter name: Domain or host name; IDNs as A-labels.
    public func proves(_ name: String, by rule: PeerNameRule) -> PeerNameVerdict {
        let asked = Self.key(name)
        guard !TransportAddress.isNumeric(asked) else { return .addressAsked }
        guard roots.contains(rule.roots) else { return .otherRoots(needed: rule.roots) }
        let counted = counted(by: rule)
        if !asked.utf8.contains(UInt8(ascii: "*")), let exact = counted.first(where: { $0.name == asked }) {
            return .proved(by: exact.place)
        }
        if rule.allowsWildcards, counted.contains(where: { Self.wildcard($0.name, covers: asked) }) { return .proved(by: .wildcard) }
        let wildcards = dnsNames.filter { Self.wildcard($0, covers: asked) }
        if !wildcards.isEmpty { return .wildcardOnly(wildcards) }
        if !counted.isEmpty { return .otherNames(counted.map(\.name)) }
        if !addresses.isEmpty { return .addressOnly(addresses) }
        if !dnsNames.isEmpty { return .wildcardOnly(dnsNames) }
        return commonName.map { .commonNameOnly($0) } ?? .noName
    }

    private func counted(by rule: PeerNameRule) -> [(name: String, place: PeerNameVerdict.Place)] {
        func isWhole(_ name: String) -> Bool { !TransportAddress.isNumeric(name) && !name.utf8.contains(UInt8(ascii: "*")) }
        var counted: [(name: String, place: PeerNameVerdict.Place)] = []
        for name in sipDomains where isWhole(name) { counted.append((Self.key(name), .sipURI)) }
        if sipDomains.isEmpty || rule.takesHostsBesideDomains {
            for name in dnsNames where rule.allowsWildcards || isWhole(name) { counted.append((Self.key(name), .dnsName)) }
        }
        if rule.allowsCommonName, !hasAlternativeNames, let commonName, isWhole(commonName) {
            counted.append((Self.key(commonName), .commonName))
        }
        return counted
    }

    /// `*.example.com` covers `sip.example.com`, but not `example.com` or `a.sip.example.com`; `*.com` covers nothing.
    private static func wildcard(_ pattern: String, covers name: String) -> Bool {
        let pattern = key(pattern)
        guard pattern.hasPrefix("*."), pattern.utf8.filter({ $0 == UInt8(ascii: ".") }).count >= 2,
            !pattern.dropFirst().utf8.contains(UInt8(ascii: "*")), !name.utf8.contains(UInt8(ascii: "*")),
            let dot = name.firstIndex(of: "."), dot != name.startIndex
        else { return false }
        return pattern.dropFirst() == name[dot...]
    }

    private static func key(_ name: String) -> String { SIPURI(host: name).domainKey }
}
