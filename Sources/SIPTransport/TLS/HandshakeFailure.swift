import Logging
import SIPCore
import SIPSecurity

/// Describes why a TLS connection failed: the party that refused, the certificate and the rule; for logs, metrics and the sender.
package struct HandshakeFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Rule that failed; the raw value is the label in metrics.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The certificate or one of its issuers has expired, or is not valid yet.
        case expired
        case notYetValid = "not-yet-valid"
        /// The certificate has other names, only a wildcard, only addresses, or no name (RFC 5922 7).
        case wrongName = "wrong-name"
        case wildcardOnly = "wildcard-only"
        case addressOnly = "address-only"
        /// The chain ends in an untrusted root, in a root trusted only for other domains, or in the certificate itself.
        case unknownRoot = "unknown-root"
        case otherRoots = "other-roots"
        case selfSigned = "self-signed"
        /// No certificate was presented.
        case noCertificate = "no-certificate"
        /// The certificate cannot be parsed, is too weak, or has another purpose.
        case unusable
        case revoked
        /// The certificate was refused without a more specific reason.
        case badCertificate = "bad-certificate"
        /// No TLS version or cipher suite is shared.
        case version
        case cipher
        /// The peer does not serve the requested server name.
        case unknownName = "unknown-name"
        /// The input is not TLS, or malformed.
        case notTLS = "not-tls"
        case timeout
        /// The connection ended during the handshake.
        case closed
        /// Too many handshakes are running.
        case tooMany = "too-many"
        case other

        /// Whether the failure concerns a certificate.
        var isOfCertificate: Bool {
            switch self {
            case .unknownName, .version, .cipher, .notTLS, .timeout, .closed, .tooMany, .other: false
            default: true
            }
        }
    }

    /// Party that refused: this node or the peer.
    package enum Party: String, Hashable, Sendable, CaseIterable { case here, peer }

    /// Rule that failed.
    package var kind: Kind
    /// Party that refused the handshake.
    package var refusedBy: Party
    /// Certificate that failed: the peer's when this node refused, our own when the peer refused; nil when no certificate is known or
    /// concerned.
    package var certificate: Certificate?
    /// Names of which the peer had to prove one; empty when none was required.
    package var expected: [String]
    /// Explanation in one clause, for the log.
    package var reason: String

    /// Creates a failure from its parts.
    package init(_ kind: Kind, by party: Party, certificate: Certificate? = nil, expected: [String] = [], reason: String) {
        self.kind = kind
        refusedBy = party
        self.certificate = certificate
        self.expected = expected
        self.reason = reason
    }

    /// Creates a failure of this node for a certificate chain that did not verify.
    package init(_ refusal: ChainRefusal) {
        let kind: Kind =
            switch refusal.rule {
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .selfSigned: .selfSigned
            case .unknownRoot: .unknownRoot
            case .wrongPurpose, .weak, .invalid: .unusable
            }
        self.init(kind, by: .here, certificate: refusal.certificate, reason: refusal.reason)
    }

    /// Creates a failure of this node for a certificate without an accepted name.
    /// - Parameter verdict: A verdict other than success.
    package init(_ verdict: PeerNameVerdict, certificate: Certificate, expected: [String]) {
        let kind: Kind =
            switch verdict {
            case .wildcardOnly: .wildcardOnly
            case .addressOnly: .addressOnly
            case .otherRoots: .otherRoots
            default: .wrongName
            }
        self.init(kind, by: .here, certificate: certificate, expected: expected, reason: verdict.description)
    }

    /// Failure as one line: party, reason, expected names and certificate.
    package var description: String {
        var text = "TLS: \(refusedBy == .here ? "refused here" : "refused by the peer"): \(reason)"
        if !expected.isEmpty { text += "; expected \(expected.joined(separator: " or "))" }
        if let certificate {
            text += "; certificate \(certificate), issued by \(certificate.issuer), until \(certificate.endText)"
        }
        return text
    }

    /// Fields for a structured log message.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["kind": "\(kind.rawValue)", "refused-by": "\(refusedBy.rawValue)", "reason": "\(reason)"]
        if !expected.isEmpty { metadata["expected"] = "\(expected.joined(separator: ", "))" }
        if let certificate {
            metadata["certificate"] = "\(certificate)"
            metadata["issuer"] = "\(certificate.issuer)"
            metadata["not-before"] = "\(DateText.utc(certificate.notBefore))"
            metadata["not-after"] = "\(certificate.endText)"
        }
        return metadata
    }
}
