import PresenceGateway
import SIPCore
import SIPEvents
import Testing

@Suite("A store that keeps nothing: nothing is answered 2xx and nobody is told, and the gateway lives on")
struct StoreFailureTests {
    let words = HostedPresentityTests()
    static let full = StoreFailure("isthmus.db: database or disk is full (SQLite 13)")

    @Test("a PUBLISH that cannot be kept is 503 with Retry-After and changes nothing, and works again when the store does")
    func publish() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        let before = store.records
        store.failure = Self.full

        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        let refused = try bench.nextResponse(503, at: HostedPresentityTests.client)
        #expect(refused.headers.retryAfter?.seconds == 30)
        #expect(refused.headers.sipETag == nil)
        #expect(bench.gateway.counts.publications == 0)
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(bench.gateway.counters.commitsFailed == 1)
        #expect(bench.gateway.takeLogs().contains { $0.level == .error })
        #expect(store.records == before)
        // While it is known to fail, requests do not get that far.
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        _ = try bench.nextResponse(503, at: HostedPresentityTests.client)

        store.failure = nil
        bench.pass(.seconds(2))
        // What it could not be told meanwhile is as it was.
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>open</basic>"))
    }

    @Test("after a commit that failed the newest state leaves with the next one that succeeds, and only what left is counted")
    func newestState() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        func count() -> Int? { bench.gateway.subscriptions(at: bench.now).rows.first?.notification?.count }
        let before = (count(), bench.gateway.counters.notificationsSent, bench.gateway.counters.requestsSent)
        store.failure = Self.full
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        _ = try bench.nextResponse(503, at: HostedPresentityTests.client)
        #expect(count() == before.0)
        #expect(bench.gateway.counters.notificationsSent == before.1 && bench.gateway.counters.requestsSent == before.2)
        bench.sleep(.seconds(1))
        store.failure = nil
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>open</basic>"))
        #expect(count() == (before.0 ?? 0) + 1)
        #expect(bench.gateway.tableSizes["unsent"] == 0)
    }

    @Test("counters of what is sent only grow: what waits for a commit is not counted, and what is not kept neither")
    func monotonic() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        let (_, upstream, _) = try SimpleWatcherTests().established(bench)
        // Now the next NOTIFY waits for a commit.
        bench.settle()
        func sent() -> [UInt64] { [bench.gateway.counters.notificationsSent, bench.gateway.counters.requestsSent] }
        let before = sent()
        store.failure = Self.full
        bench.inOneTick {
            bench.notify(
                upstream, "active;expires=3600", cSeq: 2, type: SimpleWatcherTests().categoriesType,
                body: Bench.categories("bob@contoso.com", Bench.state(18_500)), from: Bench.enterprise)
            #expect(sent() == before)
        }
        #expect(sent() == before && bench.gateway.counters.commitsFailed == 1)
        store.failure = nil
        bench.pass(.seconds(2))
        #expect(sent() == before.map { $0 + 1 })
    }

    @Test("a category publication that cannot be kept leaves its version as it was")
    func service() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        words.service(bench, "rob@fabrikam.com", words.state(6_500))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        store.failure = Self.full
        words.service(bench, "rob@fabrikam.com", words.state(9_500, version: 1))
        let refused = try bench.nextResponse(503, at: HostedPresentityTests.client)
        #expect(refused.headers.msDiagnostics != nil)
        #expect(refused.body.isEmpty)
        store.failure = nil
        bench.pass(.seconds(2))
        words.service(bench, "rob@fabrikam.com", words.state(9_500, version: 1))
        #expect(try bench.nextResponse(200, at: HostedPresentityTests.client).text.contains("version=\"2\""))
    }

    @Test("a SUBSCRIBE that cannot be kept is 503 and leaves no dialog, here or far away")
    func subscribe() throws {
        let store = MemoryStore()
        store.failure = Self.full
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "rob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(503, at: Bench.simple)
        #expect(bench.gateway.counts.watcherDialogs == 0)
        #expect(bench.gateway.counts.upstreamSubscriptions == 0)
        #expect(bench.isQuiet(at: Bench.enterprise))
        store.failure = nil
        bench.pass(.seconds(2))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.send(bench.subscribe("ann@example.org", to: "rob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
    }

    @Test("what time changes while nothing can be kept is told when it is")
    func expiry() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"), expires: 90)
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        store.failure = Self.full
        bench.pass(.seconds(120))
        #expect(bench.isQuiet(at: Bench.simple))
        store.failure = nil
        bench.pass(.seconds(40))
        let notified = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notified.text.contains("<basic>closed</basic>"))
        #expect(store.livingRecords == 1)
    }
}
