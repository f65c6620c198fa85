import FederationRouting
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// Watchers whose side is away for a moment: NOTIFYs that the transport cannot deliver end no subscription.
@Suite("A NOTIFY that cannot be delivered is tried again, with the newest state, until the subscription ends")
struct RedeliveryTests {
    enum Fault: String, CaseIterable {
        case away, refused, handshake
    }

    private static let crowd = 20

    /// Does to the way to the watchers what a fault does; the end of it is `heal`.
    private func strike(_ fault: Fault, _ watchers: [ScriptedWatcher], _ network: SimulatedNetwork) {
        for watcher in watchers {
            switch fault {
            case .away: network.takeDown(watcher.name)
            case .refused, .handshake:
                network.closeConnections(of: watcher.name)
                var conditions = NetworkConditions.perfect
                conditions.refusal = fault == .refused ? "connection reset" : "TLS handshake failed: certificate has expired"
                network.setConditions(conditions, from: "gateway", to: watcher.name)
            }
        }
    }

    private func heal(_ watchers: [ScriptedWatcher], _ network: SimulatedNetwork) {
        for watcher in watchers {
            network.bringUp(watcher.name)
            network.setConditions(nil, from: "gateway", to: watcher.name)
        }
    }

    private func note(_ watcher: ScriptedWatcher) -> [String] { watcher.presence?.notes ?? [] }

