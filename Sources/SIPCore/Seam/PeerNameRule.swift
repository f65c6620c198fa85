/// What of a certificate counts as proof of a name, and whose roots have to vouch for it (RFC 5922 7.1).
public struct PeerNameRule: Hashable, Sendable {
    /// Whether the common name counts in a certificate without any subjectAltName.
    public var allowsCommonName: Bool
    /// Whether `dNSName`s count although a SIP URI names a domain.
    public var takesHostsBesideDomains: Bool
    /// Whether `*.example.com` stands for the names one label longer than `example.com`, which RFC 5922 7.2 forbids.
    public var allowsWildcards: Bool
    /// The set of roots that has to vouch for the certificate: a domain's own, or ``PeerIdentity/commonRoots``.
    public var roots: String

    public init(
        allowsCommonName: Bool = false, takesHostsBesideDomains: Bool = false, allowsWildcards: Bool = false,
        roots: String = PeerIdentity.commonRoots
    ) {
        self.allowsCommonName = allowsCommonName
        self.takesHostsBesideDomains = takesHostsBesideDomains
        self.allowsWildcards = allowsWildcards
        self.roots = roots
    }

    /// A domain by the letter of RFC 5922.
    public static let domain = PeerNameRule()
    /// The host name of an enterprise partner's server: any name of subjectAltName, or the common name without one.
    public static let enterprise = PeerNameRule(allowsCommonName: true, takesHostsBesideDomains: true)
}

/// Whether a certificate proves a name, and if not, why.
public enum PeerNameVerdict: Hashable, Sendable, CustomStringConvertible {
    /// Where the name stands.
    public enum Place: String, Hashable, Sendable {
        case sipURI = "a SIP URI of subjectAltName"
        case dnsName = "a dNSName of subjectAltName"
        case wildcard = "a wildcard of subjectAltName"
        case commonName = "the common name"
    }

    case proved(by: Place)
    /// It proves other names only.
    case otherNames([String])
    /// A wildcard would cover the name, but wildcards do not count (RFC 5922 7.2).
    case wildcardOnly([String])
    /// Its subjectAltName holds addresses only, which name no domain (RFC 5922 7.1).
    case addressOnly([String])
    /// Only the common name would prove it, and that does not count here.
    case commonNameOnly(String)
    /// The certificate names nothing.
    case noName
    /// An address was to be proved; no certificate does that (RFC 5922 7.1).
    case addressAsked
    /// The certificate leads to roots, but not to those that have to vouch for it.
    case otherRoots(needed: String)

    public var isProved: Bool { if case .proved = self { true } else { false } }

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
    /// The names that count by this rule, in lower case, wildcards only where they count (RFC 5922 7.1).
    public func names(by rule: PeerNameRule) -> [String] { counted(by: rule).map(\.name) }

    /// Whether the certificate proves this name: whole, without regard to case and to a final dot (RFC 5922 7.2).
    ///
    /// - Parameter name: A domain or a host name; IDNs as A-labels.
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

    /// `*.example.com` covers `sip.example.com`, and neither `example.com` nor `a.sip.example.com`; `*.com` covers nothing.
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
