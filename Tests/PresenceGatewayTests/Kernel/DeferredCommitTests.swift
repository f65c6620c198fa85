import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Commits beside the event loop: the test is the store, which answers when and how it likes.
@Suite("A store beside the event loop delays only what depends on it, and loses nothing")
struct DeferredCommitTests {
    private static let client = HostedPresentityTests.client
    private let words = HostedPresentityTests()
    private let store: MemoryStore
    private let engine: Engine

    /// The store behind one session, as the edge has it.
    private final class Engine {
        private var session: StoreSession

        init(_ store: MemoryStore) { session = StoreSession(store) }

        func perform(_ request: StoreRequest) -> StoreResult { session.perform(request) }
    }

    init() {
        store = MemoryStore()
        engine = Engine(store)
    }

    private func makeBench() -> Bench { Bench(store: store, defersCommits: true) }

    /// Carries out all requests, as a store does that works.
    private func carryOut(_ bench: Bench) {
        var requests = bench.takeStoreRequests()
        while !requests.isEmpty {
            for request in requests { bench.receive(engine.perform(request)) }
            requests = bench.takeStoreRequests()
        }
    }

    /// Carries out a commit, and reports it as failed: its outcome is unknown to the gateway.
    private func loseAnswer(_ request: StoreRequest, _ bench: Bench) throws {
        guard case .committed = engine.perform(request) else { throw Bench.Unexpected() }
        bench.receive(request.failed(StoreFailure("connection lost")))
    }

    private func poll(_ presentity: String, _ bench: Bench, by watcher: String = "ann@example.org") {
        bench.send(bench.subscribe(watcher, to: presentity, expires: 0, via: Bench.simple), from: Bench.simple)
    }

    /// A watcher of a presentity, with its first notification.
    private func watched(_ bench: Bench, _ presentity: String) throws -> SIPResponse {
        bench.send(bench.subscribe("ann@example.org", to: presentity, via: Bench.simple), from: Bench.simple)
        carryOut(bench)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        carryOut(bench)
        return accepted
    }

    @Test("RFC 3903 6 a PUBLISH is answered, and its watchers are notified, when it is stored")
    func waits() throws {
        let bench = makeBench()
        _ = try watched(bench, "alice@example.com")
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        #expect(bench.isQuiet(at: Self.client) && bench.isQuiet(at: Bench.simple))
        #expect(bench.gateway.counts.pendingOutput == 2)
        carryOut(bench)
        _ = try bench.nextResponse(200, at: Self.client)
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>open</basic>"))
    }

    @Test("RFC 3261 11 OPTIONS and polls of others are answered while a commit is in flight; a poll of what it changes waits")
    func othersGoOn() throws {
        let bench = makeBench()
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        let requests = bench.takeStoreRequests()
        #expect(requests.count == 1)
        bench.send(
            "OPTIONS sip:edge1.example.net SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKo1\r\nMax-Forwards: 70\r\n"
                + "From: <sip:ann@example.org>;tag=o\r\nTo: <sip:edge1.example.net>\r\nCall-ID: o\r\nCSeq: 1 OPTIONS\r\n"
                + "Content-Length: 0\r\n\r\n", from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        poll("carol@example.com", bench)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let notify = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notify.headers.subscriptionState?.state == .terminated)
        bench.answer(notify, 200, from: Bench.simple)
        #expect(bench.takeStoreRequests().isEmpty, "a poll that is answered at once writes no record")
        poll("alice@example.com", bench)
        #expect(bench.isQuiet(at: Bench.simple) && bench.isQuiet(at: Self.client))
        for request in requests { bench.receive(engine.perform(request)) }
        _ = try bench.nextResponse(200, at: Self.client)
        // That the watcher was shown presence is stored as well.
        carryOut(bench)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>open</basic>"))
    }

