import FederationRouting
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// A gateway whose requests of every kind are on their way to honest servers that are slow to answer, and three stations that answer in
/// their place.
///
///     contoso.com  bob's enterprise server    example.org  alice's presence server    example.net  carol, a watcher
///     example.com  mallory: a partner with a certificate      stranger: a host that speaks UDP    outsider: a host that speaks TCP
final class AnswerWorld {
    /// What the gateway asks, and which station has to answer it.
    enum Question: String, CaseIterable, CustomTestStringConvertible {
        case subscribe, notify, publish, service, options

        var method: SIPMethod { SIPMethod(rawValue: rawValue.uppercased()) }
        var station: String {
            switch self {
            case .subscribe, .publish, .options: "simple"
            case .service: "enterprise"
            case .notify: "carol"
            }
        }

        var testDescription: String { method.rawValue }
    }

    static let alice = "sip:alice@example.org"
    static let bob = "sip:bob@contoso.com"

    let network = SimulatedNetwork(seed: 9, transcriptLimit: 5_000)
    let transport: TransportProtocol
    let gateway: Gateway
    let enterprise: EnhancedServer
    let simple: SimplePresenceServer
    let carol: SimpleWatcher
    let endpoint: CategoryPublisher
    let source: PIDFPublisher
    /// By what they speak.
    let forgers: [TransportProtocol: UnauthorizedPeer]
    /// How many forged answers were sent.
    private(set) var forged: UInt64 = 0

    /// - Parameter transport: between the gateway and the honest servers; that of enterprises is a stream (MS-SIP 2.1).
    init(_ transport: TransportProtocol, keepsAlive: Bool = false, change: (inout GatewayConfiguration) -> Void = { _ in }) throws {
        self.transport = transport
        func place(_ host: String, _ transport: TransportProtocol) -> TransportAddress {
            TransportAddress(transport, host, transport.defaultPort)
        }
        let own = TransportProtocol.allCases.map { place("192.0.2.1", $0) }
        let stream = transport == .udp ? TransportProtocol.tcp : transport
        let enterpriseAddress = place("192.0.2.10", stream)
        let simpleAddress = place("192.0.2.20", transport)
        let carolAddress = place("192.0.2.30", transport)
        var configuration = GatewayConfiguration(
            nodeName: "edge1.example.net", listeners: own,
            domains: [
                "contoso.com": DomainConfiguration(side: .enterprise, route: enterpriseAddress),
                "example.org": DomainConfiguration(side: .simple, route: simpleAddress),
                "example.net": DomainConfiguration(side: .simple, route: carolAddress),
                "example.com": DomainConfiguration(side: .simple, route: place("192.0.2.66", .tls)),
            ])
        // Addresses of the servers, and of the clients that publish by way of the gateway.
        configuration.domains["contoso.com"]?.federation.trust = DomainTrust(peers: "192.0.2.10", "192.0.2.40") ?? DomainTrust()
        configuration.domains["example.org"]?.federation.trust = DomainTrust(peers: "192.0.2.20", "192.0.2.41") ?? DomainTrust()
        for domain in ["contoso.com", "example.org"] { configuration.domains[domain]?.publish = true }
        if keepsAlive { configuration.domains["example.org"]?.keepAlive = .seconds(30) }
        change(&configuration)
        gateway = Gateway(configuration: configuration, key: .seeded(9))
        let hop = place("192.0.2.1", transport)
        enterprise = EnhancedServer(name: "enterprise", address: enterpriseAddress, nextHop: place("192.0.2.1", stream), seed: 9)
        simple = SimplePresenceServer(name: "simple", address: simpleAddress, nextHop: hop, seed: 9)
        carol = SimpleWatcher(
            name: "carol", watcher: "sip:carol@example.net", presentity: Self.alice, address: carolAddress, nextHop: hop, seed: 9)
        endpoint = CategoryPublisher(
            name: "endpoint", presentity: Self.alice, address: place("192.0.2.41", .tcp), nextHop: own[1], seed: 9)
        source = PIDFPublisher(name: "source", presentity: Self.bob, address: place("192.0.2.40", .udp), nextHop: own[0], seed: 9)
        forgers = [
            .udp: UnauthorizedPeer(address: place("192.0.2.67", .udp), target: own[0]),
            .tcp: UnauthorizedPeer(address: place("192.0.2.68", .tcp), target: own[1]),
            .tls: UnauthorizedPeer(address: place("192.0.2.66", .tls), target: own[2]),
        ]
        network.attach(gateway, name: "gateway", at: own, proving: BorderWorld.certificate("edge1.example.net"))
        network.attach(enterprise, name: "enterprise", at: [enterpriseAddress], proving: BorderWorld.certificate("contoso.com"))
        network.attach(simple, name: "simple", at: [simpleAddress], proving: BorderWorld.certificate("example.org"))
        network.attach(carol, name: "carol", at: [carolAddress], proving: BorderWorld.certificate("example.net"))
        for peer in [endpoint, source] as [SIPPeer] { network.attach(peer, name: peer.name, at: [peer.address]) }
        for (transport, name) in [(TransportProtocol.udp, "stranger"), (.tcp, "outsider"), (.tls, "mallory")] {
            guard let forger = forgers[transport] else { continue }
            network.attach(
                forger, name: name, at: [forger.address], proving: transport == .tls ? BorderWorld.certificate("example.com") : nil)
        }
        simple.set(Self.alice, SimpleDocuments.pidf(of: Self.alice, "open", activities: ["busy"]), at: network.now)
    }

