import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// The gateway loses power at moments that the seed decides, and starts again on what it had kept.
@Suite struct RestartTests {
    private final class Subject {
        let uri: String
        /// Publishes a state with this note.
        let publish: (String, Instant) -> Void
        /// Whether the last publication was taken; always so where the gateway is not the home.
        let isTaken: () -> Bool
        var number = 0

        init(_ uri: String, isTaken: @escaping () -> Bool = { true }, publish: @escaping (String, Instant) -> Void) {
            self.uri = uri
            self.isTaken = isTaken
            self.publish = publish
        }
    }

    /// Hosted users of either model, and users far away on either side.
    private func subjects(_ conversation: Conversation) async throws -> [Subject] {
        var result: [Subject] = []
        for index in 0..<2 {
            let categories = try await conversation.categoryPublisher("sip:dave\(index)@hosted.example.net")
            result.append(
                Subject(categories.presentity, isTaken: { categories.lastAnswer?.status == .ok }) { note, now in
                    categories.publish(availability: 3500, note: note, at: now)
                })
            let source = try await conversation.pidfPublisher("sip:erik\(index)@hosted.example.net")
            result.append(
                Subject(source.presentity, isTaken: { source.lastAnswer?.status == .ok }) { note, now in
                    source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: note), at: now)
                })
            let alice = "sip:alice\(index)@example.org"
            result.append(
                Subject(alice) { note, now in
                    conversation.simple.set(alice, SimpleDocuments.pidf(of: alice, "open", note: note), at: now)
                })
            let bob = "sip:bob\(index)@contoso.com"
            result.append(Subject(bob) { note, now in conversation.enterprise.set(bob, EnhancedState(6500, note: note), at: now) })
        }
        return result
    }

    private func number(_ presence: ObservedPresence?) -> Int? {
        presence?.notes.compactMap { $0.hasPrefix("n=") ? Int($0.dropFirst(2)) : nil }.max()
    }

    @Test(
        "after any number of crashes every watcher sees the newest state, CSeq only grows, and nobody is told twice",
        arguments: [UInt64(1), 2, 3, 4], [TransportProtocol.udp, .tcp])
    func crashes(seed: UInt64, transport: TransportProtocol) async throws {
        let stage = SimulatedStage(seed: seed)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: transport, store: MemoryStore())
        var random = SeededRandom(seed: seed &* 104_729)
        let subjects = try await subjects(conversation)
        var watchers: [ScriptedWatcher] = []
        for (index, subject) in subjects.enumerated() {
            watchers.append(try await conversation.simpleWatcher("sip:carol\(index)@example.com", of: subject.uri))
            watchers.append(try await conversation.enhancedWatcher("sip:erin\(index)@fabrikam.com", of: subject.uri))
        }
        for watcher in watchers { watcher.refreshesItself = true }

        func publish(_ subject: Subject) {
            subject.number += 1
            subject.publish("n=\(subject.number)", network.now)
        }
        for subject in subjects { publish(subject) }
        try network.run(for: .seconds(2))
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        try network.run(for: .seconds(5))

        for _ in 0..<150 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: publish(subjects[Int.random(in: subjects.indices, using: &random)])
            case 6:
                if let watcher = watchers.randomElement(using: &random) { watcher.refresh(expires: 3600, at: network.now) }
            case 7:
                if let watcher = watchers.randomElement(using: &random), watcher.phase != .live, watcher.phase != .asked {
                    watcher.subscribe(expires: 3600, at: network.now)
                }
            case 8:
                try conversation.crash(on: network, awayFor: .milliseconds(Int.random(in: 0...20_000, using: &random)))
            default: break
            }
            // Short steps, so that crashes fall between a request and its answer too.
            try network.run(for: .milliseconds(Int.random(in: 0...800, using: &random)))
        }

        try network.run(for: .seconds(120))
        for watcher in watchers where watcher.phase != .live { watcher.subscribe(expires: 3600, at: network.now) }
        for subject in subjects { publish(subject) }
        for _ in 0..<4 {
            try network.run(for: .seconds(20))
            for subject in subjects where !subject.isTaken() { subject.publish("n=\(subject.number)", network.now) }
        }
        func check(_ moment: String) {
            for watcher in watchers {
                let newest = subjects.first { $0.uri == watcher.presentity }?.number
                #expect(watcher.phase == .live, "\(moment): \(watcher.name) of \(watcher.presentity)")
                #expect(number(watcher.presence) == newest, "\(moment): \(watcher.name) of \(watcher.presentity)")
                #expect(watcher.staleNotifications == 0, "\(moment): \(watcher.name) of \(watcher.presentity)")
            }
        }
        check("after the churn")
        let notified = watchers.map(\.notifications.count)
        for _ in 0..<3 {
            let restored = try conversation.crash(on: network, awayFor: .seconds(2))
            #expect(restored.notified == 0)
            #expect(restored.unreadable == 0)
            try network.run(for: .seconds(15))
        }
        #expect(watchers.map(\.notifications.count) == notified)
        for subject in subjects { publish(subject) }
        try network.run(for: .seconds(5))
        #expect(subjects.allSatisfy { $0.isTaken() })
        check("after the last crash")
    }

    @Test("every conversation goes the same way with a store", arguments: Scenario.all)
    func withStore(scenario: Scenario) async throws {
        try await scenario.play(on: SimulatedStage(seed: 11), transport: .udp, store: MemoryStore())
    }
}
