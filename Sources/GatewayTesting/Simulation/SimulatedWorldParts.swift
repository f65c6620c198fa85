import PresenceGateway
import SIPCore
import ScriptedPeers

/// The stored records, and the failures of the engine that commits them.
struct SimulatedStorage {
    let records = MemoryStore()
    /// Failures of the engine that carries out the commits; nil: the gateway carries them out itself.
    let trouble: SimulatedStoreTrouble?

    init(of shape: SimulatedWorld.Shape, on network: SimulatedNetwork, seed: UInt64) {
        let engine = shape.hasEngine ? SimulatedStore(table: records, on: network, seed: seed) : nil
        trouble = engine.map { SimulatedStoreTrouble($0, seed: seed, without: shape.missingRule) }
    }
}

/// Observers of all messages of the gateway's processes.
struct SimulatedWitnesses {
    let forger: SimulatedForger
    let sequences = SimulatedSequences()

    init(forger: SimulatedForger) { self.forger = forger }
}

/// Servers of the domains that are not hosted.
struct SimulatedServers {
    let partner: EnhancedServer
    let inside: EnhancedServer
    let standard: SimplePresenceServer
    /// Partner with two servers in its SRV records.
    let pair: SimulatedPair

    var all: [ScriptedNotifier] { [partner, inside, standard] + (pair.servers as [ScriptedNotifier]) }

    /// Chooses at random what the servers support.
    /// - Parameter lists: URI of the list server of `standard`; nil: it has none.
    func chooseManners(lists: String?, using random: inout SeededRandom) {
        partner.forms =
            [[.categories, .msrtc, .pidf], [.categories, .msrtc, .pidf], [.msrtc], [.pidf]].randomElement(using: &random) ?? []
        partner.piggybacks = random.chance(0.7)
        inside.usesBenotify = random.chance(0.5)
        standard.sendsDifferences = random.chance(0.7)
        standard.compositor.longestExpiry = 600
        guard let lists else { return }
        standard.lists.adHocURI = lists
        standard.lists.beginsWithoutInstances = random.chance(0.3)
    }
}

/// Addresses and peers of a simulated world.
struct SimulatedStations {
    let gateway = TransportAddress(.udp, "192.0.2.1", 5060)
    var peers: [SIPPeer] = []
    /// Number of hosts with an address; the gateway is the first.
    var hosts = 1

    /// Returns an address of a further host.
    mutating func nextAddress(_ transport: TransportProtocol) -> TransportAddress {
        hosts += 1
        return TransportAddress(transport, "192.0.2.\(hosts)", 5060)
    }

    /// Address of the gateway for a transport.
    func hop(_ transport: TransportProtocol) -> TransportAddress {
        TransportAddress(transport, gateway.host, gateway.port)
    }
}

/// Presentities and watchers of a simulated world.
struct SimulatedUsers {
    var presentities: [SimulatedPresentity] = []
    var followers: [SimulatedFollower] = []
    /// Blocks that began during the run.
    var blocks: [SimulatedBlock] = []
}
