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

    @Test(
        "RFC 3966 3 a telephone number has no headers, with parameters or without",
        arguments: ["tel:+1?a=b", "tel:+1;?a=b", "tel:+1;x=y?a=b"])
    func telephoneHeaders(_ text: String) {
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
        #expect(try same("sip:carol@example.com;a;b=%61;a", "sip:carol@example.com;B=A;a"))
        #expect(try !same("sip:carol@example.com;a=1;a=2", "sip:carol@example.com;a=1"))
        #expect(try !same("sip:carol@example.com;a=1", "sip:carol@example.com;A=2"))
        #expect(try same("sip:b.example.com?to=x&subject=a", "sip:b.example.com?Subject=a&To=x"))
        #expect(try !same("sip:Alice@example.com", "sip:alice@example.com"))
        #expect(try !same("sip:bob@example.com", "sip:bob@example.com:5060"))
        #expect(try !same("sip:bob@example.com", "sip:bob@example.com;transport=udp"))
        #expect(try !same("sip:bob@example.com", "sips:bob@example.com"))
        #expect(try !same("sip:bob@example.com;maddr=a", "sip:bob@example.com"))
        #expect(try !same("sip:carol@example.com;security=on", "sip:carol@example.com;security=off"))
        #expect(try !same("sip:carol@example.com?Subject=a", "sip:carol@example.com"))
    }

    @Test(
        "RFC 3261 19.1.4 every rule of the comparison",
        arguments: [
            // Examples of the section.
            ("sip:%61lice@atlanta.example.com;transport=TCP", "sip:alice@AtLanTa.example.CoM;Transport=tcp", true),
            ("sip:carol@chicago.example.com", "sip:carol@chicago.example.com;newparam=5", true),
            ("sip:carol@chicago.example.com", "sip:carol@chicago.example.com;security=on", true),
            (
                "sip:biloxi.example.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.example.com",
                "sip:biloxi.example.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.example.com", true
            ),
            (
                "sip:alice@atlanta.example.com?subject=project%20x&priority=urgent",
                "sip:alice@atlanta.example.com?priority=urgent&subject=project%20x", true
            ),
            ("SIP:ALICE@AtLanTa.example.CoM;Transport=udp", "sip:alice@AtLanTa.example.CoM;Transport=UDP", false),
            ("sip:bob@biloxi.example.com", "sip:bob@biloxi.example.com:5060", false),
            ("sip:bob@biloxi.example.com", "sip:bob@biloxi.example.com;transport=udp", false),
            ("sip:bob@biloxi.example.com", "sip:bob@biloxi.example.com:6000;transport=tcp", false),
            ("sip:carol@chicago.example.com", "sip:carol@chicago.example.com?Subject=next%20meeting", false),
            ("sip:bob@phone21.boxesbybob.example.com", "sip:bob@192.0.2.4", false),
            // Scheme, user information, port.
            ("sip:bob@example.com", "sips:bob@example.com", false), ("SIP:bob@example.com", "sip:bob@example.com", true),
            ("sip:bob:one@example.com", "sip:bob:two@example.com", false), ("sip:bob:one@example.com", "sip:bob@example.com", false),
            ("sip:bob@example.com:5060", "sip:bob@example.com:5060", true), ("sip:example.com", "sip:bob@example.com", false),
            // Escapes: reserved characters differ from their escapes, others do not; digits compare without case.
            ("sip:a%2Fb@example.com", "sip:a%2fb@example.com", true), ("sip:a%2Fb@example.com", "sip:a/b@example.com", false),
            ("sip:%7Ebob@example.com", "sip:~bob@example.com", true),
            // Parameters that count when one side lacks them, and those that count only on both.
            ("sip:bob@example.com;user=phone", "sip:bob@example.com", false), ("sip:bob@example.com;ttl=1", "sip:bob@example.com", false),
            ("sip:bob@example.com;method=INVITE", "sip:bob@example.com", false),
            ("sip:bob@example.com;maddr=192.0.2.1", "sip:bob@example.com", false), ("sip:bob@example.com;lr", "sip:bob@example.com", true),
            ("sip:bob@example.com;lr;a=b", "sip:bob@example.com;A=B;lr", true),
            ("sip:bob@example.com;a=b", "sip:bob@example.com;a=c", false),
            ("sip:bob@example.com;x=%41", "sip:bob@example.com;x=a", true),
            // Headers always count.
            ("sip:bob@example.com?a=b", "sip:bob@example.com?a=b&c=d", false),
            ("sip:bob@example.com?Subject=x", "sip:bob@example.com?s=x", true),
            // Hosts.
            ("sip:bob@[2001:DB8::1]", "sip:bob@[2001:db8::1]", true),
            ("tel:+12015550123", "sip:+12015550123@example.com;user=phone", false),
        ])
    func comparison(_ left: String, _ right: String, _ isSame: Bool) throws {
        let (left, right) = (try #require(SIPURI(left)), try #require(SIPURI(right)))
        #expect(left.isEquivalent(to: right) == isSame)
        #expect(right.isEquivalent(to: left) == isSame)
        #expect(left.isEquivalent(to: left) && right.isEquivalent(to: right))
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
