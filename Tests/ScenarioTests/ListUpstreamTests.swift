import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// A batch watcher's presentities of one standard domain, had in one list subscription.
@Suite struct ListUpstreamTests {
    private static let service = "sip:lists@example.org"
    private static func alice(_ number: Int) -> String { "sip:alice\(number)@example.org" }

    private struct Scene {
        let conversation: Conversation
        let client: EnhancedClient
        var lists: ScriptedListService { conversation.simple.lists }

        func show(_ number: Int, _ note: String) async throws {
            let document = SimpleDocuments.pidf(of: ListUpstreamTests.alice(number), "open", note: note)
            try await conversation.act { now in conversation.simple.set(ListUpstreamTests.alice(number), document, at: now) }
        }

        func sees(_ number: Int, _ note: String) -> Bool { client.seen[ListUpstreamTests.alice(number)]?.notes == [note] }

        func expect(_ number: Int, _ note: String) async throws {
            try await conversation.expect("alice\(number): \(note)") { sees(number, note) }
        }

        func watch(_ numbers: Range<Int>) async throws {
            try await conversation.act { now in client.watch(numbers.map(ListUpstreamTests.alice), at: now) }
        }

        func finish() async throws {
            try await conversation.act { now in client.signOut(at: now) }
            try await conversation.concludes()
        }
    }

