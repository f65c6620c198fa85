import PresenceGateway
import SIPCore
import ScriptedPeers

extension Scenario {
    /// F3 and F4: publications for identities with a home server in another domain.
    package static let publishingScenarios: [Scenario] = [
        relaying("F4 SERVICE becomes PUBLISH: followed, and over with its time", needsVirtualTime: true, bearsLoss: true) { conversation in
            let endpoint = try await conversation.categoryPublisher(Conversation.alice)
            let watcher = try await conversation.enhancedWatcher()
            watcher.refreshesItself = true
            try await conversation.act { now in
                endpoint.publish(availability: 6_500, at: now)
                watcher.subscribe(at: now)
            }
            try await conversation.expect("answered") { endpoint.lastAnswer?.status == .ok }
            try await conversation.expect("a watcher by way of the simple domain sees it") { watcher.presence?.availability == 6_500 }
            try await conversation.act { now in endpoint.publish(availability: 3_500, note: "at my desk", at: now) }
            try await conversation.expect("followed") {
                watcher.presence?.availability == 3_500 && watcher.presence?.notes == ["at my desk"]
            }
            try await conversation.require("one publication there") { conversation.aliceDocuments.count == 1 }
            try await conversation.expect("over with its time", within: .seconds(400)) { conversation.aliceDocuments.isEmpty }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        relaying("F4 a conflict of versions is the client's to settle, and nothing goes on before") { conversation in
            let endpoint = try await conversation.categoryPublisher(Conversation.alice)
            try await conversation.act { now in endpoint.publish(availability: 6_500, at: now) }
            try await conversation.expect("answered") { endpoint.lastAnswer?.status == .ok }
            try await conversation.act { now in
                endpoint.forgetVersions()
                endpoint.publish(availability: 3_500, at: now)
            }
            try await conversation.expect("409 with the versions") { endpoint.conflicts == 1 }
            try await conversation.require("unchanged") { conversation.aliceDocuments.allSatisfy { $0.contains("busy") } }
            try await conversation.act { now in endpoint.publish(availability: 3_500, at: now) }
            try await conversation.expect("taken") { conversation.aliceDocuments.contains { !$0.contains("busy") } }
            try await conversation.expect("answered") { endpoint.lastAnswer?.status == .ok }
            try await conversation.act { now in conversation.end(endpoint, at: now) }
        },
        relaying("F4 the compositor restarts: 412, and everything is published anew", needsVirtualTime: true) { conversation in
            let endpoint = try await conversation.categoryPublisher(Conversation.alice)
            try await conversation.act { now in endpoint.publish([.lasting(6_500)], at: now) }
            try await conversation.expect("there") { conversation.aliceDocuments.count == 1 }
            try await conversation.pass(.seconds(600))
            try await conversation.act { _ in conversation.simple.compositor.restart() }
            try await conversation.expect("anew at the next refresh", within: .seconds(2_800)) { conversation.aliceDocuments.count == 1 }
            try await conversation.require("after one 412") { conversation.simple.compositor.unknownTags == 1 }
            try await conversation.pass(.seconds(8_000))
            try await conversation.require("kept alive") { conversation.aliceDocuments.count == 1 }
            try await conversation.act { now in conversation.end(endpoint, at: now) }
            try await conversation.expect("gone", within: .seconds(400)) { conversation.aliceDocuments.isEmpty }
        },
        relaying("F4 the compositor wants longer lives: 423 is met", needsVirtualTime: true) { conversation in
            conversation.simple.compositor.shortestExpiry = 7_200
            let endpoint = try await conversation.categoryPublisher(Conversation.alice)
            try await conversation.act { now in endpoint.publish(availability: 6_500, at: now) }
            try await conversation.expect("answered") { endpoint.lastAnswer?.status == .ok }
            try await conversation.require("once brief, once not") {
                conversation.simple.compositor.tooBrief == 1 && conversation.aliceDocuments.count == 1
            }
            try await conversation.expect("gone all the same", within: .seconds(400)) { conversation.aliceDocuments.isEmpty }
        },
        relaying("F4 the compositor is silent, then busy, then back: nothing published is lost", needsVirtualTime: true) { conversation in
            conversation.simple.compositor.answer = .silence
            let endpoint = try await conversation.categoryPublisher(Conversation.alice)
            try await conversation.act { now in endpoint.publish([.lasting(6_500)], at: now) }
            try await conversation.expect("promised") { endpoint.lastAnswer?.status == .ok }
            try await conversation.require("it arrived") { conversation.aliceDocuments.count == 1 }
            try await conversation.act { now in
                conversation.simple.compositor.answer = .refuse(.serviceUnavailable, [.retryAfter: "60"])
                endpoint.publish([.lasting(3_500)], at: now)
            }
            try await conversation.pass(.seconds(100))
            try await conversation.act { _ in conversation.simple.compositor.answer = .accept }
            try await conversation.expect("carried", within: .seconds(100)) { conversation.aliceDocuments.last?.contains("busy") == false }
            // A publication with an entity-tag that was never received can only expire (RFC 3903 4.1).
            try await conversation.pass(.seconds(3_600))
            try await conversation.require("the last one alone is kept alive") {
                conversation.aliceDocuments.map { $0.contains("busy") } == [false]
            }
            try await conversation.act { now in conversation.end(endpoint, at: now) }
            try await conversation.expect("gone", within: .seconds(400)) { conversation.aliceDocuments.isEmpty }
        },
        relaying("F4 the simple domain refuses: the client is told, and nothing has changed") { conversation in
            conversation.simple.compositor.answer = .refuse(.forbidden)
            let endpoint = try await conversation.categoryPublisher(Conversation.alice)
            try await conversation.act { now in endpoint.publish(availability: 6_500, at: now) }
            try await conversation.expect("refused") { endpoint.lastAnswer?.status == .forbidden }
            try await conversation.require("nothing kept") { conversation.gateway.counts.publicationBridges == 0 }
        },
        relaying("F3 PUBLISH becomes SERVICE: created, followed, refreshed, removed", bearsLoss: true) { conversation in
            let source = try await conversation.pidfPublisher(Conversation.bob)
            let watcher = try await conversation.simpleWatcher()
            try await conversation.act { now in
                source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", activities: ["busy"]), at: now)
                watcher.subscribe(at: now)
            }
            try await conversation.expect("published") { source.lastAnswer?.status == .ok }
            try await conversation.expect("a watcher by way of the enterprise sees it") { watcher.presence?.activities == ["busy"] }
            try await conversation.act { now in source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "back"), at: now) }
            try await conversation.expect("followed") { watcher.presence?.notes == ["back"] }
            try await conversation.act { now in source.refresh(at: now) }
            try await conversation.expect("three entity-tags") { source.entityTags.count == 3 }
            try await conversation.act { now in source.remove(at: now) }
            try await conversation.expect("nothing is left there") { conversation.bobInstances.isEmpty }
            try await conversation.expect("answered") { source.entityTags.count == 4 }
            try await conversation.require("all by one endpoint") { conversation.enterprise.home.endpoints.count == 1 }
            try await conversation.act { now in watcher.unsubscribe(at: now) }
        },
        relaying("F3 a source that goes without a word takes what it published with it, and no more", needsVirtualTime: true) {
            conversation in
            let desk = try await conversation.pidfPublisher(Conversation.bob)
            let phone = try await conversation.pidfPublisher(Conversation.bob)
            try await conversation.act { now in
                desk.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "desk"), expires: 120, at: now)
                phone.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "phone"), expires: 600, at: now)
            }
            // One set of instances is composed from both; where they differ the newest counts.
            try await conversation.expect("both there") {
                desk.lastAnswer?.status == .ok && phone.lastAnswer?.status == .ok && !conversation.bobInstances.isEmpty
            }
            try await conversation.expect("the desk is gone", within: .seconds(130)) {
                !conversation.bobInstances.contains { $0.body.contains("desk") }
            }
            try await conversation.require("the phone is not") { conversation.bobInstances.contains { $0.body.contains("phone") } }
            try await conversation.expect("now it is", within: .seconds(700)) { conversation.bobInstances.isEmpty }
        },
        relaying("F3 somebody else wrote the same instances, and the home server forgot them: both are reconciled") { conversation in
            let source = try await conversation.pidfPublisher(Conversation.bob)
            try await conversation.act { now in source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "1"), at: now) }
            try await conversation.expect("published") { source.entityTags.count == 1 }
            try await conversation.act { now in
                conversation.enterprise.home.overwrite(Conversation.bob)
                source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "2"), at: now)
            }
            try await conversation.expect("published over it") { source.entityTags.count == 2 }
            try await conversation.require("after one 409") { conversation.enterprise.home.conflicts == 1 }
            try await conversation.act { now in
                conversation.enterprise.home.restart()
                source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "3"), at: now)
            }
            try await conversation.expect("published anew") { source.entityTags.count == 3 }
            try await conversation.require("whole") {
                conversation.bobInstances.contains { $0.category == "state" }
                    && conversation.bobInstances.contains { $0.body.contains(">3<") }
            }
            try await conversation.act { now in source.remove(at: now) }
            try await conversation.expect("gone") { conversation.bobInstances.isEmpty }
        },
        relaying("F3 a home server that never agrees on versions makes no loop", needsVirtualTime: true) { conversation in
            conversation.enterprise.home.answer = .conflict
            let source = try await conversation.pidfPublisher(Conversation.bob)
            try await conversation.act { now in source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open"), at: now) }
            try await conversation.expect("told to come again") { source.lastAnswer?.status == .serviceUnavailable }
            try await conversation.pass(.seconds(60))
            try await conversation.require("a bounded number of attempts") { conversation.enterprise.home.conflicts < 30 }
            try await conversation.act { _ in conversation.enterprise.home.answer = .accept }
            try await conversation.pass(.seconds(400))
            try await conversation.require("nothing is left there") { conversation.bobInstances.isEmpty }
        },
        relaying("F3 the home server is silent: 504, and what arrived all the same is taken back", needsVirtualTime: true) { conversation in
            let source = try await conversation.pidfPublisher(Conversation.bob)
            conversation.enterprise.home.answer = .silence
            try await conversation.act { now in source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open"), at: now) }
            try await conversation.expect("504") { source.lastAnswer?.status == .serverTimeout }
            try await conversation.require("it arrived") { !conversation.bobInstances.isEmpty }
            try await conversation.act { _ in conversation.enterprise.home.answer = .accept }
            try await conversation.pass(.seconds(300))
            try await conversation.require("nothing is left there") { conversation.bobInstances.isEmpty }
            try await conversation.act { now in source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open"), expires: 60, at: now) }
            try await conversation.expect("published") { source.lastAnswer?.status == .ok }
        },
        relaying("F3 the enterprise refuses: the source is told, and its entity-tag stands for what it did") { conversation in
            let source = try await conversation.pidfPublisher(Conversation.bob)
            try await conversation.act { now in source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "kept"), at: now) }
            try await conversation.expect("published") { source.entityTags.count == 1 }
            try await conversation.act { now in
                conversation.enterprise.home.answer = .refuse(.requestEntityTooLarge)
                source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "too large"), at: now)
            }
            try await conversation.expect("refused") { source.lastAnswer?.status == .requestEntityTooLarge }
            try await conversation.require("as before") { conversation.bobInstances.contains { $0.body.contains("kept") } }
            try await conversation.act { now in
                conversation.enterprise.home.answer = .accept
                source.remove(at: now)
            }
            try await conversation.expect("gone") { conversation.bobInstances.isEmpty }
        },
    ]

    private static func relaying(
        _ name: String, needsVirtualTime: Bool = false, bearsLoss: Bool = false,
        script: @escaping @Sendable (Conversation) async throws -> Void
    ) -> Scenario {
        Scenario(
            name, needsVirtualTime: needsVirtualTime, bearsLoss: bearsLoss,
            configure: { configuration in
                configuration.domains["example.org"]?.publish = true
                configuration.domains["contoso.com"]?.publish = true
            }, script: script)
    }
}

extension Conversation {
    /// Publications of alice at example.org, oldest first.
    package var aliceDocuments: [String] { simple.compositor.documents(of: Self.alice) }
    /// Instances of bob at contoso.com.
    package var bobInstances: [ScriptedHome.Instance] { enterprise.home.instances(of: Self.bob) }

    /// Replaces lasting instances by ones that expire after five minutes.
    func end(_ endpoint: CategoryPublisher, at now: Instant) {
        endpoint.publish([.init("state", instance: 3, container: 100, body: EnhancedDocuments.aggregateState(18_500))], at: now)
    }
}

extension CategoryPublisher.Publication {
    /// A state in the container for partners that lasts until it is replaced.
    static func lasting(_ availability: Int) -> Self {
        Self("state", instance: 3, container: 100, expireType: "static", body: EnhancedDocuments.aggregateState(availability))
    }
}