    @Test("MS-PRES 1.3.1.3.4 a politely blocked watcher does not wait for the commits of the presentity that blocks it")
    func blockedDoesNotWait() throws {
        let bench = makeBench()
        bench.service(
            "rob@fabrikam.com", type: "application/msrtc-setcontainermembers+xml",
            body: Bench.membersBody(32_000, version: 0, [Bench.member("user:ann@example.org")]))
        carryOut(bench)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.service("rob@fabrikam.com", body: Bench.publishBody("rob@fabrikam.com", [.state(3_500)]))
        let requests = bench.takeStoreRequests()
        #expect(requests.count == 1 && bench.isQuiet(at: Bench.endpoint))
        for presentity in ["rob@fabrikam.com", "tom@fabrikam.com"] {
            poll(presentity, bench)
            _ = try bench.nextResponse(200, at: Bench.simple)
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            #expect(notify.text.contains("<basic>closed</basic>"))
            bench.answer(notify, 200, from: Bench.simple)
        }
        // While the records are read again, both are refused.
        bench.receive(requests[0].failed(StoreFailure("disk full")))
        _ = try bench.nextResponse(503, at: Bench.endpoint)
        for presentity in ["rob@fabrikam.com", "tom@fabrikam.com"] {
            poll(presentity, bench)
            _ = try bench.nextResponse(503, at: Bench.simple)
        }
        carryOut(bench)
        // The store fails, but what it has is known: both are answered.
        for presentity in ["rob@fabrikam.com", "tom@fabrikam.com"] {
            poll(presentity, bench)
            _ = try bench.nextResponse(200, at: Bench.simple)
            _ = try bench.nextRequest(.notify, at: Bench.simple)
        }
    }

    @Test("several commits are in flight; each answer leaves with its own, in order")
    func inOrder() throws {
        let bench = makeBench()
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        let first = bench.takeStoreRequests()
        words.publish(bench, "carol@example.com", body: Bench.pidf("carol@example.com"))
        let second = bench.takeStoreRequests()
        #expect(first.count == 1 && second.count == 1 && bench.gateway.tableSizes["commitsInFlight"] == 2)
        bench.receive(engine.perform(first[0]))
        #expect(try bench.nextResponse(200, at: Self.client).headers.to?.uri.user == "alice")
        #expect(bench.isQuiet(at: Self.client))
        bench.receive(engine.perform(second[0]))
        #expect(try bench.nextResponse(200, at: Self.client).headers.to?.uri.user == "carol")
        #expect(bench.gateway.tableSizes["commitsInFlight"] == 0)
    }

    @Test("a failed commit takes those after it with it: all are answered 503, and the stored state is in effect")
    func failsTogether() throws {
        let bench = makeBench()
        _ = try watched(bench, "alice@example.com")
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com", activity: "busy"))
        let first = bench.takeStoreRequests()
        words.publish(bench, "carol@example.com", body: Bench.pidf("carol@example.com"))
        let second = bench.takeStoreRequests()
        store.failure = StoreFailureTests.full
        bench.receive(engine.perform(first[0]))
        store.failure = nil
        for _ in 0..<2 { _ = try bench.nextResponse(503, at: Self.client) }
        let late = engine.perform(second[0])
        #expect(late == second[0].failed(StoreSession.predecessorFailed))
        bench.receive(late)
        carryOut(bench)
        #expect(bench.gateway.counts.publications == 0 && bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(2))
        carryOut(bench)
        #expect(bench.gateway.counts.storesFailing == 0)
        #expect(try bench.takeNotifies(at: Bench.simple).allSatisfy { !$0.text.contains("busy") })
        carryOut(bench)
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        carryOut(bench)
        _ = try bench.nextResponse(200, at: Self.client)
        let notify = try bench.takeNotifies(at: Bench.simple)
        #expect(notify.last?.text.contains("<basic>open</basic>") == true && !notify.contains { $0.text.contains("busy") })
    }

