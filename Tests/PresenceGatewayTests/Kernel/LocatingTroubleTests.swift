import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// Lookups that do not end as they should, and ever more of them.
@Suite struct LocatingTroubleTests {
    private let server = TransportAddress(.tcp, "192.0.2.20", 5060)

    private func bench(_ change: @escaping (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench { configuration in
            configuration.naming = NamingConfiguration()
            var domain = DomainConfiguration(side: .simple)
            domain.federation.discovery = .neverWeaker
            configuration.domains["example.org"] = domain
            change(&configuration)
        }
    }

    private func names(timeToLive: Int = 86_400) -> BenchNames {
        var names = BenchNames()
        names.srv("_sip._tcp.example.org", 5060, "sip.example.org", timeToLive: timeToLive)
        names.host("sip.example.org", "192.0.2.20")
        return names
    }

    private func watch(_ bench: Bench, _ user: String) {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: user), from: Bench.enterprise)
    }

    @Test("an address of one family is used though the question for the other is never answered; for a while it is not asked again")
    func oneFamily() throws {
        let bench = bench()
        var names = names()
        names.silent = [NameQuestion(.aaaa, "sip.example.org")]
        watch(bench, "alice@example.org")
        bench.resolve(names)
        #expect(bench.isQuiet(at: server))
        bench.pass(.seconds(10))
        _ = try bench.nextRequest(.subscribe, at: server)
        #expect(bench.gateway.tableSizes["questions"] == 0)
        bench.pass(.seconds(20))
        watch(bench, "amy@example.org")
        #expect(bench.gateway.takeQuestions().isEmpty)
        _ = try bench.nextRequest(.subscribe, at: server)
    }

    @Test("a question that nobody answers on the way to TLS ends in no request in clear")
    func noDowngrade() throws {
        let bench = bench()
        var names = names()
        names.silent = [NameQuestion(.srv, "_sips._tcp.example.org")]
        watch(bench, "alice@example.org")
        bench.resolve(names)
        bench.pass(.seconds(11))
        #expect(bench.isQuiet(at: server))
        #expect(bench.gateway.counters.hopsNotLocated == 1)
    }

    @Test("servers known from before an outage are used for half a minute before the DNS is waited for again")
    func outage() throws {
        let bench = bench()
        watch(bench, "alice@example.org")
        bench.resolve(names(timeToLive: 60))
        bench.answer(try bench.nextRequest(.subscribe, at: server), 200, from: server, headers: [(.expires, "3600")])
        bench.pass(.seconds(61))
        watch(bench, "amy@example.org")
        #expect(!bench.gateway.takeQuestions().isEmpty)
        bench.pass(.seconds(10))
        bench.drop(at: server) { message in
            if case .request(let request) = message { request.method != .subscribe } else { true }
        }
        _ = try bench.nextRequest(.subscribe, at: server)
        bench.pass(.seconds(20))
        bench.clear()
        watch(bench, "andy@example.org")
        #expect(bench.gateway.takeQuestions().isEmpty)
        _ = try bench.nextRequest(.subscribe, at: server)
    }

    @Test("ever new domains are looked up no faster than lookups end: what is beyond the bound asks nothing, and leaves nothing")
    func flood() throws {
        let bench = bench {
            $0.domains["*"] = $0.domains["example.org"]
            $0.naming?.waiting = 3
        }
        for number in 0..<20 { watch(bench, "x@d\(number).example") }
        #expect(bench.gateway.tableSizes["lookups"] == 3)
        #expect(bench.gateway.tableSizes["questions"] == 3)
        #expect(bench.gateway.takeQuestions().count == 3)
        #expect(bench.gateway.counts.requestsWaiting == 3)
        bench.pass(.milliseconds(1))
        #expect(bench.gateway.counters.hopsNotLocated == 17)
    }

    @Test(
        "a datagram leaves from a listener of its target's family",
        arguments: [("192.0.2.20", "192.0.2.1"), ("2001:db8::20", "2001:db8::1")])
    func family(target: String, listener: String) throws {
        for first in ["192.0.2.1", "2001:db8::1"] {
            var configuration = Bench.configuration()
            configuration.listeners = [first, first == "192.0.2.1" ? "2001:db8::1" : "192.0.2.1"].map { TransportAddress(.udp, $0, 5060) }
            configuration.domains["example.org"]?.federation.route = TransportAddress(.udp, target, 5060)
            let gateway = Gateway(configuration: configuration, key: .seeded(1))
            let bench = Bench()
            let request = bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org")
            gateway.receive(
                InboundMessage(bytes: Array(request.utf8), local: configuration.listeners[0], remote: Bench.enterprise), at: bench.now)
            let destination = Destination.address(
                TransportAddress(.udp, target, 5060), from: TransportAddress(.udp, listener, 5060))
            #expect(gateway.takeOutput().contains { $0.destination == destination })
        }
    }
}
