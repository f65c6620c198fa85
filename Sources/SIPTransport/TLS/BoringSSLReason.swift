import Foundation
import NIOCore
import NIOSSL

/// Translates BoringSSL's error names, which occur only in the text of its errors.
enum BoringSSLReason {
    /// Meaning of an error name: the rule, the party that refused, and one clause of text.
    struct Meaning: Hashable {
        var kind: HandshakeFailure.Kind
        var refusedBy: HandshakeFailure.Party
        var text: String

        init(_ kind: HandshakeFailure.Kind, _ party: HandshakeFailure.Party, _ text: String) {
            self.kind = kind
            refusedBy = party
            self.text = text
        }
    }

    /// Meanings by name. Alerts were sent by the peer (RFC 8446 6.2); all other errors are local.
    static let meanings: [String: Meaning] = [
        "SSLV3_ALERT_BAD_CERTIFICATE": Meaning(.badCertificate, .peer, "it calls our certificate bad (alert bad_certificate)"),
        "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE": Meaning(
            .unusable, .peer, "it cannot use our kind of certificate (alert unsupported_certificate)"),
        "SSLV3_ALERT_CERTIFICATE_REVOKED": Meaning(.revoked, .peer, "it takes our certificate for revoked (alert certificate_revoked)"),
        "SSLV3_ALERT_CERTIFICATE_EXPIRED": Meaning(
            .expired, .peer, "it takes our certificate for expired, or not yet valid (alert certificate_expired)"),
        "SSLV3_ALERT_CERTIFICATE_UNKNOWN": Meaning(
            .badCertificate, .peer, "it does not accept our certificate (alert certificate_unknown)"),
        "SSLV3_ALERT_NO_CERTIFICATE": Meaning(.noCertificate, .peer, "it misses our certificate (alert no_certificate)"),
        "TLSV1_ALERT_CERTIFICATE_REQUIRED": Meaning(.noCertificate, .peer, "it misses our certificate (alert certificate_required)"),
        "TLSV1_ALERT_UNKNOWN_CA": Meaning(.unknownRoot, .peer, "it does not know the root of our certificate (alert unknown_ca)"),
        "TLSV1_ALERT_ACCESS_DENIED": Meaning(.badCertificate, .peer, "our certificate has no access there (alert access_denied)"),
        "TLSV1_ALERT_UNRECOGNIZED_NAME": Meaning(
            .unknownName, .peer, "it does not have the name that we asked for (alert unrecognized_name)"),
        "TLSV1_ALERT_PROTOCOL_VERSION": Meaning(.version, .peer, "it speaks neither TLS 1.2 nor 1.3 (alert protocol_version)"),
        "TLSV1_ALERT_INSUFFICIENT_SECURITY": Meaning(.cipher, .peer, "our cipher suites are too weak for it (alert insufficient_security)"),
        "SSLV3_ALERT_HANDSHAKE_FAILURE": Meaning(
            .cipher, .peer, "it finds no cipher suite in common, or misses our certificate (alert handshake_failure)"),
        "SSLV3_ALERT_UNEXPECTED_MESSAGE": Meaning(.notTLS, .peer, "it did not expect our message (alert unexpected_message)"),
        "SSLV3_ALERT_ILLEGAL_PARAMETER": Meaning(.other, .peer, "it calls a parameter illegal (alert illegal_parameter)"),
        "TLSV1_ALERT_DECODE_ERROR": Meaning(.notTLS, .peer, "it cannot read our message (alert decode_error)"),
        "TLSV1_ALERT_DECRYPT_ERROR": Meaning(.badCertificate, .peer, "it cannot verify our signature (alert decrypt_error)"),
        "TLSV1_ALERT_INTERNAL_ERROR": Meaning(.other, .peer, "it has trouble of its own (alert internal_error)"),
        "TLSV1_ALERT_USER_CANCELLED": Meaning(.closed, .peer, "it gave up (alert user_canceled)"),
        "PEER_DID_NOT_RETURN_A_CERTIFICATE": Meaning(.noCertificate, .here, "the peer showed no certificate (RFC 5922 7.4)"),
        "NO_CERTIFICATES_RETURNED": Meaning(.noCertificate, .here, "the peer showed no certificate (RFC 5922 7.4)"),
        "CERTIFICATE_VERIFY_FAILED": Meaning(.badCertificate, .here, "the peer's certificate is not accepted"),
        "CANNOT_PARSE_LEAF_CERT": Meaning(.unusable, .here, "the peer's certificate cannot be read"),
        "WRONG_CERTIFICATE_TYPE": Meaning(.unusable, .here, "the peer's certificate has a key of the wrong kind"),
        "UNKNOWN_CERTIFICATE_TYPE": Meaning(.unusable, .here, "the peer's certificate has a key of an unknown kind"),
        "ECC_CERT_NOT_FOR_SIGNING": Meaning(.unusable, .here, "the peer's certificate is not for signing"),
        "KEY_USAGE_BIT_INCORRECT": Meaning(.unusable, .here, "the peer's certificate is for another use of its key (RFC 5280 4.2.1.3)"),
        "UNSUPPORTED_PROTOCOL": Meaning(.version, .here, "the peer speaks neither TLS 1.2 nor 1.3"),
        "WRONG_SSL_VERSION": Meaning(.version, .here, "the peer speaks neither TLS 1.2 nor 1.3"),
        "INAPPROPRIATE_FALLBACK": Meaning(.version, .here, "the peer fell back to an older version without need (RFC 7507)"),
        "WRONG_VERSION_NUMBER": Meaning(.notTLS, .here, "the peer does not speak TLS"),
        "HTTP_REQUEST": Meaning(.notTLS, .here, "the peer speaks HTTP"),
        "HTTPS_PROXY_REQUEST": Meaning(.notTLS, .here, "the peer speaks HTTP"),
        "UNEXPECTED_RECORD": Meaning(.notTLS, .here, "the peer's records are out of order"),
        "UNEXPECTED_MESSAGE": Meaning(.notTLS, .here, "the peer's messages are out of order"),
        "EXCESSIVE_MESSAGE_SIZE": Meaning(.notTLS, .here, "a message of the peer's handshake is too long"),
        "NO_SHARED_CIPHER": Meaning(.cipher, .here, "no cipher suite in common"),
        "NO_SHARED_GROUP": Meaning(.cipher, .here, "no group for the key exchange in common"),
        "NO_COMMON_SIGNATURE_ALGORITHMS": Meaning(.cipher, .here, "no signature algorithm in common"),
        "BAD_SIGNATURE": Meaning(.badCertificate, .here, "the peer does not have the key of its certificate"),
    ]

