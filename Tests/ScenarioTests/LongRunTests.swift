import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// Hours of virtual time with whatever can happen, in an order that the seed decides; at the end the right state is everywhere,
/// nobody ever saw an older state after a newer one, and nothing is left.
@Suite struct LongRunTests {
    /// One presentity of either side, and the number of the newest state that it published.
    private struct Subject {
        var uri: String
        var isEnterprise: Bool
        var number = 0
    }

    @Test("hours of churn end in the newest state and in nothing left", arguments: [UInt64(1), 2, 3], [TransportProtocol.udp, .tcp])
    func churn(seed: UInt64, transport: TransportProtocol) async throws {
        let stage = SimulatedStage(seed: seed)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: transport)
        var random = SeededRandom(seed: seed &* 7919)
        var subjects = (0..<4).flatMap {
            [Subject(uri: "sip:alice\($0)@example.org", isEnterprise: false), Subject(uri: "sip:bob\($0)@contoso.com", isEnterprise: true)]
        }
        var watchers: [ScriptedWatcher] = []
        for (index, subject) in subjects.enumerated() {
            for number in 0..<2 {
                let watcher: ScriptedWatcher =
                    subject.isEnterprise
                    ? try await conversation.simpleWatcher("sip:carol\(index)-\(number)@example.com", of: subject.uri)
                    : try await conversation.enhancedWatcher("sip:erin\(index)-\(number)@fabrikam.com", of: subject.uri)
                watcher.refreshesItself = true
                watchers.append(watcher)
            }
        }

        func publish(_ index: Int) {
            subjects[index].number += 1
            let (subject, note) = (subjects[index], "n=\(subjects[index].number)")
            if subject.isEnterprise {
                let availability = [3500, 6500, 9500, 15_500].randomElement(using: &random) ?? 3500
                conversation.enterprise.set(subject.uri, EnhancedState(availability, note: note), at: network.now)
            } else {
                let activity = ["busy", "away", "on-the-phone", nil].randomElement(using: &random) ?? nil
                let document = SimpleDocuments.pidf(of: subject.uri, "open", activities: [activity].compactMap { $0 }, note: note)
                conversation.simple.set(subject.uri, document, at: network.now)
            }
        }

        for index in subjects.indices { publish(index) }
        let end = network.now + .seconds(3 * 3600)
        var mostDialogs = 0
        while network.now < end {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<40: publish(Int.random(in: subjects.indices, using: &random))
            case 40..<60:
                if let watcher = watchers.randomElement(using: &random), !watcher.isMute, watcher.phase != .live, watcher.phase != .asked {
                    watcher.refreshesItself = true
                    watcher.subscribe(expires: UInt32.random(in: 120...3600, using: &random), at: network.now)
                }
            case 60..<70: watchers.randomElement(using: &random)?.unsubscribe(at: network.now)
            case 70..<74: watchers.randomElement(using: &random)?.forget()
            case 74..<78:
                if let watcher = watchers.randomElement(using: &random) { watcher.isMute.toggle() }
            case 78..<80: conversation.enterprise.forgetDialogs()
            case 80..<82: conversation.simple.forgetDialogs()
            case 82..<86:
                let reason = [SubscriptionState.TerminationReason.deactivated, .timeout, .probation, .giveup].randomElement(using: &random)
                let subject = subjects.randomElement(using: &random)
                if let reason, let subject {
                    let server: ScriptedNotifier = subject.isEnterprise ? conversation.enterprise : conversation.simple
                    server.terminate(subject.uri, reason, retryAfter: 30, at: network.now)
                }
            case 86..<90: network.conditions = [.perfect, .poor, .poor, .terrible].randomElement(using: &random) ?? .perfect
            case 90..<94: network.closeConnections(of: ["gateway", "enterprise", "simple"].randomElement(using: &random) ?? "gateway")
            default: break
            }
            try network.run(for: .milliseconds(Int.random(in: 100...20_000, using: &random)))
            mostDialogs = max(mostDialogs, conversation.gateway.counts.watcherDialogs)
        }

        // A forgotten dialog lives at most its hour, so there are never more than a few for each watcher.
        #expect(mostDialogs <= watchers.count * 12)
        network.conditions = .perfect
        for watcher in watchers { watcher.isMute = false }
        // Whoever did not hear that its dialog ended learns it from the answer to its next refresh.
        try network.run(for: .seconds(4000))
        for index in subjects.indices { publish(index) }
        try network.run(for: .seconds(700))
        var live = 0
        for watcher in watchers where watcher.phase == .live {
            live += 1
            let newest = subjects.first { $0.uri == watcher.presentity }?.number ?? -1
            #expect(number(watcher.presence) == newest, "\(watcher.name) of \(watcher.presentity): \(String(describing: watcher.presence))")
        }
        #expect(live >= 3)
        for watcher in watchers { neverGoesBack(watcher) }

        for watcher in watchers { watcher.unsubscribe(at: network.now) }
        // Dialogs that a watcher forgot end with their expiry or with the 481 to the next NOTIFY.
        try network.run(for: .seconds(2 * 3600))
        try await conversation.settles()
    }

    private func number(_ presence: ObservedPresence?) -> Int? {
        presence?.notes.compactMap { $0.hasPrefix("n=") ? Int($0.dropFirst(2)) : nil }.max()
    }

    private func neverGoesBack(_ watcher: ScriptedWatcher) {
        var last = 0
        for notification in watcher.notifications {
            guard let number = number(notification.presence) else { continue }
            #expect(number >= last, "\(watcher.name) saw n=\(number) after n=\(last)")
            last = max(last, number)
        }
    }
}
