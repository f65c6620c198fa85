import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

/// What a shard refuses when it has taken on too much, and what it goes on doing (RFC 3261 21.5.4).
@Suite struct OverloadTests {
    /// A subscription and a publication that were there before.
    struct Old {
        var subscription: SIPResponse
        var entityTag: String
    }

    static func begin(_ bench: Bench) throws -> Old {
        bench.send(bench.subscribe("dan@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        let subscription = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        publish(bench)
        let published = try bench.nextResponse(200, at: Bench.endpoint)
        _ = try bench.takeNotifies(at: Bench.simple)
        return Old(subscription: subscription, entityTag: try #require(published.headers.first(.sipETag)))
    }

    static func publish(_ bench: Bench, refreshing tag: String? = nil) {
        bench.sendPublish("alice@example.com", tag == nil ? Bench.pidf("alice@example.com") : "", ifMatch: tag)
    }

    /// New work is 503, what is there goes on.
    static func expectOverload(_ bench: Bench, _ old: Old) throws {
        let before = bench.gateway.counts
        bench.send(bench.subscribe("eve@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        let refused = try bench.nextResponse(503, at: Bench.simple)
        #expect(refused.headers.retryAfter.map { (30..<60).contains(Int($0.seconds)) } == true)
        publish(bench)
        _ = try bench.nextResponse(503, at: Bench.endpoint)
        bench.service("rob@fabrikam.com", body: Bench.publishBody("rob@fabrikam.com", [.state(3_500)]))
        let service = try bench.nextResponse(503, at: Bench.endpoint)
        #expect(service.headers.msDiagnostics != nil && service.headers.retryAfter != nil)
        #expect(bench.gateway.counters.overloadRefusals == 3)

        bench.send(bench.inDialog(old.subscription, cSeq: 2, expires: 600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
        publish(bench, refreshing: old.entityTag)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        let after = bench.gateway.counts
        #expect(after.watcherDialogs == before.watcherDialogs && after.publications == before.publications)
        #expect(after.presentities == before.presentities)
    }

    @Test("RFC 3261 21.5.4 four fifths of the transactions are live: new work is 503, dialogs and refreshes go on")
    func transactions() throws {
        let bench = Bench { $0.limits.transactions = 40 }
        let old = try Self.begin(bench)
        bench.pass(.seconds(40))
        // One host alone may have half of them.
        for (host, count) in [(Bench.simple, 12), (Bench.enterprise, 20)] {
            for number in 0..<count {
                bench.send(
                    "OPTIONS sip:example.com SIP/2.0\r\nVia: SIP/2.0/UDP \(host.host):5060;branch=z9hG4bKo\(number)\r\nMax-Forwards: 70\r\n"
                        + "From: <sip:dan@example.org>;tag=o\r\nTo: <sip:example.com>\r\nCall-ID: o\(host.host)\(number)\r\n"
                        + "CSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n", from: host)
                _ = try bench.nextResponse(200, at: host)
            }
        }
        try Self.expectOverload(bench, old)
        // They end, and there is room again.
        bench.pass(.seconds(40))
        bench.send(bench.subscribe("eve@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
    }

    @Test("RFC 3261 21.5.4 at the limit of transactions everything is 503, dialogs too; each counts as a limit reached")
    func transactionLimit() throws {
        let bench = Bench()
        let old = try Self.begin(bench)
        var full = bench.gateway.configuration
        full.limits.transactions = 0
        bench.gateway.reconfigure(full, at: bench.now)
        bench.send(bench.subscribe("eve@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(503, at: Bench.simple)
        bench.send(bench.inDialog(old.subscription, cSeq: 2, expires: 600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(503, at: Bench.simple)
        #expect(bench.gateway.counters.limitsReached == 2 && bench.gateway.counters.overloadRefusals == 0)
    }

    @Test("RFC 3261 21.5.4 the event loop is late: new work is 503 until it comes round in time")
    func lateness() throws {
        let bench = Bench()
        let old = try Self.begin(bench)
        bench.gateway.receive(.late(.milliseconds(999)), at: bench.now)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.gateway.receive(.late(.seconds(1)), at: bench.now)
        #expect(bench.gateway.counts.latenessMilliseconds == 1_000)
        try Self.expectOverload(bench, old)
        bench.gateway.receive(.late(.zero), at: bench.now)
        bench.send(bench.subscribe("eve@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
    }

    @Test("RFC 3261 20.33 those who are refused together are not asked to come back together")
    func jitter() throws {
        let bench = Bench()
        bench.gateway.receive(.late(.seconds(5)), at: bench.now)
        var pauses: Set<UInt32> = []
        for _ in 0..<30 {
            bench.send(bench.subscribe("eve@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
            let refused = try bench.nextResponse(503, at: Bench.simple)
            pauses.insert(UInt32(try #require(refused.headers.retryAfter).seconds))
        }
        #expect(pauses.count > 8 && pauses.allSatisfy { (30..<60).contains($0) })
    }

    @Test("RFC 3261 21.5.4 what has not left yet is bounded: new work is 503 before it is begun")
    func output() throws {
        var configuration = Bench.configuration()
        configuration.limits.pendingOutput = 4
        let gateway = Gateway(configuration: configuration, key: .seeded(3))
        let bench = Bench()
        for number in 0..<4 {
            let text = bench.subscribe("w\(number)@example.org", to: "alice@example.com", via: Bench.simple)
            gateway.receive(InboundMessage(bytes: Array(text.utf8), local: Bench.local, remote: Bench.simple), at: bench.now)
        }
        #expect(gateway.counts.watcherDialogs == 2 && gateway.counters.overloadRefusals == 2)
        #expect(gateway.counts.pendingOutput == 6)
        #expect(gateway.takeOutput().count == 6 && gateway.counts.pendingOutput == 0)
    }

    // MARK: tables

    @Test("limits of watched presentities, far legs and records: 503 for one, a verdict in a batch, counted, and nothing stays behind")
    func tables() throws {
        let changes: [(inout GatewayLimits) -> Void] = [
            { $0.watchedResources = 1 }, { $0.upstreamSubscriptions = 0 }, { $0.presentities = 1 },
        ]
        let presentities = ["sue@fabrikam.com", "alice@example.org", "sue@fabrikam.com"]
        for (change, presentity) in zip(changes, presentities) {
            let bench = Bench { change(&$0.limits) }
            bench.send(bench.subscribe("dan@example.org", to: "rob@fabrikam.com", via: Bench.simple), from: Bench.simple)
            let first = try bench.nextResponse(200, at: Bench.simple)
            _ = try bench.takeNotifies(at: Bench.simple)
            #expect(bench.gateway.counts.watchedResources == 1 && bench.gateway.counters.limitsReached == 0)
            bench.send(bench.subscribe("dan@example.org", to: presentity, via: Bench.simple), from: Bench.simple)
            #expect(try bench.nextResponse(503, at: Bench.simple).headers.retryAfter != nil)
            bench.send(bench.batch("ulla@fabrikam.com", .subscribe(presentity)), from: Bench.enterprise)
            let answer = try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
            #expect(answer.instanceStates == ["sip:\(presentity): terminated"] && answer.parts.isEmpty)
            #expect(answer.list.resources.first?.instances.first?.reason == "quotaExceeded")
            #expect(bench.gateway.counters.limitsReached == 2 && bench.gateway.counts.watcherDialogs == 1)
            bench.send(bench.inDialog(first, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
            _ = try bench.takeNotifies(at: Bench.simple)
            #expect(bench.gateway.counts.watchedResources == 0 && bench.gateway.counts.presentities == 0)
        }
    }

    @Test("the forms of a presentity that are kept ready are bounded, whatever watchers ask for")
    func forms() {
        var counters = GatewayCounters()
        let view = CategoryView(uri: "sip:rob@fabrikam.com", CategoryMerge([CategoryElement(name: .note)]))
        for number in 0..<500 {
            let names = [CategoryName.note, CategoryName(rawValue: "x\(number)")]
            #expect(!view.document(of: names, counters: &counters).isEmpty)
            _ = view.changes(since: CategoryView(uri: view.uri, CategoryMerge()), among: names)
        }
        #expect(view.formCount <= CategoryView.formLimit && view.formCount > 0)
    }
}
