import SIPCore
import Testing

struct PeerNameRuleTests {
    private func identity(
        _ dns: [String] = [], sip: [String] = [], addresses: [String] = [], anyAlternative: Bool? = nil, commonName: String? = nil,
        roots: Set<String> = [PeerIdentity.commonRoots]
    ) -> PeerIdentity {
        PeerIdentity(
            dnsNames: dns, sipDomains: sip, addresses: addresses, hasAlternativeNames: anyAlternative, commonName: commonName, notAfter: 0,
            fingerprint: "00", roots: roots)
    }

    @Test("RFC 5922 7.1: a SIP URI names the domain, and beside it no dNSName counts") func sipURIs() {
        let peer = identity(["edge.contoso.com"], sip: ["contoso.com"], commonName: "sip.contoso.com")
        #expect(peer.proves("contoso.com", by: .domain) == .proved(by: .sipURI))
        #expect(peer.proves("edge.contoso.com", by: .domain) == .otherNames(["contoso.com"]))
        #expect(peer.names(by: .domain) == ["contoso.com"])
    }

    @Test("RFC 5922 7.1: dNSNames count where no SIP URI names a domain") func dnsNames() {
        let peer = identity(["contoso.com", "edge.contoso.com"])
        #expect(peer.proves("contoso.com", by: .domain) == .proved(by: .dnsName))
        #expect(peer.proves("edge.contoso.com", by: .domain) == .proved(by: .dnsName))
        #expect(peer.proves("fabrikam.com", by: .domain) == .otherNames(["contoso.com", "edge.contoso.com"]))
    }

    @Test("an enterprise server proves its host name beside a SIP URI") func enterpriseHost() {
        let peer = identity(["edge.contoso.com"], sip: ["contoso.com"])
        #expect(peer.proves("edge.contoso.com", by: .enterprise) == .proved(by: .dnsName))
        #expect(peer.proves("contoso.com", by: .enterprise) == .proved(by: .sipURI))
    }

    @Test("RFC 5922 7.1: the common name counts without any subjectAltName, and only for enterprise partners") func commonName() {
        let plain = identity(commonName: "edge.contoso.com")
        #expect(plain.proves("edge.contoso.com", by: .domain) == .commonNameOnly("edge.contoso.com"))
        #expect(plain.proves("edge.contoso.com", by: .enterprise) == .proved(by: .commonName))
        #expect(plain.names(by: .enterprise) == ["edge.contoso.com"])
        // A subjectAltName without a name that counts, such as a mail address, still excludes the common name.
        let other = identity(anyAlternative: true, commonName: "edge.contoso.com")
        #expect(other.proves("edge.contoso.com", by: .enterprise) == .commonNameOnly("edge.contoso.com"))
        #expect(
            identity(["a.contoso.com"], commonName: "edge.contoso.com").proves("edge.contoso.com", by: .enterprise)
                == .otherNames(["a.contoso.com"]))
        #expect(identity(commonName: "*.contoso.com").proves("edge.contoso.com", by: .enterprise).isProved == false)
    }

    @Test("RFC 5922 7.2: names are compared whole, without regard to case and to a final dot") func wholeNames() {
        let peer = identity(["Contoso.COM"])
        #expect(peer.proves("CONTOSO.com.", by: .domain).isProved)
        for name in ["a.contoso.com", "ontoso.com", "contoso.com.example.net", "xcontoso.com", "com", ""] {
            #expect(peer.proves(name, by: .domain) == .otherNames(["contoso.com"]), "\(name)")
        }
    }

    @Test("RFC 5922 7.2: a wildcard covers nothing unless the partner's entry allows it") func wildcards() {
        let peer = identity(["*.contoso.com"])
        #expect(peer.proves("sip.contoso.com", by: .domain) == .wildcardOnly(["*.contoso.com"]))
        #expect(peer.proves("*.contoso.com", by: .domain).isProved == false)
        let lenient = PeerNameRule(allowsWildcards: true)
        #expect(peer.proves("sip.contoso.com", by: lenient) == .proved(by: .wildcard))
        for name in ["contoso.com", "a.b.contoso.com", ".contoso.com", "*.contoso.com", "sip.fabrikam.com"] {
            #expect(!peer.proves(name, by: lenient).isProved, "\(name)")
        }
        for pattern in ["*", "*.com", "s*.contoso.com", "sip.*.com", "*.*.contoso.com"] {
            #expect(!identity([pattern]).proves("sip.contoso.com", by: lenient).isProved, "\(pattern)")
        }
        #expect(!identity(["*.com"]).proves("contoso.com", by: lenient).isProved)
    }

    @Test("RFC 5922 7.1: an address proves nothing, whether held or asked for") func addresses() {
        let peer = identity(addresses: ["192.0.2.7"], commonName: "contoso.com")
        #expect(peer.proves("contoso.com", by: .enterprise) == .addressOnly(["192.0.2.7"]))
        #expect(peer.proves("192.0.2.7", by: .enterprise) == .addressAsked)
        #expect(identity(["192.0.2.7"]).proves("192.0.2.7", by: .domain) == .addressAsked)
        #expect(identity(["2001:db8::7"]).names(by: .domain) == [])
    }

    @Test("a certificate without names proves none") func noNames() {
        #expect(identity().proves("contoso.com", by: .enterprise) == .noName)
    }

    @Test("a domain with roots of its own is proved by those alone, and they prove no other domain") func pinnedRoots() {
        var pinned = PeerNameRule.domain
        pinned.roots = "contoso.com"
        let publicOne = identity(["contoso.com"])
        #expect(publicOne.proves("contoso.com", by: pinned) == .otherRoots(needed: "contoso.com"))
        let privateOne = identity(["contoso.com", "fabrikam.com"], roots: ["contoso.com"])
        #expect(privateOne.proves("contoso.com", by: pinned).isProved)
        #expect(privateOne.proves("fabrikam.com", by: .domain) == .otherRoots(needed: PeerIdentity.commonRoots))
        #expect(identity(["contoso.com"]) != identity(["contoso.com"], roots: ["contoso.com"]))
    }

    @Test("every refusal names what the certificate holds") func words() {
        let refusals: [PeerNameVerdict] = [
            .otherNames(["edge1.example"]), .wildcardOnly(["edge1.example"]), .addressOnly(["edge1.example"]),
            .commonNameOnly("edge1.example"), .otherRoots(needed: "edge1.example"),
        ]
        for refusal in refusals { #expect(refusal.description.contains("edge1.example")) }
    }
}