    /// A client that is signed in, and presentities that show `hello N`.
    private func scene(
        _ lists: UpstreamLists? = .adHoc(service: service), shown: Int = 6, seed: UInt64 = 4_662,
        configure: (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws -> Scene {
        let conversation = try await Conversation(on: SimulatedStage(seed: seed), transport: .tcp) { configuration in
            configuration.timing.notifySpacing = .zero
            configuration.domains["example.org"]?.lists = lists
            configure(&configuration)
        }
        let scene = Scene(conversation: conversation, client: try await conversation.enhancedClient())
        if case .adHoc? = lists { scene.lists.adHocURI = Self.service }
        for number in 0..<shown { try await scene.show(number, "hello \(number)") }
        try await conversation.act { now in scene.client.signIn(at: now) }
        try await conversation.expect("signed in") { scene.client.phase == .signedIn }
        return scene
    }

    @Test("RFC 5367 4: all presentities of a batch are one list subscription upstream, and each shows its own state")
    func oneList() async throws {
        let scene = try await scene()
        try await scene.watch(0..<5)
        for number in 0..<5 { try await scene.expect(number, "hello \(number)") }
        #expect(scene.lists.opened == 1 && scene.conversation.simple.dialogCount == 1)
        #expect(scene.lists.requested == [(0..<5).map(Self.alice)])
        try await scene.show(3, "changed")
        try await scene.expect(3, "changed")
        #expect(scene.sees(2, "hello 2") && scene.lists.fullNotifications == 1)
        try await scene.finish()
    }

    @Test("RFC 4662 5.2: a gap in the versions is taken over and closed by a refresh with full state")
    func gap() async throws {
        let scene = try await scene()
        try await scene.watch(0..<3)
        try await scene.expect(2, "hello 2")
        scene.conversation.simple.blunders = [.skipsVersion]
        try await scene.show(1, "after a gap")
        try await scene.expect(1, "after a gap")
        try await scene.conversation.expect("the full state") { scene.lists.fullNotifications == 2 }
        #expect(scene.conversation.gateway.counters.partialStateMissed == 1 && scene.lists.opened == 1)
        try await scene.show(0, "in order")
        try await scene.expect(0, "in order")
        #expect(scene.conversation.gateway.counters.partialStateMissed == 1)
        try await scene.finish()
    }

    @Test("RFC 4662 5.5: pending, rejected, lost for now and empty instances concern their presentity alone")
    func standings() async throws {
        let scene = try await scene()
        let server = scene.conversation.simple
        server.setInstanceState(Self.alice(1), .pending, at: Instant(nanosecondsSince1970: 0))
        server.setInstanceState(Self.alice(2), .terminated("rejected"), at: Instant(nanosecondsSince1970: 0))
        try await scene.watch(0..<5)
        try await scene.expect(0, "hello 0")
        try await scene.conversation.expect("the rejected one is named") {
            scene.client.notified["presence"]?.contains { $0.contains("alice2") && $0.contains("terminated") && $0.contains("rejected") }
                ?? false
        }
        #expect(scene.client.seen[Self.alice(1)]?.notes.isEmpty ?? true)
        try await scene.conversation.act { now in server.setInstanceState(Self.alice(1), nil, at: now) }
        try await scene.expect(1, "hello 1")
        // Lost for now: what was seen stays for a while.
        try await scene.conversation.act { now in server.setInstanceState(Self.alice(3), .terminated("probation"), at: now) }
        try await scene.conversation.pass(.seconds(20))
        #expect(scene.sees(3, "hello 3"))
        try await scene.conversation.act { now in server.setInstanceState(Self.alice(3), nil, at: now) }
        try await scene.conversation.act { now in server.setInstanceState(Self.alice(4), .empty, at: now) }
        try await scene.conversation.expect("offline") {
            scene.client.seen[Self.alice(4)]?.notes == [] && (scene.client.seen[Self.alice(4)]?.availability ?? 0) >= 18_000
        }
        #expect(scene.lists.opened == 1)
        try await scene.finish()
    }

    @Test("RFC 4662 5.2: who is not in a full list that came with the SUBSCRIBE is gone")
    func absent() async throws {
        let scene = try await scene()
        scene.conversation.simple.setInstanceState(Self.alice(1), .absent, at: Instant(nanosecondsSince1970: 0))
        try await scene.watch(0..<3)
        try await scene.expect(2, "hello 2")
        try await scene.conversation.expect("the missing one is named") {
            scene.client.notified["presence"]?.contains { $0.contains("alice1") && $0.contains("terminated") } ?? false
        }
        try await scene.finish()
    }

    @Test("RFC 5367 4: a list cannot be changed, so another one takes its place, first the new one, then the end of the old")
    func changes() async throws {
        let scene = try await scene()
        try await scene.watch(0..<3)
        try await scene.expect(2, "hello 2")
        try await scene.conversation.act { now in scene.client.change("subscribe", [Self.alice(3)], at: now) }
        try await scene.conversation.act { now in scene.client.change("subscribe", [Self.alice(4)], at: now) }
        try await scene.expect(3, "hello 3")
        try await scene.expect(4, "hello 4")
        try await scene.conversation.expect("the old list has ended") { scene.conversation.simple.dialogCount == 1 }
        #expect(scene.lists.requested.map(\.count) == [3, 5])
        try await scene.show(0, "still here")
        try await scene.expect(0, "still here")
        try await scene.conversation.act { now in scene.client.change("unsubscribe", [Self.alice(1)], at: now) }
        try await scene.conversation.expect("the list without the one") {
            scene.lists.requested.last == [0, 2, 3, 4].map(Self.alice) && scene.conversation.simple.dialogCount == 1
        }
        try await scene.show(4, "the last")
        try await scene.expect(4, "the last")
        #expect(scene.client.notified["presence"]?.contains { $0.contains("<availability>18") } == false)
        try await scene.finish()
    }

    @Test("RFC 5367 4: until the new list shows something the old one goes on, and is ended if there will be no new one")
    func refusedSuccessor() async throws {
        let scene = try await scene()
        try await scene.watch(0..<3)
        try await scene.expect(2, "hello 2")
        try await scene.conversation.act { now in
            scene.lists.refusal = .serviceUnavailable
            scene.client.change("subscribe", [Self.alice(3)], at: now)
        }
        try await scene.conversation.pass(.seconds(2))
        try await scene.show(1, "meanwhile")
        try await scene.expect(1, "meanwhile")
        try await scene.conversation.act { now in scene.lists.refusal = .forbidden }
        try await scene.expect(3, "hello 3")
        try await scene.conversation.expect("one by one") { scene.conversation.simple.dialogCount == 4 }
        try await scene.show(1, "alone")
        try await scene.expect(1, "alone")
        try await scene.finish()
    }

    @Test(
        "RFC 4662 4, RFC 5367 4: without a list each presentity is asked for alone, and lists are not tried for a while",
        arguments: [SIPStatus.badExtension, .extensionRequired, .badEvent, .forbidden, .notFound])
    func refused(_ status: SIPStatus) async throws {
        let scene = try await scene()
        scene.lists.refusal = status
        try await scene.watch(0..<3)
        for number in 0..<3 { try await scene.expect(number, "hello \(number)") }
        #expect(scene.conversation.simple.dialogCount == 3 && scene.conversation.gateway.counters.listsGivenUp == 1)
        scene.lists.refusal = nil
        try await scene.conversation.act { now in scene.client.change("subscribe", [Self.alice(3)], at: now) }
        try await scene.expect(3, "hello 3")
        #expect(scene.conversation.simple.dialogCount == 4 && scene.lists.opened == 0)
        try await scene.finish()
    }

    @Test("RFC 4662 4.5: a 200 without Require: eventlist is of no list")
    func noList() async throws {
        let scene = try await scene(.kept(template: "sip:nobody-list@example.org"))
        try await scene.watch(0..<3)
        for number in 0..<3 { try await scene.expect(number, "hello \(number)") }
        try await scene.conversation.expect("one by one") { scene.conversation.simple.dialogCount == 3 }
        try await scene.finish()
    }

    @Test("RFC 4662 4: a list that the domain keeps for the watcher is used for those who are in it, the others are asked for alone")
    func kept() async throws {
        let scene = try await scene(.kept(template: "sip:{user}-list@example.org"))
        scene.lists.kept = ["sip:dave-list@example.org": [0, 1, 5].map(Self.alice)]
        scene.lists.beginsWithoutInstances = true
        try await scene.watch(0..<3)
        try await scene.expect(2, "hello 2")
        #expect(scene.conversation.simple.dialogCount == 2)
        // Without instances nothing is known yet, and nobody counts as offline.
        #expect(scene.client.seen[Self.alice(0)]?.availability == nil)
        try await scene.show(0, "here")
        try await scene.expect(0, "here")
        try await scene.expect(1, "hello 1")
        try await scene.conversation.act { now in scene.client.change("subscribe", [Self.alice(5)], at: now) }
        try await scene.expect(5, "hello 5")
        #expect(scene.conversation.simple.dialogCount == 2 && scene.lists.opened == 1)
        try await scene.finish()
    }

    @Test("RFC 6665 4.1: a list that ends is subscribed to anew, and nobody is lost")
    func deactivated() async throws {
        let scene = try await scene()
        try await scene.watch(0..<3)
        try await scene.expect(2, "hello 2")
        try await scene.conversation.act { now in scene.conversation.simple.terminate(Self.service, .deactivated, at: now) }
        try await scene.conversation.expect("another list") { scene.lists.opened == 2 && scene.conversation.simple.dialogCount == 1 }
        try await scene.show(1, "again")
        try await scene.expect(1, "again")
        try await scene.finish()
    }

    @Test("a list with a part that cannot be read shows the others")
    func brokenPart() async throws {
        let scene = try await scene()
        try await scene.conversation.act { now in scene.conversation.simple.set(Self.alice(1), "<presence", at: now) }
        try await scene.watch(0..<3)
        try await scene.expect(0, "hello 0")
        try await scene.expect(2, "hello 2")
        try await scene.show(1, "mended")
        try await scene.expect(1, "mended")
        #expect(scene.conversation.simple.failedNotifications == 0)
        try await scene.finish()
    }

    @Test("the URI of a kept list is made from the watcher's")
    func template() throws {
        let watcher = try #require(SIPURI("sip:dave@hosted.example.net"))
        #expect(
            UpstreamLists.kept(template: "sip:{user}.{host}@example.org").uri(of: watcher)?.description
                == "sip:dave.hosted.example.net@example.org")
        #expect(UpstreamLists.adHoc(service: "http://example.org").uri(of: watcher) == nil)
    }
}
