import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// Requests refused before any processing, each with the status of its section.
    package static let requestScenarios: [Scenario] = [
        Scenario("a domain that is refused gets its status") { conversation in
            let watcher = try await conversation.simpleWatcher(of: "sip:mallory@refused.example.net")
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("403") { watcher.phase == .refused(403) }
        },
        Scenario("a watcher that accepts nothing the gateway writes gets 406 (RFC 6665 4.2.1)") { conversation in
            let watcher = try await conversation.simpleWatcher()
            watcher.accept = "application/unheard-of"
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("406") { watcher.phase == .refused(406) }
        },
        Scenario("a wish that is too short gets 423 with Min-Expires (RFC 6665 4.2.1.1)") { conversation in
            let watcher = try await conversation.simpleWatcher()
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in watcher.subscribe(expires: 3, at: now) }
            try await conversation.expect("423") { watcher.phase == .refused(423) }
            try await conversation.require("Min-Expires") { (watcher.lastResponse?.headers.minExpires ?? 0) > 3 }
        },
        Scenario("a watcher that vanishes costs one dialog until its end", needsVirtualTime: true) { conversation in
            let watcher = try await conversation.simpleWatcher()
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
            try await conversation.expect("open") { watcher.presence?.basic == "open" }
            try await conversation.act { _ in watcher.isMute = true }
            try await conversation.bobShows(EnhancedState(6500))
            try await conversation.pass(.seconds(60))
            try await conversation.require("one unanswered NOTIFY ends nothing") { conversation.gateway.counts.watcherDialogs == 1 }
            try await conversation.expect("NOTIFYs unanswered for the patience end it (RFC 6665 4.2.2)", within: .seconds(720)) {
                conversation.gateway.counts.watcherDialogs == 0
            }
        },
        Scenario("a watcher that answers 481 is forgotten (RFC 6665 4.2.2)") { conversation in
            let watcher = try await conversation.simpleWatcher()
            try await conversation.bobShows(EnhancedState(3500))
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("open") { watcher.presence?.basic == "open" }
            try await conversation.act { _ in watcher.forget() }
            try await conversation.bobShows(EnhancedState(6500))
            try await conversation.expect("no dialog left") { conversation.gateway.counts.watcherDialogs == 0 }
        },
    ]
}