    /// Meaning of an error of NIOSSL or of the socket; nil when it is not a TLS error.
    static func meaning(of error: any Error) -> Meaning? {
        switch error {
        case NIOSSLError.handshakeFailed(let inner): meaning(of: inner)
        case NIOSSLError.uncleanShutdown: Meaning(.closed, .peer, "the peer closed the connection")
        case BoringSSLError.sslError(let stack), BoringSSLError.unknownError(let stack): meaning(of: stack)
        case BoringSSLError.zeroReturn, BoringSSLError.syscallError: Meaning(.closed, .peer, "the peer closed the connection")
        default: nil
        }
    }

    private static func meaning(of stack: NIOBoringSSLErrorStack) -> Meaning {
        if stack.contains(.eofDuringHandshake) { return Meaning(.closed, .peer, "the peer closed the connection during the handshake") }
        return meaning(ofNames: stack.map { name(in: $0.description) })
    }

    /// Meaning of several names together: the first known name decides.
    static func meaning(ofNames names: [String]) -> Meaning {
        for name in names { if let meaning = meanings[name] { return meaning } }
        let text = names.isEmpty ? "no reason given" : names.joined(separator: ", ")
        let isAlert = names.contains { $0.contains("_ALERT_") }
        return Meaning(.other, isAlert ? .peer : .here, text)
    }

    /// Extracts the name from `Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at FILE:LINE`.
    static func name(in text: String) -> String {
        guard let start = text.range(of: "OPENSSL_internal:")?.upperBound else { return text }
        return String(text[start...].prefix { $0 != " " })
    }
}
