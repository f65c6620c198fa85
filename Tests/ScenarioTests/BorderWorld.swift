import FederationRouting
import GatewayTesting
import PresenceGateway
import PresenceRules
import SIPCore
import ScriptedPeers

/// Two companies and one user at the gateway, over TLS with certificates, and two who want to be somebody else.
///
///     contoso.com  bob's server          example.org   carol, who watches bob       hosted.example.net  dave, who publishes here
///     example.com  mallory: a partner like the others, with a certificate of her own     nobody: a host without certificate, over UDP
final class BorderWorld {
    static let bob = "sip:bob@contoso.com"
    static let dave = "sip:dave@hosted.example.net"
    private static let place = TransportAddress(.tls, "192.0.2.1", 5061)
    private static let plain = TransportAddress(.udp, "192.0.2.1", 5060)

    let network = SimulatedNetwork(seed: 5, transcriptLimit: 5_000)
    let gateway: Gateway
    let server: EnhancedServer
    let carol: SimpleWatcher
    let source: PIDFPublisher
    let mallory: UnauthorizedPeer
    let nobody: UnauthorizedPeer
    private var number = 0

    init(_ change: (inout GatewayConfiguration) -> Void = { _ in }) throws {
        let serverAddress = TransportAddress(.tls, "192.0.2.10", 5061)
        let carolAddress = TransportAddress(.tls, "192.0.2.20", 5061)
        let malloryAddress = TransportAddress(.tls, "192.0.2.66", 5061)
        var configuration = GatewayConfiguration(
            nodeName: "edge1.example.net", listeners: [Self.place, Self.plain],
            domains: [
                "contoso.com": DomainConfiguration(side: .enterprise, route: serverAddress),
                "example.org": DomainConfiguration(side: .simple, route: carolAddress),
                "example.com": DomainConfiguration(side: .simple, route: malloryAddress),
                "hosted.example.net": DomainConfiguration(side: .simple, hosted: true, unruled: .allow),
            ])
        configuration.domains["hosted.example.net"]?.federation.trust = DomainTrust(peers: "192.0.2.40") ?? DomainTrust()
        change(&configuration)
        gateway = Gateway(configuration: configuration, key: .seeded(5))
        server = EnhancedServer(name: "server", address: serverAddress, nextHop: Self.place, seed: 5)
        carol = SimpleWatcher(
            name: "carol", watcher: "sip:carol@example.org", presentity: Self.bob, address: carolAddress, nextHop: Self.place, seed: 5)
        source = PIDFPublisher(
            name: "source", presentity: Self.dave, address: TransportAddress(.udp, "192.0.2.40", 5060), nextHop: Self.plain, seed: 5)
        mallory = UnauthorizedPeer(address: malloryAddress, target: Self.place)
        nobody = UnauthorizedPeer(address: TransportAddress(.udp, "192.0.2.67", 5060), target: Self.plain)
        network.attach(gateway, name: "gateway", at: [Self.place, Self.plain], proving: Self.certificate("edge1.example.net"))
        network.attach(server, name: "server", at: [serverAddress], proving: Self.certificate("contoso.com"))
        network.attach(carol, name: "carol", at: [carolAddress], proving: Self.certificate("example.org"))
        network.attach(source, name: "source", at: [source.address])
        network.attach(mallory, name: "mallory", at: [malloryAddress], proving: Self.certificate("example.com"))
        network.attach(nobody, name: "nobody", at: [nobody.address])
        server.set(Self.bob, EnhancedState(3_500), at: network.now)
        source.publish(SimpleDocuments.pidf(of: Self.dave, "open"), at: network.now)
        carol.subscribe(at: network.now)
        try network.run(for: .seconds(2))
    }

    static func certificate(_ name: String) -> PeerIdentity {
        PeerIdentity(dnsNames: [name], notAfter: 4_000_000_000, fingerprint: name)
    }

    // MARK: what the victims see

    /// Everything that other parties than the unauthorized peers could notice.
    struct Sight: Equatable {
        var atServer: Int
        var atCarol: Int
        var notifications: Int
        var basic: String?
        var dialogs: Int
        var subscriptions: Int
        var publications: Int
        var messagesToVictims: Int
    }

    var sight: Sight {
        let counts = gateway.counts
        let toVictims = network.transcript.entries.filter { ["server", "carol", "source"].contains($0.to) && $0.fate == .delivered }
        return Sight(
            atServer: server.requests.count, atCarol: carol.requests.count, notifications: carol.notifications.count,
            basic: carol.presence?.basic, dialogs: counts.watcherDialogs, subscriptions: counts.upstreamSubscriptions,
            publications: counts.publications, messagesToVictims: toVictims.count)
    }

    // MARK: what the unauthorized peers know

    /// The newest message between two stations whose start line begins so.
    func overheard(_ start: String, from: String, to: String) -> SIPMessage? {
        let entry = network.transcript.entries.last { $0.from == from && $0.to == to && $0.startLine.hasPrefix(start) }
        guard let entry, case .success(let message) = SIPParser.parse(entry.bytes) else { return nil }
        return message
    }

    func overheardRequest(_ start: String, from: String, to: String) -> SIPRequest? {
        guard case .request(let request)? = overheard(start, from: from, to: to) else { return nil }
        return request
    }

    /// A request as an unauthorized peer would send it: with its own Via and a number that was not used before.
    func renewed(_ request: SIPRequest, by unauthorizedPeer: UnauthorizedPeer) -> SIPRequest {
        number += 1
        var request = request
        let via = Via(
            unauthorizedPeer.address.transport, host: unauthorizedPeer.address.host, port: unauthorizedPeer.address.port,
            branch: "z9hG4bKevil\(number)")
        request.headers.vias = [via]
        request.headers.cSeq = CSeq(UInt32(9_000 + number), request.method)
        return request
    }

    func subscribe(_ watcher: String, to presentity: String, by unauthorizedPeer: UnauthorizedPeer, extra: [(SIPHeaderName, String)] = [])
        -> SIPRequest
    {
        number += 1
        var request = SIPRequest(.subscribe, requestURI: presentity)
        request.headers.append(.maxForwards, "70")
        request.headers.append(.from, "<\(watcher)>;tag=evil\(number)")
        request.headers.append(.to, "<\(presentity)>")
        request.headers.append(.callID, "evil\(number)")
        request.headers.append(
            .contact,
            "<sip:\(unauthorizedPeer.address.host):\(unauthorizedPeer.address.port);transport=\(unauthorizedPeer.address.transport)>")
        request.headers.append(.event, "presence")
        request.headers.append(.accept, "application/pidf+xml")
        request.headers.append(.expires, "600")
        for (name, value) in extra { request.headers.append(name, value) }
        return renewed(request, by: unauthorizedPeer)
    }

    /// Lets an unauthorized peer speak and everything settle.
    func says(_ unauthorizedPeer: UnauthorizedPeer, _ request: SIPRequest) throws {
        unauthorizedPeer.say(request)
        try network.run(for: .seconds(2))
    }
}
