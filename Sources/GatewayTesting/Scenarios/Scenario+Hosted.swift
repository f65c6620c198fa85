import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// F5: presentities with the gateway as their home server.
    package static let hostedScenarios: [Scenario] = [
        Scenario("F5 SERVICE publications are seen in every format", needsVirtualTime: false) { conversation in
            let endpoint = try await conversation.categoryPublisher()
            let lync = try await conversation.enhancedWatcher(of: Conversation.dave)
            let older = try await conversation.enhancedWatcher("sip:frank@fabrikam.com", of: Conversation.dave, form: .msrtc)
            let simple = try await conversation.simpleWatcher(of: Conversation.dave)
            try await conversation.act { now in
                for watcher in [lync, older, simple] as [ScriptedWatcher] { watcher.subscribe(at: now) }
            }
            try await conversation.expect("all subscribed") {
                [lync, older, simple].allSatisfy { ($0 as ScriptedWatcher).phase == .live }
            }
            try await conversation.act { now in endpoint.publish(availability: 3500, note: "hello", at: now) }
            try await conversation.expect("the publication is accepted") { endpoint.lastAnswer?.status == .ok }
            try await conversation.expect("seen as 3500 in categories") { lync.presence?.availability == 3500 }
            try await conversation.expect("the note in categories") { lync.presence?.notes == ["hello"] }
            try await conversation.expect("seen as 3500 in msrtc.pidf") { older.presence?.availability == 3500 }
            try await conversation.expect("seen as open in PIDF") { simple.presence?.basic == "open" }
            try await conversation.act { now in endpoint.publish(availability: 6500, note: "hello", at: now) }
            try await conversation.expect("busy everywhere") {
                lync.presence?.availability == 6500 && older.presence?.availability == 6500 && simple.presence?.activities == ["busy"]
            }
            try await conversation.act { now in
                for watcher in [lync, older, simple] as [ScriptedWatcher] { watcher.unsubscribe(at: now) }
            }
        },
        Scenario("F5 a stale version is a conflict (MS-PRES 3.2.5)") { conversation in
            let endpoint = try await conversation.categoryPublisher()
            try await conversation.act { now in endpoint.publish(availability: 3500, at: now) }
            try await conversation.expect("accepted") { endpoint.lastAnswer?.status == .ok }
            try await conversation.act { now in
                endpoint.forgetVersions()
                endpoint.publish(availability: 6500, at: now)
            }
            try await conversation.expect("409 with the fault") { endpoint.conflicts == 1 }
        },
        Scenario("F5 PUBLISH is seen in every format, modified and removed", bearsLoss: true) { conversation in
            let source = try await conversation.pidfPublisher()
            let lync = try await conversation.enhancedWatcher(of: Conversation.dave)
            let simple = try await conversation.simpleWatcher(of: Conversation.dave)
            try await conversation.act { now in
                source.publish(SimpleDocuments.pidf(of: Conversation.dave, "open", activities: ["busy"]), at: now)
            }
            try await conversation.expect("accepted") { source.entityTag != nil }
            try await conversation.act { now in
                lync.subscribe(at: now)
                simple.subscribe(at: now)
            }
            try await conversation.expect("seen by both") {
                lync.presence?.availability == 6500 && simple.presence?.activities == ["busy"]
            }
            try await conversation.act { now in
                source.publish(SimpleDocuments.pidf(of: Conversation.dave, "open", activities: ["away"]), at: now)
            }
            try await conversation.expect("the modification is seen by both") {
                lync.presence?.availability == 15_500 && simple.presence?.activities == ["away"]
            }
            try await conversation.act { now in source.remove(at: now) }
            try await conversation.expect("gone for both") {
                (lync.presence?.availability).map { $0 >= 18_000 || $0 < 3000 } ?? true && simple.presence?.basic != "open"
            }
            try await conversation.act { now in
                lync.unsubscribe(at: now)
                simple.unsubscribe(at: now)
            }
            try await conversation.require("every entity-tag was new") { source.entityTags.count >= 2 }
        },
        Scenario("F5 a publication expires", needsVirtualTime: true) { conversation in
            let source = try await conversation.pidfPublisher()
            let watcher = try await conversation.simpleWatcher(of: Conversation.dave)
            watcher.refreshesItself = true
            try await conversation.act { now in
                source.publish(SimpleDocuments.pidf(of: Conversation.dave, "open"), expires: 120, at: now)
                watcher.subscribe(at: now)
            }
            try await conversation.expect("open") { watcher.presence?.basic == "open" }
            try await conversation.pass(.seconds(100))
            try await conversation.act { now in source.refresh(expires: 120, at: now) }
            try await conversation.pass(.seconds(100))
            try await conversation.require("prolonged") { watcher.presence?.basic == "open" }
            try await conversation.expect("over", within: .seconds(40)) { watcher.presence?.basic != "open" }
            try await conversation.act { now in source.refresh(expires: 120, at: now) }
            try await conversation.expect("the entity-tag is gone: 412 (RFC 3903 6)") {
                source.lastAnswer?.status == .conditionalRequestFailed
            }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        Scenario("F5 two sources are composed") { conversation in
            let desk = try await conversation.pidfPublisher()
            let phone = try await conversation.pidfPublisher()
            let watcher = try await conversation.simpleWatcher(of: Conversation.dave)
            try await conversation.act { now in
                desk.publish(SimpleDocuments.pidf(of: Conversation.dave, "closed"), at: now)
                watcher.subscribe(at: now)
            }
            try await conversation.expect("closed") { watcher.presence?.basic == "closed" }
            try await conversation.act { now in phone.publish(SimpleDocuments.pidf(of: Conversation.dave, "open"), at: now) }
            try await conversation.expect("one source says open") {
                watcher.notifications.last.map { String(decoding: $0.body, as: UTF8.self).contains(">open<") } == true
            }
            try await conversation.act { now in phone.remove(at: now) }
            try await conversation.expect("closed again") {
                watcher.notifications.last.map { !String(decoding: $0.body, as: UTF8.self).contains(">open<") } == true
            }
            try await conversation.act { now in
                desk.remove(at: now)
                watcher.unsubscribe(at: now)
            }
        },
        Scenario("F5 a user who never published looks offline") { conversation in
            let lync = try await conversation.enhancedWatcher(of: "sip:nobody@hosted.example.net")
            let simple = try await conversation.simpleWatcher(of: "sip:nobody@hosted.example.net")
            try await conversation.act { now in
                lync.subscribe(at: now)
                simple.subscribe(at: now)
            }
            try await conversation.expect("both subscribed") { lync.phase == .live && simple.phase == .live }
            try await conversation.expect("notified") { !simple.notifications.isEmpty }
            try await conversation.require("not available") {
                simple.presence?.basic != "open" && !(3000..<18_000).contains(lync.presence?.availability ?? 0)
            }
            try await conversation.act { now in
                lync.unsubscribe(at: now)
                simple.unsubscribe(at: now)
            }
        },
    ]
}
