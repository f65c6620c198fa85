import FederationRouting
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// A proxy that keeps no state and removes every header that it does not know: our hop marks among them.
private final class StrippingProxy: SansIOEndpoint {
    let address: TransportAddress
    /// Where requests of each gateway go on to, by the address that they come from.
    let onward: [TransportAddress: TransportAddress]
    private(set) var passed = 0
    private var output: [OutboundMessage] = []

    init(_ address: TransportAddress, _ onward: [TransportAddress: TransportAddress]) {
        self.address = address
        self.onward = onward
    }

    func receive(_ message: InboundMessage, at now: Instant) {
        guard case .success(let parsed) = SIPParser.parse(message.bytes) else { return }
        switch parsed {
        case .request(var request):
            guard let next = onward[message.remote], let hops = request.headers.maxForwards, hops > 0 else { return }
            passed += 1
            request.headers.remove("Isthmus-Hop")
            request.headers.maxForwards = hops - 1
            // The same for copies of one request (RFC 3261 16.11).
            let branch = "z9hG4bKp" + (request.headers.topVia?.branch ?? "")
            request.headers.vias = [Via(.udp, host: address.host, port: address.port, branch: branch)] + request.headers.vias
            send(.request(request), to: next)
        case .response(var response):
            response.headers.vias = Array(response.headers.vias.dropFirst())
            guard let via = response.headers.topVia else { return }
            send(.response(response), to: TransportAddress(.udp, via.sentByHost, via.sentByPort ?? 5060))
        }
    }

    private func send(_ message: SIPMessage, to next: TransportAddress) {
        output.append(OutboundMessage(bytes: SIPSerializer.serialize(message), destination: .address(next, from: address)))
    }

    func receive(_ notice: TransportNotice, at now: Instant) {}
    func advance(to now: Instant) {}
    var nextDeadline: Instant? { nil }
    func takeOutput() -> [OutboundMessage] {
        defer { output = [] }
        return output
    }
}

@Suite struct LoopTests {
    private static let one = TransportAddress(.udp, "192.0.2.1", 5060)
    private static let two = TransportAddress(.udp, "192.0.2.2", 5060)
    private static let three = TransportAddress(.udp, "192.0.2.3", 5060)
    private static let proxy = TransportAddress(.udp, "192.0.2.9", 5060)
    private static let home = TransportAddress(.udp, "192.0.2.30", 5060)

    private func gateway(_ name: String, at address: TransportAddress, side: DomainSide, to next: TransportAddress) -> Gateway {
        var configuration = GatewayConfiguration(
            nodeName: name, listeners: [address],
            domains: [
                "example.com": DomainConfiguration(side: .simple, route: Self.home),
                "example.org": DomainConfiguration(side: side, route: next),
            ])
        configuration.trust(DomainTrust(peers: "192.0.2.0/24"))
        configuration.timing.firstNotifyGrace = .milliseconds(100)
        return Gateway(configuration: configuration, key: .seeded(UInt64(name.utf8.count) &* 7_919 &+ UInt64(address.host.utf8.last ?? 0)))
    }

    /// Everybody says of the presentity that somebody else knows.
    private struct Ring {
        var links: [(from: TransportAddress, to: TransportAddress, side: DomainSide)]
        var name: String
    }

    private func play(_ ring: Ring, proxy: StrippingProxy? = nil, isPoll: Bool = false) throws -> (
        SimpleWatcher, SimulatedNetwork, [Gateway]
    ) {
        let network = SimulatedNetwork(seed: 11, transcriptLimit: 100_000)
        var gateways: [Gateway] = []
        for (index, link) in ring.links.enumerated() {
            let node = gateway("node\(index).example.net", at: link.from, side: link.side, to: link.to)
            gateways.append(node)
            network.attach(node, name: "node\(index)", at: [link.from])
        }
        if let proxy { network.attach(proxy, name: "proxy", at: [Self.proxy]) }
        let watcher = SimpleWatcher(
            name: "watcher", watcher: "sip:ann@example.com", presentity: "sip:nobody@example.org", address: Self.home,
            nextHop: ring.links[0].from, seed: 5)
        network.attach(watcher, name: "watcher", at: [Self.home])
        if isPoll { watcher.poll(at: network.now) } else { watcher.subscribe(expires: 3_600, at: network.now) }
        _ = try network.run(atMost: .seconds(600)) { watcher.isOver && gateways.allSatisfy { $0.counts.upstreamSubscriptions == 0 } }
        return (watcher, network, gateways)
    }

