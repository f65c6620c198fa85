import FederationRouting
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// A gateway whose partner example.org is found by the Domain Name System, with two servers.
final class Border {
    let network: SimulatedNetwork
    let gateway: Gateway
    let first: SimplePresenceServer
    let second: SimplePresenceServer
    private var watchers = 0

    static let node = "192.0.2.1"
    static let alice = "sip:alice@example.org"
    private static let home = "198.51.100.1"

    init(
        transport: TransportProtocol = .tcp, seed: UInt64 = 7, store: (any GatewayStore)? = nil,
        configure: (inout GatewayConfiguration) -> Void = { _ in }
    ) {
        network = SimulatedNetwork(seed: seed, transcriptLimit: 20_000)
        var partner = DomainConfiguration(side: .simple)
        partner.federation.discovery = .neverWeaker
        var configuration = GatewayConfiguration(
            nodeName: "gateway.example.net",
            listeners: [.udp, .tcp].map { TransportAddress($0, Self.node, 5060) },
            domains: [
                "example.org": partner,
                "example.com": DomainConfiguration(side: .simple, route: TransportAddress(.tcp, Self.home, 5060)),
                "contoso.com": DomainConfiguration(side: .enterprise, route: TransportAddress(.tcp, Self.home, 5060)),
            ])
        configuration.naming = NamingConfiguration()
        configure(&configuration)
        // Where its servers are is what these tests are about; that they may speak for it is taken for granted.
        configuration.trust(DomainTrust(peers: "0.0.0.0/0"))
        gateway = Gateway(configuration: configuration, key: .seeded(seed), store: store)
        let hop = TransportAddress(transport, Self.node, 5060)
        first = SimplePresenceServer(name: "first", address: TransportAddress(transport, "203.0.113.1", 5060), nextHop: hop, seed: seed)
        second = SimplePresenceServer(name: "second", address: TransportAddress(transport, "203.0.113.2", 5060), nextHop: hop, seed: seed)
        attach(gateway, "gateway", Self.node)
        attach(first, "first", "203.0.113.1")
        attach(second, "second", "203.0.113.2")
        for (server, note) in [(first, "at the first"), (second, "at the second")] {
            for user in ["alice", "lab-7"] {
                let uri = "sip:\(user)@example.org"
                server.set(uri, SimpleDocuments.pidf(of: uri, "open", note: note), at: network.now)
            }
        }
        network.names.naptr("example.org", transport == .udp ? "SIP+D2U" : "SIP+D2T", to: "_sip._x.example.org")
        network.names.srv("_sip._x.example.org", (10, 0, 5060, "a.example.org"), (20, 0, 5060, "b.example.org"))
        network.names.host("a.example.org", "203.0.113.1")
        network.names.host("b.example.org", "203.0.113.2")
    }

    private func attach(_ endpoint: any SansIOEndpoint, _ name: String, _ host: String) {
        network.attach(endpoint, name: name, at: [.tcp, .udp].map { TransportAddress($0, host, 5060) })
    }

    func watcher(of presentity: String = Border.alice) -> SimpleWatcher {
        watchers += 1
        let host = "198.51.100.\(watchers)"
        let watcher = SimpleWatcher(
            name: "watcher\(watchers)", watcher: "sip:w\(watchers)@example.com", presentity: presentity,
            address: TransportAddress(.tcp, host, 5060), nextHop: TransportAddress(.tcp, Self.node, 5060), seed: UInt64(watchers))
        attach(watcher, watcher.name, host)
        return watcher
    }

    /// A watcher whose domain is an enterprise's.
    func enterpriseWatcher(of presentity: String = Border.alice) -> EnhancedWatcher {
        watchers += 1
        let host = "198.51.100.\(watchers)"
        let watcher = EnhancedWatcher(
            name: "watcher\(watchers)", watcher: "sip:e\(watchers)@contoso.com", presentity: presentity,
            address: TransportAddress(.tcp, host, 5060), nextHop: TransportAddress(.tcp, Self.node, 5060), seed: UInt64(watchers))
        attach(watcher, watcher.name, host)
        return watcher
    }

