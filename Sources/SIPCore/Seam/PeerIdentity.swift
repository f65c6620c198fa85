/// What one TLS peer has proved of itself by a certificate that leads to a root trusted here; one for each connection.
///
/// It says who the peer is, not what it may do: that is the routing room's decision.
public final class PeerIdentity: Hashable, Sendable, CustomStringConvertible {
    /// DNS names of subjectAltName in lower case, wildcards as they stand (RFC 5922 7.1).
    public let dnsNames: [String]
    /// Hosts of the SIP URIs without user in subjectAltName, in lower case (RFC 5922 7.1).
    public let sipDomains: [String]
    /// The common name of the subject in lower case; it counts for enterprise peers, and only where subjectAltName holds no identity.
    public let commonName: String?
    /// Seconds since 1970 at which the certificate ends.
    public let notAfter: Int64
    /// SHA-256 of the certificate, 64 hexadecimal digits.
    public let fingerprint: String

    public init(dnsNames: [String], sipDomains: [String] = [], commonName: String? = nil, notAfter: Int64, fingerprint: String) {
        self.dnsNames = dnsNames
        self.sipDomains = sipDomains
        self.commonName = commonName
        self.notAfter = notAfter
        self.fingerprint = fingerprint
    }

    public static func == (left: PeerIdentity, right: PeerIdentity) -> Bool { left.fingerprint == right.fingerprint }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    /// The names for a log.
    public var description: String {
        let names = sipDomains.map { "sip:" + $0 } + dnsNames
        return names.isEmpty ? commonName.map { "CN=\($0)" } ?? fingerprint : names.joined(separator: ", ")
    }
}