    @Test("a commit whose outcome is unknown and that was stored is in effect, though its client got 503")
    func unknownOutcome() throws {
        let bench = makeBench()
        _ = try watched(bench, "alice@example.com")
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        let request = try #require(bench.takeStoreRequests().first)
        try loseAnswer(request, bench)
        _ = try bench.nextResponse(503, at: Self.client)
        #expect(bench.isQuiet(at: Bench.simple))
        carryOut(bench)
        #expect(bench.gateway.counts.publications == 1)
        bench.pass(.seconds(2))
        carryOut(bench)
        #expect(try bench.takeNotifies(at: Bench.simple).last?.text.contains("<basic>open</basic>") == true)
    }

    @Test("RFC 6665 4.2.1.4 an unsubscribe with an unknown outcome that was stored ends the dialog, though its watcher got 503")
    func unknownEnd() throws {
        let bench = makeBench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        carryOut(bench)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        bench.send(
            bench.inDialog(
                accepted, cSeq: 2, expires: 0, extra: "Supported: ms-piggyback-first-notify\r\n", via: Bench.enterprise),
            from: Bench.enterprise)
        let requests = bench.takeStoreRequests()
        #expect(requests.count == 1)
        try loseAnswer(requests[0], bench)
        _ = try bench.nextResponse(503, at: Bench.enterprise)
        carryOut(bench)
        #expect(bench.gateway.counts.watcherDialogs == 0)
        bench.pass(.seconds(4_000))
        carryOut(bench)
        #expect(bench.isQuiet(at: Bench.enterprise))
        #expect(!store.records.keys.contains { if case .dialog = $0 { true } else { false } })
    }

    @Test("a commit builds on those in flight, not on a stored one: a connection that the store renews while idle fails nothing")
    func predecessors() throws {
        let bench = makeBench()
        func predecessor(_ request: StoreRequest) -> UInt64? { if case .commit(_, let number, _) = request { number } else { nil } }
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        let first = try #require(bench.takeStoreRequests().first)
        words.publish(bench, "carol@example.com", body: Bench.pidf("carol@example.com"))
        let second = try #require(bench.takeStoreRequests().first)
        #expect(predecessor(first) == nil && predecessor(second) == 1)
        for request in [first, second] { bench.receive(engine.perform(request)) }
        bench.clear()
        words.publish(bench, "dan@example.com", body: Bench.pidf("dan@example.com"))
        let third = try #require(bench.takeStoreRequests().first)
        #expect(predecessor(third) == nil)
        var renewed = StoreSession(store)
        bench.receive(renewed.perform(third))
        _ = try bench.nextResponse(200, at: Self.client)
    }

