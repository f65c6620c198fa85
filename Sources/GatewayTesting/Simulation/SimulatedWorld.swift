import FederationRouting
import PresenceGateway
import SIPCore
import ScriptedPeers

/// World around one gateway, generated from its seed: servers of both models, hosted users, and watchers of every format.
///
///     contoso.com     enterprise presentities of a partner      fabrikam.com    of our own enterprise
///     example.org     SIMPLE presentities                       example.net     users at the gateway, by PUBLISH and by SERVICE
///                     of both some may publish through the gateway
///     pair.example.org  SIMPLE presentities of a partner with two servers, found by SRV
///     example.com     SIMPLE watchers      partner.example.com, inside.example.com, example.net    enterprise watchers
final class SimulatedWorld {
    /// Build of the gateway process.
    struct Shape {
        /// Whether an engine carries out the commits beside the event loops.
        var hasEngine: Bool
        /// Number of event loops.
        var shards = 1
        /// Rule that is switched off; nil: none.
        var missingRule: SimulatedRule?
        /// Whether views between shards overtake all other envelopes.
        var viewsOvertake = false

        init(hasEngine: Bool, shards: Int = 1) {
            self.hasEngine = hasEngine
            self.shards = shards
        }

        /// World of a rule: with a store engine, and with three shards if the rule applies to several.
        init(of rule: SimulatedRule, isMissing: Bool) {
            self.init(hasEngine: true, shards: rule.needsShards ? 3 : 1)
            missingRule = isMissing ? rule : nil
            viewsOvertake = rule == .viewNumbers
        }

        /// Every second seed has an engine, and every fourth one several shards.
        init(of seed: UInt64) {
            self.init(hasEngine: seed % 2 == 0, shards: seed % 8 == 0 ? 3 : seed % 8 == 4 ? 2 : 1)
        }
    }

    let seed: UInt64
    let shape: Shape
    let network: SimulatedNetwork
    let storage: SimulatedStorage
    /// Mailboxes between several shards.
    let mailboxes: SimulatedMailboxes?
    var random: SeededRandom
    let clock: SimulatedWallClock
    var configuration: GatewayConfiguration
    let witnesses: SimulatedWitnesses
    let servers: SimulatedServers
    var stations: SimulatedStations
    var users = SimulatedUsers()
    private(set) var process: SimulatedProcess!

    static let gatewayName = "gateway"
    /// URIs of the list servers: the gateway's, and that of example.org below.
    static let listServer = "sip:lists@example.com"
    private static let remoteLists = "sip:lists@example.org"

    init(seed: UInt64, isRecorded: Bool, _ shape: Shape) {
        self.seed = seed
        self.shape = shape
        random = SeededRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        clock = SimulatedWallClock(seed: seed)
        network = SimulatedNetwork(seed: seed, transcriptLimit: isRecorded ? 200_000 : 0)
        stations = SimulatedStations()
        // MS-SIP is used over streams only.
        let partnerAddress = stations.nextAddress(.tcp)
        let insideAddress = stations.nextAddress(.tcp)
        let standardAddress = stations.nextAddress(random.chance(0.7) ? .udp : .tcp)
        let gatewayAddress = stations.gateway
        configuration = Self.configuration(of: gatewayAddress, partner: partnerAddress, inside: insideAddress, standard: standardAddress)
        let pair = SimulatedPair(seed: seed, hosts: &stations.hosts, gateway: gatewayAddress, configuration: &configuration)
        // Watchers and users have their own addresses.
        configuration.trust(DomainTrust(peers: "192.0.2.0/24"))
        configuration.timing.retryMaximum = .seconds(60)
        configuration.timing.restartGrace = .seconds(30)
        configuration.onStop = random.chance(0.5) ? .keep : .terminate
        configuration.timing.staleAfter = .seconds(random.chance(0.5) ? 180 : 30)
        configuration.listServer = SIPURI(Self.listServer)
        for domain in ["contoso.com", "fabrikam.com", "example.org"] {
            configuration.domains[domain]?.whenLost = LostPresence.allCases.randomElement(using: &random) ?? .stale
        }
        let carries = random.chance(0.5)
        for domain in ["contoso.com", "example.org"] { configuration.domains[domain]?.publish = carries }
        let takesLists = random.chance(0.5)
        if takesLists { configuration.domains["example.org"]?.lists = .adHoc(service: Self.remoteLists) }
        witnesses = SimulatedWitnesses(forger: SimulatedForger(target: gatewayAddress, seed: seed))
        storage = SimulatedStorage(of: shape, on: network, seed: seed)
        mailboxes =
            shape.shards > 1
            ? SimulatedMailboxes(on: network, seed: seed, viewsOvertake: shape.viewsOvertake, without: shape.missingRule) : nil
        let stream = TransportAddress(.tcp, gatewayAddress.host, gatewayAddress.port)
        servers = SimulatedServers(
            partner: EnhancedServer(name: "partner", address: partnerAddress, nextHop: stream, seed: seed),
            inside: EnhancedServer(name: "inside", address: insideAddress, nextHop: stream, seed: seed),
            standard: SimplePresenceServer(
                name: "standard", address: standardAddress, nextHop: standardAddress.transport == .udp ? gatewayAddress : stream,
                seed: seed),
            pair: pair)
        process = makeProcess(number: 0)
        attach(process, Self.gatewayName, gatewayAddress)
        for unauthorizedPeer in [witnesses.forger.datagrams, witnesses.forger.stream] {
            network.attach(unauthorizedPeer, name: "forger", at: [unauthorizedPeer.address])
        }
        pair.name(in: &network.names)
        for server in servers.all {
            server.manners.longestExpiry = UInt32.random(in: 600...1200, using: &random)
            join(server)
        }
        servers.chooseManners(lists: takesLists ? Self.remoteLists : nil, using: &random)
        makePresentities()
        if carries { makeRelayedPresentities() }
        for presentity in users.presentities { presentity.hasUnknownOutcomes = storage.trouble != nil }
        makeFollowers()
        process.keepPartnersAlive(at: network.now)
    }

