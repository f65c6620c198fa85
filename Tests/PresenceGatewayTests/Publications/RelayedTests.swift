import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// What an operator sees of publications for users of other domains.
@Suite("carried publications in lists and explanations")
struct RelayedTests {
    func explain(_ bench: Bench, _ presentity: String) throws -> RelayedReport? {
        let (watcher, presentity) = try (#require(SIPURI("sip:ann@example.org")), #require(SIPURI("sip:\(presentity)")))
        return bench.gateway.explain(watcher: watcher, presentity: presentity, at: bench.now).carried
    }

    @Test("by PUBLISH: what clients published, what waits for the home, and until when it has what")
    func byPublish() throws {
        let services = PIDFBridgeTests()
        let bench = PIDFBridgeTests.bench()
        let alice = PIDFBridgeTests.alice
        #expect(try explain(bench, alice) == nil)
        services.publish(bench, .state(6_500))
        let asked = try #require(try explain(bench, alice))
        #expect(asked.method == "PUBLISH" && asked.nextHop == Bench.simple.description)
        #expect(asked.standing == .asking && asked.waiting == 1 && asked.lapsesAt == nil)
        services.accept(bench, try bench.nextRequest(.publish, at: Bench.simple), tag: "e1", expires: 600)
        _ = try bench.nextResponse(200, at: PIDFBridgeTests.place)
        let relayed = try #require(try explain(bench, alice))
        #expect(relayed.standing == .current && relayed.waiting == 0 && relayed.lapsesAt != nil && relayed.nextAt != nil)
        #expect(relayed.published.map(\.category) == ["state"] && relayed.published.map(\.availability) == [6_500])
        services.publish(bench, .state(3_500, version: 1))
        bench.answer(try bench.nextRequest(.publish, at: Bench.simple), 503, from: Bench.simple, headers: [(.retryAfter, "40")])
        #expect(try explain(bench, alice)?.standing == .waiting)

        let rows = bench.gateway.presentities(matching: .init(state: .carried), at: bench.now).rows
        #expect(rows.map(\.presentity) == ["sip:\(alice)"] && rows.map(\.publications) == [1])
        // Its watchers here make it no other presentity.
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: alice), from: Bench.enterprise)
        let all = bench.gateway.presentities(at: bench.now).rows
        #expect(all.map(\.state) == [.carried] && all.map(\.watchers) == [1])
    }

    @Test("by SERVICE: how long each document lasts, and every instance that the home has")
    func byService() throws {
        let publishes = CategoryBridgeTests()
        let bench = CategoryBridgeTests.bench()
        let bob = CategoryBridgeTests.bob
        publishes.publish(bench, activity: "busy")
        let first = try bench.nextRequest(.service, at: Bench.enterprise)
        let asked = try #require(try explain(bench, bob))
        #expect(asked.method == "SERVICE" && asked.nextHop == Bench.enterprise.description)
        #expect(asked.standing == .asking && asked.waiting == 1 && asked.documents.isEmpty)
        #expect(!asked.instances.isEmpty && asked.instances.allSatisfy(\.isUncertain))
        try publishes.accept(bench, first, version: 5)
        _ = try publishes.tag(bench)
        let relayed = try #require(try explain(bench, bob))
        #expect(relayed.standing == .current && relayed.waiting == 0 && relayed.documents.count == 1)
        #expect(try relayed.instances.count == publishes.publications(first).count)
        #expect(relayed.instances.allSatisfy { $0.version == 5 && !$0.isUncertain })
        let rows = bench.gateway.presentities(at: bench.now).rows
        #expect(rows.map(\.state) == [.carried] && rows.map(\.publications) == [1] && rows.map(\.presentity) == ["sip:\(bob)"])
    }

    @Test("a user whose domain changed sides is listed once, and one whose home this node has become is carried no more")
    func otherDomain() throws {
        let services = PIDFBridgeTests()
        let words = HostedPresentityTests()
        let bench = PIDFBridgeTests.bench()
        let alice = PIDFBridgeTests.alice
        _ = try services.published(bench, .state(6_500), tag: "e1")
        bench.reconfigure { $0.domains["example.org"]?.federation.side = .enterprise }
        words.publish(bench, alice, body: Bench.pidf(alice, activity: "busy"))
        #expect(bench.gateway.counts.publicationBridges == 2)
        #expect(bench.gateway.presentities(at: bench.now).rows.map(\.presentity) == ["sip:\(alice)"])
        #expect(try explain(bench, alice) != nil)
        bench.clear()
        bench.reconfigure {
            $0.domains["example.org"]?.federation.side = .simple
            $0.domains["example.org"]?.federation.isHosted = true
        }
        words.publish(bench, alice, body: Bench.pidf(alice, activity: "busy"))
        #expect(bench.gateway.counts.publications == 1)
        #expect(try explain(bench, alice) == nil)
    }
}
