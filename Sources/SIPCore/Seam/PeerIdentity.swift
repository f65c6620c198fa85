/// Identity that a TLS peer proved by a certificate with a trusted root; one per connection.
///
/// It identifies the peer; the routing module decides what the peer may do. ``proves(_:by:)`` checks a name.
public final class PeerIdentity: Hashable, Sendable, CustomStringConvertible {
    /// Name of the set of roots for domains without roots of their own; no domain has this name.
    public static let commonRoots = "*"

    /// DNS names of subjectAltName in lower case, wildcards included (RFC 5922 7.1).
    public let dnsNames: [String]
    /// Hosts of the SIP URIs without user in subjectAltName, in lower case (RFC 5922 7.1).
    public let sipDomains: [String]
    /// Addresses of subjectAltName; they prove no name and appear in error messages.
    public let addresses: [String]
    /// Whether the certificate has a subjectAltName, whatever it contains.
    public let hasAlternativeNames: Bool
    /// Common name of the subject in lower case; counts for enterprise peers without subjectAltName only.
    public let commonName: String?
    /// End of the certificate's validity, in seconds since 1970.
    public let notAfter: Int64
    /// SHA-256 of the certificate as 64 hexadecimal digits.
    public let fingerprint: String
    /// Sets of roots to which the certificate leads: ``commonRoots``, and the names of domains with roots of their own.
    public let roots: Set<String>

    /// Creates an identity.
    /// - Parameter hasAlternativeNames: nil: true if any name or address is given.
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

    /// Names, for logs.
    public var description: String {
        let names = sipDomains.map { "sip:" + $0 } + dnsNames + addresses
        return names.isEmpty ? commonName.map { "CN=\($0)" } ?? fingerprint : Self.brief(names)
    }

    /// First eight names of a certificate, and the number of further ones.
    public static func brief(_ names: [String]) -> String {
        let first = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? "\(first) and \(names.count - 8) more" : first
    }
}
