import FederationRouting
import PresenceGateway
import SIPCore
import ScriptedPeers

/// Partner with two servers in its SRV records (RFC 3263) that share presentities, but not subscriptions. One of them fails at times, and
/// stays down or returns.
final class SimulatedPair {
    static let domain = "pair.example.org"

    let servers: [SimplePresenceServer]
    private let transport: TransportProtocol
    private let areEqual: Bool
    /// Server that is down; nil when both are up.
    private(set) var dead: SimplePresenceServer?
    private var diedAt = Instant(nanosecondsSince1970: 0)
    private var random: SeededRandom

    init(seed: UInt64, hosts: inout Int, gateway: TransportAddress, configuration: inout GatewayConfiguration) {
        random = SeededRandom(seed: seed &* 0xA076_1D64_78BD_642F &+ 3)
        transport = random.chance(0.5) ? .udp : .tcp
        areEqual = random.chance(0.5)
        var servers: [SimplePresenceServer] = []
        for name in ["north", "south"] {
            hosts += 1
            servers.append(
                SimplePresenceServer(
                    name: name, address: TransportAddress(transport, "192.0.2.\(hosts)", 5060),
                    nextHop: TransportAddress(transport, gateway.host, gateway.port), seed: seed))
        }
        self.servers = servers
        var domain = DomainConfiguration(side: .simple)
        domain.federation.discovery = .neverWeaker
        domain.whenLost = LostPresence.allCases.randomElement(using: &random) ?? .stale
        configuration.domains[Self.domain] = domain
        configuration.naming = NamingConfiguration()
    }

    /// Adds the partner's DNS records.
    func name(in names: inout ScriptedNames) {
        names.naptr(Self.domain, transport == .udp ? "SIP+D2U" : "SIP+D2T", to: "_sip._x.\(Self.domain)")
        names.srv("_sip._x.\(Self.domain)", (10, 1, 5060, "north.\(Self.domain)"), (areEqual ? 10 : 20, 1, 5060, "south.\(Self.domain)"))
        for server in servers { names.host("\(server.name).\(Self.domain)", server.address.host) }
    }

    /// With a probability of 12 %, takes one server down, or brings the failed one back.
    func maybeStrike(_ network: SimulatedNetwork) {
        guard random.chance(0.12) else { return }
        if dead != nil { return revive(network) }
        guard let server = servers.randomElement(using: &random) else { return }
        network.remark("\(server.name) dies")
        network.takeDown(server.name)
        dead = server
        diedAt = network.now
    }

    /// Whether the gateway cannot know yet that a server failed: over UDP only an unanswered OPTIONS shows it, one is sent every 60 s, and
    /// it is given up after 32 s (timer F).
    func isFailureUnnoticed(at now: Instant) -> Bool { dead != nil && now < diedAt + .seconds(100) }

    /// Brings the failed server back, with its subscriptions or, in 70 % of the cases, without.
    private func revive(_ network: SimulatedNetwork) {
        guard let server = dead else { return }
        dead = nil
        if random.chance(0.7) { server.forgetDialogs() }
        network.bringUp(server.name)
        network.remark("\(server.name) is back")
    }

    /// Ends the failures: the failed server returns with a probability of 50 %.
    func heal(_ network: SimulatedNetwork) {
        if random.chance(0.5) { revive(network) }
    }
}
