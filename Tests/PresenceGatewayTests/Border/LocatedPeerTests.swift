import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// Partners whose plain route names a host, or who are discovered: their servers speak from where the names lead.
@Suite struct LocatedPeerTests {
    private static let stranger = TransportAddress(.udp, "203.0.113.9", 5060)
    private static let question = NameQuestion(.a, "proxy.example.org")

    private func bench(
        peers: DomainTrust? = nil, discovers: Bool = false, _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) -> Bench {
        Bench {
            $0.naming = NamingConfiguration()
            for name in ["contoso.com", "fabrikam.com", "example.com"] {
                $0.domains[name]?.federation.trust = Bench.oneNetwork ?? DomainTrust()
            }
            var domain = DomainConfiguration(
                side: .simple, route: discovers ? nil : TransportAddress(.udp, "proxy.example.org", 5060), network: .federated)
            if discovers { domain.federation.discovery = .neverWeaker }
            domain.federation.trust = peers ?? DomainTrust()
            // Says nothing of peers, and is left alone by a bench that trusts its network.
            domain.federation.trust.limits = PartnerLimits()
            $0.domains["example.org"] = domain
            change(&$0)
        }
    }

    private var names: BenchNames {
        var names = BenchNames()
        names.host("proxy.example.org", Bench.simple.host, timeToLive: 60)
        return names
    }

    private func ask(_ bench: Bench, as watcher: String = "carol@example.org", from peer: TransportAddress = Bench.simple) {
        bench.send(bench.subscribe(watcher, to: "eva@fabrikam.com", via: peer), from: peer)
    }

    @Test("a request that only the DNS can place waits for it: the server that the route names is let in, everybody else is 403")
    func unknownAtFirst() throws {
        let bench = bench()
        ask(bench)
        ask(bench, from: Self.stranger)
        #expect(bench.isQuiet(at: Bench.simple) && bench.isQuiet(at: Self.stranger))
        #expect(bench.gateway.counts.requestsWaiting == 2)
        #expect(bench.resolve(names).filter { $0 == Self.question }.count == 1, "one lookup for all who wait")
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.nextResponse(403, at: Self.stranger)
        #expect(bench.gateway.counts.requestsWaiting == 0)
        ask(bench, as: "dora@example.org")
        bench.drop(at: Bench.simple) { if case .request = $0 { true } else { false } }
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(bench.gateway.takeQuestions().isEmpty)
    }

    @Test("what the names led to ends with its time to live; the next request waits for where they lead now")
    func timeToLive() throws {
        let bench = bench()
        ask(bench)
        bench.resolve(names)
        bench.pass(.seconds(61))
        bench.clear()
        var moved = names
        moved.host("proxy.example.org", "192.0.2.77", timeToLive: 60)
        ask(bench, as: "dora@example.org")
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(bench.resolve(moved).contains(Self.question))
        bench.drop(at: Bench.simple) { if case .request = $0 { true } else { false } }
        _ = try bench.nextResponse(403, at: Bench.simple)
    }

    @Test("while no DNS server answers, the servers that were known last go on speaking; where none was known nobody does")
    func outage() throws {
        let bench = bench()
        ask(bench)
        bench.resolve(names)
        bench.pass(.seconds(61))
        bench.clear()
        ask(bench, as: "dora@example.org")
        bench.pass(.seconds(11))
        bench.drop(at: Bench.simple) { if case .request = $0 { true } else { false } }
        _ = try bench.nextResponse(200, at: Bench.simple)

        let blind = self.bench()
        ask(blind)
        blind.pass(.seconds(11))
        _ = try blind.nextResponse(403, at: Bench.simple)
        _ = blind.gateway.takeQuestions()
        ask(blind)
        _ = try blind.nextResponse(403, at: Bench.simple)
        #expect(blind.gateway.takeQuestions().isEmpty, "a failure is remembered for a while")
    }

    @Test("requests that wait for one domain's servers are bounded: the next is 503 with Retry-After") func bounded() throws {
        let bench = bench()
        for index in 0..<64 { ask(bench, as: "user\(index)@example.org", from: Self.stranger) }
        #expect(bench.isQuiet(at: Self.stranger))
        ask(bench, as: "one-more@example.org", from: Self.stranger)
        let answer = try bench.nextResponse(503, at: Self.stranger)
        #expect(answer.headers.retryAfter?.seconds == 2)
        bench.resolve(names)
        for _ in 0..<64 { _ = try bench.nextResponse(403, at: Self.stranger) }
        #expect(bench.gateway.counts.requestsWaiting == 0)
    }

    @Test("where `peers` name addresses the names of routes say nothing, and nothing is asked") func peersDecide() throws {
        let bench = bench(peers: DomainTrust(peers: "198.51.100.0/24"))
        ask(bench)
        _ = try bench.nextResponse(403, at: Bench.simple)
        #expect(bench.gateway.takeQuestions().isEmpty)
    }

    @Test("a discovered domain's servers speak from where its DNS leads, unless that leads to TLS; domains under * never do")
    func discovered() throws {
        let bench = bench(discovers: true) {
            $0.domains["*"] = DomainConfiguration(side: .simple, network: .federated)
            $0.domains["*"]?.federation.discovery = .neverWeaker
            $0.domains["*"]?.federation.trust.limits = PartnerLimits()
        }
        var names = names
        names.srv("_sip._udp.example.org", 5060, "proxy.example.org")
        ask(bench)
        bench.resolve(names)
        _ = try bench.nextResponse(200, at: Bench.simple)
        ask(bench, as: "carol@elsewhere.example")
        bench.drop(at: Bench.simple) { if case .request = $0 { true } else { false } }
        _ = try bench.nextResponse(403, at: Bench.simple)
        #expect(bench.gateway.takeQuestions().isEmpty)

        let secure = self.bench(discovers: true)
        names.srv("_sips._tcp.example.org", 5061, "proxy.example.org")
        ask(secure)
        secure.resolve(names)
        _ = try secure.nextResponse(403, at: Bench.simple)
    }

    @Test("a dialog's path may lead to another server of the domain, and to nobody else's") func recordRoute() throws {
        for (host, status) in [("192.0.2.21", 200), ("198.51.100.5", 403)] {
            let bench = bench()
            var names = names
            names.answers[Self.question] = NameAnswer(
                .records([.address(Bench.simple.host), .address("192.0.2.21")]), timeToLive: .seconds(60))
            bench.send(
                bench.subscribe(
                    "carol@example.org", to: "eva@fabrikam.com", extra: "Record-Route: <sip:\(host);lr>\r\n", via: Bench.simple),
                from: Bench.simple)
            bench.resolve(names)
            _ = try bench.nextResponse(status, at: Bench.simple)
        }
    }

    @Test("a reload keeps what was found of domains that are as before") func reload() throws {
        let bench = bench()
        ask(bench)
        bench.resolve(names)
        bench.clear()
        bench.reconfigure { $0.timing.retryAfter = 7 }
        ask(bench, as: "dora@example.org")
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(bench.gateway.takeQuestions().isEmpty)
    }
}
