import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// F1: a SIMPLE watcher sees an enterprise presentity.
    package static let simpleWatcherScenarios: [Scenario] = [
        Scenario("F1 categories piggybacked: initial, changes, unsubscribe", bearsLoss: true) { try await watchesBob($0) },
        Scenario("F1 categories in NOTIFY: initial, changes, unsubscribe", bearsLoss: true) {
            $0.enterprise.piggybacks = false
            try await watchesBob($0)
        },
        Scenario("F1 over msrtc.pidf", bearsLoss: true, configure: { $0.domains["contoso.com"]?.upstream = .msrtc }) {
            try await watchesBob($0, hasNote: false)
        },
        Scenario("F1 over PIDF", bearsLoss: true, configure: { $0.domains["contoso.com"]?.upstream = .pidf }) {
            try await watchesBob($0, hasNote: false)
        },
        Scenario("F1 falls back to a form that the enterprise speaks") {
            $0.enterprise.forms = [.pidf]
            try await watchesBob($0, hasNote: false)
        },
        Scenario("F1 refresh keeps both legs alive for hours", needsVirtualTime: true) { conversation in
            conversation.enterprise.manners.longestExpiry = 900
            let watcher = try await conversation.simpleWatcher()
            watcher.refreshesItself = true
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
            try await conversation.expect("bob open") { watcher.presence?.basic == "open" }
            for hour in 0..<6 {
                try await conversation.pass(.seconds(3600))
                try await conversation.bobShows(EnhancedState(hour.isMultiple(of: 2) ? 6500 : 3500))
                try await conversation.expect("the change of hour \(hour)", within: .seconds(5)) {
                    (watcher.presence?.activities == ["busy"]) == hour.isMultiple(of: 2)
                }
            }
            try await conversation.require("one dialog upstream, as at the start") {
                watcher.phase == .live && conversation.enterprise.dialogCount == 1 && conversation.enterprise.acceptedCount == 1
            }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("F1 poll gives one document and leaves nothing") { conversation in
            let watcher = try await conversation.simpleWatcher()
            try await conversation.bobShows(EnhancedState(6500))
            try await conversation.act { now in watcher.poll(at: now) }
            try await conversation.expect("the poll ends") { watcher.phase == .ended("timeout") }
            try await conversation.require("it saw bob busy in one document") {
                watcher.presence?.activities == ["busy"] && watcher.notifications.count == 1
            }
        },
        Scenario("F1 the watcher's subscription expires", needsVirtualTime: true) { conversation in
            let watcher = try await conversation.simpleWatcher()
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in watcher.subscribe(expires: 300, at: now) }
            try await conversation.expect("bob open") { watcher.presence?.basic == "open" }
            try await conversation.pass(.seconds(290))
            try await conversation.require("still watched") { watcher.phase == .live && conversation.enterprise.dialogCount == 1 }
            try await conversation.expect("terminated with reason timeout", within: .seconds(20)) { watcher.phase == .ended("timeout") }
        },
        Scenario("F1 the enterprise loses its dialogs", needsVirtualTime: true) { conversation in
            conversation.enterprise.manners.longestExpiry = 600
            let watcher = try await conversation.simpleWatcher()
            watcher.refreshesItself = true
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
            try await conversation.expect("bob open") { watcher.presence?.basic == "open" }
            try await conversation.act { now in
                conversation.enterprise.forgetDialogs()
                conversation.enterprise.set(Conversation.bob, EnhancedState(9500), at: now)
            }
            try await conversation.expect("a new dialog upstream, and the newest state", within: .seconds(700)) {
                watcher.presence?.activities == ["busy"] && conversation.enterprise.dialogCount == 1
            }
            try await conversation.require("the watcher was kept") { watcher.phase == .live }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("F1 a pool that says resubscribe is followed") { conversation in
            conversation.enterprise.elsewhere = [Conversation.bob: "sip:pool1.contoso.com@contoso.com;gruu;opaque=srvr:HomeServer:abc"]
            let watcher = try await conversation.simpleWatcher()
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("asked twice", within: .seconds(5)) { conversation.enterprise.requests.count >= 2 }
            try await conversation.require("the second SUBSCRIBE went to the pool") {
                conversation.enterprise.requests[1].requestURI.contains("pool1.contoso.com")
            }
            try await conversation.expect("the state from there") { watcher.presence?.basic == "open" }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("F1 two watchers, two dialogs upstream") { conversation in
            let one = try await conversation.simpleWatcher("sip:carol@example.com")
            let other = try await conversation.simpleWatcher("sip:frank@example.com")
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in
                one.subscribe(at: now)
                other.subscribe(at: now)
            }
            try await conversation.expect("both see bob") { one.presence?.basic == "open" && other.presence?.basic == "open" }
            try await conversation.require("each watcher is known to the enterprise by name") {
                Set(conversation.enterprise.watchers) == ["sip:carol@example.com", "sip:frank@example.com"]
            }
            try await conversation.act { now in one.unsubscribe(at: now) }
            try await conversation.expect("one dialog left") { conversation.enterprise.dialogCount == 1 }
            try await conversation.bobShows(EnhancedState(6500))
            try await conversation.expect("the other still sees changes") { other.presence?.activities == ["busy"] }
            try await conversation.act { now in other.unsubscribe(at: now) }
        },
    ]

    static func watchesBob(_ conversation: Conversation, hasNote: Bool = true) async throws {
        let watcher = try await conversation.simpleWatcher()
        try await conversation.bobShows(EnhancedState(3500, note: "at my desk", displayName: "Bob"))
        try await conversation.act { now in watcher.subscribe(at: now) }
        try await conversation.expect("bob open") { watcher.presence?.basic == "open" && watcher.presence?.activities == [] }
        if hasNote {
            try await conversation.expect("bob's note") { watcher.presence?.notes.contains("at my desk") == true }
        }
        let shown: [(EnhancedState, String, Set<String>)] = [
            (EnhancedState(6500), "open", ["busy"]),
            // Both activities, for clients that do not know the first.
            (EnhancedState(6500, token: "on-the-phone"), "open", ["on-the-phone", "busy"]),
            (EnhancedState(15_500), "open", ["away"]), (EnhancedState(3500), "open", []), (EnhancedState(18_500), "closed", []),
        ]
        for (state, basic, activities) in shown {
            try await conversation.bobShows(state)
            try await conversation.expect("availability \(state.availability) as \(basic), \(activities.sorted())") {
                guard let seen = watcher.presence, seen.basic == basic else { return false }
                // A PIDF document of the presentity's side is relayed unchanged.
                return seen.activities == activities || seen.activities == activities.subtracting(["busy"]) && activities.count > 1
            }
        }
        try await conversation.require("still subscribed") { watcher.phase == .live }
        try await conversation.act { now in watcher.unsubscribe(at: now) }
        try await conversation.expect("the last NOTIFY") { watcher.phase == .ended("timeout") }
    }
}