    @Test("MS-PRES 3.2.5.3 a block whose outcome is unknown holds if it was stored: the watcher is shown nothing published later")
    func unknownBlock() throws {
        let bench = makeBench()
        _ = try watched(bench, "rob@fabrikam.com")
        bench.service(
            "rob@fabrikam.com", type: "application/msrtc-setcontainermembers+xml",
            body: Bench.membersBody(32_000, version: 0, [Bench.member("user:ann@example.org")]))
        try loseAnswer(try #require(bench.takeStoreRequests().first), bench)
        _ = try bench.nextResponse(503, at: Bench.endpoint)
        carryOut(bench)
        bench.pass(.seconds(2))
        carryOut(bench)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.service("rob@fabrikam.com", body: Bench.publishBody("rob@fabrikam.com", [.state(3_500)]))
        carryOut(bench)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.pass(.seconds(60))
        carryOut(bench)
        #expect(try bench.takeNotifies(at: Bench.simple).isEmpty)
    }

    @Test(
        "a SUBSCRIBE whose commit fails leaves no dialog, and one whose outcome is unknown leaves the stored one", arguments: [false, true])
    func subscribe(isStored: Bool) throws {
        let bench = makeBench()
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        let request = try #require(bench.takeStoreRequests().first)
        if isStored { try loseAnswer(request, bench) } else { bench.receive(request.failed(StoreFailureTests.full)) }
        _ = try bench.nextResponse(503, at: Bench.simple)
        carryOut(bench)
        #expect(bench.gateway.counts.watcherDialogs == (isStored ? 1 : 0))
        #expect(store.livingRecords == (isStored ? 1 : 0))
    }

    @Test("while the records of a failed commit cannot be read, nothing is answered 2xx but OPTIONS, and afterwards all goes on")
    func unreadable() throws {
        let bench = makeBench()
        store.failure = StoreFailureTests.full
        store.loadFailure = StoreFailureTests.full
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        carryOut(bench)
        _ = try bench.nextResponse(503, at: Self.client)
        for _ in 0..<3 {
            poll("carol@example.com", bench)
            _ = try bench.nextResponse(503, at: Bench.simple)
            bench.pass(.seconds(1))
            carryOut(bench)
        }
        (store.failure, store.loadFailure) = (nil, nil)
        for _ in 0..<3 {
            bench.pass(.seconds(1))
            carryOut(bench)
        }
        #expect(bench.gateway.counts.storesFailing == 0)
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        carryOut(bench)
        _ = try bench.nextResponse(200, at: Self.client)
    }

    @Test("RFC 4662 5.2 after a notification with an unknown outcome, and a restart before the next one, the list is whole")
    func wholeListAfterUnknownOutcome() throws {
        let bench = Bench(store: store, defersCommits: true) { $0.listServer = SIPURI("sip:\(ListWatcherTests.server)") }
        ListWatcherTests.subscribe(bench, ["alice@example.com"])
        carryOut(bench)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        carryOut(bench)
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        for request in bench.takeStoreRequests() { try loseAnswer(request, bench) }
        carryOut(bench)
        // The process ends when the records are stored again, before the notification is repeated.
        bench.pass(.seconds(1))
        for request in bench.takeStoreRequests() { _ = engine.perform(request) }
        #expect(bench.isQuiet(at: Bench.simple))
        try bench.restart()
        carryOut(bench)
        let notified = try #require(try ListWatcherTests.notified(bench).first)
        #expect(notified.meta.fullState && notified.document("sip:alice@example.com")?.contains("<basic>open</basic>") == true)
    }

    @Test("RFC 3261 21.5.4 a store that does not answer: beyond the limit of waiting messages requests are refused with 503")
    func bounded() throws {
        let bench = Bench(store: store, defersCommits: true) { $0.limits.pendingOutput = 4 }
        for number in 0..<6 { words.publish(bench, "user\(number)@example.com", body: Bench.pidf("user\(number)@example.com")) }
        #expect(bench.gateway.counts.pendingOutput == 4)
        for _ in 0..<2 { #expect(try bench.nextResponse(503, at: Self.client).headers.retryAfter != nil) }
        #expect(bench.takeStoreRequests().count == 4)
    }

    @Test("at most eight commits are in flight; what changes meanwhile becomes one commit")
    func flight() throws {
        let bench = makeBench()
        for number in 0..<20 { words.publish(bench, "user\(number)@example.com", body: Bench.pidf("user\(number)@example.com")) }
        let requests = bench.takeStoreRequests()
        #expect(requests.count == 8)
        bench.receive(engine.perform(requests[0]))
        guard case .commit(_, _, let changes)? = bench.takeStoreRequests().first else { throw Bench.Unexpected() }
        #expect(changes.count == 13)
    }

    @Test("a gateway that is gone frees its store, so that another one may open the file", arguments: [false, true])
    func frees(isUsed: Bool) {
        weak var freed: MemoryStore?
        do {
            let store = MemoryStore()
            freed = store
            let bench = Bench(store: store)
            if isUsed { bench.send(bench.subscribe("ann@example.org", to: "rob@contoso.com", via: Bench.simple), from: Bench.simple) }
        }
        #expect(freed == nil)
    }

    @Test("a stop waits for the commits in flight")
    func stop() throws {
        let bench = makeBench()
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        bench.gateway.shutdown(at: bench.now)
        #expect(!bench.gateway.isDrained && bench.gateway.answersMissing == nil)
        carryOut(bench)
        #expect(bench.gateway.isDrained)
        _ = try bench.nextResponse(200, at: Self.client)
        #expect(store.livingRecords == 1)
    }
}
