import Testing

@testable import SIPCore

@Suite struct SIPURITests {
    @Test(
        "RFC 3261 19.1.1 what is written survives",
        arguments: [
            "sip:alice@example.com", "sips:alice:secret@example.com:5061;transport=tcp?Subject=hi&to=sip%3Ab%40example.com",
            "sip:[2001:db8::10]:5070", "sip:alice%20smith@example.com;maddr=[2001:db8::1]", "pres:bob@contoso.com", "im:bob@contoso.com",
            "tel:+1-201-555-0123;phone-context=example.com", "sip:bob@contoso.com;opaque=user:epid:Abc_-x;gruu", "urn:service:sos",
            "sip:;a?b@example.com", "sip:+358-555-1234567;postd=pp22@example.com;user=phone",
        ])
    func roundTrip(_ text: String) throws {
        let uri = try #require(SIPURI(text))
        #expect(uri.description == text)
    }

    @Test(
        "RFC 3261 25.1 malformed URIs are refused",
        arguments: [
            "", "sip:", "sip:@example.com", "sip:alice@", "sip:alice@exa mple.com", "sip:alice@example.com:", "sip:alice@example.com:99999",
            "sip:al%2@example.com", "sip:a@b@example.com", "sip:[::1", "sip:[zz::1]", "1sip:alice@example.com", "alice@example.com",
            "sip:al<ice@example.com", "tel:", "tel:abcxyz", "sip:alice@example.com>",
        ])
    func malformed(_ text: String) {
        #expect(SIPURI(text) == nil)
    }

    @Test("RFC 3261 19.1.4 equality")
    func equality() throws {
        func same(_ left: String, _ right: String) throws -> Bool {
            let left = try #require(SIPURI(left))
            let right = try #require(SIPURI(right))
            #expect(left.isEquivalent(to: right) == right.isEquivalent(to: left))
            return left.isEquivalent(to: right)
        }
        #expect(try same("sip:%61lice@example.com;transport=TCP", "sip:alice@EXAMPLE.com;Transport=tcp"))
        #expect(try same("sip:carol@example.com", "sip:carol@example.com;newparam=5"))
        #expect(try same("sip:carol@example.com;security=on", "sip:carol@example.com;newparam=5"))
        #expect(try same("sip:b.example.com?to=x&subject=a", "sip:b.example.com?Subject=a&To=x"))
        #expect(try !same("sip:Alice@example.com", "sip:alice@example.com"))
        #expect(try !same("sip:bob@example.com", "sip:bob@example.com:5060"))
        #expect(try !same("sip:bob@example.com", "sip:bob@example.com;transport=udp"))
        #expect(try !same("sip:bob@example.com", "sips:bob@example.com"))
        #expect(try !same("sip:bob@example.com;maddr=a", "sip:bob@example.com"))
        #expect(try !same("sip:carol@example.com;security=on", "sip:carol@example.com;security=off"))
        #expect(try !same("sip:carol@example.com?Subject=a", "sip:carol@example.com"))
    }

    @Test("all forms of one identity have one key")
    func aorKey() throws {
        for text in [
            "sip:Bob@Contoso.com", "pres:Bob@contoso.com", "sips:Bob@contoso.COM:5061;transport=tls?x=y", "sip:%42ob@contoso.com.",
            "sip:Bob:pw@contoso.com;opaque=user:epid:Abc;gruu",
        ] {
            #expect(try #require(SIPURI(text)).aorKey == "sip:Bob@contoso.com")
        }
        #expect(SIPURI("tel:+1-201-555.0123;x=y")?.aorKey == "tel:+12015550123")
        #expect(SIPURI("sip:a%2f%40b@example.com")?.aorKey == "sip:a%2F%40b@example.com")
    }
}
