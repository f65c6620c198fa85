import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// OPTIONS to partners that are kept alive.
@Suite struct KeepAliveTests {
    private func bench(every seconds: Int = 30, store: (any GatewayStore)? = nil) -> Bench {
        let bench = Bench(store: store) { $0.domains["example.org"]?.keepAlive = .seconds(seconds) }
        bench.gateway.keepPartnersAlive(at: bench.now)
        return bench
    }

    private func contact(_ bench: Bench) throws -> PartnerContact {
        try #require(bench.gateway.partnerReports.first { $0.name == "example.org" }).contact
    }

    @Test(
        "RFC 3261 11: a domain that is kept alive is asked by OPTIONS soon after the start, and shown with its round trip",
        arguments: [false, true])
    func answered(isStored: Bool) throws {
        let bench = bench(store: isStored ? MemoryStore() : nil)
        bench.pass(.milliseconds(5_001))
        let request = try bench.nextRequest(.options, at: Bench.simple)
        #expect(request.uri.description == "sip:example.org")
        #expect(request.headers.from?.uri.description == "sip:edge1.example.net")
        #expect(request.headers.toTag == nil)
        #expect(try contact(bench).state == .unknown)
        bench.sleep(.milliseconds(25))
        bench.answer(request, 404, from: Bench.simple)
        #expect(try contact(bench).state == .up)
        #expect(try contact(bench).roundTrip.map { $0 >= .milliseconds(25) } == true)
        #expect(bench.isQuiet(at: Bench.enterprise), "contoso.com is not asked")
    }

    @Test("the next request goes out after the interval, up to a tenth sooner, whatever became of the last") func paced() throws {
        let bench = bench()
        var sent: [Instant] = []
        for round in 0..<6 {
            let end = bench.now + .seconds(40)
            while bench.isQuiet(at: Bench.simple), bench.now < end { bench.pass(.milliseconds(100)) }
            let request = try bench.nextRequest(.options, at: Bench.simple)
            sent.append(bench.now)
            #expect(bench.isQuiet(at: Bench.simple))
            bench.answer(request, round.isMultiple(of: 2) ? 503 : 200, from: Bench.simple)
            #expect(try contact(bench).state == (round.isMultiple(of: 2) ? .down : .up))
        }
        for (one, next) in zip(sent, sent.dropFirst()) {
            #expect(next - one >= .milliseconds(26_900))
            #expect(next - one <= .milliseconds(30_100))
        }
    }

    @Test("silence is down once the transaction ends, and until then no second request goes out") func silent() throws {
        let bench = bench(every: 10)
        bench.pass(.milliseconds(5_001))
        _ = try bench.nextRequest(.options, at: Bench.simple)
        bench.pass(.seconds(26))
        #expect(bench.isQuiet(at: Bench.simple), "one request at a time")
        bench.pass(.seconds(17))
        #expect(try contact(bench).state == .down)
        #expect(try contact(bench).lastFailure?.reason == "no answer")
        let request = try bench.nextRequest(.options, at: Bench.simple)
        bench.answer(request, 200, from: Bench.simple)
        #expect(try contact(bench).state == .up)
    }

    @Test("a reload begins with new domains, and leaves those alone that are gone or no longer kept alive") func reload() throws {
        let bench = bench()
        bench.pass(.milliseconds(5_001))
        bench.answer(try bench.nextRequest(.options, at: Bench.simple), 200, from: Bench.simple)
        bench.reconfigure {
            $0.domains["example.org"]?.keepAlive = nil
            $0.domains["contoso.com"]?.keepAlive = .seconds(60)
        }
        bench.pass(.seconds(100))
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(try bench.nextRequest(.options, at: Bench.enterprise).uri.description == "sip:contoso.com")
        bench.reconfigure { $0.domains["contoso.com"] = nil }
        bench.clear()
        bench.pass(.seconds(200))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("of several shards exactly one asks") func shards() throws {
        var configuration = Bench.configuration()
        configuration.domains["example.org"]?.keepAlive = .seconds(60)
        let now = Instant(secondsSince1970: 1_700_000_000)
        let asking = (0..<4).filter { shard in
            let gateway = Gateway(configuration: configuration, shard: shard, shards: 4, key: .seeded(1))
            gateway.keepPartnersAlive(at: now)
            gateway.advance(to: now + .seconds(6))
            return !gateway.takeOutput().isEmpty
        }
        #expect(asking.count == 1)
    }
}
