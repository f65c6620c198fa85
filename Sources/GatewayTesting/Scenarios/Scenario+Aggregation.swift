import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// Watchers of both sides see the states that a user's clients publish (MS-PRES 3.8.5).
    package static let aggregationScenarios: [Scenario] = [
        Scenario(
            "home: watchers in containers see one aggregate of machine and user, until the last endpoint goes [R039, R060]",
            leavesPresence: true, configure: { $0.domains["hosted.example.net"]?.requiresRegistration = true }
        ) { conversation in
            let dave = try await conversation.enhancedClient()
            let watcher = try await conversation.enhancedWatcher("sip:erin@fabrikam.com", of: Conversation.dave)
            let simple = try await conversation.simpleWatcher("sip:carol@example.com", of: Conversation.dave)
            try await conversation.act { now in
                dave.signIn(at: now)
                watcher.subscribe(at: now)
                simple.subscribe(at: now)
            }
            try await conversation.expect("signed in") { dave.followsSelf && watcher.phase == .live && simple.phase == .live }
            try await conversation.act { now in dave.place("erin@fabrikam.com", in: 400, at: now) }
            try await conversation.act { now in dave.place("carol@example.com", in: 300, at: now) }
            try await conversation.act { now in dave.show(3_500, userState: 6_500, at: now) }
            try await conversation.expect("the answer has the computed instances") {
                dave.instances.keys.contains { $0.hasPrefix("legacyInterop") } && dave.instances.keys.contains { $0.hasSuffix(" 100") }
            }
            try await conversation.expect("busy") {
                watcher.presence?.availability == 6_500 && simple.presence?.activities.contains("busy") == true
            }
            try await conversation.act { now in dave.show(5_000, userState: 6_500, at: now) }
            try await conversation.expect("busy, but not at the machine") {
                watcher.presence?.availability == 8_000 && simple.presence?.activities.contains("away") == true
            }
            try await conversation.act { now in dave.show(3_500, userState: 3_500, at: now) }
            try await conversation.expect("back") { watcher.presence?.availability == 3_500 && simple.presence?.basic == "open" }
            try await conversation.act { now in dave.signOut(at: now) }
            try await conversation.expect("offline") { watcher.presence?.availability == 18_500 && simple.presence?.basic == "closed" }
            try await conversation.act { now in
                watcher.unsubscribe(at: now)
                simple.unsubscribe(at: now)
            }
        }
    ]
}
