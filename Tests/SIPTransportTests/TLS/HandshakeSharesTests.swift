import Testing

@testable import SIPTransport

@Suite struct HandshakeSharesTests {
    private func key(_ host: String) -> RemoteAddressCounts.Key { RemoteAddressCounts.Key(host: host) }

    @Test("one address has a quarter of the handshakes at most, all together have no more than the limit") func shares() {
        var shares = HandshakeShares()
        let (a, b, c, d, e) = (key("192.0.2.1"), key("192.0.2.2"), key("2001:db8:0:1::1"), key("2001:db8:0:2::1"), key("192.0.2.5"))
        for host in [a, b, c, d] {
            for _ in 0..<2 {
                #expect(shares.mayBegin(from: host, limit: 8))
                shares.begin(from: host)
            }
            #expect(!shares.mayBegin(from: host, limit: 8))
        }
        #expect(!shares.mayBegin(from: e, limit: 8) && shares.count == 8)
        #expect(key("2001:db8:0:1::2") == c && key("::ffff:192.0.2.1") == a, "a /64 is one address")
        shares.end(from: a)
        #expect(shares.mayBegin(from: e, limit: 8) && shares.mayBegin(from: a, limit: 8) && !shares.mayBegin(from: b, limit: 8))
        shares.end(from: key("192.0.2.9"))
        #expect(shares.count == 7)
        #expect(HandshakeShares().mayBegin(from: a, limit: 1) && !HandshakeShares().mayBegin(from: a, limit: 0))
    }
}
