import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// CSeq of requests of the gateway in its dialogs (RFC 3261 12.2.1.1).
@Suite("RFC 3261 12.2.1.1 CSeq numbers in a dialog never go backwards") struct SequenceNumberTests {
    @Test("refreshes that were unanswered when the process was killed, twice")
    func kills() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        let (_, subscribe, _) = try SimpleWatcherTests().established(bench)
        var numbers = [try #require(subscribe.headers.cSeq?.number)]
        bench.pass(.seconds(2_705))
        for _ in 0..<3 {
            let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
            #expect(refresh.headers.callID == subscribe.headers.callID)
            numbers.append(try #require(refresh.headers.cSeq?.number))
            try bench.restart()
            bench.pass(.seconds(5))
        }
        #expect(numbers == Array(Set(numbers)).sorted(), "\(numbers)")
    }

    @Test("a refresh that is repeated after a failed commit stays in its dialog, which the remote domain keeps")
    func failedCommit() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        let (_, subscribe, _) = try SimpleWatcherTests().established(bench)
        store.failure = UncommittedSubscribeTests.full
        bench.pass(.seconds(2_800))
        #expect(bench.isQuiet(at: Bench.enterprise))
        store.failure = nil
        bench.pass(.seconds(10))
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(refresh.headers.callID == subscribe.headers.callID && refresh.headers.expires != 0)
        #expect(refresh.headers.cSeq?.number ?? 0 > 1)
    }

    private static let first = TransportAddress(.udp, "192.0.2.21", 5060)
    private static let second = TransportAddress(.udp, "192.0.2.22", 5060)

    private static var names: BenchNames {
        var names = BenchNames()
        names.host("a.example.org", first.host)
        names.host("b.example.org", second.host)
        names.answers[NameQuestion(.srv, "_sip._udp.example.org")] = NameAnswer(
            .records([
                .service(ServiceRecord(priority: 10, weight: 0, port: 5060, host: "a.example.org")),
                .service(ServiceRecord(priority: 20, weight: 0, port: 5060, host: "b.example.org")),
            ]), timeToLive: .seconds(86_400))
        return names
    }

    /// Takes what was sent to both servers. The first server is silent unless `isUp`; the second one answers all but SUBSCRIBE.
    private func serve(_ bench: Bench, isUp: Bool) throws -> [SIPRequest] {
        var requests: [SIPRequest] = []
        for server in [Self.first, Self.second] {
            while !bench.isQuiet(at: server) {
                guard case .request(let request) = try bench.next(at: server) else { continue }
                requests.append(request)
                if request.method == .options, isUp || server == Self.second { bench.answer(request, 200, from: server) }
            }
        }
        return requests.filter { $0.method == .subscribe }
    }

    @Test(
        "RFC 3263 4.3 a refresh that no server answered is not sent to the next one after a later request of its dialog",
        arguments: Array(stride(from: 2, through: 62, by: 4)))
    func failover(silentFor lead: Int) throws {
        let bench = Bench {
            $0.naming = NamingConfiguration()
            var domain = DomainConfiguration(side: .simple)
            domain.federation.discovery = .neverWeaker
            domain.keepAlive = .seconds(30)
            $0.domains["example.org"] = domain
        }
        let names = Self.names
        bench.gateway.keepPartnersAlive(at: bench.now)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        bench.resolve(names)
        let subscribe = try #require(try serve(bench, isUp: true).first)
        bench.answer(subscribe, 200, from: Self.first, headers: [(.expires, "800"), (.contact, "<sip:example.org>")])
        // The Contact is a name, so that refreshes go to either server of the domain.
        let body = Bench.pidf("alice@example.org")
        bench.send(
            "NOTIFY \(subscribe.headers.contact?.uri.description ?? "") SIP/2.0\r\n"
                + "Via: SIP/2.0/UDP \(Self.first.host):5060;branch=z9hG4bKn1\r\nMax-Forwards: 70\r\n"
                + "From: <sip:alice@example.org>;tag=far\(subscribe.headers.fromTag ?? "")\r\n"
                + "To: \(subscribe.headers.first(.from) ?? "")\r\nCall-ID: \(subscribe.headers.callID ?? "")\r\nCSeq: 1 NOTIFY\r\n"
                + "Contact: <sip:example.org>\r\nEvent: presence\r\nSubscription-State: active;expires=800\r\n"
                + "Content-Type: application/pidf+xml\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body, from: Self.first)
        var sent: [UInt32] = []
        // The refresh is due after 600 s.
        for step in 0..<(660 * 5) {
            bench.pass(.milliseconds(200), resolving: names)
            for request in try serve(bench, isUp: step < (600 - lead) * 5) where request.headers.callID == subscribe.headers.callID {
                sent.append(request.headers.cSeq?.number ?? 0)
            }
        }
        #expect(sent == sent.sorted(), "\(sent)")
        #expect(sent.contains(2), "\(sent)")
    }
}
