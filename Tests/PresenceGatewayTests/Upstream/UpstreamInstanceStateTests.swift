import PresenceGateway
import SIPCore
import Testing

/// Instance states in a resource list of the remote domain (MS-PRES 3.4.5.1.3.1).
@Suite struct UpstreamInstanceStateTests {
    let open = Bench.state(3_500)
    let gone = Bench.state(18_500)

    /// Every SUBSCRIBE that waits at the enterprise.
    func requests(_ bench: Bench) throws -> [SIPRequest] {
        var taken: [SIPRequest] = []
        while !bench.isQuiet(at: Bench.enterprise) { taken.append(try bench.nextRequest(.subscribe, at: Bench.enterprise)) }
        return taken
    }

    @Test("MS-PRES 3.4.5.1.3.1: resubscribe with poolFqdn is followed to that pool, all its resources in one batch dialog")
    func pool() throws {
        let bench = Bench.trusted()
        let users = ["a@contoso.com", "b@contoso.com", "c@contoso.com"]
        for user in users { try bench.watch(user) }
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(first, [], [Bench.elsewhere("a@contoso.com", Bench.poolOne)], expires: 0)
        let asked = try requests(bench)
        let moved = try #require(asked.first { $0.requestURI == Bench.poolOne })
        #expect(Bench.actions(moved) == ["subscribe: sip:a@contoso.com"] && moved.headers.toTag == nil)
        #expect(moved.headers.hasToken(.require, "adhoclist") && moved.headers.to?.uri.description == "sip:ann@example.org")
        let rest = try #require(asked.first { $0.requestURI == "sip:contoso.com" })
        #expect(Bench.actions(rest) == ["subscribe: sip:b@contoso.com sip:c@contoso.com"])
        bench.grant(moved, [("a@contoso.com", open)])
        bench.grant(
            rest, [("b@contoso.com", gone)], [Bench.elsewhere("c@contoso.com", Bench.poolOne)])
        let joined = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(joined.headers.callID == moved.headers.callID && Bench.actions(joined) == ["subscribe: sip:c@contoso.com"])
        bench.grant(joined, [("c@contoso.com", open)])
        #expect(try bench.notified().sorted() == ["a@contoso.com active open", "b@contoso.com active closed", "c@contoso.com active open"])
        #expect(bench.gateway.counts.upstreamSubscriptions == 2 && bench.gateway.counters.redirectsFollowed == 2)
    }

