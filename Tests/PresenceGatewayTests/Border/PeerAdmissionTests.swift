import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// The remembered result of a peer check is not used after a change of its inputs.
@Suite struct PeerAdmissionTests {
    private static let server = "192.0.2.20"
    private static let user = SIPURI(user: "carol", host: "example.org")
    private static let start = Instant(secondsSince1970: 1_000)

    private func configuration(route: TransportAddress) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(
            nodeName: "edge1.example.net", listeners: [TransportAddress(.tcp, "192.0.2.1", 5060)],
            domains: ["example.org": DomainConfiguration(side: .simple, route: route)])
        configuration.naming = NamingConfiguration()
        return configuration
    }

    private static func certificate(_ name: String) -> PeerIdentity {
        PeerIdentity(dnsNames: [name], sipDomains: [], commonName: nil, notAfter: 4_000_000_000, fingerprint: name)
    }

    /// The admission of one shard, which keeps checked peers.
    private final class Shard {
        var admission: PeerAdmission

        init(_ configuration: GatewayConfiguration) { admission = PeerAdmission(configuration, routes: configuration.routes) }

        func admits(_ flow: Flow, at now: Instant = start) -> Bool { admission.isSpeaker(flow, for: user, at: now) }
    }

    private func flow(_ transport: TransportProtocol = .tcp, from host: String = server, proving identity: PeerIdentity? = nil) -> Flow {
        var flow = Flow(local: TransportAddress(transport, "192.0.2.1", 5060), remote: TransportAddress(transport, host, 40_000))
        flow.peer = identity
        return flow
    }

    @Test("RFC 5922 7.3 a peer that was admitted is refused once the configuration names another server")
    func reload() {
        let configuration = configuration(route: TransportAddress(.tcp, Self.server, 5060))
        let shard = Shard(configuration)
        for _ in 0..<3 { #expect(shard.admits(flow())) }
        let changed = self.configuration(route: TransportAddress(.tcp, "192.0.2.99", 5060))
        shard.admission.use(changed, routes: changed.routes, located: [:])
        for _ in 0..<3 { #expect(!shard.admits(flow())) }
        shard.admission.use(configuration, routes: configuration.routes, located: [:])
        #expect(shard.admits(flow()))
    }

    @Test("RFC 5922 7.3 a peer has no rights of the peer that was checked before it")
    func otherPeer() {
        let shard = Shard(configuration(route: TransportAddress(.tcp, Self.server, 5060)))
        for _ in 0..<3 {
            #expect(shard.admits(flow()))
            #expect(!shard.admits(flow(from: "192.0.2.99")))
            // Over TLS the address proves nothing.
            #expect(!shard.admits(flow(.tls)))
        }
    }

    @Test("RFC 5922 7.3 a connection has no rights of a certificate that was proved over another from the same address")
    func otherIdentity() {
        let shard = Shard(configuration(route: TransportAddress(.tls, "proxy.example.org", 5061)))
        let proved = Self.certificate("example.org")
        for _ in 0..<3 {
            #expect(shard.admits(flow(.tls, proving: proved)))
            #expect(!shard.admits(flow(.tls)))
            #expect(!shard.admits(flow(.tls, proving: Self.certificate("example.com"))))
        }
    }

    @Test("RFC 3263 4 a located server has rights until its DNS answer expires, or another one replaces it")
    func location() throws {
        let configuration = configuration(route: TransportAddress(.tcp, "proxy.example.org", 5060))
        let shard = Shard(configuration)
        #expect(!shard.admits(flow()))
        let target = try #require(shard.admission.table.unlocated(speakingFor: Self.user, at: Self.start).first)
        func note(_ host: String, until: Instant) {
            let server = HopPlan.Server(
                priority: 0, weight: 1, addresses: [TransportAddress(.tcp, host, 5060)], reason: "A", timeToLive: nil)
            shard.admission.noteLocated(.success(HopPlan(servers: [server], timeToLive: nil)), of: target, until: until)
        }
        note(Self.server, until: Self.start + .seconds(60))
        #expect(shard.admits(flow()))
        #expect(!shard.admits(flow(), at: Self.start + .seconds(60)))
        note(Self.server, until: Self.start + .seconds(120))
        #expect(shard.admits(flow(), at: Self.start + .seconds(60)))
        note("192.0.2.99", until: Self.start + .seconds(120))
        #expect(!shard.admits(flow(), at: Self.start + .seconds(60)))
    }
}
