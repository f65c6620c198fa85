import NIOSSL
import Testing

@testable import SIPTransport

struct BoringSSLReasonTests {
    @Test("the name is taken out of BoringSSL's text") func name() {
        let text = "Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at /source/handshake.cc:298"
        #expect(BoringSSLReason.name(in: text) == "CERTIFICATE_VERIFY_FAILED")
        #expect(BoringSSLReason.name(in: "something else") == "something else")
    }

    @Test("every name has a rule and who refused; alerts are the peer's", arguments: BoringSSLReason.meanings.keys.sorted())
    func known(_ name: String) {
        let meaning = BoringSSLReason.meaning(ofNames: ["UNKNOWN_TO_US", name])
        #expect(meaning == BoringSSLReason.meanings[name])
        #expect((meaning.refusedBy == .peer) == name.contains("_ALERT_"))
        #expect(meaning.kind != .tooMany && meaning.kind != .timeout)
        #expect(!meaning.text.isEmpty)
    }

    @Test(
        "the certificates' rules are told by what the peer's alert says (RFC 8446 6.2)",
        arguments: [
            ("SSLV3_ALERT_CERTIFICATE_EXPIRED", HandshakeFailure.Kind.expired), ("TLSV1_ALERT_UNKNOWN_CA", .unknownRoot),
            ("TLSV1_ALERT_CERTIFICATE_REQUIRED", .noCertificate), ("SSLV3_ALERT_CERTIFICATE_REVOKED", .revoked),
            ("SSLV3_ALERT_UNSUPPORTED_CERTIFICATE", .unusable), ("SSLV3_ALERT_BAD_CERTIFICATE", .badCertificate),
            ("TLSV1_ALERT_PROTOCOL_VERSION", .version), ("TLSV1_ALERT_UNRECOGNIZED_NAME", .unknownName),
        ])
    func alerts(_ name: String, _ kind: HandshakeFailure.Kind) {
        #expect(BoringSSLReason.meaning(ofNames: [name]).kind == kind)
    }

    @Test("a name that is not known is told as it is") func unknown() {
        let ours = BoringSSLReason.meaning(ofNames: ["DIGEST_CHECK_FAILED"])
        #expect(ours == BoringSSLReason.Meaning(.other, .here, "DIGEST_CHECK_FAILED"))
        #expect(BoringSSLReason.meaning(ofNames: ["TLSV1_ALERT_NO_RENEGOTIATION"]).refusedBy == .peer)
        #expect(BoringSSLReason.meaning(ofNames: []).text == "no reason given")
    }

    @Test("the errors of NIOSSL that are none of BoringSSL's names") func others() {
        #expect(BoringSSLReason.meaning(of: NIOSSLError.uncleanShutdown)?.kind == .closed)
        #expect(BoringSSLReason.meaning(of: NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])))?.kind == .closed)
        #expect(BoringSSLReason.meaning(of: BoringSSLError.syscallError)?.refusedBy == .peer)
        #expect(BoringSSLReason.meaning(of: NIOSSLError.noCertificateToValidate) == nil)
    }
}