    /// Lets the gateway ask, and lets the honest answer take its time.
    /// - Returns: the request.
    func ask(_ question: Question) throws -> SIPRequest {
        if question == .notify, carol.phase != .live {
            carol.subscribe(at: network.now)
            try network.run(for: .seconds(2))
        }
        // Sooner than a datagram is repeated.
        network.setConditions(NetworkConditions(delay: .milliseconds(400)), from: question.station, to: "gateway")
        let now = network.now
        let asked = requests(question).count
        switch question {
        case .subscribe: carol.subscribe(at: now)
        case .notify: simple.set(Self.alice, SimpleDocuments.pidf(of: Self.alice, "closed"), at: now)
        case .publish: endpoint.publish(availability: 6_500, at: now)
        case .service: source.publish(SimpleDocuments.pidf(of: Self.bob, "open"), at: now)
        case .options: gateway.keepPartnersAlive(at: now)
        }
        guard try network.run(atMost: .seconds(10), until: { requests(question).count > asked }), let request = requests(question).last
        else { throw NotAsked() }
        try network.run(for: .milliseconds(10))
        return request
    }

    private struct NotAsked: Error {}

    /// Those that arrived where they are answered.
    private func requests(_ question: Question) -> [SIPRequest] {
        let all = [enterprise, simple, carol].first { $0.name == question.station }?.requests ?? []
        return all.filter { $0.method == question.method }
    }

    /// Sends an answer in the server's place from every forger, and lets them all arrive.
    func forge(_ answers: [SIPResponse]) throws {
        for answer in answers {
            for forger in forgers.values { forger.say(answer) }
            forged += UInt64(forgers.count)
        }
        try network.run(for: .milliseconds(20))
    }

    /// Answers of an attacker that saw the request: everything that ends, moves, postpones or fills a subscription or a publication.
    static func forgeries(_ request: SIPRequest) -> [SIPResponse] {
        let statuses: [SIPStatus] = [.trying, .ok, .callOrTransactionDoesNotExist, .requestTimeout, .serviceUnavailable, .movedTemporarily]
        return statuses.map { status in
            var answer = SIPResponse(to: request, status: status, toTag: request.headers.toTag ?? "evil")
            switch status {
            case .ok:
                answer.headers.append(.contact, "<sip:192.0.2.66:5061;transport=tls>")
                answer.headers.append(.expires, "3600")
                answer.headers.append(.sipETag, "evil")
                answer.headers.append(.contentType, "application/pidf+xml")
                answer.body = Array(SimpleDocuments.pidf(of: alice, "open", note: "forged").utf8)
            case .movedTemporarily: answer.headers.append(.contact, "<sip:192.0.2.66:5061;transport=tls>")
            case .serviceUnavailable: answer.headers.append(.retryAfter, "3600")
            default: break
            }
            return answer
        }
    }

    /// Answers of the honest stations that the gateway has got.
    var honest: UInt64 {
        let names = ["enterprise", "simple", "carol"]
        return UInt64(
            network.transcript.entries.filter {
                $0.to == "gateway" && $0.fate == .delivered && names.contains($0.from) && $0.startLine.hasPrefix("SIP/2.0")
            }.count)
    }

    /// Everything that the gateway has sent.
    var sent: Int { network.transcript.entries.filter { $0.from == "gateway" && $0.fate == .sent }.count }
}