    @Test(
        "20 watchers away for 1.5 s while presence changes see the newest state within 10 s, hosted and bridged, with and without a store",
        arguments: Fault.allCases, [true, false])
    func crowd(fault: Fault, isStored: Bool) async throws {
        let stage = SimulatedStage(seed: 17)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: .tcp, store: isStored ? MemoryStore() : nil)
        let source = try await conversation.pidfPublisher()
        func show(_ text: String) {
            source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: text), at: network.now)
            conversation.enterprise.set(Conversation.bob, EnhancedState(3500, note: text), at: network.now)
        }
        show("first")
        var watchers: [ScriptedWatcher] = []
        for index in 0..<Self.crowd {
            let presentity = index % 2 == 0 ? Conversation.dave : Conversation.bob
            watchers.append(try await conversation.simpleWatcher("sip:carol\(index)@example.com", of: presentity))
        }
        try network.run(for: .seconds(1))
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        try network.run(for: .seconds(2))
        #expect(watchers.allSatisfy { note($0) == ["first"] })

        strike(fault, watchers, network)
        try network.run(for: .milliseconds(200))
        show("second")
        try network.run(for: .milliseconds(1_300))
        heal(watchers, network)
        try network.run(for: .seconds(10))
        #expect(conversation.gateway.counts.watcherDialogs == Self.crowd)
        for watcher in watchers { #expect(note(watcher) == ["second"], "\(watcher.name) of \(watcher.presentity)") }
        // The refresh is no 481, and a later change is told at once.
        for watcher in watchers { watcher.refresh(expires: 3600, at: network.now) }
        show("third")
        try network.run(for: .seconds(7))
        for watcher in watchers { #expect(watcher.phase == .live && note(watcher) == ["third"]) }
        #expect(watchers.allSatisfy { $0.staleNotifications == 0 })
    }

    @Test("only the newest state follows a longer absence, once")
    func newest() async throws {
        let stage = SimulatedStage(seed: 18)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: .tcp)
        let source = try await conversation.pidfPublisher()
        source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: "n=0"), at: network.now)
        let watcher = try await conversation.simpleWatcher(of: Conversation.dave)
        try network.run(for: .seconds(1))
        watcher.subscribe(expires: 3600, at: network.now)
        try network.run(for: .seconds(1))
        let before = watcher.notifications.count
        network.takeDown(watcher.name)
        for number in 1...20 {
            source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: "n=\(number)"), at: network.now)
            try network.run(for: .seconds(10))
        }
        network.bringUp(watcher.name)
        try network.run(for: .seconds(31))
        #expect(note(watcher) == ["n=20"])
        #expect(watcher.notifications.count == before + 1)
        try network.run(for: .seconds(100))
        #expect(watcher.notifications.count == before + 1)
    }

    @Test("RFC 6665 4.2.2 over UDP a watcher that is silent for less than the patience keeps its subscription", arguments: [40, 300])
    func silence(seconds: Int) async throws {
        let stage = SimulatedStage(seed: 19)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: .udp)
        let source = try await conversation.pidfPublisher()
        source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: "first"), at: network.now)
        let watcher = try await conversation.simpleWatcher(of: Conversation.dave)
        try network.run(for: .seconds(1))
        watcher.subscribe(expires: 3600, at: network.now)
        try network.run(for: .seconds(1))
        network.setConditions(.partitioned, between: "gateway", and: watcher.name)
        source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: "second"), at: network.now)
        try network.run(for: .seconds(1))
        try network.run(for: .seconds(seconds))
        network.setConditions(nil, between: "gateway", and: watcher.name)
        try network.run(for: .seconds(60))
        #expect(note(watcher) == ["second"])
    }

    @Test("a batch inside the enterprise, told by BENOTIFY through its server, and a list at the gateway", arguments: Fault.allCases)
    func severalAtOnce(fault: Fault) async throws {
        let stage = SimulatedStage(seed: 20)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: .tcp) {
            $0.domains["fabrikam.com"]?.federation.network = .sameEnterprise
        }
        let source = try await conversation.pidfPublisher()
        func show(_ text: String) {
            source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: text), at: network.now)
            let document = SimpleDocuments.pidf(of: Conversation.alice, "open", note: text)
            conversation.simple.set(Conversation.alice, document, at: network.now)
        }
        show("first")
        let wanted = [Conversation.dave, Conversation.alice]
        let batch = try await conversation.enhancedWatcher(of: "sip:erin@fabrikam.com", form: .batch(wanted, ["state", "note"]))
        batch.offersBenotify = true
        let list = try await conversation.listWatcher(of: wanted)
        let watchers: [ScriptedWatcher] = [batch, list]
        try network.run(for: .seconds(1))
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        try network.run(for: .seconds(2))
        for watcher in watchers { #expect(watcher.presence(of: Conversation.dave)?.notes == ["first"], "\(watcher.name)") }
        #expect(batch.notifications.contains { $0.kind == .benotify } || !batch.notifications.isEmpty)
        strike(fault, watchers, network)
        try network.run(for: .milliseconds(200))
        show("second")
        try network.run(for: .milliseconds(1_300))
        heal(watchers, network)
        try network.run(for: .seconds(10))
        for watcher in watchers {
            for presentity in wanted {
                #expect(watcher.presence(of: presentity)?.notes == ["second"], "\(watcher.name) of \(presentity)")
            }
        }
        #expect(conversation.gateway.counts.watcherDialogs == 2)
    }

    @Test("what could not be delivered before a restart is delivered after it")
    func restart() async throws {
        let stage = SimulatedStage(seed: 21)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: .tcp, store: MemoryStore())
        let source = try await conversation.pidfPublisher()
        func show(_ text: String) {
            source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: text), at: network.now)
            conversation.enterprise.set(Conversation.bob, EnhancedState(3500, note: text), at: network.now)
        }
        show("first")
        let watchers = [
            try await conversation.simpleWatcher(of: Conversation.dave), try await conversation.simpleWatcher(of: Conversation.bob),
        ]
        try network.run(for: .seconds(1))
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        try network.run(for: .seconds(2))
        strike(.away, watchers, network)
        show("second")
        try network.run(for: .seconds(20))
        try conversation.crash(on: network, awayFor: .seconds(2))
        try network.run(for: .seconds(20))
        heal(watchers, network)
        try network.run(for: .seconds(31))
        for watcher in watchers { #expect(note(watcher) == ["second"], "\(watcher.name) of \(watcher.presentity)") }
    }

    @Test("RFC 6665 4.2.2 the end of a subscription is told to a watcher that was away for a moment")
    func end() async throws {
        let stage = SimulatedStage(seed: 22)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: .tcp)
        try await conversation.bobShows(EnhancedState(3500))
        let watcher = try await conversation.simpleWatcher(of: Conversation.bob)
        watcher.subscribe(expires: 3600, at: network.now)
        try network.run(for: .seconds(2))
        strike(.away, [watcher], network)
        conversation.enterprise.terminate(Conversation.bob, .noresource, at: network.now)
        try network.run(for: .milliseconds(1_500))
        heal([watcher], network)
        try network.run(for: .seconds(10))
        #expect(watcher.phase == .ended("noresource"))
        #expect(conversation.gateway.counts.watcherDialogs == 0)
    }
}
