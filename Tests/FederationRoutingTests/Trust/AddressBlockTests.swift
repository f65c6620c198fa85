import FederationRouting
import Testing

@Suite struct AddressBlockTests {
    @Test(
        "RFC 4632, RFC 4291 2.3: a block holds the addresses of its prefix and no others",
        arguments: [
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"), ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.128/25", "192.0.2.128", "192.0.2.127"), ("0.0.0.0/0", "255.255.255.255", "2001:db8::1"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"), ("2001:db8::1", "2001:0DB8:0:0:0:0:0:1", "2001:db8::2"),
            ("::/0", "fe80::1%eth0", "192.0.2.1"), ("::ffff:192.0.2.0", "192.0.2.0", "192.0.2.1"),
            ("192.0.2.1", "::ffff:192.0.2.1", "::192.0.2.1"), ("2001:db8:8000::/33", "2001:db8:8000::", "2001:db8:7fff::"),
        ])
    func contains(text: String, inside: String, outside: String) throws {
        let block = try #require(AddressBlock(text))
        #expect(block.contains(inside))
        #expect(!block.contains(outside))
        #expect(!block.contains("sip.example.org") && !block.contains(""))
        #expect(AddressBlock(block.description) == block)
    }

    @Test(
        "what is no block is refused",
        arguments: [
            "", "192.0.2", "192.0.2.256", "192.0.2.01", "192.0.2.1/33", "192.0.2.1/24", "192.0.2.0/", "192.0.2.0/-1", "192.0.2.0/24/8",
            "2001:db8", "2001:db8::1::2", "1:2:3:4:5:6:7:8:9", "::12345", "2001:db8::/129", "2001:db8::1/32", "sip.example.org",
            "1.2.3.4.5",
            "1:2:3:4:5:6:7::8", "[::1]",
        ])
    func refused(text: String) {
        #expect(AddressBlock(text) == nil)
    }

    @Test("a pattern is an address where it looks like one, else a name in lower case")
    func patterns() throws {
        #expect(PeerPattern("192.0.2.0/24") == .addresses(try #require(AddressBlock("192.0.2.0/24"))))
        #expect(PeerPattern("SIP.Fabrikam.com.") == .name("sip.fabrikam.com"))
        for text in ["192.0.2.300", "192.0.2.0/99", "*.fabrikam.com", "a..b", "-a.example", "sip:fabrikam.com", "", "5060"] {
            #expect(PeerPattern(text) == nil, "\(text)")
        }
    }
}
