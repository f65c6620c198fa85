import PresenceGateway
import SIPCore
import ScriptedPeers

/// Creates the presentities and watchers of a simulated world.
extension SimulatedWorld {
    func makePresentities() {
        // An enterprise server writes no notes in PIDF.
        let partnerHasNotes = servers.partner.forms != [.pidf]
        users.presentities = [
            SimulatedPresentity("sip:bob@contoso.com", home: .enterprise(servers.partner), hasNotes: partnerHasNotes),
            SimulatedPresentity("sip:ben@fabrikam.com", home: .enterprise(servers.inside)),
            SimulatedPresentity("sip:alice@example.org", home: .simple(servers.standard)),
            SimulatedPresentity("sip:anna@example.org", home: .simple(servers.standard)),
            SimulatedPresentity("sip:pia@\(SimulatedPair.domain)", home: .pair(servers.pair.servers)),
            SimulatedPresentity("sip:dora@example.net", home: source("source", "sip:dora@example.net")),
            SimulatedPresentity("sip:dave@example.net", home: endpoint("endpoint", "sip:dave@example.net")),
        ]
        guard shape.shards > 1 else { return }
        // The hosted users belong to two shards of two, and to two of three.
        users.presentities.append(SimulatedPresentity("sip:doug@example.net", home: endpoint("doug", "sip:doug@example.net")))
    }

    /// Creates presentities with publications that the gateway relays to the other side's servers (F3, F4).
    func makeRelayedPresentities() {
        let bea = "sip:bea@contoso.com"
        let amy = "sip:amy@example.org"
        users.presentities += [
            SimulatedPresentity(bea, home: source("bea", bea), isRelayed: true, hasNotes: servers.partner.forms != [.pidf]),
            SimulatedPresentity(amy, home: endpoint("amy", amy), isRelayed: true),
        ]
    }

    private func source(_ name: String, _ presentity: String) -> SimulatedPresentity.Home {
        let transport: TransportProtocol = random.chance(0.5) ? .udp : .tcp
        let publisher = PIDFPublisher(
            name: name, presentity: presentity, address: stations.nextAddress(transport), nextHop: stations.hop(transport), seed: seed)
        join(publisher)
        return .source(publisher)
    }

    private func endpoint(_ name: String, _ presentity: String) -> SimulatedPresentity.Home {
        let publisher = CategoryPublisher(
            name: name, presentity: presentity, address: stations.nextAddress(.tcp), nextHop: stations.hop(.tcp), seed: seed)
        join(publisher)
        return .endpoint(publisher)
    }

    func makeFollowers() {
        for index in 0..<Int.random(in: 4...7, using: &random) {
            guard let presentity = users.presentities.randomElement(using: &random) else { continue }
            switch Int.random(in: 0..<13, using: &random) {
            case 0..<3: addSimple(index, presentity, accept: "application/pidf+xml")
            case 3: addSimple(index, presentity, accept: "application/xpidf+xml")
            case 4: addEnhanced(index, presentity, .msrtc)
            case 5: addEnhanced(index, presentity, .pidf)
            case 6, 7: addEnhanced(index, presentity, .categories(["state", "note"]))
            case 8: addPartial(index, presentity)
            case 9, 10: addList(index)
            default: addBatch(index)
            }
        }
        guard shape.shards > 1 else { return }
        addList(users.followers.count)
        addBatch(users.followers.count)
    }

    private func anyTransport() -> TransportProtocol { random.chance(0.7) ? .udp : .tcp }

    private func addSimple(_ index: Int, _ presentity: SimulatedPresentity, accept: String) {
        let transport = anyTransport()
        let watcher = SimpleWatcher(
            name: "simple\(index)", watcher: "sip:carol\(index)@example.com", presentity: presentity.uri,
            address: stations.nextAddress(transport),
            nextHop: stations.hop(transport), seed: seed)
        watcher.accept = accept
        follow(watcher, [presentity])
    }

    private func addPartial(_ index: Int, _ presentity: SimulatedPresentity) {
        let transport = anyTransport()
        let watcher = PartialWatcher(
            name: "partial\(index)", watcher: "sip:carol\(index)@example.com", presentity: presentity.uri,
            address: stations.nextAddress(transport),
            nextHop: stations.hop(transport), seed: seed)
        follow(watcher, [presentity])
    }

    /// Adds a list watcher of random presentities.
    private func addList(_ index: Int) {
        let transport = anyTransport()
        let watcher = ListWatcher(
            name: "list\(index)", watcher: "sip:carol\(index)@example.com", presentity: Self.listServer,
            address: stations.nextAddress(transport),
            nextHop: stations.hop(transport), seed: seed)
        let wanted = users.presentities.filter { _ in random.chance(0.6) }
        guard !wanted.isEmpty else { return addList(index) }
        watcher.list = wanted.map(\.uri)
        follow(watcher, wanted)
    }

    private func addEnhanced(_ index: Int, _ presentity: SimulatedPresentity, _ form: EnhancedWatcher.Form) {
        let domain = anyEnterprise(["inside.example.com", "partner.example.com", "example.net"])
        let isInside = domain == "inside.example.com"
        let watcher = EnhancedWatcher(
            name: "enhanced\(index)", watcher: "sip:erin\(index)@\(domain)",
            presentity: presentity.uri, address: stations.nextAddress(.tcp), nextHop: stations.hop(.tcp), seed: seed)
        watcher.form = form
        watcher.offersBenotify = isInside && random.chance(0.7)
        watcher.offersPiggyback = random.chance(0.8)
        follow(watcher, [presentity])
    }

    /// Adds a batch watcher of hosted and SIMPLE presentities; those of other enterprises need single subscriptions (MS-PRES 3.4.5.1.3.1).
    private func addBatch(_ index: Int) {
        let wanted = users.presentities.filter { !$0.isOfEnterprise }
        let domain = anyEnterprise(["inside.example.com", "example.net"])
        let user = "sip:erin\(index)@\(domain)"
        let watcher = EnhancedWatcher(
            name: "batch\(index)", watcher: user, presentity: user, address: stations.nextAddress(.tcp), nextHop: stations.hop(.tcp),
            seed: seed)
        watcher.form = .batch(wanted.map(\.uri), ["state", "note"])
        watcher.offersBenotify = domain == "inside.example.com" && random.chance(0.7)
        follow(watcher, wanted)
    }

    /// One of the domains of enterprise watchers. Hosted ones are not registered, so that they are reached by address, without BENOTIFY.
    private func anyEnterprise(_ domains: [String]) -> String { domains.randomElement(using: &random) ?? domains[0] }

    private func follow(_ watcher: ScriptedWatcher, _ wanted: [SimulatedPresentity]) {
        join(watcher)
        users.followers.append(SimulatedFollower(watcher, of: wanted, expires: UInt32.random(in: 600...1200, using: &random)))
    }
}
