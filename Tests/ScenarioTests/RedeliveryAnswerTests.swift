import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// Watchers behind a proxy that answers NOTIFYs in their place.
@Suite("A final response to a NOTIFY that a proxy or a transport made ends no subscription")
struct RedeliveryAnswerTests {
    private struct Party {
        var conversation: Conversation
        var source: PIDFPublisher
        var watchers: [SimpleWatcher]

        func show(_ text: String, at now: Instant) {
            source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: text), at: now)
            conversation.enterprise.set(Conversation.bob, EnhancedState(3500, note: text), at: now)
        }

        func reports(at now: Instant) -> [SubscriptionReport] { conversation.gateway.subscriptions(at: now).rows }
    }

    /// A watcher of a hosted presentity, and one of a bridged presentity, both with the first state.
    private func party(_ stage: SimulatedStage) async throws -> Party {
        let conversation = try await Conversation(on: stage, transport: .tcp, store: MemoryStore())
        let source = try await conversation.pidfPublisher()
        var party = Party(conversation: conversation, source: source, watchers: [])
        party.show("first", at: stage.network.now)
        for presentity in [Conversation.dave, Conversation.bob] {
            party.watchers.append(try await conversation.simpleWatcher(of: presentity))
        }
        try stage.network.run(for: .seconds(1))
        for watcher in party.watchers { watcher.subscribe(expires: 3600, at: stage.network.now) }
        try stage.network.run(for: .seconds(2))
        for watcher in party.watchers { #expect(watcher.presence?.notes == ["first"]) }
        return party
    }

    @Test(
        "RFC 6665 4.2.2, RFC 3261 16.9 hosted and bridged: the newest state follows, and the reports say what is retried",
        arguments: [408, 430, 502, 503, 504])
    func proxied(status: Int) async throws {
        let stage = SimulatedStage(seed: 31)
        let network = stage.network
        let party = try await party(stage)
        for watcher in party.watchers { watcher.notifyAnswer = SIPStatus(rawValue: status) }
        party.show("second", at: network.now)
        try network.run(for: .seconds(20))
        #expect(party.conversation.gateway.counts.watcherDialogs == 2)
        for row in party.reports(at: network.now) {
            let redelivery = try #require(row.redelivery)
            #expect(redelivery.reason == "answered \(status)" && redelivery.failures > 1 && redelivery.next != nil)
            #expect(redelivery.until <= row.expires && redelivery.since < redelivery.until)
        }
        for watcher in party.watchers { watcher.notifyAnswer = .ok }
        party.show("third", at: network.now)
        try network.run(for: .seconds(60))
        for watcher in party.watchers {
            #expect(watcher.presence?.notes == ["third"] && watcher.phase == .live, "\(watcher.presentity)")
            watcher.refresh(expires: 3600, at: network.now)
        }
        try network.run(for: .seconds(5))
        #expect(party.watchers.allSatisfy { $0.phase == .live })
        #expect(party.reports(at: network.now).allSatisfy { $0.redelivery == nil })
    }

    @Test("RFC 6665 4.2.2 a state that was refused in passing is sent after a restart", arguments: [500, 503])
    func restart(status: Int) async throws {
        let stage = SimulatedStage(seed: 32)
        let network = stage.network
        let party = try await party(stage)
        for watcher in party.watchers { watcher.notifyAnswer = SIPStatus(rawValue: status) }
        party.show("second", at: network.now)
        try network.run(for: .seconds(8))
        // The state of the refused NOTIFY was not taken.
        for watcher in party.watchers { watcher.notifyAnswer = .ok }
        let before = party.watchers.map(\.notifications.count)
        try party.conversation.crash(on: network, awayFor: .seconds(2))
        try network.run(for: .seconds(40))
        for (watcher, count) in zip(party.watchers, before) {
            #expect(watcher.notifications.count > count && watcher.presence?.notes == ["second"], "\(watcher.presentity)")
        }
    }
}