    private func expectDeath(_ ring: Ring, proxy: StrippingProxy? = nil, messages limit: Int) throws {
        let (watcher, network, gateways) = try play(ring, proxy: proxy)
        #expect(watcher.isOver, "\(ring.name)")
        #expect(watcher.subscriptionState?.reason == .noresource, "\(ring.name)")
        #expect(watcher.faults.isEmpty)
        // The last answers arrive.
        try network.run(for: .seconds(60))
        let count = network.transcript.total
        #expect(count <= limit, "\(ring.name): \(count) messages")
        // And it stays dead: neither a subscription that is asked for again nor a dialog that is left over.
        try network.run(for: .seconds(3_600))
        for gateway in gateways {
            #expect(gateway.counts.watcherDialogs == 0, "\(ring.name)")
            #expect(gateway.counts.upstreamSubscriptions == 0, "\(ring.name)")
            #expect(gateway.counts.transactions == 0, "\(ring.name)")
            #expect(gateway.counts.timers == 0, "\(ring.name)")
        }
        #expect(network.transcript.total == count, "\(ring.name)")
    }

    @Test("RFC 3261 16.3 gateways that point at each other: the mark that comes back ends it", arguments: [DomainSide.simple, .enterprise])
    func mutual(side: DomainSide) throws {
        try expectDeath(
            Ring(links: [(Self.one, Self.two, side), (Self.two, Self.one, side)], name: "mutual mirror"), messages: 60)
        try expectDeath(
            Ring(
                links: [(Self.one, Self.two, side), (Self.two, Self.three, .simple), (Self.three, Self.one, side)], name: "ring of three"),
            messages: 90)
        try expectDeath(
            Ring(
                links: [(Self.one, Self.two, side), (Self.two, Self.three, side), (Self.three, Self.two, .simple)], name: "tail and ring"),
            messages: 90)
    }

    @Test("RFC 3261 16.3 a gateway that points at itself: the mark ends it")
    func oneself() throws {
        try expectDeath(Ring(links: [(Self.one, Self.one, .simple)], name: "itself"), messages: 30)
    }

    @Test("RFC 3261 16.3 a proxy sends our own request back without our mark: our name in its Via ends it")
    func ownRequestReturns() throws {
        let proxy = StrippingProxy(Self.proxy, [Self.one: Self.one])
        try expectDeath(Ring(links: [(Self.one, Self.proxy, .simple)], name: "returned"), proxy: proxy, messages: 30)
        #expect(proxy.passed == 1)
    }

    @Test("RFC 3261 8.1.1.6 a proxy between two gateways removes our marks: Max-Forwards ends it, and all legs with it")
    func strippedMarks() throws {
        let proxy = StrippingProxy(Self.proxy, [Self.one: Self.two, Self.two: Self.one])
        try expectDeath(
            Ring(links: [(Self.one, Self.proxy, .simple), (Self.two, Self.proxy, .simple)], name: "stripped"), proxy: proxy, messages: 3_000
        )
        #expect(proxy.passed <= 70)
    }

    @Test("RFC 6665 4.4.3 a poll that goes round is answered, and nothing is left")
    func polls() throws {
        let (watcher, network, gateways) = try play(
            Ring(links: [(Self.one, Self.two, .simple), (Self.two, Self.one, .simple)], name: "poll"), isPoll: true)
        #expect(watcher.isOver)
        try network.run(for: .seconds(120))
        for gateway in gateways { #expect(gateway.counts.watcherDialogs == 0 && gateway.counts.upstreamSubscriptions == 0) }
    }
}
