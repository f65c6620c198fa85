import SIPCore
import Testing

@testable import PresenceGateway

/// Final responses to NOTIFYs of a user's own data.
@Suite struct OwnDataAnswerTests {
    private func selfSubscription(_ bench: Bench) throws -> (SignedInEndpoint, SIPRequest) {
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.register()
        _ = try rob.response(200)
        rob.subscribeSelf(["categories"], extra: "")
        _ = try rob.response(200)
        return (rob, try rob.request(.notify))
    }

    @Test("RFC 6665 4.2.2 what a proxy answers to a NOTIFY of own data has it sent again", arguments: [408, 430, 502, 503, 504])
    func proxied(status: Int) throws {
        let bench = Bench()
        let (rob, first) = try selfSubscription(bench)
        bench.answer(first, status, from: rob.place)
        #expect(bench.gateway.counts.homeDialogs == 1)
        let redelivery = try #require(bench.gateway.subscriptions(at: bench.now).rows.first?.redelivery)
        #expect(redelivery.reason == "answered \(status)" && redelivery.failures == 1)
        bench.pass(.seconds(5))
        bench.answer(try rob.request(.notify), 200, from: rob.place)
        #expect(bench.gateway.subscriptions(at: bench.now).rows.first?.redelivery == nil)
        bench.pass(.seconds(30))
        #expect(rob.isQuiet && bench.gateway.counts.homeDialogs == 1)
    }

    @Test("RFC 6665 4.2.2 what an endpoint answers to a NOTIFY of own data ends it", arguments: [404, 481, 489])
    func refused(status: Int) throws {
        let bench = Bench()
        let (rob, first) = try selfSubscription(bench)
        bench.answer(first, status, from: rob.place)
        #expect(bench.gateway.counts.homeDialogs == 0)
    }
}
