import Foundation
import SIPCore
import Testing
import ThrowAwayCertificates

@testable import SIPSecurity

/// Certificates of throw-away authorities for partners, made once by OpenSSL's command; no key of them stays on the disk.
private struct Partners: Sendable {
    static let made = Result { try Partners() }

    private let files: [String: [UInt8]]

    private init() throws { files = try ThrowAwayCertificates.partners.files() }

    func text(_ file: String) -> [UInt8] { files[file]! }
    func chain(_ name: String) -> [Certificate] { Certificate.all(inPEM: text(name + ".pem")) }
}

struct TrustAnchorsTests {
    /// The authorities begin when they are made.
    private var now: Instant {
        get throws { Instant(secondsSince1970: try Partners.made.get().chain("stranger")[0].notBefore + 60) }
    }

    private func rule(_ name: String, as role: TrustAnchors.Role = .server, root: String = "authority") throws -> ChainRefusal.Rule? {
        let partners = try Partners.made.get()
        let anchors = try #require(TrustAnchors(partners.chain(root)))
        let now = try now
        do throws(ChainRefusal) {
            try anchors.verify(partners.chain(name), as: role, at: now)
            return nil
        } catch {
            return error.rule
        }
    }

    @Test("RFC 5280 6: chains that lead to a root, each for its purpose") func good() throws {
        #expect(try rule("contoso") == nil)
        #expect(try rule("contoso", as: .client) == nil)
        #expect(try rule("chained") == nil)
        #expect(try rule("client-only", as: .client) == nil)
        #expect(try rule("pinned", root: "private") == nil)
        // A certificate that is itself the root.
        #expect(try rule("self-signed", root: "self-signed") == nil)
    }

    @Test("RFC 5280 6: chains that do not, and the rule that they break") func wrong() throws {
        #expect(try rule("expired") == .expired)
        #expect(try rule("early") == .notYetValid)
        #expect(try rule("self-signed") == .selfSigned)
        #expect(try rule("foreign") == .unknownRoot)
        #expect(try rule("pinned") == .unknownRoot)
        #expect(try rule("chained-expired") == .expired)
        #expect(try rule("client-only") == .wrongPurpose)
    }

    @Test("the certificate to blame is named, which may stand between the peer's and the root") func blame() throws {
        let partners = try Partners.made.get()
        let anchors = try #require(TrustAnchors(partners.chain("authority")))
        let refusal = #expect(throws: ChainRefusal.self) {
            try anchors.verify(partners.chain("chained-expired"), as: .server, at: try now)
        }
        #expect(refusal?.certificate.subject == "CN=Throw-away authority ended")
        #expect(refusal?.description.contains("expired") == true)
    }

    @Test("time is what is given, not what a clock says") func time() throws {
        let partners = try Partners.made.get()
        let anchors = try #require(TrustAnchors(partners.chain("authority")))
        let early = partners.chain("early")
        #expect(throws: ChainRefusal.self) { try anchors.verify(early, as: .server, at: try now) }
        // The authority itself ends before: nobody trusts beyond it.
        let refusal = #expect(throws: ChainRefusal.self) {
            try anchors.verify(early, as: .server, at: Instant(secondsSince1970: early[0].notBefore + 1))
        }
        #expect(refusal?.certificate.subject == "CN=Throw-away authority authority")
    }

    @Test("RFC 5922 7.1: names of each kind are read apart, users' URIs not at all") func names() throws {
        let partners = try Partners.made.get()
        let contoso = partners.chain("contoso")[0]
        #expect(contoso.sipDomains == ["contoso.com"])
        #expect(contoso.dnsNames == ["sip.contoso.com"])
        #expect(contoso.commonName == "sip.contoso.com")
        #expect(contoso.subject == "CN=sip.contoso.com")
        #expect(contoso.issuer == "CN=Throw-away authority authority")
        #expect(contoso.notBefore == 1_577_836_800)
        #expect(contoso.fingerprint.count == 64)
        let address = partners.chain("address")[0]
        #expect(address.addresses == ["127.0.0.1"])
        #expect(address.dnsNames == [] && address.hasAlternativeNames)
        let mail = partners.chain("mail")[0]
        #expect(mail.hasAlternativeNames && mail.dnsNames == [] && mail.sipDomains == [])
        #expect(!partners.chain("common-name")[0].hasAlternativeNames)
        // Of a user's certificate no domain is read.
        let bob = Certificate.all(inPEM: try Certificates.pem("bob.pem"))[0]
        #expect(bob.sipDomains == [] && bob.hasAlternativeNames)
        #expect(PeerIdentity(contoso, roots: ["*"]).proves("contoso.com", by: .domain) == .proved(by: .sipURI))
    }

    @Test("a key belongs to one certificate, and other texts are none") func keys() throws {
        let partners = try Partners.made.get()
        let contoso = partners.chain("contoso")[0]
        #expect(contoso.isKept(byPEM: partners.text("contoso.key")) == true)
        #expect(contoso.isKept(byPEM: partners.text("renewed.key")) == false)
        #expect(contoso.isKept(byPEM: partners.text("contoso.pem")) == nil)
        #expect(Certificate.all(inPEM: partners.text("contoso.key")) == [])
        #expect(Certificate(octets: contoso.octets) == contoso)
        #expect(Certificate(octets: contoso.octets + [0]) == nil)
        #expect(Certificate(octets: []) == nil)
        #expect(TrustAnchors([]) == nil)
    }
}
