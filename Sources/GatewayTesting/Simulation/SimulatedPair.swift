import FederationRouting
import PresenceGateway
import SIPCore

/// A partner with two servers that know the same presentities and not each other's subscriptions, found by SRV (RFC 3263). One of them
/// dies now and then, and stays dead or returns.
final class SimulatedPair {
    static let domain = "pair.example.org"

    let servers: [SimplePresenceServer]
    private let transport: TransportProtocol
    private let areEqual: Bool
    /// The one that is dead.
    private(set) var dead: SimplePresenceServer?
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
        domain.discovery = .neverWeaker
        domain.whenLost = LostPresence.allCases.randomElement(using: &random) ?? .stale
        configuration.domains[Self.domain] = domain
        configuration.naming = NamingConfiguration()
    }

    /// Writes the partner's records.
    func name(in names: inout ScriptedNames) {
        names.naptr(Self.domain, transport == .udp ? "SIP+D2U" : "SIP+D2T", to: "_sip._x.\(Self.domain)")
        names.srv("_sip._x.\(Self.domain)", (10, 1, 5060, "north.\(Self.domain)"), (areEqual ? 10 : 20, 1, 5060, "south.\(Self.domain)"))
        for server in servers { names.host("\(server.name).\(Self.domain)", server.address.host) }
    }

    /// Kills one of the servers, or brings the dead one back, sometimes.
    func maybeStrike(_ network: SimulatedNetwork) {
        guard random.chance(0.12) else { return }
        if dead != nil { return revive(network) }
        guard let server = servers.randomElement(using: &random) else { return }
        network.remark("\(server.name) dies")
        network.takeDown(server.name)
        dead = server
    }

    /// Brings the dead server back, with or without what it knew.
    private func revive(_ network: SimulatedNetwork) {
        guard let server = dead else { return }
        dead = nil
        if random.chance(0.7) { server.forgetDialogs() }
        network.bringUp(server.name)
        network.remark("\(server.name) is back")
    }

    /// The trouble is over: the dead server comes back, or stays dead.
    func heal(_ network: SimulatedNetwork) {
        if random.chance(0.5) { revive(network) }
    }
}