    @Test("MS-PRES 3.4.5.1.3.1: resubscribe without poolFqdn is followed by a single subscription to the resource")
    func single() throws {
        let bench = Bench.trusted()
        try bench.watch("bob@contoso.com")
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [], [Bench.elsewhere("bob@contoso.com")], expires: 0)
        let single = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(single.requestURI == "sip:bob@contoso.com" && single.headers.to?.uri.description == "sip:bob@contoso.com")
        #expect(!single.headers.contains(.require) && single.headers.toTag == nil)
        bench.grant(single, [("bob@contoso.com", open)])
        #expect(try bench.notified() == ["bob@contoso.com active open"])
        #expect(bench.gateway.counts.upstreamSubscriptions == 1)
    }

    @Test("MS-PRES 3.4.5.3: what a batch sends on and a single subscription answers 404 does not exist")
    func unknown() throws {
        let bench = Bench.trusted()
        try bench.watch("nobody@contoso.com")
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [], [Bench.elsewhere("nobody@contoso.com")], expires: 0)
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), 404, from: Bench.enterprise)
        #expect(try bench.notified() == ["nobody@contoso.com terminated noresource"])
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("MS-PRES 3.4.5.1.3.1: a user who moves while watched is followed, its watcher keeps the last state and nobody else notices")
    func moves() throws {
        let bench = Bench.trusted()
        try bench.watch("bob@contoso.com")
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(first, [("bob@contoso.com", open)])
        _ = try bench.notified()
        try bench.watch("eve@contoso.com")
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [("eve@contoso.com", open)])
        _ = try bench.notified()
        bench.notify(
            first, "active;expires=3600", cSeq: 2, type: Bench.listType,
            body: Bench.list([], [Bench.elsewhere("bob@contoso.com", Bench.poolTwo)]), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let moved = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(moved.requestURI == Bench.poolTwo)
        #expect(try bench.notified().isEmpty)
        bench.grant(moved, [("bob@contoso.com", gone)])
        #expect(try bench.notified() == ["bob@contoso.com active closed"])
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test(
        "MS-PRES 3.4.5.1.3.1: terminated in the list ends that watcher's subscription with its meaning, and no other",
        arguments: [
            ("reason=\"rejected\"", "rejected"), ("reason=\"quotaExceeded\" statusCode=\"413\"", "probation"),
            ("reason=\"noresource\" statusCode=\"404\"", "noresource"), ("statusCode=\"403\"", "rejected"), ("", "noresource"),
        ])
    func terminated(attributes: String, reason: String) throws {
        let bench = Bench.trusted()
        try bench.watch("bob@contoso.com")
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(first, [("bob@contoso.com", open)])
        #expect(try bench.notified() == ["bob@contoso.com active open"])
        try bench.watch("eve@contoso.com")
        bench.grant(
            try bench.nextRequest(.subscribe, at: Bench.enterprise), [],
            [Bench.instanceState("eve@contoso.com", "state=\"terminated\" \(attributes)")])
        #expect(try bench.notified() == ["eve@contoso.com terminated \(reason)"])
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts.watcherDialogs == 1 && bench.isQuiet(at: Bench.enterprise))
        bench.notify(
            first, "active;expires=3600", cSeq: 2, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("bob@contoso.com", gone), from: Bench.enterprise)
        #expect(try bench.notified() == ["bob@contoso.com active closed"])
    }

    @Test("MS-PRES 2.2.2.4.2: pending in the list makes that watcher pending until its state comes")
    func pending() throws {
        let bench = Bench.trusted()
        try bench.watch("bob@contoso.com")
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        try bench.watch("eve@contoso.com")
        bench.grant(first, [("bob@contoso.com", open)])
        bench.grant(
            try bench.nextRequest(.subscribe, at: Bench.enterprise), [], [Bench.instanceState("eve@contoso.com", "state=\"pending\"")])
        bench.pass(.seconds(1))
        #expect(try bench.notified() == ["bob@contoso.com active open", "eve@contoso.com pending"])
        bench.notify(
            first, "active;expires=3600", cSeq: 2, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("eve@contoso.com", open), from: Bench.enterprise)
        #expect(try bench.notified() == ["eve@contoso.com active open"])
    }

    @Test("a pool that sends its presentity back is a loop: it is reported, and asked for again only after a rest")
    func circle() throws {
        let bench = Bench.trusted()
        try bench.watch("bob@contoso.com")
        bench.grant(
            try bench.nextRequest(.subscribe, at: Bench.enterprise), [], [Bench.elsewhere("bob@contoso.com", Bench.poolOne)], expires: 0)
        bench.grant(
            try bench.nextRequest(.subscribe, at: Bench.enterprise), [], [Bench.elsewhere("bob@contoso.com", Bench.poolTwo)], expires: 0)
        bench.grant(
            try bench.nextRequest(.subscribe, at: Bench.enterprise), [], [Bench.elsewhere("bob@contoso.com", Bench.poolOne)], expires: 0)
        #expect(bench.isQuiet(at: Bench.enterprise))
        #expect(bench.gateway.counters.redirectLoops == 1 && bench.gateway.counters.redirectsDelayed == 1)
        #expect(
            bench.gateway.takeLogs().contains { $0.level == .warning && $0.metadata.contains { $0.key == "loop" && $0.value == "true" } })
        bench.pass(.seconds(4))
        #expect(try bench.notified() == ["bob@contoso.com pending"] && bench.isQuiet(at: Bench.enterprise))
        bench.pass(.seconds(6))
        let again = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(again.requestURI == "sip:contoso.com")
        bench.grant(again, [("bob@contoso.com", open)])
        #expect(try bench.notified() == ["bob@contoso.com active open"])
    }

    @Test("a poll that is sent in circles is refused, not kept waiting")
    func pollInCircles() throws {
        let bench = Bench.trusted()
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        for _ in 0..<2 {
            bench.grant(
                try bench.nextRequest(.subscribe, at: Bench.enterprise), [], [Bench.elsewhere("bob@contoso.com", Bench.poolOne)],
                expires: 0)
        }
        bench.pass(.seconds(64))
        let notified = try bench.notified()
        #expect(notified.count == 1 && notified.first?.contains("terminated") == true, "\(notified)")
        #expect(bench.isQuiet(at: Bench.enterprise) && bench.gateway.counts == GatewayCounts())
    }

    @Test("a pool that always says resubscribe gets a bounded number of requests in a day", arguments: [true, false])
    func storm(isSelf: Bool) throws {
        let bench = Bench.trusted { $0.timing.simple.maximum = 200_000 }
        for user in 0..<20 {
            bench.send(
                bench.subscribe("ann@example.org", to: "u\(user)@contoso.com", expires: 200_000, via: Bench.simple), from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
        }
        var count = 0
        for _ in 0..<(24 * 360) {
            while !bench.isQuiet(at: Bench.enterprise) {
                let request = try bench.nextRequest(.subscribe, at: Bench.enterprise)
                count += 1
                // Either always the same pool, or a new one each time.
                let pool = isSelf ? Bench.poolOne : "sip:pool\(count)@contoso.com;gruu"
                let users = Bench.actions(request).flatMap { $0.split(separator: " ").dropFirst().map { String($0.dropFirst(4)) } }
                bench.grant(request, [], users.map { Bench.elsewhere($0, pool) }, expires: 0)
            }
            _ = try bench.notified()
            bench.pass(.seconds(10))
        }
        // Some forty rests between 10 s and an hour, and in each span of an hour no more than six places.
        #expect(count > 20 && count < 600, "\(count) requests")
        #expect(bench.gateway.counts.watcherDialogs == 20)
        #expect(bench.gateway.counts.upstreamSubscriptions <= 20)
    }
}
