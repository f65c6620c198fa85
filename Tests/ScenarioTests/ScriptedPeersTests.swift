import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing

/// The scripted peers against each other, without a gateway: a failure here is not the gateway's.
@Suite struct ScriptedPeersTests {
    private let presentity = "sip:alice@example.org"
    private let watcherAddress = TransportAddress(.udp, "192.0.2.1", 5060)
    private let serverAddress = TransportAddress(.udp, "192.0.2.2", 5060)

    private func place(_ address: TransportAddress, _ transport: TransportProtocol) -> TransportAddress {
        TransportAddress(transport, address.host, address.port)
    }

    private func simplePair(
        _ transport: TransportProtocol = .udp, seed: UInt64 = 1, conditions: NetworkConditions = .perfect
    ) -> (SimulatedNetwork, SimpleWatcher, SimplePresenceServer) {
        let network = SimulatedNetwork(seed: seed, conditions: conditions)
        let (near, far) = (place(watcherAddress, transport), place(serverAddress, transport))
        let watcher = SimpleWatcher(
            name: "watcher", watcher: "sip:carol@example.com", presentity: presentity, address: near, nextHop: far, seed: seed)
        let server = SimplePresenceServer(name: "server", address: far, nextHop: near, seed: seed)
        network.attach(watcher, name: "watcher", at: [near])
        network.attach(server, name: "server", at: [far])
        return (network, watcher, server)
    }

    @Test(arguments: [TransportProtocol.udp, .tcp]) func aWatcherSeesChangesUntilItUnsubscribes(transport: TransportProtocol) throws {
        let (network, watcher, server) = simplePair(transport)
        server.set(presentity, SimpleDocuments.pidf(of: presentity, "open"), at: network.now)
        watcher.subscribe(at: network.now)
        try network.run(for: .seconds(1))
        #expect(watcher.phase == .live)
        #expect(watcher.presence?.basic == "open")
        server.set(presentity, SimpleDocuments.pidf(of: presentity, "open", activities: ["busy"], note: "a < b"), at: network.now)
        try network.run(for: .seconds(1))
        #expect(watcher.presence?.activities == ["busy"])
        #expect(watcher.presence?.notes == ["a < b"])
        watcher.unsubscribe(at: network.now)
        try network.run(for: .seconds(1))
        #expect(watcher.phase == .ended("timeout"))
        #expect(server.dialogCount == 0)
        #expect(watcher.faults == [] && server.faults == [], "\(network.transcript)")
    }

    @Test(arguments: [UInt64(1), 2, 3, 4, 5]) func theNewestStateArrivesThroughATerriblePath(seed: UInt64) throws {
        let (network, watcher, server) = simplePair(seed: seed, conditions: .terrible)
        watcher.subscribe(at: network.now)
        _ = try network.run(atMost: .seconds(100)) { watcher.phase == .live }
        for number in 0..<20 {
            server.set(presentity, SimpleDocuments.pidf(of: presentity, "open", note: "\(number)"), at: network.now)
            try network.run(for: .seconds(1))
        }
        let arrived = try network.run(atMost: .seconds(64)) { watcher.presence?.notes == ["19"] }
        #expect(arrived, "\(network.transcript.ladder)")
        #expect(watcher.faults == [] && server.faults == [])
    }

    @Test func aPollGetsOneDocumentAndNoDialog() throws {
        let (network, watcher, server) = simplePair()
        server.set(presentity, SimpleDocuments.pidf(of: presentity, "closed"), at: network.now)
        watcher.poll(at: network.now)
        try network.run(for: .seconds(1))
        #expect(watcher.phase == .ended("timeout"))
        #expect(watcher.presence?.basic == "closed")
        #expect(server.dialogCount == 0)
    }

