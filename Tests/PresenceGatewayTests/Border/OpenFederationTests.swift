import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// Domains that only `*` covers, whose servers the DNS names.
@Suite struct OpenFederationTests {
    private let server = TransportAddress(.tcp, "192.0.2.20", 5060)

    private func bench(peers: DomainTrust? = nil) -> Bench {
        Bench { configuration in
            configuration.naming = NamingConfiguration()
            var domain = DomainConfiguration(side: .simple, network: .federated)
            domain.federation.discovery = .neverWeaker
            domain.federation.trust = peers ?? DomainTrust(peers: "sip.example.net") ?? DomainTrust()
            configuration.domains["example.org"] = nil
            configuration.domains["*"] = domain
        }
    }

    private var names: BenchNames {
        var names = BenchNames()
        names.srv("_sip._tcp.example.org", 5060, "sip.example.org")
        names.host("sip.example.org", server.host)
        return names
    }

    @Test("a domain without TLS that only * covers is refused at once: no SUBSCRIBE leaves whose NOTIFY would be refused")
    func refused() throws {
        let bench = bench()
        bench.send(bench.subscribe("carol@example.com", to: "alice@example.org", via: Bench.simple), from: Bench.simple)
        bench.resolve(names)
        bench.pass(.seconds(1))
        #expect(bench.isQuiet(at: server))
        #expect(bench.gateway.counters.hopsNotLocated == 1)
        _ = try bench.nextResponse(200, at: Bench.simple)
        var last: SIPRequest?
        while !bench.isQuiet(at: Bench.simple) {
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            last = notify
            bench.answer(notify, 200, from: Bench.simple)
        }
        #expect(last?.headers.subscriptionState?.state == .terminated)
        #expect(last?.headers.subscriptionState?.reason == .noresource, "rejected would say that she blocked the watcher")
    }

    @Test("where its peers are known by address it is asked") func byAddress() throws {
        let bench = bench(peers: Bench.oneNetwork)
        bench.send(bench.subscribe("carol@example.com", to: "alice@example.org", via: Bench.simple), from: Bench.simple)
        bench.resolve(names)
        _ = try bench.nextRequest(.subscribe, at: server)
    }
}
