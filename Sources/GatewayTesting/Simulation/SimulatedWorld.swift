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
    /// The stored records.
    let store = MemoryStore()
    /// Mailboxes between several shards.
    let mailboxes: SimulatedMailboxes?
    /// Failures of the engine that carries out the commits; nil: the gateway carries them out itself.
    let storeTrouble: SimulatedStoreTrouble?
    var random: SeededRandom
    let clock: SimulatedWallClock
    var configuration: GatewayConfiguration
    let forger: SimulatedForger
    let sequences = SimulatedSequences()
    /// Partner with two servers in its SRV records.
    let pair: SimulatedPair
    private(set) var process: SimulatedProcess!
    private(set) var partner: EnhancedServer
    private(set) var inside: EnhancedServer
    private(set) var standard: SimplePresenceServer
    var presentities: [SimulatedPresentity] = []
    var followers: [SimulatedFollower] = []
    /// Blocks that began during the run.
    var blocks: [SimulatedBlock] = []
    private(set) var peers: [SIPPeer] = []
    private var starts: UInt64 = 0
    private var hosts = 0
    private let gatewayAddress: TransportAddress

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
        gatewayAddress = TransportAddress(.udp, "192.0.2.1", 5060)
        hosts = 1
        func place(_ transport: TransportProtocol, _ hosts: inout Int) -> TransportAddress {
            hosts += 1
            return TransportAddress(transport, "192.0.2.\(hosts)", 5060)
        }
        // MS-SIP is used over streams only.
        let partnerAddress = place(.tcp, &hosts)
        let insideAddress = place(.tcp, &hosts)
        let standardAddress = place(random.chance(0.7) ? .udp : .tcp, &hosts)
        configuration = GatewayConfiguration(
            nodeName: "gateway.example.net", listeners: [gatewayAddress, TransportAddress(.tcp, gatewayAddress.host, 5060)],
            domains: [
                "contoso.com": DomainConfiguration(side: .enterprise, route: partnerAddress),
                "fabrikam.com": DomainConfiguration(side: .enterprise, route: insideAddress, network: .sameEnterprise),
                "example.org": DomainConfiguration(side: .simple, route: standardAddress),
                "example.com": DomainConfiguration(side: .simple, route: standardAddress),
                "partner.example.com": DomainConfiguration(side: .enterprise, route: partnerAddress),
                "inside.example.com": DomainConfiguration(side: .enterprise, route: insideAddress, network: .sameEnterprise),
                "example.net": DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise),
            ])
        pair = SimulatedPair(seed: seed, hosts: &hosts, gateway: gatewayAddress, configuration: &configuration)
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
        let hop = gatewayAddress
        forger = SimulatedForger(target: hop, seed: seed)
        let engine = shape.hasEngine ? SimulatedStore(table: store, on: network, seed: seed) : nil
        storeTrouble = engine.map { SimulatedStoreTrouble($0, seed: seed, without: shape.missingRule) }
        mailboxes =
            shape.shards > 1
            ? SimulatedMailboxes(on: network, seed: seed, viewsOvertake: shape.viewsOvertake, without: shape.missingRule) : nil
        let stream = TransportAddress(.tcp, hop.host, hop.port)
        partner = EnhancedServer(name: "partner", address: partnerAddress, nextHop: stream, seed: seed)
        inside = EnhancedServer(name: "inside", address: insideAddress, nextHop: stream, seed: seed)
        standard = SimplePresenceServer(
            name: "standard", address: standardAddress, nextHop: standardAddress.transport == .udp ? hop : stream, seed: seed)
        process = makeProcess(key: seed)
        attach(process, Self.gatewayName, gatewayAddress)
        for unauthorizedPeer in [forger.datagrams, forger.stream] {
            network.attach(unauthorizedPeer, name: "forger", at: [unauthorizedPeer.address])
        }
        pair.name(in: &network.names)
        for server in servers {
            server.manners.longestExpiry = UInt32.random(in: 600...1200, using: &random)
            join(server)
        }
        partner.forms =
            [[.categories, .msrtc, .pidf], [.categories, .msrtc, .pidf], [.msrtc], [.pidf]].randomElement(using: &random) ?? []
        partner.piggybacks = random.chance(0.7)
        inside.usesBenotify = random.chance(0.5)
        standard.sendsDifferences = random.chance(0.7)
        standard.compositor.longestExpiry = 600
        if takesLists {
            standard.lists.adHocURI = Self.remoteLists
            standard.lists.beginsWithoutInstances = random.chance(0.3)
        }
        makePresentities()
        if carries { makeRelayedPresentities() }
        for presentity in presentities { presentity.hasUnknownOutcomes = storeTrouble != nil }
        makeFollowers()
        process.keepPartnersAlive(at: network.now)
    }

    var gateway: ShardedGateway { process.gateway }
    var servers: [ScriptedNotifier] { [partner, inside, standard] + (pair.servers as [ScriptedNotifier]) }
    var faults: [String] { peers.flatMap(\.faults) }

    // MARK: stations

    func nextAddress(_ transport: TransportProtocol) -> TransportAddress {
        hosts += 1
        return TransportAddress(transport, "192.0.2.\(hosts)", 5060)
    }

    func hop(_ transport: TransportProtocol) -> TransportAddress {
        TransportAddress(transport, gatewayAddress.host, gatewayAddress.port)
    }

    func join(_ peer: SIPPeer) {
        peers.append(peer)
        attach(peer, peer.name, peer.address)
    }

    private func attach(_ endpoint: any SansIOEndpoint, _ name: String, _ address: TransportAddress) {
        let addresses = [TransportProtocol.udp, .tcp].map { TransportAddress($0, address.host, address.port) }
        network.attach(endpoint, name: name, at: addresses.sorted { one, _ in one.transport == address.transport })
    }

    // MARK: the gateway's lives

    private func makeProcess(key: UInt64) -> SimulatedProcess {
        let gateway = ShardedGateway(shape.shards) { shard in
            Gateway(
                configuration: configuration, shard: shard, shards: shape.shards, key: .seeded(key &+ UInt64(shard) &* 0x1_0001_0001),
                store: store, defersCommits: storeTrouble != nil)
        }
        if shape.missingRule == .commitBeforeView { for shard in gateway.shards { shard.sendViewsBeforeCommits() } }
        let links = storeTrouble.map { trouble in gateway.shards.map { _ in trouble.connect() } } ?? []
        return SimulatedProcess(
            gateway, lead: clock.lead, forger: forger, sequences: sequences, links: links, mailboxes: mailboxes)
    }

    /// Starts a new gateway process from the store.
    func start() throws {
        starts += 1
        // An unreadable store prevents the start; assume that an operator repaired it.
        store.failure = nil
        storeTrouble?.engine.settle()
        let process = makeProcess(key: seed &+ starts &* 0x1_0001)
        let restored = try process.restore(from: store, at: network.now)
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
