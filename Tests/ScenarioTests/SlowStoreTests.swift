import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// A gateway whose commits are carried out beside its event loop, by a store engine that does not answer, or with an unknown outcome.
@Suite("A slow store") struct SlowStoreTests {
    /// Gateway between two domains, with a hosted user that has published.
    private final class Rig {
        let stage: SimulatedStage
        let engine: SimulatedStore
        let conversation: Conversation
        let endpoint: CategoryPublisher
        var network: SimulatedNetwork { stage.network }

        init(_ seed: UInt64 = 1) async throws {
            stage = SimulatedStage(seed: seed)
            engine = SimulatedStore(on: stage.network, seed: seed)
            conversation = try await Conversation(on: stage, engine: engine)
            endpoint = try await conversation.categoryPublisher()
            try await publish(1)
            #expect(endpoint.lastAnswer?.status == .ok)
        }

        func publish(_ number: Int) async throws {
            endpoint.publish(availability: 6500, note: "n=\(number)", at: network.now)
            try network.run(for: .seconds(1))
        }

        /// Watcher of the other model that has polled the user before, so that the store knows that it was shown presence.
        func poller() async throws -> SimpleWatcher {
            let watcher = try await conversation.simpleWatcher(of: Conversation.dave)
            watcher.poll(at: network.now)
            try network.run(for: .seconds(1))
            return watcher
        }
    }

    private func number(_ watcher: ScriptedWatcher) -> Int? {
        watcher.presence?.notes.compactMap { $0.hasPrefix("n=") ? Int($0.dropFirst(2)) : nil }.max()
    }

    @Test("polls of a presentity without a change are answered while the engine does not answer")
    func pollsGoOn() async throws {
        let rig = try await Rig()
        let watcher = try await rig.poller()
        let enhanced = try await rig.conversation.enhancedWatcher(of: Conversation.dave)
        enhanced.poll(at: rig.network.now)
        try rig.network.run(for: .seconds(1))
        rig.engine.isStalled = true
        for peer in [watcher, enhanced] as [ScriptedWatcher] {
            let before = peer.notifications.count
            peer.poll(at: rig.network.now)
            try rig.network.run(for: .milliseconds(100))
            #expect(peer.notifications.count == before + 1, "\(peer.name)")
            #expect(number(peer) == 1)
        }
    }

    @Test("a publication is answered, and shown to watchers, only when it is stored")
    func publicationWaits() async throws {
        let rig = try await Rig()
        let watcher = try await rig.conversation.simpleWatcher(of: Conversation.dave)
        watcher.subscribe(at: rig.network.now)
        try rig.network.run(for: .seconds(1))
        #expect(number(watcher) == 1)
        rig.engine.isStalled = true
        try await rig.publish(2)
        #expect(rig.endpoint.awaited == 1 && number(watcher) == 1)
        rig.engine.isStalled = false
        try rig.network.run(for: .seconds(1))
        #expect(rig.endpoint.awaited == 0 && rig.endpoint.lastAnswer?.status == .ok && number(watcher) == 2)
    }

    @Test("a publication with an unknown outcome is refused, and watchers see what the store holds", arguments: 1...20)
    func unknownOutcome(seed: UInt64) async throws {
        let rig = try await Rig(seed)
        let watcher = try await rig.conversation.simpleWatcher(of: Conversation.dave)
        watcher.subscribe(at: rig.network.now)
        try rig.network.run(for: .seconds(1))
        rig.engine.isStalled = true
        try await rig.publish(2)
        rig.engine.endConnections()
        let isStored = rig.engine.counts.storedUnknown > 0
        rig.engine.isStalled = false
        try rig.network.run(for: .seconds(10))
        #expect(rig.endpoint.lastAnswer?.status == .serviceUnavailable)
        #expect(number(watcher) == (isStored ? 2 : 1))
        // The process and the store agree, so that a restart changes nothing.
        try rig.conversation.crash(on: rig.network, awayFor: .seconds(1))
        let later = try await rig.poller()
        #expect(number(later) == (isStored ? 2 : 1))
    }

    @Test("what was under way at the end of the process is stored or not, and never half", arguments: 1...20)
    func endOfProcess(seed: UInt64) async throws {
        let rig = try await Rig(seed)
        rig.engine.isStalled = true
        for number in 2...4 { rig.endpoint.publish(availability: 6500, note: "n=\(number)", at: rig.network.now) }
        try rig.network.run(for: .seconds(1))
        try rig.conversation.crash(on: rig.network, awayFor: .seconds(1))
        rig.engine.isStalled = false
        let watcher = try await rig.poller()
        #expect((1...4).contains(number(watcher) ?? 0))
    }
}
