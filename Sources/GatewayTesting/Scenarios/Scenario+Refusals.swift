import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// Refusals of the remote domain are relayed with their meaning, in both directions.
    package static let refusalScenarios: [Scenario] =
        [403, 603].flatMap { status in
            both("a refusal with \(status) is final: rejected") { conversation, server, watcher in
                server.manners.answer = .refuse(SIPStatus(rawValue: status))
                try await conversation.act { now in watcher.subscribe(at: now) }
                try await conversation.expect("refused, or terminated as rejected") {
                    watcher.phase == .refused(status) || watcher.phase == .refused(403) || watcher.phase == .ended("rejected")
                }
                try await conversation.require("asked once") { server.requests.count == 1 }
            }
        }
        + both("a presentity that does not exist: noresource") { conversation, server, watcher in
            server.manners.answer = .refuse(.notFound)
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("refused, or terminated as noresource") {
                watcher.phase == .refused(404) || watcher.phase == .ended("noresource")
            }
            try await conversation.require("asked once") { server.requests.count == 1 }
        }
        + [480, 503].flatMap { status in
            both("\(status) for a while: the watcher is kept and sees the state later", needsVirtualTime: true) {
                conversation, server, watcher in
                server.manners.answer = .refuse(SIPStatus(rawValue: status), [.retryAfter: "20"])
                watcher.refreshesItself = true
                try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
                try await conversation.expect("an answer") { watcher.phase != .asked }
                try await conversation.require("nothing that looks available") { !looksAvailable(watcher) }
                try await conversation.act { _ in server.manners.answer = .accept }
                try await shows(conversation, server)
                // Either the subscription continued, or the watcher was asked to retry and does.
                if case .live = watcher.phase {
                } else {
                    try await conversation.require("told to come back") { mayComeBack(watcher) }
                    try await conversation.pass(.seconds(30))
                    try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
                }
                try await conversation.expect("the state", within: .seconds(600)) { looksAvailable(watcher) }
                try await conversation.act { now in watcher.unsubscribe(at: now) }
            }
        }
        + both("silence is not held against the watcher", needsVirtualTime: true) { conversation, server, watcher in
            server.manners.answer = .silence
            try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
            try await conversation.expect("an answer long before the far side's timeout", within: .seconds(10)) {
                watcher.phase == .live
            }
            try await conversation.pass(.seconds(60))
            try await conversation.require("nothing that looks available") { !looksAvailable(watcher) }
            try await conversation.act { _ in server.manners.answer = .accept }
            try await shows(conversation, server)
            if case .live = watcher.phase {
            } else {
                try await conversation.require("told to come back") { mayComeBack(watcher) }
                try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
            }
            try await conversation.expect("the state", within: .seconds(900)) { looksAvailable(watcher) }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        }
        + both("423 is met with the interval that it names") { conversation, server, watcher in
            server.manners.shortestExpiry = 3000
            try await shows(conversation, server)
            try await conversation.act { now in watcher.subscribe(expires: 600, at: now) }
            try await conversation.expect("the state") { looksAvailable(watcher) }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        }
        + both("pending, then allowed") { conversation, server, watcher in
            server.manners.isPending = true
            try await shows(conversation, server)
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("subscribed") { watcher.phase == .live }
            try await conversation.expect("asked upstream") { server.dialogCount == 1 }
            try await conversation.require("nothing shown yet") { !looksAvailable(watcher) }
            try await conversation.act { _ in server.manners.isPending = false }
            try await shows(conversation, server)
            try await conversation.expect("the state") { looksAvailable(watcher) && watcher.subscriptionState?.state == .active }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        }
        + both("an allowed watcher is rejected later") { conversation, server, watcher in
            try await subscribed(conversation, server, watcher)
            try await conversation.act { now in server.terminate(watcher.presentity, .rejected, at: now) }
            try await conversation.expect("terminated as rejected") { watcher.phase == .ended("rejected") }
        }
        + both("a presentity ceases to exist") { conversation, server, watcher in
            try await subscribed(conversation, server, watcher)
            try await conversation.act { now in server.terminate(watcher.presentity, .noresource, at: now) }
            try await conversation.expect("terminated as noresource") { watcher.phase == .ended("noresource") }
        }
        + [SubscriptionState.TerminationReason.deactivated, .timeout].flatMap { reason in
            both("a subscription that ends with \(reason.rawValue) is made anew unseen by the watcher", needsVirtualTime: true) {
                conversation, server, watcher in
                try await subscribed(conversation, server, watcher)
                try await conversation.act { now in server.terminate(watcher.presentity, reason, at: now) }
                try await conversation.expect("a new dialog upstream", within: .seconds(60)) { server.dialogCount == 1 }
                try await hides(conversation, server)
                try await conversation.expect("the newest state", within: .seconds(10)) { !looksAvailable(watcher) }
                try await conversation.require("the watcher was kept") { watcher.phase == .live }
                try await conversation.act { now in watcher.unsubscribe(at: now) }
            }
        }
        + both("probation is waited out", needsVirtualTime: true) { conversation, server, watcher in
            watcher.refreshesItself = true
            try await subscribed(conversation, server, watcher)
            try await conversation.act { now in server.terminate(watcher.presentity, .probation, retryAfter: 60, at: now) }
            try await conversation.pass(.seconds(50))
            try await conversation.require("not asked before its time") { server.dialogCount == 0 }
            try await conversation.expect("a new dialog upstream", within: .seconds(120)) { server.dialogCount == 1 }
            try await conversation.require("the watcher was kept") { watcher.phase == .live }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        }

    private typealias Play = @Sendable (Conversation, ScriptedNotifier, ScriptedWatcher) async throws -> Void

    /// The same refusal in F1 and in F2.
    private static func both(_ name: String, needsVirtualTime: Bool = false, _ play: @escaping Play) -> [Scenario] {
        [
            Scenario("F1 \(name)", needsVirtualTime: needsVirtualTime) {
                try await play($0, $0.enterprise, $0.simpleWatcher())
            },
            Scenario("F2 \(name)", needsVirtualTime: needsVirtualTime) {
                try await play($0, $0.simple, $0.enhancedWatcher())
            },
        ]
    }

    private static func subscribed(_ conversation: Conversation, _ server: ScriptedNotifier, _ watcher: ScriptedWatcher) async throws {
        try await shows(conversation, server)
        try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
        try await conversation.expect("the state") { looksAvailable(watcher) && server.dialogCount == 1 }
    }

    private static func shows(_ conversation: Conversation, _ server: ScriptedNotifier) async throws {
        if server === conversation.enterprise {
            try await conversation.bobShows(EnhancedState(3500))
        } else {
            try await conversation.aliceShows("open")
        }
    }

    private static func hides(_ conversation: Conversation, _ server: ScriptedNotifier) async throws {
        if server === conversation.enterprise {
            try await conversation.bobShows(EnhancedState(18_500))
        } else {
            try await conversation.aliceShows("closed")
        }
    }

    private static func looksAvailable(_ watcher: ScriptedWatcher) -> Bool {
        watcher.presence?.basic == "open" || (3000..<18_000).contains(watcher.presence?.availability ?? 0)
    }

    /// Whether the refusal is temporary.
    private static func mayComeBack(_ watcher: ScriptedWatcher) -> Bool {
        switch watcher.phase {
        case .refused(let status): [408, 480, 500, 503, 504].contains(status)
        case .ended(let reason): ["probation", "giveup", "timeout", "deactivated"].contains(reason)
        default: false
        }
    }
}
