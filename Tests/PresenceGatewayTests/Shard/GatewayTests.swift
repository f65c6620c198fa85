import PresenceGateway
import SIPCore
import Testing

@Suite struct GatewayTests {
    @Test("one seed and one input give one output, octet for octet")
    func deterministic() {
        func run() -> [[UInt8]] {
            let gateway = Gateway(configuration: Bench.configuration(), key: .seeded(7))
            let bench = Bench()
            let now = Instant(secondsSince1970: 1_700_000_000)
            for number in 0..<40 {
                let text = bench.subscribe("w\(number)@example.org", to: "alice@example.com", via: Bench.simple)
                gateway.receive(InboundMessage(bytes: Array(text.utf8), local: Bench.local, remote: Bench.simple), at: now)
            }
            gateway.shutdown(at: now)
            return gateway.takeOutput().map(\.bytes)
        }
        let first = run()
        #expect(first.count == 80)
        #expect(first == run())
    }

    @Test("records name rows and identities only at debug")
    func logs() throws {
        for level in [GatewayLog.Level.info, .debug] {
            let bench = Bench { $0.logLevel = level }
            bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
            bench.send(bench.subscribe("ann@example.org", to: "tel:1", via: Bench.simple), from: Bench.simple)
            let records = bench.gateway.takeLogs()
            #expect(records.allSatisfy { $0.level >= level })
            let keys = Set(records.filter { $0.level > .debug }.flatMap { $0.metadata.map(\.key) })
            #expect(keys.isDisjoint(with: ["presentity", "watcher"]))
            #expect(records.contains { $0.metadata.contains { $0.key == "row" } } == (level == .debug))
            #expect(bench.gateway.takeLogs().isEmpty)
        }
    }

    @Test("a reconfiguration changes who is served, and leaves live dialogs alone")
    func reconfigures() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.nextRequest(.notify, at: Bench.simple)
        var configuration = Bench.configuration()
        configuration.domains["example.com"] = .refused(480)
        bench.gateway.reconfigure(configuration, at: bench.now)
        #expect(bench.gateway.counts.watcherDialogs == 1)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(480, at: Bench.simple)
    }

    @Test("a reconfiguration takes over the limits of transactions and bodies, and Retry-After")
    func reconfiguresLimits() throws {
        let bench = Bench()
        let text = String(repeating: "x", count: 300_000)
        func publish() {
            let body = Bench.pidf("alice@example.com").replacing("</tuple>", with: "</tuple><note>\(text)</note>")
            let id = bench.number()
            bench.send(
                "PUBLISH sip:alice@example.com SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.30:5060;branch=z9hG4bKp\(id)\r\nMax-Forwards: 70\r\n"
                    + "From: <sip:alice@example.com>;tag=p\(id)\r\nTo: <sip:alice@example.com>\r\nCall-ID: p\(id)\r\nCSeq: 1 PUBLISH\r\n"
                    + "Event: presence\r\nContent-Type: application/pidf+xml\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
                from: Bench.endpoint)
        }
        publish()
        _ = try bench.nextResponse(413, at: Bench.endpoint)
        var configuration = Bench.configuration()
        configuration.limits.bodyBytes = 500_000
        configuration.limits.publicationBytes = 500_000
        configuration.limits.composedBytes = 500_000
        bench.gateway.reconfigure(configuration, at: bench.now)
        publish()
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        configuration.limits.transactions = 0
        configuration.timing.retryAfter = 77
        bench.gateway.reconfigure(configuration, at: bench.now)
        publish()
        #expect(try bench.nextResponse(503, at: Bench.endpoint).headers.retryAfter?.seconds == 77)
    }
}
