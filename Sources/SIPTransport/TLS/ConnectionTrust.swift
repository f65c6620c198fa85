import SIPCore
import SIPSecurity

/// Identity that the peer of a connection proved by TLS.
struct ConnectionTrust {
    /// TLS identity of the peer; nil without TLS or without a client certificate.
    private(set) var peer: PeerIdentity?
    /// Certificates behind `peer`, to verify them again when roots change or a certificate expires.
    private(set) var proof: PeerProof?
    /// Whether the TLS listener requires a client certificate.
    private(set) var needsCertificate = false
    /// Number of further requests inspected for `alias` (RFC 5923 4); a peer sets it in all of its requests or in none.
    private var aliasChances = 4

    mutating func requireCertificate() { needsCertificate = true }

    /// - Returns: Whether the identity differs from the former one.
    mutating func proved(by proof: PeerProof?) -> Bool {
        self.proof = proof
        guard peer != proof?.identity else { return false }
        peer = proof?.identity
        return true
    }

    /// Whether a request is inspected for `alias`.
    var looksForAlias: Bool { aliasChances > 0 && peer != nil }

    mutating func inspectedForAlias() { aliasChances -= 1 }

    mutating func foundAlias() { aliasChances = 0 }
}