    /// Configuration with the domains of the world, except that of the pair.
    private static func configuration(
        of gateway: TransportAddress, partner: TransportAddress, inside: TransportAddress, standard: TransportAddress
    ) -> GatewayConfiguration {
        GatewayConfiguration(
            nodeName: "gateway.example.net", listeners: [gateway, TransportAddress(.tcp, gateway.host, 5060)],
            domains: [
                "contoso.com": DomainConfiguration(side: .enterprise, route: partner),
                "fabrikam.com": DomainConfiguration(side: .enterprise, route: inside, network: .sameEnterprise),
                "example.org": DomainConfiguration(side: .simple, route: standard),
                "example.com": DomainConfiguration(side: .simple, route: standard),
                "partner.example.com": DomainConfiguration(side: .enterprise, route: partner),
                "inside.example.com": DomainConfiguration(side: .enterprise, route: inside, network: .sameEnterprise),
                "example.net": DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise),
            ])
    }

    var gateway: ShardedGateway { process.gateway }
    var faults: [String] { stations.peers.flatMap(\.faults) }

    // MARK: stations

    func join(_ peer: SIPPeer) {
        stations.peers.append(peer)
        attach(peer, peer.name, peer.address)
    }

    private func attach(_ endpoint: any SansIOEndpoint, _ name: String, _ address: TransportAddress) {
        let addresses = [TransportProtocol.udp, .tcp].map { TransportAddress($0, address.host, address.port) }
        network.attach(endpoint, name: name, at: addresses.sorted { one, _ in one.transport == address.transport })
    }

    // MARK: the gateway's lives

    /// Creates a gateway process from its number, counted from 0.
    private func makeProcess(number: UInt64) -> SimulatedProcess {
        let key = seed &+ number &* 0x1_0001
        let gateway = ShardedGateway(shape.shards) { shard in
            Gateway(
                configuration: configuration, shard: shard, shards: shape.shards, key: .seeded(key &+ UInt64(shard) &* 0x1_0001_0001),
                store: storage.records, defersCommits: storage.trouble != nil)
        }
        if shape.missingRule == .commitBeforeView { for shard in gateway.shards { shard.sendViewsBeforeCommits() } }
        let links = storage.trouble.map { trouble in gateway.shards.map { _ in trouble.connect() } } ?? []
        return SimulatedProcess(
            gateway, number: number, lead: clock.lead, forger: witnesses.forger, sequences: witnesses.sequences, links: links,
            mailboxes: mailboxes)
    }

    /// Starts a new gateway process from the store.
    func start() throws {
        // An unreadable store prevents the start; assume that an operator repaired it.
        storage.records.failure = nil
        storage.trouble?.engine.settle()
        let process = makeProcess(number: self.process.number + 1)
        let restored = try process.restore(from: storage.records, at: network.now)
        network.remark("the gateway starts: \(restored)")
        if restored.unreadable > 0 { throw SimulationFailure("\(restored.unreadable) records cannot be read after a restart") }
        self.process = process
        process.keepPartnersAlive(at: network.now)
        network.bringUp(Self.gatewayName, with: process)
    }
}

/// Error with the faults that a simulation found.
package struct SimulationFailure: Error, CustomStringConvertible {
    /// The faults, one per line.
    package var description: String
    init(_ description: String) { self.description = description }
}
