import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Subscriptions at remote domains that a restart of the gateway finds in its store.
@Suite struct RestoredUpstreamTests {
    static let rob = "rob@contoso.com"

    static func row(_ bench: Bench) throws -> SubscriptionReport {
        try #require(bench.gateway.subscriptions(at: bench.now).rows.first)
    }

    static func subscription(_ bench: Bench) throws -> UpstreamReport { try #require(try row(bench).leg) }

    static func time(_ bench: Bench) -> DateTime { DateTime(nanosecondsSince1970: bench.now.nanosecondsSince1970) }

    static func notify(_ bench: Bench, _ far: SIPRequest, cSeq: Int, _ body: String = Bench.categories(rob, Bench.state(3_500))) {
        bench.notify(
            far, "active;expires=3600", cSeq: cSeq, type: "application/msrtc-event-categories+xml", body: body, from: Bench.enterprise)
    }

    /// A watcher that was notified of rob as open.
    static func watch(_ bench: Bench) throws -> SIPRequest {
        try bench.watch(rob)
        let far = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(far, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        notify(bench, far, cSeq: 1)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try bench.notified() == ["\(rob) active open"])
        return far
    }

    @Test("a restored subscription is unverified since the restart until its refresh is accepted, and its watcher sees no change")
    func untilAccepted() throws {
        let bench = Bench(store: MemoryStore())
        let far = try Self.watch(bench)
        bench.settle()
        #expect(try bench.restart().upstreamSubscriptions == 1)
        let since = Self.time(bench)
        #expect(try Self.subscription(bench).unverifiedSince == since && Self.subscription(bench).restoredAt == since)
        #expect(bench.gateway.counts.unverifiedUpstreams == 1)
        let partner = try #require(bench.gateway.partnerReports.first { $0.name == "contoso.com" })
        #expect(partner.unverified == 1 && partner.unverifiedSince == bench.now)
        bench.pass(.seconds(1))
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(refresh.headers.callID == far.headers.callID)
        #expect(try Self.subscription(bench).unverifiedSince == since)
        bench.answer(refresh, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        #expect(try Self.subscription(bench).unverifiedSince == nil && Self.subscription(bench).restoredAt == nil)
        #expect(bench.gateway.counts.unverifiedUpstreams == 0)
        Self.notify(bench, far, cSeq: 2)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(.seconds(200))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("RFC 6665 4.2.1.2: a restored subscription that the far side forgot is unverified until the new one is accepted")
    func forgotten() throws {
        let bench = Bench(store: MemoryStore())
        _ = try Self.watch(bench)
        try bench.restart()
        let since = Self.time(bench)
        bench.pass(.seconds(1))
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), 481, from: Bench.enterprise)
        bench.pass(.seconds(1))
        let anew = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(anew.headers.toTag == nil)
        #expect(try Self.subscription(bench).unverifiedSince == since)
        bench.answer(anew, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        #expect(try Self.subscription(bench).unverifiedSince == nil && bench.gateway.counts.unverifiedUpstreams == 0)
    }

    @Test(
        "that a document was unreadable is not stored: after a restart its subscription is unverified as all are, until a document is read")
    func unreadableBefore() throws {
        let bench = Bench(store: MemoryStore())
        let far = try Self.watch(bench)
        Self.notify(bench, far, cSeq: 2, "<categories")
        #expect(try Self.subscription(bench).unreadable != nil)
        bench.clear()
        try bench.restart()
        let since = Self.time(bench)
        #expect(try Self.subscription(bench).unreadable == nil && Self.subscription(bench).unverifiedSince == since)
        bench.pass(.seconds(1))
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(refresh, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        #expect(try Self.subscription(bench).unverifiedSince == nil)
        Self.notify(bench, far, cSeq: 3, "<categories")
        #expect(try Self.subscription(bench).unreadable != nil && Self.subscription(bench).unverifiedSince != nil)
        bench.clear()
        // The state that the watcher saw before the restart ends with the time of a lost subscription.
        bench.pass(.seconds(101))
        #expect(try bench.notified() == ["\(Self.rob) active closed"])
    }

    @Test("RFC 4662: a list is subscribed to anew after a restart, and its members are unverified until that is accepted")
    func list() throws {
        let bench = Bench(store: MemoryStore()) { $0.domains["example.org"]?.lists = .adHoc(service: "sip:lists@example.org") }
        bench.send(bench.batch("ulla@contoso.com", .subscribe("alice@example.org", "bea@example.org")), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.answer(
            try bench.nextRequest(.subscribe, at: Bench.simple), 200, from: Bench.simple,
            headers: [(.expires, "3600"), (.require, "eventlist")])
        try bench.restart()
        let since = Self.time(bench)
        let rows = bench.gateway.subscriptions(at: bench.now).rows
        #expect(rows.count == 2 && rows.allSatisfy { $0.leg?.unverifiedSince == since && $0.leg?.restoredAt == since })
        #expect(bench.gateway.counts.unverifiedUpstreams == 1)
        bench.pass(.seconds(1))
        bench.answer(
            try bench.nextRequest(.subscribe, at: Bench.simple), 200, from: Bench.simple,
            headers: [(.expires, "3600"), (.require, "eventlist")])
        #expect(bench.gateway.counts.unverifiedUpstreams == 0)
    }
}