    @Test func mannersDecideHowASubscriptionGoes() throws {
        let (network, watcher, server) = simplePair()
        server.manners.answer = .refuse(.forbidden)
        watcher.subscribe(at: network.now)
        try network.run(for: .seconds(1))
        #expect(watcher.phase == .refused(403))
        server.manners.answer = .silence
        watcher.subscribe(at: network.now)
        try network.run(for: .seconds(40))
        #expect(watcher.phase == .unanswered)
        server.manners = ScriptedNotifier.Manners()
        server.manners.isPending = true
        server.manners.notifiesBeforeAnswering = true
        server.manners.longestExpiry = 120
        watcher.subscribe(at: network.now)
        try network.run(for: .seconds(1))
        #expect(watcher.subscriptionState?.state == .pending)
        #expect(watcher.granted == 120)
        try network.run(for: .seconds(120))
        #expect(watcher.phase == .ended("timeout"))
    }

    private func enhancedPair(
        _ form: EnhancedWatcher.Form, _ configure: (EnhancedServer, EnhancedWatcher) -> Void = { _, _ in }
    ) -> (SimulatedNetwork, EnhancedWatcher, EnhancedServer) {
        let network = SimulatedNetwork(seed: 3)
        let watcher = EnhancedWatcher(
            name: "watcher", watcher: "sip:carol@fabrikam.com", presentity: "sip:bob@contoso.com", address: watcherAddress,
            nextHop: serverAddress, seed: 3)
        let server = EnhancedServer(name: "server", address: serverAddress, nextHop: watcherAddress, seed: 3)
        watcher.form = form
        configure(server, watcher)
        network.attach(watcher, name: "watcher", at: [watcherAddress])
        network.attach(server, name: "server", at: [serverAddress])
        server.set("sip:bob@contoso.com", EnhancedState(3500, displayName: "Bob"), at: network.now)
        watcher.subscribe(at: network.now)
        return (network, watcher, server)
    }

    @Test(arguments: [true, false]) func categoriesArriveInTheAnswerOrInANotification(piggyback: Bool) throws {
        let (network, watcher, server) = enhancedPair(.categories(["state", "note", "contactCard"])) { server, _ in
            server.piggybacks = piggyback
        }
        try network.run(for: .seconds(1))
        #expect(watcher.notifications.first?.kind == (piggyback ? .piggyback : .notify))
        #expect(watcher.presence?.availability == 3500)
        #expect(watcher.presence?.displayName == "Bob")
        server.set("sip:bob@contoso.com", EnhancedState(6500, token: "on-the-phone", displayName: "Bob"), at: network.now)
        try network.run(for: .seconds(1))
        #expect(watcher.presence?.availability == 6500)
        #expect(watcher.presence?.activityToken == "on-the-phone")
        #expect(watcher.notifications.last?.presence?.categories == ["state"])
        #expect(watcher.faults == [] && server.faults == [], "\(network.transcript)")
    }

    @Test func theOtherFormsAndBenotifyWork() throws {
        let (first, msrtc, _) = enhancedPair(.msrtc)
        try first.run(for: .seconds(1))
        #expect(msrtc.presence?.availability == 3500)
        #expect(msrtc.presence?.aggregate == [300, 400])
        let (second, pidf, _) = enhancedPair(.pidf)
        try second.run(for: .seconds(1))
        #expect(pidf.presence?.basic == "open")
        let (third, watcher, server) = enhancedPair(.categories(["state"])) { server, watcher in
            server.usesBenotify = true
            watcher.offersBenotify = true
        }
        try third.run(for: .seconds(1))
        server.set("sip:bob@contoso.com", EnhancedState(15_500), at: third.now)
        try third.run(for: .seconds(1))
        #expect(watcher.notifications.last?.kind == .benotify)
        #expect(watcher.presence?.availability == 15_500)
    }

    @Test func aPresentityOfAnotherPoolIsRejectedWithAHint() throws {
        let pool = "sip:pool1.contoso.com@contoso.com;gruu;opaque=srvr:HomeServer:abc"
        let (network, watcher, server) = enhancedPair(.categories(["state"])) { server, _ in
            server.elsewhere = ["sip:bob@contoso.com": pool]
        }
        try network.run(for: .seconds(1))
        #expect(watcher.rejected.first?.pool == pool)
        #expect(server.dialogCount == 0)
    }
}
