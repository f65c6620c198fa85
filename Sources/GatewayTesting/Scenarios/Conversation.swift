import FederationRouting
import PresenceGateway
import SIPCore
import ScriptedPeers

/// Error of a conversation that did not follow its script.
package struct ConversationError: Error, CustomStringConvertible {
    /// The failed expectation, the state of the peers and the transcript.
    package var description: String
}

/// One gateway between an enterprise and a SIMPLE domain, with the peers that a script adds.
///
///     contoso.com     enterprise presentities, behind `enterprise`        example.org    SIMPLE presentities, behind `simple`
///     fabrikam.com    enterprise watchers                                 example.com    SIMPLE watchers
///     hosted.example.net   enterprise users with the gateway as their home server
///     refused.example.net  a domain that the gateway refuses with 403
package final class Conversation {
    /// Stage on which the conversation is played.
    package let stage: any Stage
    /// Current gateway; ``crash(on:awayFor:)`` replaces it.
    package private(set) var gateway: Gateway
    /// Address of the gateway, with the transport of the conversation.
    package let gatewayAddress: TransportAddress
    /// Presence server of contoso.com.
    package let enterprise: EnhancedServer
    /// Presence server of example.org.
    package let simple: SimplePresenceServer
    /// Transport of all peers.
    package let transport: TransportProtocol
    private let configuration: GatewayConfiguration
    private let store: (any GatewayStore)?
    /// Carries out the commits; nil: the gateway does.
    private let engine: SimulatedStore?
    private var process: SimulatedProcess?
    private var crashes: UInt64 = 0
    private var peers: [SIPPeer]
    private var stationCount = 0

    /// Presentity of example.org.
    package static let alice = "sip:alice@example.org"
    /// Presentity of contoso.com.
    package static let bob = "sip:bob@contoso.com"
    /// URI of the gateway's resource list server.
    package static let lists = "sip:lists@example.com"
    /// User hosted at the gateway.
    package static let dave = "sip:dave@hosted.example.net"

    /// Places the gateway and both presence servers on the stage; without a store the gateway keeps its state in memory only, and
    /// `configure` changes the configuration before the gateway is created. With an engine, which must be on the network of the stage, the
    /// gateway defers its commits, and its records are in the table of the engine.
    package init(
        on stage: any Stage, transport: TransportProtocol = .udp, store: (any GatewayStore)? = nil, engine: SimulatedStore? = nil,
        configure: (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws {
        self.stage = stage
        self.transport = transport
        let place = try stage.place("gateway", transport)
        gatewayAddress = place
        let enterpriseAddress = try stage.place("enterprise", transport)
        let simpleAddress = try stage.place("simple", transport)
        let awayAddress = try stage.place("away", transport)
        var configuration = GatewayConfiguration(
            nodeName: "gateway.example.net",
            listeners: [TransportProtocol.udp, .tcp].map { TransportAddress($0, place.host, place.port) },
            domains: [
                "contoso.com": DomainConfiguration(side: .enterprise, route: enterpriseAddress),
                "fabrikam.com": DomainConfiguration(side: .enterprise, route: awayAddress, network: .federated),
                "example.org": DomainConfiguration(side: .simple, route: simpleAddress),
                "example.com": DomainConfiguration(side: .simple, route: awayAddress),
                "hosted.example.net": DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise),
                "refused.example.net": .refused(403),
            ])
        configuration.listServer = SIPURI(Self.lists)
        configure(&configuration)
        // Every peer has its own address, different from its domain's server.
        configuration.trust(DomainTrust(peers: "192.0.0.0/16", "127.0.0.0/8"))
        self.configuration = configuration
        self.store = engine?.table ?? store
        self.engine = engine
        gateway = Gateway(configuration: configuration, key: .seeded(stage.seed), store: self.store, defersCommits: engine != nil)
        enterprise = EnhancedServer(name: "enterprise", address: enterpriseAddress, nextHop: gatewayAddress, seed: stage.seed)
        simple = SimplePresenceServer(name: "simple", address: simpleAddress, nextHop: gatewayAddress, seed: stage.seed)
        peers = [enterprise, simple]
        process = engine.map { SimulatedProcess(ShardedGateway { _ in gateway }, links: [$0.connect()]) }
        try await stage.attach(process ?? gateway, name: "gateway", at: gatewayAddress)
        try await stage.attach(enterprise, name: "enterprise", at: enterpriseAddress)
        try await stage.attach(simple, name: "simple", at: simpleAddress)
    }

    // MARK: Peers

    /// Adds a SIMPLE watcher.
    package func simpleWatcher(
        _ watcher: String = "sip:carol@example.com", of presentity: String = Conversation.bob
    ) async throws -> SimpleWatcher {
        let (name, address) = try newStation("watcher")
        let peer = SimpleWatcher(
            name: name, watcher: watcher, presentity: presentity, address: address, nextHop: gatewayAddress, seed: stage.seed)
        try await join(peer)
        return peer
    }

    /// Adds a SIMPLE watcher that prefers partial PIDF.
    package func partialWatcher(
        _ watcher: String = "sip:carol@example.com", of presentity: String = Conversation.bob
    ) async throws -> PartialWatcher {
        let (name, address) = try newStation("partial")
        let peer = PartialWatcher(
            name: name, watcher: watcher, presentity: presentity, address: address, nextHop: gatewayAddress, seed: stage.seed)
        try await join(peer)
        return peer
    }

    /// Adds a watcher with its own list, at the gateway's list server.
    package func listWatcher(of list: [String], as watcher: String = "sip:carol@example.com") async throws -> ListWatcher {
        let (name, address) = try newStation("list")
        let peer = ListWatcher(
            name: name, watcher: watcher, presentity: Self.lists, address: address, nextHop: gatewayAddress, seed: stage.seed)
        peer.list = list
        try await join(peer)
        return peer
    }

    /// Adds an enterprise watcher.
    package func enhancedWatcher(
        _ watcher: String = "sip:erin@fabrikam.com", of presentity: String = Conversation.alice,
        form: EnhancedWatcher.Form = .categories(["state", "note", "contactCard", "services", "calendarData"])
    ) async throws -> EnhancedWatcher {
        let (name, address) = try newStation("lync")
        let peer = EnhancedWatcher(
            name: name, watcher: watcher, presentity: presentity, address: address, nextHop: gatewayAddress, seed: stage.seed)
        peer.form = form
        try await join(peer)
        return peer
    }

    /// Adds a PIDF publisher.
    package func pidfPublisher(_ presentity: String = Conversation.dave) async throws -> PIDFPublisher {
        let (name, address) = try newStation("source")
        let peer = PIDFPublisher(name: name, presentity: presentity, address: address, nextHop: gatewayAddress, seed: stage.seed)
        try await join(peer)
        return peer
    }

    /// Adds an enterprise endpoint that publishes categories.
    package func categoryPublisher(_ presentity: String = Conversation.dave) async throws -> CategoryPublisher {
        let (name, address) = try newStation("endpoint")
        let peer = CategoryPublisher(
            name: name, presentity: presentity, address: address, nextHop: gatewayAddress, seed: stage.seed)
        try await join(peer)
        return peer
    }

    /// Adds a client of a user hosted at the gateway.
    package func enhancedClient(_ user: String = Conversation.dave, epid: String = "84d3db8c23") async throws -> EnhancedClient {
        let (name, address) = try newStation("client")
        let peer = EnhancedClient(name: name, user: user, epid: epid, address: address, nextHop: gatewayAddress, seed: stage.seed)
        try await join(peer)
        return peer
    }

    private func newStation(_ kind: String) throws -> (String, TransportAddress) {
        stationCount += 1
        let name = "\(kind)\(stationCount)"
        return (name, try stage.place(name, transport))
    }

    private func join(_ peer: SIPPeer) async throws {
        peers.append(peer)
        try await stage.attach(peer, name: peer.name, at: peer.address)
    }

    // MARK: Crashes

    /// Kills the gateway as in a power failure; after the span a new one starts from the store.
    /// - Returns: State restored from the store.
    @discardableResult
    package func crash(on network: SimulatedNetwork, awayFor span: TimeSpan) throws -> RestoredState {
        network.takeDown("gateway")
        process?.kill()
        try network.run(for: span)
        crashes += 1
        engine?.settle()
        gateway = Gateway(configuration: configuration, key: .seeded(stage.seed &+ crashes), store: store, defersCommits: engine != nil)
        process = engine.map { SimulatedProcess(ShardedGateway { _ in gateway }, links: [$0.connect()]) }
        let restored = try gateway.restore(at: network.now)
        network.bringUp("gateway", with: process ?? gateway)
        return restored
    }

    // MARK: Script steps

    /// Runs an action with the current time on the stage; peers send their output afterwards.
    package func act(_ body: (Instant) -> Void) async throws { try await stage.act(body) }

    /// Lets virtual time pass; only on a simulated stage.
    package func pass(_ span: TimeSpan) async throws { try await stage.pass(span) }

    /// Waits until a condition holds; throws with the transcript when it does not hold within the span, by default 70 s.
    package func expect(_ what: String, within span: TimeSpan = .seconds(70), _ condition: () -> Bool) async throws {
        if try await stage.wait(atMost: span, until: condition) { return }
        throw ConversationError(description: "not seen: \(what)\n\(state)\n\(stage.account)")
    }

    /// Throws with the transcript unless a condition holds now.
    package func require(_ what: String, _ condition: () -> Bool) async throws {
        var holds = false
        try await stage.act { _ in holds = condition() }
        if !holds { throw ConversationError(description: "not so: \(what)\n\(state)\n\(stage.account)") }
    }

    /// Sets the presence of alice@example.org.
    package func aliceShows(
        _ basic: String, activities: [String] = [], note: String? = nil, displayName: String? = nil
    ) async throws {
        let document = SimpleDocuments.pidf(of: Self.alice, basic, activities: activities, note: note, displayName: displayName)
        try await act { now in simple.set(Self.alice, document, at: now) }
    }

    /// Sets the presence of bob@contoso.com; nil removes it.
    package func bobShows(_ state: EnhancedState?) async throws {
        try await act { now in enterprise.set(Self.bob, state, at: now) }
    }

    /// Checks the end of a script: no dialog is left, and no peer recorded a fault.
    package func concludes(within span: TimeSpan = .seconds(120)) async throws {
        try await expect("no dialog left at the gateway", within: span) {
            let counts = gateway.counts
            return counts.watcherDialogs == 0 && counts.homeDialogs == 0 && counts.upstreamSubscriptions == 0
        }
        try await expect("no dialog left at the presence servers", within: span) {
            enterprise.dialogCount == 0 && simple.dialogCount == 0
        }
        let faults = peers.flatMap(\.faults)
        if !faults.isEmpty { throw ConversationError(description: "\(faults.joined(separator: "\n"))\n\(stage.account)") }
    }

    /// Checks the end of a script in virtual time: as ``concludes(within:)``, and no transaction or timer of the gateway is left after 400
    /// s.
    package func settles(leavingPresence: Bool = false) async throws {
        try await concludes()
        try await pass(.seconds(400))
        var counts = gateway.counts
        if leavingPresence { (counts.presentities, counts.publications) = (0, 0) }
        if counts != GatewayCounts() { throw ConversationError(description: "left behind: \(counts)\n\(stage.account)") }
    }

    private var state: String {
        peers.compactMap { $0 as? ScriptedWatcher }.map {
            "  \($0.name) of \($0.presentity): \($0.phase), \($0.notifications.count) notifications, sees \($0.presence?.description ?? "nothing")"
        }.joined(separator: "\n") + "\n  gateway: \(gateway.counts)\n  faults: \(peers.flatMap(\.faults))"
    }
}