    /// Subscribes and says what is shown within the span; nil: nothing.
    func show(_ watcher: SimpleWatcher, within span: TimeSpan = .seconds(60)) throws -> String? {
        watcher.subscribe(expires: 3_600, at: network.now)
        _ = try network.run(atMost: span) { watcher.presence?.notes.first != nil }
        return watcher.presence?.notes.first
    }

    func subscribes(at server: SimplePresenceServer) -> [SIPRequest] { server.requests.filter { $0.method == .subscribe } }

    var questions: [NameQuestion] { network.names.asked.map(\.question) }
}

@Suite struct NextHopTests {
    @Test("RFC 3263 4: a partner is found by NAPTR, SRV and address, over the transport that it names")
    func found() throws {
        let border = Border()
        let watcher = border.watcher()
        #expect(try border.show(watcher) == "at the first")
        #expect(border.questions.first == NameQuestion(.naptr, "example.org"))
        let request = try #require(border.subscribes(at: border.first).first)
        #expect(request.headers.topVia?.transport == .tcp)
        #expect(request.headers.contact?.uri.transport == .tcp)
        #expect(border.subscribes(at: border.second).isEmpty)
        #expect(watcher.faults.isEmpty)
    }

    @Test("RFC 3263 4.3: a server that cannot be reached is passed over in a new transaction, before anybody hears of it")
    func unreachable() throws {
        let border = Border()
        border.network.takeDown("first")
        let watcher = border.watcher()
        #expect(try border.show(watcher) == "at the second")
        #expect(border.gateway.counters.hopFailovers == 1)
        #expect(border.gateway.counters.upstreamLost == 0)
        let refused = border.network.transcript.entries.filter { $0.fate == .refused && $0.from == "gateway" }
        let tried = try #require(refused.first.flatMap { Self.branch($0.bytes) })
        #expect(border.subscribes(at: border.second).first?.headers.topVia?.branch != tried)
    }

    private static func branch(_ bytes: [UInt8]) -> String? {
        guard case .success(.request(let request)) = SIPParser.parse(bytes) else { return nil }
        return request.headers.topVia?.branch
    }

    @Test("RFC 3263 4.3: 503 sends the request to the next server; the first is asked again once its Retry-After is over")
    func unavailable() throws {
        let border = Border()
        border.first.manners.answer = .refuse(.serviceUnavailable, [.retryAfter: "120"])
        #expect(try border.show(border.watcher()) == "at the second")
        #expect(try border.show(border.watcher()) == "at the second")
        #expect(border.subscribes(at: border.first).count == 1)
        #expect(border.gateway.counts.hopsDown == 1)
        border.first.manners.answer = .accept
        try border.network.run(for: .seconds(125))
        #expect(try border.show(border.watcher()) == "at the first")
        #expect(border.gateway.counts.hopsDown == 0)
    }

    @Test("RFC 3263 4.3: a server that says nothing over UDP gives way to the next within the time of one transaction")
    func silent() throws {
        let border = Border(transport: .udp)
        border.first.manners.answer = .silence
        let watcher = border.watcher()
        let start = border.network.now
        #expect(try border.show(watcher, within: .seconds(32)) == "at the second")
        #expect(border.network.now - start < .seconds(32))
        #expect(border.gateway.counters.upstreamLost == 0)
    }

    @Test("where all servers fail the last failure is heard once, and presence returns with the first that is back")
    func allDown() throws {
        let border = Border()
        border.network.takeDown("first")
        border.network.takeDown("second")
        let watcher = border.watcher()
        #expect(try border.show(watcher, within: .seconds(20)) == nil)
        #expect(!watcher.isOver)
        border.network.bringUp("second")
        #expect(try border.network.run(atMost: .seconds(900)) { watcher.presence?.notes.first == "at the second" })
        #expect(border.gateway.counters.hopFailovers >= 1)
    }

