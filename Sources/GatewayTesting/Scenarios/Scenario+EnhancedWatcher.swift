import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// F2: an enterprise watcher sees a SIMPLE presentity.
    package static let enhancedWatcherScenarios: [Scenario] = [
        Scenario("F2 categories piggybacked: initial, changes, unsubscribe", bearsLoss: true) { conversation in
            let watcher = try await conversation.enhancedWatcher()
            try await watchesAlice(conversation, watcher)
        },
        Scenario("F2 the first notification is in the 200 as multipart/related, a change holds changed categories only") { conversation in
            let watcher = try await conversation.enhancedWatcher()
            try await conversation.aliceShows("open", note: "in the garden", displayName: "Alice")
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("alice's note") { watcher.presence?.notes == ["in the garden"] }
            try await conversation.require("piggybacked (MS-PRES 2.2.2.4.2)") {
                watcher.notifications.first?.kind == .piggyback && watcher.notifications.first?.contentType == "multipart/related"
            }
            try await conversation.aliceShows("open", note: "in the kitchen", displayName: "Alice")
            try await conversation.expect("alice's new note") { watcher.presence?.notes == ["in the kitchen"] }
            try await conversation.require("the note and nothing else (MS-PRES 3.2.5.3)") {
                watcher.notifications.last?.presence?.categories == ["note"]
            }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("F2 categories in NOTIFY: initial, changes, unsubscribe", bearsLoss: true) { conversation in
            let watcher = try await conversation.enhancedWatcher()
            watcher.offersPiggyback = false
            try await watchesAlice(conversation, watcher)
            try await conversation.require("no notification came in a 200 (MS-SIP 3.4)") {
                !watcher.notifications.contains { $0.kind == .piggyback }
            }
        },
        Scenario("F2 msrtc.pidf: initial, changes, unsubscribe", bearsLoss: true) {
            try await watchesAlice($0, $0.enhancedWatcher(form: .msrtc), hasNote: false)
        },
        Scenario("F2 PIDF toward the enterprise: initial, changes, unsubscribe", bearsLoss: true) { conversation in
            let watcher = try await conversation.enhancedWatcher(form: .pidf)
            try await conversation.aliceShows("open")
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("alice open") { watcher.presence?.basic == "open" }
            try await conversation.aliceShows("open", activities: ["busy"])
            try await conversation.expect("alice busy") { watcher.presence?.activities == ["busy"] }
            try await conversation.aliceShows("closed")
            try await conversation.expect("alice closed") { watcher.presence?.basic == "closed" && watcher.presence?.activities == [] }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
            try await conversation.expect("the last notification") { watcher.isOver }
        },
        Scenario("F2 a watcher of categories is never sent BENOTIFY over federation (MS-PRES 4.6)") { conversation in
            let watcher = try await conversation.enhancedWatcher()
            watcher.offersBenotify = true
            try await watchesAlice(conversation, watcher)
            try await conversation.require("NOTIFY only") { !watcher.notifications.contains { $0.kind == .benotify } }
        },
        Scenario("F2 refresh keeps both legs alive for hours", needsVirtualTime: true) { conversation in
            conversation.simple.manners.longestExpiry = 600
            let watcher = try await conversation.enhancedWatcher()
            watcher.refreshesItself = true
            try await conversation.aliceShows("open")
            try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
            try await conversation.expect("alice available") { watcher.presence?.availability == 3500 }
            for hour in 0..<6 {
                try await conversation.pass(.seconds(3600))
                try await conversation.aliceShows("open", activities: hour.isMultiple(of: 2) ? ["busy"] : [])
                try await conversation.expect("the change of hour \(hour)", within: .seconds(5)) {
                    watcher.presence?.availability == (hour.isMultiple(of: 2) ? 6500 : 3500)
                }
            }
            try await conversation.require("one dialog upstream, as at the start") {
                watcher.phase == .live && conversation.simple.dialogCount == 1 && conversation.simple.acceptedCount == 1
            }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("F2 poll carries the state in the 200 and leaves nothing (MS-PRES 3.4.5.1.2)") { conversation in
            let watcher = try await conversation.enhancedWatcher()
            try await conversation.aliceShows("open", activities: ["busy"])
            try await conversation.act { now in watcher.poll(at: now) }
            try await conversation.expect("the poll ends") { watcher.isOver }
            try await conversation.require("alice busy, in the 200") {
                watcher.presence?.availability == 6500 && watcher.notifications.first?.kind == .piggyback
            }
        },
        Scenario("F2 the watcher's subscription expires", needsVirtualTime: true) { conversation in
            let watcher = try await conversation.enhancedWatcher()
            try await conversation.aliceShows("open")
            try await conversation.act { now in watcher.subscribe(expires: 300, at: now) }
            try await conversation.expect("alice available") { watcher.presence?.availability == 3500 }
            try await conversation.expect("terminated with reason timeout", within: .seconds(310)) { watcher.phase == .ended("timeout") }
        },
        Scenario("F2 the presence server loses its dialogs", needsVirtualTime: true) { conversation in
            conversation.simple.manners.longestExpiry = 300
            let watcher = try await conversation.enhancedWatcher()
            watcher.refreshesItself = true
            try await conversation.aliceShows("open")
            try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
            try await conversation.expect("alice available") { watcher.presence?.availability == 3500 }
            try await conversation.act { _ in conversation.simple.forgetDialogs() }
            try await conversation.aliceShows("closed")
            try await conversation.expect("a new dialog upstream, and the newest state", within: .seconds(400)) {
                watcher.presence?.availability == 18_500 && conversation.simple.dialogCount == 1
            }
            try await conversation.require("the watcher was kept") { watcher.phase == .live }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("F2 the presence server's subscription ends silently", needsVirtualTime: true) { conversation in
            conversation.simple.manners.announcesExpiry = false
            conversation.simple.manners.longestExpiry = 120
            let watcher = try await conversation.enhancedWatcher()
            try await conversation.aliceShows("open")
            try await conversation.act { now in watcher.subscribe(expires: 3600, at: now) }
            try await conversation.expect("alice available") { watcher.presence?.availability == 3500 }
            try await conversation.pass(.seconds(1200))
            try await conversation.aliceShows("open", activities: ["on-the-phone"])
            try await conversation.expect("still told of changes", within: .seconds(10)) {
                watcher.presence?.availability == 6500 && watcher.presence?.activityToken == "on-the-phone"
            }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("F2 a NOTIFY that overtakes the 200 counts") { conversation in
            conversation.simple.manners.notifiesBeforeAnswering = true
            try await watchesAlice(conversation, conversation.enhancedWatcher())
        },
        Scenario("F2 identical states are told once") { conversation in
            let watcher = try await conversation.enhancedWatcher()
            try await conversation.aliceShows("open")
            try await conversation.act { now in watcher.subscribe(at: now) }
            try await conversation.expect("alice available") { watcher.presence?.availability == 3500 }
            var count = 0
            try await conversation.act { _ in count = watcher.notifications.count }
            for _ in 0..<5 { try await conversation.aliceShows("open") }
            try await conversation.aliceShows("open", activities: ["busy"])
            try await conversation.expect("alice busy") { watcher.presence?.availability == 6500 }
            try await conversation.require("one notification for one change") { watcher.notifications.count == count + 1 }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
    ]

    private static func watchesAlice(_ conversation: Conversation, _ watcher: EnhancedWatcher, hasNote: Bool = true) async throws {
        try await conversation.aliceShows("open", note: "in the garden", displayName: "Alice")
        try await conversation.act { now in watcher.subscribe(at: now) }
        try await conversation.expect("alice available") { watcher.presence?.availability == 3500 }
        if hasNote {
            try await conversation.expect("alice's note") { watcher.presence?.notes.contains("in the garden") == true }
            try await conversation.expect("alice's name") { watcher.presence?.displayName == "Alice" }
        }
        for (basic, activity, availability) in [
            ("open", "busy", 6500), ("open", "on-the-phone", 6500), ("open", "away", 15_500), ("open", nil, 3500), ("closed", nil, 18_500),
        ] {
            try await conversation.aliceShows(basic, activities: [activity].compactMap { $0 })
            try await conversation.expect("\(basic), \(activity ?? "no activity") as \(availability)") {
                watcher.presence?.availability == availability
                    && (activity != "on-the-phone" || watcher.presence?.activityToken == "on-the-phone")
            }
        }
        try await conversation.require("still subscribed") { watcher.phase == .live }
        try await conversation.act { now in watcher.unsubscribe(at: now) }
        try await conversation.expect("the last notification") { watcher.isOver }
    }
}
