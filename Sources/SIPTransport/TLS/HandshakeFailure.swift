import Logging
import SIPCore
import SIPSecurity

/// Why a TLS connection did not come to be: which side refused, which certificate, which rule. For a log, a counter and the sender.
public struct HandshakeFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule; the raw value is the label of metrics.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The certificate, or one between it and the root, has ended or has not begun.
        case expired
        case notYetValid = "not-yet-valid"
        /// It proves other names, only a wildcard, only addresses, or nothing (RFC 5922 7).
        case wrongName = "wrong-name"
        case wildcardOnly = "wildcard-only"
        case addressOnly = "address-only"
        /// It leads to a root that is not trusted, or not for this domain, or to itself.
        case unknownRoot = "unknown-root"
        case otherRoots = "other-roots"
        case selfSigned = "self-signed"
        /// None was shown.
        case noCertificate = "no-certificate"
        /// It cannot be read, is too weak, or for something else.
        case unusable
        case revoked
        /// The certificate was refused, and the other side did not say more.
        case badCertificate = "bad-certificate"
        /// No version or cipher suite in common.
        case version
        case cipher
        /// The other side does not have this name.
        case unknownName = "unknown-name"
        /// What came is no TLS, or not well formed.
        case notTLS = "not-tls"
        case timeout
        /// The connection ended before the handshake did.
        case closed
        /// More handshakes under way than allowed.
        case tooMany = "too-many"
        case other

        /// Whether a certificate is to blame.
        var isOfCertificate: Bool {
            switch self {
            case .unknownName, .version, .cipher, .notTLS, .timeout, .closed, .tooMany, .other: false
            default: true
            }
        }
    }

    /// Who refused: this node or the other end.
    public enum Party: String, Hashable, Sendable, CaseIterable { case here, peer }

    public var kind: Kind
    public var refusedBy: Party
    /// The certificate to blame: the peer's when refused here, ours when the peer refused; nil when none is.
    public var certificate: Certificate?
    /// The names that were to be proved; empty where none was.
    public var expected: [String]
    /// One clause.
    public var reason: String

    public init(_ kind: Kind, by party: Party, certificate: Certificate? = nil, expected: [String] = [], reason: String) {
        self.kind = kind
        refusedBy = party
        self.certificate = certificate
        self.expected = expected
        self.reason = reason
    }

    public init(_ refusal: ChainRefusal) {
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

    /// - Parameter verdict: Not one of success.
    public init(_ verdict: PeerNameVerdict, certificate: Certificate, expected: [String]) {
        let kind: Kind =
            switch verdict {
            case .wildcardOnly: .wildcardOnly
            case .addressOnly: .addressOnly
            case .otherRoots: .otherRoots
            default: .wrongName
            }
        self.init(kind, by: .here, certificate: certificate, expected: expected, reason: verdict.description)
    }

    public var description: String {
        var text = "TLS: \(refusedBy == .here ? "refused here" : "refused by the peer"): \(reason)"
        if !expected.isEmpty { text += "; expected \(expected.joined(separator: " or "))" }
        if let certificate {
            text += "; certificate \(certificate), issued by \(certificate.issuer), until \(certificate.endText)"
        }
        return text
    }

    /// For a structured log.
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
