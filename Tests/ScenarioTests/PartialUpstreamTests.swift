import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// Partial presence from a standard domain, and what a rich document becomes for an enterprise watcher.
@Suite struct PartialUpstreamTests {
    private func conversation(
        seed: UInt64 = 5_263, configure: (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws -> Conversation {
        try await Conversation(on: SimulatedStage(seed: seed), transport: .tcp) { configuration in
            configuration.timing.notifySpacing = .zero
            configure(&configuration)
        }
    }

    private func show(_ note: String, _ conversation: Conversation) async throws {
        let document = SimpleDocuments.rich(of: Conversation.alice, note: note)
        try await conversation.act { now in conversation.simple.set(Conversation.alice, document, at: now) }
    }

    /// A watcher that sees alice's first note.
    private func watching(_ conversation: Conversation) async throws -> EnhancedWatcher {
        let watcher = try await conversation.enhancedWatcher()
        try await show("first", conversation)
        try await conversation.act { now in watcher.subscribe(at: now) }
        try await conversation.expect("the first note") { watcher.presence?.notes == ["first"] }
        return watcher
    }

    private func see(_ note: String, _ watcher: EnhancedWatcher, _ conversation: Conversation) async throws {
        try await show(note, conversation)
        try await conversation.expect("the note \(note)") { watcher.presence?.notes == [note] }
    }

    private func finish(_ watcher: EnhancedWatcher, _ conversation: Conversation) async throws {
        try await conversation.act { now in watcher.unsubscribe(at: now) }
        try await conversation.settles()
    }

    @Test("RFC 5263 4.4: differences are offered by default, applied one after the other, and shown as what they make")
    func applied() async throws {
        let conversation = try await conversation()
        let watcher = try await watching(conversation)
        for number in 2...6 { try await see("note \(number)", watcher, conversation) }
        #expect(conversation.simple.differences == 5 && conversation.gateway.counters.partialStateMissed == 0)
        #expect(watcher.presence?.displayName == "Alice Example")
        try await finish(watcher, conversation)
    }

    @Test("RFC 5263 4.4: a gap in the versions is closed by a refresh, whose answer has the full state")
    func gap() async throws {
        let conversation = try await conversation()
        let watcher = try await watching(conversation)
        conversation.simple.blunders = [.skipsVersion]
        try await see("second", watcher, conversation)
        #expect(conversation.gateway.counters.partialStateMissed == 1)
        try await see("third", watcher, conversation)
        #expect(conversation.gateway.counters.partialStateMissed == 1 && conversation.simple.acceptedCount == 1)
        try await finish(watcher, conversation)
    }

    @Test("RFC 5263 4.4: a document that came before is discarded, and no older state follows a newer one")
    func repeated() async throws {
        let conversation = try await conversation()
        let watcher = try await watching(conversation)
        try await see("second", watcher, conversation)
        conversation.simple.blunders = [.repeatsLast]
        try await show("third", conversation)
        try await conversation.pass(.seconds(10))
        #expect(watcher.presence?.notes == ["second"])
        try await see("fourth", watcher, conversation)
        #expect(conversation.gateway.counters.partialStateMissed == 0)
        try await finish(watcher, conversation)
    }

    @Test("RFC 5263 4.4, RFC 5261 5: a patch that cannot be applied is answered by fetching the full state")
    func broken() async throws {
        let conversation = try await conversation()
        let watcher = try await watching(conversation)
        conversation.simple.blunders = [.breaksPatch]
        try await see("second", watcher, conversation)
        try await see("third", watcher, conversation)
        #expect(conversation.gateway.counters.partialStateMissed == 1)
        try await finish(watcher, conversation)
    }

    @Test("RFC 5263 4.4: whoever goes on with patches that do not fit is asked for whole documents")
    func goesOn() async throws {
        let conversation = try await conversation()
        let watcher = try await watching(conversation)
        conversation.simple.blunders = Array(repeating: .breaksPatch, count: 20)
        for number in 2...9 { try await see("note \(number)", watcher, conversation) }
        #expect(conversation.gateway.counters.partialStateMissed == 3 && conversation.simple.differences == 3)
        // Others ask for whole documents from the start.
        let other = try await conversation.enhancedWatcher("sip:frank@fabrikam.com")
        try await conversation.act { now in other.subscribe(at: now) }
        try await conversation.expect("the note") { other.presence?.notes == ["note 9"] }
        try await show("the end", conversation)
        try await conversation.expect("the last note") { other.presence?.notes == ["the end"] && watcher.presence?.notes == ["the end"] }
        #expect(conversation.simple.differences == 3)
        try await conversation.act { now in other.unsubscribe(at: now) }
        try await finish(watcher, conversation)
    }

    @Test("RFC 5263 4.4: a server that refuses the offer is asked without it")
    func refused() async throws {
        let conversation = try await conversation()
        conversation.simple.refusesDifferences = true
        let watcher = try await watching(conversation)
        try await see("second", watcher, conversation)
        #expect(conversation.simple.differences == 0)
        try await finish(watcher, conversation)
    }

    @Test("a domain with partial presence switched off is asked for whole documents")
    func switchedOff() async throws {
        let conversation = try await conversation { $0.domains["example.org"]?.partial = false }
        let watcher = try await watching(conversation)
        try await see("second", watcher, conversation)
        #expect(conversation.simple.differences == 0)
        try await finish(watcher, conversation)
    }

    @Test("RFC 3856 6.7: an active NOTIFY without a body shows nothing, at first and later, and is no error")
    func emptyNotify() async throws {
        let conversation = try await conversation()
        let watcher = try await watching(conversation)
        try await conversation.act { now in
            conversation.simple.blockedPolitely = ["sip:erin@fabrikam.com", "sip:frank@fabrikam.com"]
            conversation.simple.set(Conversation.alice, SimpleDocuments.rich(of: Conversation.alice, note: "secret"), at: now)
        }
        try await conversation.expect("offline") { (watcher.presence?.availability ?? 0) >= 18_000 && watcher.presence?.notes == [] }
        let other = try await conversation.enhancedWatcher("sip:frank@fabrikam.com")
        try await conversation.act { now in other.subscribe(at: now) }
        try await conversation.expect("offline") { (other.presence?.availability ?? 0) >= 18_000 }
        #expect(conversation.simple.failedNotifications == 0)
        try await conversation.act { now in conversation.simple.blockedPolitely = [] }
        try await see("for all", watcher, conversation)
        try await conversation.act { now in other.unsubscribe(at: now) }
        try await finish(watcher, conversation)
    }

    @Test("RFC 5263 4.4: over a bad path, with gaps and bad patches, the last state arrives", arguments: UInt64(1)...8)
    func badPath(seed: UInt64) async throws {
        let conversation = try await Conversation(on: SimulatedStage(seed: seed, conditions: .poor)) { $0.timing.notifySpacing = .zero }
        let watcher = try await watching(conversation)
        var random = SeededRandom(seed: seed &* 5_263)
        for number in 1...15 {
            if random.chance(0.3) { conversation.simple.blunders = [random.chance(0.5) ? .skipsVersion : .breaksPatch] }
            try await show("note \(number)", conversation)
            try await conversation.pass(.milliseconds(Int.random(in: 0..<3_000, using: &random)))
        }
        try await see("the last", watcher, conversation)
        try await conversation.act { now in watcher.unsubscribe(at: now) }
        try await conversation.concludes()
    }

    /// What a rich document has to become, in words of the categories.
    private static let words: [(category: String, word: String)] = [
        ("state", "on-the-phone"), ("contactCard", "Alice Example"), ("contactCard", "alice@example.org"),
        ("contactCard", "+15555550100"), ("note", "in a meeting"), ("services", "voice"), ("services", "video"),
        ("calendarData", "freeBusy"),
    ]

    private func missing(_ bodies: [String]) -> [String] {
        let all = bodies.joined(separator: "\n")
        return Self.words.filter { !all.contains($0.word) || !all.contains("\"\($0.category)\"") }.map { "\($0.category): \($0.word)" }
    }

    @Test("F2: state, contactCard, note, services and calendarData of a rich PIDF reach a single category watcher")
    func richSingle() async throws {
        let conversation = try await conversation()
        let watcher = try await conversation.enhancedWatcher()
        try await show("in a meeting", conversation)
        try await conversation.act { now in watcher.subscribe(at: now) }
        try await conversation.expect("the note") { watcher.presence?.notes == ["in a meeting"] }
        #expect(missing(watcher.notifications.map { String(decoding: $0.body, as: UTF8.self) }) == [])
        #expect(watcher.presence?.categories == ["state", "contactCard", "note", "services", "calendarData"])
        try await finish(watcher, conversation)
    }

    @Test("F2: state, contactCard, note, services and calendarData of a rich PIDF reach a batch category watcher")
    func richBatch() async throws {
        let conversation = try await conversation()
        let client = try await conversation.enhancedClient()
        try await show("in a meeting", conversation)
        try await conversation.act { now in client.signIn(at: now) }
        try await conversation.expect("signed in") { client.phase == .signedIn }
        try await conversation.act { now in
            client.watch([Conversation.alice], categories: ["state", "note", "contactCard", "services", "calendarData"], at: now)
        }
        try await conversation.expect("the note") { client.seen[Conversation.alice]?.notes == ["in a meeting"] }
        #expect(missing(client.notified["presence"] ?? []) == [])
        try await conversation.act { now in client.signOut(at: now) }
        try await conversation.concludes()
    }
}