    @Test("a refusal other than 503 is the server's word: nobody else is asked")
    func refused() throws {
        let border = Border()
        border.first.manners.answer = .refuse(.forbidden)
        let watcher = border.watcher()
        #expect(try border.show(watcher, within: .seconds(5)) == nil)
        #expect(watcher.isOver)
        #expect(border.subscribes(at: border.second).isEmpty)
    }

    @Test("questions that are the same are asked once, however many requests wait")
    func askedOnce() throws {
        let border = Border()
        let watchers = (0..<30).map { _ in border.watcher() }
        for watcher in watchers { watcher.subscribe(expires: 3_600, at: border.network.now) }
        #expect(try border.network.run(atMost: .seconds(30)) { watchers.allSatisfy { $0.presence?.notes.first == "at the first" } })
        #expect(Set(border.questions).count == border.questions.count)
    }

    @Test("an answer is used for its lifetime, then the partner's new server is found")
    func lifetime() throws {
        let border = Border()
        border.network.names.srv("_sip._x.example.org", (10, 0, 5060, "a.example.org"), timeToLive: 60)
        #expect(try border.show(border.watcher()) == "at the first")
        let asked = border.questions.count
        border.network.names.srv("_sip._x.example.org", (10, 0, 5060, "b.example.org"), timeToLive: 60)
        #expect(try border.show(border.watcher()) == "at the first")
        #expect(border.questions.count == asked)
        try border.network.run(for: .seconds(61))
        #expect(try border.show(border.watcher()) == "at the second")
        // Only what had ended was asked again.
        #expect(border.questions.dropFirst(asked).filter { $0.kind == .naptr }.isEmpty)
    }

    @Test("while no DNS server answers, the servers known last are used; a server that answers is believed")
    func outage() throws {
        let border = Border()
        border.network.names.srv("_sip._x.example.org", (10, 0, 5060, "a.example.org"), timeToLive: 60)
        #expect(try border.show(border.watcher()) == "at the first")
        try border.network.run(for: .seconds(61))
        border.network.names.isSilent = true
        #expect(try border.show(border.watcher()) == "at the first")
        border.network.names.isSilent = false
        border.network.names.answers[NameQuestion(.srv, "_sip._x.example.org")] = NameAnswer(.noSuchName, timeToLive: .seconds(60))
        try border.network.run(for: .seconds(60))
        let late = border.watcher()
        #expect(try border.show(late, within: .seconds(20)) == nil)
        #expect(late.isOver)
    }

    @Test("a poll whose partner cannot be looked up is 504 after a bounded wait, with ms-diagnostics 1008 toward the enterprise")
    func noAnswer() throws {
        let border = Border { $0.timing.pollWait = .seconds(20) }
        border.network.names.isSilent = true
        let watcher = border.enterpriseWatcher()
        watcher.poll(at: border.network.now)
        #expect(try border.network.run(atMost: .seconds(60)) { watcher.lastResponse?.status.isFinal ?? false })
        let response = try #require(watcher.lastResponse)
        #expect(response.status == .serverTimeout)
        #expect(response.headers.msDiagnostics?.errorID == 1_008)
        try border.network.run(for: .seconds(30))
        #expect(border.gateway.counters.hopsNotLocated >= 1)
        #expect(border.gateway.tableSizes["lookups"] == 0)
        #expect(border.gateway.tableSizes["questions"] == 0)
        #expect(border.gateway.counts.requestsWaiting == 0)
    }

    @Test("a partner that the DNS does not know is 404 toward the enterprise, noresource toward others", arguments: [true, false])
    func unknownPartner(isEnterprise: Bool) throws {
        let border = Border {
            $0.domains["*"] = $0.domains["example.org"]
            $0.timing.pollWait = .seconds(20)
        }
        let watcher: ScriptedWatcher =
            isEnterprise
            ? border.enterpriseWatcher(of: "sip:x@nowhere.example") : border.watcher(of: "sip:x@nowhere.example")
        watcher.poll(at: border.network.now)
        #expect(try border.network.run(atMost: .seconds(60)) { watcher.lastResponse?.status.isFinal ?? false })
        let response = try #require(watcher.lastResponse)
        if isEnterprise {
            #expect(response.status == .notFound)
            #expect(response.headers.msDiagnostics?.errorID == 1_008)
        } else {
            // A poll of this side is answered at once; what was found out follows (RFC 6665 4.2.1).
            #expect(try border.network.run(atMost: .seconds(60)) { watcher.isOver })
            #expect(watcher.subscriptionState?.reason == .noresource)
        }
    }

