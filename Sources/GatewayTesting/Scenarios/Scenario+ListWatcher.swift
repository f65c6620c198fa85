import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// SIMPLE watchers with their own lists (RFC 4662, RFC 5367).
    package static let listWatcherScenarios: [Scenario] = [
        Scenario("RFC 5367 a list across both worlds: initial, changes, refresh, unsubscribe", bearsLoss: true) { conversation in
            let (alice, bob, nobody) = (Conversation.alice, Conversation.bob, "sip:nobody@refused.example.net")
            let watcher = try await conversation.listWatcher(of: [alice, bob, Conversation.dave, nobody])
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.aliceShows("open")
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("everybody's state") {
                watcher.entries[alice]?.presence?.basic == "open" && watcher.entries[bob]?.presence?.basic == "open"
                    && watcher.entries[Conversation.dave]?.presence?.basic == "closed" && watcher.entries[nobody]?.state == "terminated"
            }
            try await conversation.bobShows(EnhancedState(6500))
            try await conversation.expect("bob busy") { watcher.entries[bob]?.presence?.activities == ["busy"] }
            try await conversation.aliceShows("closed")
            try await conversation.expect("alice closed") { watcher.entries[alice]?.presence?.basic == "closed" }
            let before = watcher.reports.count
            try await conversation.act { now in watcher.refresh(at: now) }
            try await conversation.expect("the whole list again") {
                watcher.reports.count > before && watcher.entries.count == 4
                    && watcher.entries[bob]?.presence?.activities == ["busy"]
            }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
            try await conversation.expect("the end") { watcher.isOver }
            try await conversation.expect("no far leg is left") {
                conversation.enterprise.dialogCount == 0 && conversation.simple.dialogCount == 0
            }
        },
        Scenario(
            "RFC 4662 4.10 a busy list is told in few notifications, and the last state of all", needsVirtualTime: true,
            configure: { $0.timing.notifySpacing = .seconds(5) }
        ) { conversation in
            let (alice, bob) = (Conversation.alice, Conversation.bob)
            let watcher = try await conversation.listWatcher(of: [alice, bob])
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.aliceShows("open")
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("both states") { watcher.entries.values.filter { $0.presence?.basic == "open" }.count == 2 }
            let before = watcher.reports.count
            for number in 0..<20 {
                try await conversation.bobShows(EnhancedState(number.isMultiple(of: 2) ? 6500 : 3500))
                try await conversation.aliceShows(number.isMultiple(of: 2) ? "closed" : "open")
                try await conversation.pass(.milliseconds(990))
            }
            try await conversation.bobShows(EnhancedState(6500))
            try await conversation.pass(.seconds(10))
            try await conversation.require("the last states in at most one notification per spacing") {
                watcher.entries[bob]?.presence?.activities == ["busy"] && watcher.entries[alice]?.presence?.basic == "open"
                    && watcher.reports.count - before <= 7
            }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
            try await conversation.expect("the end") { watcher.isOver }
        },
    ]
}
