import NIOCore
import Testing

@testable import SIPTransport

@Suite struct HandshakeSharesTests {
    @Test("one address has a quarter of the handshakes at most, all together have no more than the limit") func shares() {
        var shares = HandshakeShares()
        for host in ["a", "b", "c", "d"] {
            for _ in 0..<2 {
                #expect(shares.mayBegin(from: host, limit: 8))
                shares.begin(from: host)
            }
            #expect(!shares.mayBegin(from: host, limit: 8))
        }
        #expect(!shares.mayBegin(from: "e", limit: 8) && shares.count == 8)
        shares.end(from: "a")
        #expect(shares.mayBegin(from: "e", limit: 8) && shares.mayBegin(from: "a", limit: 8) && !shares.mayBegin(from: "b", limit: 8))
        shares.end(from: "nobody")
        #expect(shares.count == 7)
        #expect(HandshakeShares().mayBegin(from: "a", limit: 1) && !HandshakeShares().mayBegin(from: "a", limit: 0))
    }

    @Test("a failure of one kind at one address is told once a minute, of a crowd the first are told") func pauses() {
        var pauses = WarningPauses()
        func isNews(_ host: String, _ kind: HandshakeFailure.Kind, at now: NIODeadline) -> Bool { pauses.isNews(host, kind, at: now) }
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        #expect(isNews("a", .expired, at: start))
        #expect(!isNews("a", .expired, at: start + .seconds(59)))
        #expect(isNews("a", .wrongName, at: start) && isNews("b", .expired, at: start))
        #expect(isNews("a", .expired, at: start + .seconds(60)))
        for index in 0..<WarningPauses.limit { _ = isNews("crowd\(index)", .expired, at: start + .seconds(60)) }
        #expect(!isNews("late", .expired, at: start + .seconds(61)))
        #expect(isNews("late", .expired, at: start + .seconds(121)))
    }
}
