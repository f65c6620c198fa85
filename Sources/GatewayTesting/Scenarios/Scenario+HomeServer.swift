import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// The gateway as the home server of users with signed-in clients (MS-PRES 3.2, 3.3, MS-SIPREGE 3.2).
    package static let homeServerScenarios: [Scenario] = [
        Scenario("home: a client signs in, publishes, is watched, and signs out", leavesPresence: true, configure: requireRegistration) {
            conversation in
            let dave = try await conversation.enhancedClient()
            let watcher = try await conversation.enhancedWatcher(of: Conversation.dave)
            let simple = try await conversation.simpleWatcher(of: Conversation.dave)
            try await conversation.act { now in
                dave.signIn(at: now)
                watcher.subscribe(at: now)
                simple.subscribe(at: now)
            }
            try await conversation.expect("signed in, following its own data") { dave.phase == .signedIn && dave.followsSelf }
            try await conversation.act { now in dave.show(3_500, at: now) }
            try await conversation.expect("accepted") { dave.lastAnswer?.status == .ok }
            try await conversation.expect("the client sees what it published at its own self subscription") {
                dave.selfNotifications >= 2 && dave.instances.keys.contains { $0.hasPrefix("state") && $0.hasSuffix(" 2") }
            }
            try await conversation.act { now in dave.note("hello", at: now) }
            try await conversation.expect("the note is seen") { watcher.presence?.notes == ["hello"] }
            try await conversation.act { now in dave.signOut(at: now) }
            try await conversation.expect("signed out") { dave.phase == .out }
            try await conversation.expect("what was bound to the user is gone") { watcher.presence?.notes == [] }
            try await conversation.expect("offline for the other side") { simple.presence?.basic != "open" }
            try await conversation.act { now in
                watcher.unsubscribe(at: now)
                simple.unsubscribe(at: now)
            }
        },
        Scenario(
            "home: two endpoints of a user see each other's changes; the last to go turns the user off", leavesPresence: true,
            configure: requireRegistration
        ) {
            conversation in
            let desk = try await conversation.enhancedClient(epid: "84d3db8c23")
            let phone = try await conversation.enhancedClient(epid: "3b09add8bc")
            let watcher = try await conversation.enhancedWatcher(of: Conversation.dave)
            try await conversation.act { now in
                desk.signIn(at: now)
                phone.signIn(at: now)
                watcher.subscribe(at: now)
            }
            try await conversation.expect("both signed in") { desk.followsSelf && phone.followsSelf && watcher.phase == .live }
            try await conversation.act { now in desk.show(3_500, at: now) }
            try await conversation.expect("the other endpoint learns of it") {
                desk.instances == phone.instances && !phone.instances.isEmpty
            }
            try await conversation.act { now in phone.show(5_000, at: now) }
            try await conversation.expect("and back") { desk.instances == phone.instances && desk.instances.count > 2 }
            try await conversation.act { now in desk.note("here", at: now) }
            try await conversation.expect("noted") { watcher.presence?.notes == ["here"] }
            try await conversation.act { now in desk.signOut(at: now) }
            try await conversation.expect("the desk is out") { desk.phase == .out }
            try await conversation.require("the note of the user stays") { watcher.presence?.notes == ["here"] }
            try await conversation.act { now in phone.signOut(at: now) }
            try await conversation.expect("all out") { phone.phase == .out && watcher.presence?.notes == [] }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("home: users watch each other in batches", leavesPresence: true, configure: requireRegistration) { conversation in
            let dave = try await conversation.enhancedClient()
            let fay = try await conversation.enhancedClient("sip:fay@hosted.example.net", epid: "2be779d608")
            try await conversation.act { now in
                dave.signIn(at: now)
                fay.signIn(at: now)
            }
            try await conversation.expect("signed in") { dave.followsSelf && fay.followsSelf }
            try await conversation.act { now in
                dave.watch([fay.user, "sip:gus@hosted.example.net"], at: now)
                fay.watch([dave.user], at: now)
            }
            try await conversation.expect("each has a part for each") { dave.seen.count == 2 && fay.seen.count == 1 }
            try await conversation.act { now in
                dave.note("from dave", at: now)
                fay.note("from fay", at: now)
            }
            try await conversation.expect("each sees the other") {
                dave.seen[fay.user]?.notes == ["from fay"] && fay.seen[dave.user]?.notes == ["from dave"]
            }
            try await conversation.act { now in fay.place(dave.user, in: 32_000, at: now) }
            try await conversation.expect("blocked, though fay never published to that container") {
                fay.lastAnswer?.status == .ok && dave.seen[fay.user]?.notes == [] && dave.seen[fay.user]?.availability ?? 18_500 == 18_500
            }
            try await conversation.act { now in
                dave.signOut(at: now)
                fay.signOut(at: now)
            }
            try await conversation.expect("out") { dave.phase == .out && fay.phase == .out }
        },
        Scenario(
            "home: a client that vanishes is signed out when its registration expires", needsVirtualTime: true,
            leavesPresence: true, configure: requireRegistration
        ) { conversation in
            let dave = try await conversation.enhancedClient()
            let watcher = try await conversation.enhancedWatcher(of: Conversation.dave)
            watcher.refreshesItself = true
            try await conversation.act { now in
                dave.signIn(expires: 300, at: now)
                watcher.subscribe(at: now)
            }
            try await conversation.expect("signed in") { dave.followsSelf && watcher.phase == .live }
            try await conversation.act { now in dave.note("here", at: now) }
            try await conversation.expect("noted") { watcher.presence?.notes == ["here"] }
            try await conversation.pass(.seconds(1_000))
            try await conversation.require("refreshed meanwhile") { watcher.presence?.notes == ["here"] && dave.followsSelf }
            try await conversation.act { _ in dave.vanish() }
            try await conversation.expect("over", within: .seconds(340)) { watcher.presence?.notes == [] }
            try await conversation.require("nobody is signed in") { conversation.gateway.counts.registrations == 0 }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("home: a stranger to the registrar cannot publish for an endpoint (MS-PRES 3.2.5.4)", configure: requireRegistration) {
            conversation in
            let dave = try await conversation.enhancedClient()
            try await conversation.act { now in dave.show(3_500, at: now) }
            try await conversation.expect("488") { dave.lastAnswer?.status == .notAcceptableHere }
            try await conversation.require("nothing is kept") { conversation.gateway.counts.presentities == 0 }
        },
    ]

    private static let requireRegistration: @Sendable (inout GatewayConfiguration) -> Void = {
        $0.domains["hosted.example.net"]?.requiresRegistration = true
    }
}
