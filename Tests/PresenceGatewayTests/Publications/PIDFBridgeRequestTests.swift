import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// F4: which requests of clients are taken, and what becomes of the others.
@Suite("SERVICE requests that are carried to a simple domain")
struct PIDFBridgeRequestTests {
    let services = PIDFBridgeTests()

    @Test("SERVICE requests of one identity that wait for the far side are bounded: 503, and nothing is changed")
    func waiting() throws {
        let bench = PIDFBridgeTests.bench()
        for version in 0..<32 { services.publish(bench, .state(version % 2 == 0 ? 6_500 : 3_500, version: version)) }
        let first = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(bench.isQuiet(at: PIDFBridgeTests.place))
        services.publish(bench, .state(9_500, version: 32))
        #expect(try bench.nextResponse(503, at: PIDFBridgeTests.place).headers.retryAfter != nil)
        #expect(bench.gateway.counters.limitsReached == 1)
        services.accept(bench, first, tag: "e1")
        services.accept(bench, try bench.nextRequest(.publish, at: Bench.simple), tag: "e2")
        for _ in 1...32 { _ = try bench.nextResponse(200, at: PIDFBridgeTests.place) }
        // It is as new as before.
        let next = try services.published(bench, .state(9_500, version: 32), tag: "e3")
        #expect(next.headers.sipIfMatch == "e2")
    }

    @Test("a document beyond the limits is 413, one that cannot be read 400")
    func unreadable() throws {
        let bench = PIDFBridgeTests.bench()
        services.publish(bench, .note(String(repeating: "<a/>", count: 60_000)))
        _ = try bench.nextResponse(413, at: PIDFBridgeTests.place)
        bench.service(PIDFBridgeTests.alice, body: "<publish")
        _ = try bench.nextResponse(400, at: PIDFBridgeTests.place)
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test("RFC 3261 19.1.6 whichever of his names a client uses, it is one user who publishes, at home and away")
    func aliases() throws {
        let bench = PIDFBridgeTests.bench {
            $0.domains["example.org"]?.forms = .init(aliases: ["im.example.org"])
            $0.domains["fabrikam.com"]?.forms = .init(aliases: ["im.fabrikam.com"])
        }
        let alias = "alice@im.example.org"
        bench.service(alias, body: Bench.publishBody(alias, [.state(6_500)]))
        let first = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(first.requestURI == "sip:\(PIDFBridgeTests.alice)")
        services.accept(bench, first, tag: "e1")
        _ = try bench.nextResponse(200, at: PIDFBridgeTests.place)
        #expect(try services.published(bench, .state(3_500, version: 1), tag: "e2").headers.sipIfMatch == "e1")
        bench.service(PIDFBridgeTests.alice, body: Bench.publishBody("eve@im.example.org", [.state(6_500)]))
        _ = try bench.nextResponse(400, at: PIDFBridgeTests.place)

        bench.service("bob@im.fabrikam.com", body: Bench.publishBody("bob@im.fabrikam.com", [.note("x")]))
        _ = try bench.nextResponse(200, at: Bench.endpoint)
    }

    @Test("what lapsed is taken back at the far side, although the client is refused in the same moment")
    func lapse() throws {
        let bench = PIDFBridgeTests.bench()
        var note = Bench.Publication.note("Back at ten")
        note.expireType = "time"
        note.expires = 300
        _ = try services.published(bench, note, .note("stays", instance: 5), tag: "e1")
        // The timers of a busy host are late.
        bench.sleep(.seconds(301))
        services.publish(bench, .note("stale", instance: 5))
        _ = try bench.nextResponse(409, at: PIDFBridgeTests.place)
        bench.pass(.seconds(1))
        let left = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(left.text.contains("stays") && !left.text.contains("Back at ten"))
    }

    @Test("what nobody is shown and cannot be kept is 503 in the manner of enterprise clients, whatever the side of their domain")
    func notKept() throws {
        let store = MemoryStore()
        let bench = PIDFBridgeTests.bench(store: store)
        store.failure = StoreFailure("full")
        services.publish(bench, .note("for friends", in: 400))
        let refused = try bench.nextResponse(503, at: PIDFBridgeTests.place)
        #expect(refused.headers.contains(.msDiagnostics) && !refused.headers.contains(.warning))
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test("nothing is left of an identity whose last publication is gone, although the connection that it came over lives")
    func leftovers() throws {
        let bench = PIDFBridgeTests.bench()
        var note = Bench.Publication.note("at the desk")
        note.expireType = "endpoint"
        var removal = note
        removal.body = ""
        removal.version = 1
        removal.expires = 0
        for (publication, tag, expires) in [(note, "e1", 3_600), (removal, "e2", 0)] {
            bench.service(
                PIDFBridgeTests.alice, body: Bench.publishBody(PIDFBridgeTests.alice, [publication]), via: PIDFBridgeTests.client,
                connection: PIDFBridgeTests.line)
            services.accept(bench, try bench.nextRequest(.publish, at: Bench.simple), tag: tag, expires: expires)
            _ = try bench.nextResponse(200, at: PIDFBridgeTests.client)
        }
        bench.pass(.seconds(40))
        #expect(bench.gateway.tableSizes.filter { $0.value > 0 } == [:])
    }

    @Test("a refresh that is on its way is not written down; what the far side made of it is")
    func commits() throws {
        let store = MemoryStore()
        let bench = PIDFBridgeTests.bench(store: store)
        _ = try services.published(bench, .note("Back soon"), tag: "e1")
        let before = store.commits
        bench.pass(.seconds(2_701))
        let refresh = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(store.commits == before)
        services.accept(bench, refresh, tag: "e2")
        #expect(store.commits == before + 1)
        try bench.restart()
        bench.pass(.seconds(2_701))
        #expect(try bench.nextRequest(.publish, at: Bench.simple).headers.sipIfMatch == "e2")
    }

    @Test("MS-PRES 3.2.5.5 a removal that cannot be kept leaves what ends with its connection, and it still ends with it")
    func undone() throws {
        let store = MemoryStore()
        let bench = PIDFBridgeTests.bench(store: store)
        func service(version: Int, isRemoval: Bool = false) {
            // Nobody of the other domain sees this container, so nothing is asked there.
            var note = Bench.Publication.note("for colleagues", in: 300, version: version)
            note.expireType = "endpoint"
            if isRemoval { note.expires = 0 }
            bench.service(
                PIDFBridgeTests.alice, body: Bench.publishBody(PIDFBridgeTests.alice, [note]), via: PIDFBridgeTests.client,
                connection: PIDFBridgeTests.line)
        }
        service(version: 0)
        _ = try bench.nextResponse(200, at: PIDFBridgeTests.client)
        store.failure = StoreFailureTests.full
        service(version: 1, isRemoval: true)
        _ = try bench.nextResponse(503, at: PIDFBridgeTests.client)
        #expect(bench.gateway.counts.publicationBridges == 1)
        store.failure = nil
        bench.pass(.seconds(60))
        #expect(bench.gateway.counts.publicationBridges == 1)
        bench.gateway.receive(.closed(PIDFBridgeTests.line), at: bench.now)
        bench.pass(.seconds(11))
        #expect(bench.gateway.counts.publicationBridges == 0)
    }
}