    @Test("requests that wait are bounded per goal; beyond it they fail at once, and nothing is left over")
    func bounded() throws {
        let border = Border { $0.naming?.waitingPerTarget = 3 }
        border.network.names.isSilent = true
        let watchers = (0..<8).map { _ in border.watcher() }
        for watcher in watchers { watcher.subscribe(expires: 3_600, at: border.network.now) }
        try border.network.run(for: .seconds(2))
        #expect(border.gateway.counts.requestsWaiting == 3)
        #expect(border.gateway.counters.hopsNotLocated == 5)
        border.network.names.isSilent = false
        #expect(try border.network.run(atMost: .seconds(120)) { watchers.allSatisfy { $0.presence?.notes.first != nil } })
        #expect(border.gateway.counts.requestsWaiting == 0)
    }

    @Test("users with a route of their own are asked for there, others are not")
    func userRoutes() throws {
        let border = Border {
            $0.domains["example.org"]?.federation.userRoutes = [
                UserRoute(UserPattern("lab-*"), [ListedHop(TransportAddress(.tcp, "203.0.113.2", 5060))])
            ]
        }
        #expect(try border.show(border.watcher(of: "sip:lab-7@example.org")) == "at the second")
        #expect(border.questions.isEmpty)
        #expect(try border.show(border.watcher()) == "at the first")
    }

    @Test("several configured routes: by priority, the next where one fails; names among them are looked up")
    func listed() throws {
        let border = Border {
            $0.domains["example.org"]?.federation.discovery = nil
            $0.domains["example.org"]?.federation.hops = [
                ListedHop(TransportAddress(.tcp, "a.example.org", 5060), priority: 10),
                ListedHop(TransportAddress(.tcp, "203.0.113.2", 5060), priority: 20),
            ]
        }
        #expect(try border.show(border.watcher()) == "at the first")
        border.network.takeDown("first")
        #expect(try border.show(border.watcher()) == "at the second")
        #expect(border.questions.allSatisfy { $0.name == "a.example.org" })
    }

    @Test("a subscription is refreshed at the server of its dialog, and made anew at another when that one is gone")
    func refresh() throws {
        let border = Border()
        let watcher = border.watcher()
        watcher.refreshesItself = true
        #expect(try border.show(watcher) == "at the first")
        try border.network.run(for: .seconds(8_000))
        #expect(border.subscribes(at: border.first).count >= 2)
        #expect(border.subscribes(at: border.second).isEmpty)
        border.network.takeDown("first")
        #expect(try border.network.run(atMost: .seconds(7_200)) { watcher.presence?.notes.first == "at the second" })
        #expect(!watcher.isOver)
    }

    @Test("what nobody asked for is not believed")
    func unsolicited() throws {
        let border = Border()
        border.gateway.receive(
            .answered(NameQuestion(.a, "a.example.org"), NameAnswer(.records([.address("203.0.113.66")]), timeToLive: .seconds(9_999))),
            at: border.network.now)
        #expect(try border.show(border.watcher()) == "at the first")
    }

    @Test("after everything has ended no lookup, delivery or timer is left")
    func nothingLeft() throws {
        let border = Border()
        border.network.takeDown("first")
        let watcher = border.watcher()
        #expect(try border.show(watcher) == "at the second")
        watcher.unsubscribe(at: border.network.now)
        try border.network.run(for: .seconds(120))
        for table in ["lookups", "deliveries", "questions", "undeliverable", "pendingRequests", "timers", "upstreams"] {
            #expect(border.gateway.tableSizes[table] == 0, "\(table)")
        }
    }
}
