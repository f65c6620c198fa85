import FederationRouting
import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// F1 with the gateway trusted inside the enterprise: one batch dialog for each pool and watcher (MS-PRES 3.4.5.1.3).
    package static let batchScenarios: [Scenario] = [
        inside("F1 a batch inside the enterprise, piggybacked: initial, changes, unsubscribe", bearsLoss: true) {
            try await watchesBob($0)
        },
        inside("F1 a batch inside the enterprise, in NOTIFY: initial, changes, unsubscribe", bearsLoss: true) {
            $0.enterprise.piggybacks = false
            try await watchesBob($0)
        },
        inside("F1 a batch inside the enterprise, with BENOTIFY where the path is reliable: initial, changes, unsubscribe") {
            conversation in
            conversation.enterprise.usesBenotify = true
            try await watchesBob(conversation)
            try await conversation.require("told in BENOTIFY over TCP, in NOTIFY over UDP") {
                conversation.enterprise.notifications[.benotify, default: 0] >= (conversation.transport.isReliable ? 5 : 0)
                    && conversation.enterprise.notifications[conversation.transport.isReliable ? .notify : .benotify] == nil
            }
        },
        inside("F1 one batch for six presentities, of which one leaves and one comes back", bearsLoss: true) { conversation in
            let watchers = try await team(6, in: conversation)
            try await conversation.expect("all see their own") { isRight(watchers, in: conversation) }
            try await conversation.require("one dialog with all of them") {
                conversation.enterprise.batches.map(\.resources.count) == [6] && conversation.enterprise.dialogCount == 1
            }
            try await conversation.act { now in watchers[2].unsubscribe(at: now) }
            try await conversation.expect("five are left") {
                conversation.enterprise.batches.map(\.resources.count) == [5] && watchers[2].phase == .ended("timeout")
            }
            try await conversation.act { now in
                watchers[2].subscribe(at: now)
                show(watchers[4].presentity, 9500, in: conversation, at: now)
            }
            try await conversation.expect("six again, and the newest state of each") {
                conversation.enterprise.batches.map(\.resources.count) == [6] && isRight(watchers, in: conversation)
                    && watchers[2].phase == .live
            }
            try await leave(watchers, in: conversation)
        },
        inside("F1 users of two pools are two batches, and one who moves changes over", bearsLoss: true) { conversation in
            for number in 3..<6 { conversation.enterprise.elsewhere["sip:bob\(number)@contoso.com"] = .some(pool(1)) }
            let watchers = try await team(6, in: conversation)
            try await conversation.expect("all see their own") { isRight(watchers, in: conversation) }
            try await conversation.expect("a dialog for each pool") { sizes(conversation) == ["sip:contoso.com": 3, pool(1): 3] }
            try await conversation.act { now in
                conversation.enterprise.move(watchers[0].presentity, to: pool(1), at: now)
                show(watchers[0].presentity, 15_500, in: conversation, at: now)
            }
            try await conversation.expect("it is in the other pool's batch") {
                sizes(conversation) == ["sip:contoso.com": 2, pool(1): 4] && isRight(watchers, in: conversation)
            }
            try await leave(watchers, in: conversation)
        },
        inside("F1 a presentity that its pool sends away is asked for by itself") { conversation in
            conversation.enterprise.elsewhere[Conversation.bob] = .some(nil)
            try await watchesBob(conversation)
            try await conversation.require("a single subscription to its own URI (MS-PRES 3.4.5.1.3.1)") {
                conversation.enterprise.requests.contains { $0.requestURI == Conversation.bob }
            }
        },
        inside("F1 a verdict on one presentity of a batch is nothing to the others") { conversation in
            let watchers = try await team(3, in: conversation)
            try await conversation.expect("all see their own") { isRight(watchers, in: conversation) }
            try await conversation.act { now in
                conversation.enterprise.judge(watchers[1].presentity, .terminated(reason: "rejected", status: 403), at: now)
            }
            try await conversation.expect("its watcher is told") { watchers[1].phase == .ended("rejected") }
            try await conversation.act { now in show(watchers[2].presentity, 9500, in: conversation, at: now) }
            try await conversation.expect("the others live on") { isRight([watchers[0], watchers[2]], in: conversation) }
            try await leave([watchers[0], watchers[2]], in: conversation)
        },
        inside("F1 a presentity that is asked for permission first: pending, then active") { conversation in
            try await conversation.act { now in conversation.enterprise.judge("sip:bob1@contoso.com", .pending, at: now) }
            let watchers = try await team(3, in: conversation)
            try await conversation.expect("the others see their own") { isRight([watchers[0], watchers[2]], in: conversation) }
            try await conversation.expect("its watcher is pending") { watchers[1].subscriptionState?.state == .pending }
            try await conversation.require("nothing is seen of it") { watchers[1].presence?.basic != "open" }
            try await conversation.act { now in conversation.enterprise.judge("sip:bob1@contoso.com", nil, at: now) }
            try await conversation.expect("now it is seen") { isRight(watchers, in: conversation) }
            try await leave(watchers, in: conversation)
        },
        inside("F1 a pool that takes two presentities in one batch gets three batches") { conversation in
            conversation.enterprise.batchLimit = 2
            let watchers = try await team(5, in: conversation)
            try await conversation.expect("all see their own") { isRight(watchers, in: conversation) }
            try await conversation.require("none has more than two") {
                conversation.enterprise.batches.allSatisfy { $0.resources.count <= 2 }
            }
            try await leave(watchers, in: conversation)
        },
        inside("F1 an enterprise that takes no batches is asked one by one") { conversation in
            conversation.enterprise.takesBatches = false
            let watchers = try await team(4, in: conversation)
            try await conversation.expect("all see their own") { isRight(watchers, in: conversation) }
            try await conversation.require("a dialog for each") { conversation.enterprise.dialogCount == 4 }
            try await leave(watchers, in: conversation)
        },
        inside("F1 a pool that loses its dialogs is asked anew for all of a batch", needsVirtualTime: true) { conversation in
            conversation.enterprise.manners.longestExpiry = 300
            let watchers = try await team(5, in: conversation)
            try await conversation.expect("all see their own") { isRight(watchers, in: conversation) }
            try await conversation.act { now in
                conversation.enterprise.forgetDialogs()
                for watcher in watchers { show(watcher.presentity, 9500, in: conversation, at: now) }
            }
            try await conversation.expect("the newest of each, in one dialog", within: .seconds(400)) {
                isRight(watchers, in: conversation) && conversation.enterprise.batches.map(\.resources.count) == [5]
            }
            try await conversation.require("every watcher was kept") { watchers.allSatisfy { $0.phase == .live } }
            try await leave(watchers, in: conversation)
        },
        inside("F1 a pool that always says resubscribe gets few requests in a day", needsVirtualTime: true) { conversation in
            conversation.enterprise.sendsOn = { _ in pool(1) }
            let watchers = try await team(5, in: conversation)
            try await conversation.pass(.seconds(24 * 3600))
            try await conversation.require("each watcher is kept, pending") { watchers.allSatisfy { $0.phase == .live } }
            try await conversation.require("\(conversation.enterprise.requests.count) requests") {
                (20..<200).contains(conversation.enterprise.requests.count) && conversation.gateway.counters.redirectLoops > 0
            }
            try await conversation.act { _ in conversation.enterprise.sendsOn = nil }
            try await conversation.expect("once it is well again, all see their own", within: .seconds(3700)) {
                isRight(watchers, in: conversation)
            }
            try await leave(watchers, in: conversation)
        },
    ]

    private static func inside(
        _ name: String, needsVirtualTime: Bool = false, bearsLoss: Bool = false,
        script: @escaping @Sendable (Conversation) async throws -> Void
    ) -> Scenario {
        Scenario(
            name, needsVirtualTime: needsVirtualTime, bearsLoss: bearsLoss,
            configure: {
                $0.domains["contoso.com"]?.federation.network = .sameEnterprise
                $0.timing.notifySpacing = .zero
            }, script: script)
    }

    private static func pool(_ number: Int) -> String { "sip:pool\(number).contoso.com@contoso.com;gruu;opaque=srvr:HomeServer:p\(number)" }

    /// Number of resources in the batches of each pool.
    private static func sizes(_ conversation: Conversation) -> [String: Int] {
        Dictionary(conversation.enterprise.batches.map { ($0.pool, $0.resources.count) }, uniquingKeysWith: +)
    }

    private static func show(_ presentity: String, _ availability: Int, in conversation: Conversation, at now: Instant) {
        conversation.enterprise.set(presentity, EnhancedState(availability, note: presentity), at: now)
    }

    /// Whether each watcher sees its presentity's own note and availability.
    private static func isRight(_ watchers: [SimpleWatcher], in conversation: Conversation) -> Bool {
        watchers.allSatisfy { watcher in
            guard let state = conversation.enterprise.state(of: watcher.presentity), let presence = watcher.presence else { return false }
            let activity = state.availability == 9500 ? "busy" : state.availability == 15_500 ? "away" : nil
            return presence.notes == [watcher.presentity] && presence.activities == Set([activity].compactMap { $0 })
        }
    }

    /// Creates one user's subscriptions to this many presentities.
    private static func team(_ count: Int, in conversation: Conversation) async throws -> [SimpleWatcher] {
        var watchers: [SimpleWatcher] = []
        for number in 0..<count {
            let watcher = try await conversation.simpleWatcher(of: "sip:bob\(number)@contoso.com")
            watcher.refreshesItself = true
            watchers.append(watcher)
        }
        try await conversation.act { now in
            for watcher in watchers {
                show(watcher.presentity, 3500, in: conversation, at: now)
                watcher.subscribe(at: now)
            }
        }
        return watchers
    }

    private static func leave(_ watchers: [SimpleWatcher], in conversation: Conversation) async throws {
        try await conversation.act { now in
            for watcher in watchers { watcher.unsubscribe(at: now) }
        }
        try await conversation.expect("the last NOTIFY of each") { watchers.allSatisfy { $0.phase == .ended("timeout") } }
    }
}
