/// What one TLS peer has proved of itself by a certificate that leads to a root trusted here; one for each connection.
///
/// It says who the peer is, not what it may do: that is the routing room's decision. Which name it proves says ``proves(_:by:)``.
public final class PeerIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The roots for everybody who has none of his own; no domain has this name.
    public static let commonRoots = "*"

    /// DNS names of subjectAltName in lower case, wildcards as they stand (RFC 5922 7.1).
    public let dnsNames: [String]
    /// Hosts of the SIP URIs without user in subjectAltName, in lower case (RFC 5922 7.1).
    public let sipDomains: [String]
    /// Addresses of subjectAltName; they prove nothing, and explain why.
    public let addresses: [String]
    /// Whether the certificate has a subjectAltName at all, with whatever in it.
    public let hasAlternativeNames: Bool
    /// The common name of the subject in lower case; it counts for enterprise peers, and only where there is no subjectAltName.
    public let commonName: String?
    /// Seconds since 1970 at which the certificate ends.
    public let notAfter: Int64
    /// SHA-256 of the certificate, 64 hexadecimal digits.
    public let fingerprint: String
    /// The sets of roots to which the certificate leads: ``commonRoots``, and the domains whose own roots vouch for it.
    public let roots: Set<String>

    /// - Parameter hasAlternativeNames: nil: as the names given say.
    public init(
        dnsNames: [String], sipDomains: [String] = [], addresses: [String] = [], hasAlternativeNames: Bool? = nil,
        commonName: String? = nil, notAfter: Int64, fingerprint: String, roots: Set<String> = [commonRoots]
    ) {
        self.dnsNames = dnsNames
        self.sipDomains = sipDomains
        self.addresses = addresses
        self.hasAlternativeNames = hasAlternativeNames ?? !(dnsNames.isEmpty && sipDomains.isEmpty && addresses.isEmpty)
        self.commonName = commonName
        self.notAfter = notAfter
        self.fingerprint = fingerprint
        self.roots = roots
    }

    public static func == (left: PeerIdentity, right: PeerIdentity) -> Bool {
        left === right || (left.fingerprint == right.fingerprint && left.roots == right.roots)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    /// The names for a log.
    public var description: String {
        let names = sipDomains.map { "sip:" + $0 } + dnsNames + addresses
        return names.isEmpty ? commonName.map { "CN=\($0)" } ?? fingerprint : Self.brief(names)
    }

    /// The first eight of a certificate's names, and how many more there are.
    public static func brief(_ names: [String]) -> String {
        let first = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? "\(first) and \(names.count - 8) more" : first
    }
}
