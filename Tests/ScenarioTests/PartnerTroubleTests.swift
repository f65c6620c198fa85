import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// Trouble with one request, one server or one connection of a partner, with default lifetimes and the default configuration.
@Suite("Trouble with one request or one connection costs the partner's other subscriptions nothing") struct PartnerTroubleTests {
    /// Treatment of the requests for one user.
    enum Trouble: CaseIterable, Sendable {
        case timeout, unavailable, silence

        var answer: ScriptedNotifier.Answer {
            switch self {
            case .timeout: .refuse(.requestTimeout)
            case .unavailable: .refuse(.serviceUnavailable)
            case .silence: .silence
            }
        }
    }

    private static let xavier = "sip:xavier@example.org"
    private static let xenia = "sip:xenia@example.com"

    private func conversation(
        _ stage: SimulatedStage, _ transport: TransportProtocol = .tcp, _ configure: (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws -> Conversation {
        let conversation = try await Conversation(on: stage, transport: transport, configure: configure)
        conversation.gateway.keepPartnersAlive(at: stage.network.now)
        return conversation
    }

    private func member(_ index: Int) -> String { "sip:alice\(index)@example.org" }

    private func show(_ text: String, of members: some Sequence<Int>, _ conversation: Conversation, at now: Instant) {
        for index in members {
            conversation.simple.set(member(index), SimpleDocuments.pidf(of: member(index), "open", note: text), at: now)
        }
    }

    /// One watcher for each of so many presentities of example.org, whose subscriptions live.
    private func watchers(_ count: Int, _ conversation: Conversation, _ network: SimulatedNetwork) async throws -> [ScriptedWatcher] {
        show("first", of: 0..<count, conversation, at: network.now)
        var watchers: [ScriptedWatcher] = []
        for index in 0..<count {
            watchers.append(try await conversation.simpleWatcher("sip:carol\(index)@example.com", of: member(index)))
        }
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        try network.run(for: .seconds(3))
        #expect(watchers.allSatisfy { $0.presence?.notes == ["first"] })
        return watchers
    }

    /// The SUBSCRIBEs that example.org got in the name of this watcher, or of all others.
    private func subscribes(_ conversation: Conversation, of watcher: String, orOthers: Bool = false) -> Int {
        let asked = conversation.simple.requests.filter { $0.method == .subscribe }
        return asked.filter { ($0.headers.from?.uri.description == watcher) != orOthers }.count
    }

    @Test(
        "RFC 3261 21.4.9, 21.5.4 one user whose SUBSCRIBE is answered 408 or 503, or never: other subscriptions are not refreshed or hidden",
        arguments: Trouble.allCases)
    func oneUser(trouble: Trouble) async throws {
        let stage = SimulatedStage(seed: 41)
        let network = stage.network
        let conversation = try await conversation(stage) { $0.domains["example.org"]?.whenLost = .offline }
        let watchers = try await watchers(5, conversation, network)
        let before = watchers.map(\.notifications.count)
        conversation.simple.manners.answers[Self.xavier] = trouble.answer
        let xenia = try await conversation.simpleWatcher(Self.xenia, of: Self.xavier)
        xenia.subscribe(expires: 3600, at: network.now)
        let others = subscribes(conversation, of: Self.xenia, orOthers: true)
        try network.run(for: .seconds(600))
        #expect(subscribes(conversation, of: Self.xenia, orOthers: true) == others)
        #expect(watchers.map(\.notifications.count) == before)
        // After 5, 10, 20 ... 300 seconds, and up to a quarter longer.
        #expect(subscribes(conversation, of: Self.xenia) <= 8)
        #expect(conversation.gateway.counts.unverifiedUpstreams <= 1)
    }

    @Test("a partner that answered 503 to everything for ten minutes, and forgot: the right state within 20 s after it is back")
    func unavailable() async throws {
        let stage = SimulatedStage(seed: 42)
        let network = stage.network
        let conversation = try await conversation(stage)
        let watchers = try await watchers(5, conversation, network)
        conversation.simple.forgetDialogs()
        conversation.simple.manners.answerToOptions = .refuse(.serviceUnavailable)
        conversation.simple.manners.answer = .refuse(.serviceUnavailable)
        try network.run(for: .seconds(600))
        #expect(conversation.gateway.partnerReports.first { $0.name == "example.org" }?.contact.state == .down)
        conversation.simple.manners.answerToOptions = nil
        conversation.simple.manners.answer = .accept
        show("second", of: 0..<5, conversation, at: network.now)
        try network.run(for: .seconds(20))
        for watcher in watchers { #expect(watcher.presence?.notes == ["second"], "\(watcher.name)") }
    }

    @Test(
        "RFC 3263 4.3 a request for one user that a server answers 503, or not at all, moves no subscription that the server accepted",
        arguments: [Trouble.unavailable, .silence], [TransportProtocol.tcp, .udp])
    func oneRequest(trouble: Trouble, transport: TransportProtocol) throws {
        let border = Border(transport: transport)
        border.gateway.keepPartnersAlive(at: border.network.now)
        let watchers = (0..<20).map { _ in border.watcher() }
        for watcher in watchers { #expect(try border.show(watcher) == "at the first") }
        border.first.manners.answers["sip:lab-7@example.org"] = trouble.answer
        let late = border.watcher(of: "sip:lab-7@example.org")
        #expect(try border.show(late) == "at the second")
        try border.network.run(for: .seconds(120))
        #expect(border.first.dialogCount == 20)
        #expect(border.second.dialogCount == 1)
        let asked = border.subscribes(at: border.first).filter { $0.headers.from?.uri.description != late.watcher }
        #expect(asked.count == 20)
    }

    @Test("RFC 6665 4.1.2.3 subscriptions that move away from a server that answers no OPTIONS are ended there")
    func goodbye() throws {
        let border = Border()
        border.gateway.keepPartnersAlive(at: border.network.now)
        let watchers = (0..<5).map { _ in border.watcher() }
        for watcher in watchers { #expect(try border.show(watcher) == "at the first") }
        border.first.manners.answerToOptions = .silence
        try border.network.run(for: .seconds(110))
        for watcher in watchers { #expect(watcher.presence?.notes == ["at the second"], "\(watcher.name)") }
        #expect(border.second.dialogCount == 5)
        #expect(border.first.dialogCount == 0)
        try border.network.run(for: .seconds(40))
        #expect(border.gateway.counts.upstreamSubscriptions == 5)
    }

    @Test("RFC 4662 a NOTIFY about one member between the doubt and the refresh: the list is verified all the same")
    func notifiedInDoubt() async throws {
        let stage = SimulatedStage(seed: 43)
        let network = stage.network
        let service = "sip:lists@example.org"
        let conversation = try await conversation(stage) {
            $0.domains["example.org"]?.lists = .adHoc(service: service)
            $0.domains["example.org"]?.keepAlive = .zero
        }
        conversation.simple.lists.adHocURI = service
        show("first", of: 0..<3, conversation, at: network.now)
        let watcher = try await conversation.listWatcher(of: (0..<3).map(member))
        watcher.subscribe(expires: 3600, at: network.now)
        try network.run(for: .seconds(20))
        network.closeConnections(of: "simple")
        try network.run(for: .seconds(2))
        #expect(conversation.gateway.counts.unverifiedUpstreams == 0)
        // Verified a moment ago, so that its turn comes half a minute later.
        network.takeDown("simple")
        let xenia = try await conversation.simpleWatcher(Self.xenia, of: Self.xavier)
        xenia.subscribe(expires: 3600, at: network.now)
        try network.run(for: .seconds(3))
        network.bringUp("simple")
        try network.run(for: .seconds(10))
        #expect(conversation.gateway.counts.unverifiedUpstreams == 1)
        show("second", of: [0], conversation, at: network.now)
        try network.run(for: .seconds(200))
        #expect(conversation.gateway.counts.unverifiedUpstreams == 0)
        #expect((0..<3).map { watcher.presence(of: member($0))?.notes } == [["second"], ["first"], ["first"]])
    }

    @Test("a partner whose machine comes and goes ten times does not delay another that restarts: the right state within 10 s")
    func others() async throws {
        let stage = SimulatedStage(seed: 44)
        let network = stage.network
        let conversation = try await conversation(stage)
        show("first", of: 0..<100, conversation, at: network.now)
        for index in 0..<6 {
            let many = try await conversation.listWatcher(of: (0..<100).map(member), as: "sip:many\(index)@example.com")
            many.subscribe(expires: 3600, at: network.now)
        }
        conversation.enterprise.set(Conversation.bob, EnhancedState(3500, note: "first"), at: network.now)
        let carol = try await conversation.simpleWatcher(of: Conversation.bob)
        carol.subscribe(expires: 3600, at: network.now)
        try network.run(for: .seconds(20))
        #expect(conversation.simple.dialogCount == 600)
        for _ in 0..<10 {
            network.takeDown("simple")
            try network.run(for: .milliseconds(500))
            network.bringUp("simple")
            try network.run(for: .milliseconds(500))
        }
        network.takeDown("enterprise")
        conversation.enterprise.forgetDialogs()
        try network.run(for: .seconds(2))
        network.bringUp("enterprise")
        conversation.enterprise.set(Conversation.bob, EnhancedState(3500, note: "second"), at: network.now)
        try network.run(for: .seconds(10))
        #expect(carol.presence?.notes == ["second"])
    }

    @Test("OPTIONS that are not sent because the store fails say nothing of the partner's servers")
    func storeFails() throws {
        let store = MemoryStore()
        let border = Border(store: store)
        border.gateway.keepPartnersAlive(at: border.network.now)
        let watcher = border.watcher()
        #expect(try border.show(watcher) == "at the first")
        try border.network.run(for: .seconds(30))
        store.failure = StoreFailure("isthmus.db: database or disk is full (SQLite 13)")
        border.first.set(Border.alice, SimpleDocuments.pidf(of: Border.alice, "open", note: "changed"), at: border.network.now)
        for _ in 0..<70 {
            try border.network.run(for: .seconds(1))
            #expect(border.gateway.counts.hopsDown == 0)
        }
        store.failure = nil
        try border.network.run(for: .seconds(60))
        #expect(border.gateway.counters.commitsFailed > 0)
        #expect(border.subscribes(at: border.second).isEmpty)
        #expect(border.first.dialogCount == 1)
    }

    @Test(
        "RFC 3261 21.5.4 a server that answers OPTIONS 503 is passed over for its Retry-After, and keeps the subscriptions that it accepted"
    )
    func refusedOptions() throws {
        let border = Border()
        border.gateway.keepPartnersAlive(at: border.network.now)
        let watcher = border.watcher()
        #expect(try border.show(watcher) == "at the first")
        border.first.manners.answerToOptions = .refuse(.serviceUnavailable, [.retryAfter: "600"])
        try border.network.run(for: .seconds(200))
        #expect(border.gateway.counts.hopsDown == 1)
        #expect(try border.show(border.watcher()) == "at the second")
        #expect(border.first.dialogCount == 1)
        #expect(watcher.presence?.notes == ["at the first"])
    }

    @Test(
        "a partner that closes idle connections every 120 s is asked about one subscription each time; a restart is still found within 10 s"
    )
    func idleCloses() async throws {
        let stage = SimulatedStage(seed: 45)
        let network = stage.network
        let conversation = try await conversation(stage)
        let watchers = try await watchers(20, conversation, network)
        let before = conversation.simple.requests.filter { $0.method == .subscribe }.count
        for _ in 0..<5 {
            network.closeConnections(of: "simple", .byPeer)
            try network.run(for: .seconds(120))
        }
        #expect(conversation.simple.requests.filter { $0.method == .subscribe }.count - before <= 5)
        #expect(conversation.gateway.counts.unverifiedUpstreams == 0)
        network.closeConnections(of: "simple", .byPeer)
        conversation.simple.forgetDialogs()
        show("second", of: 0..<20, conversation, at: network.now)
        try network.run(for: .seconds(10))
        for watcher in watchers { #expect(watcher.presence?.notes == ["second"], "\(watcher.name)") }
    }

    @Test("a partner that shows something else after it closed its connections is asked about all of its subscriptions")
    func missedChange() async throws {
        let stage = SimulatedStage(seed: 46)
        let network = stage.network
        let conversation = try await conversation(stage)
        let watchers = try await watchers(20, conversation, network)
        for index in 0..<20 {
            let document = SimpleDocuments.pidf(of: member(index), "open", note: "second")
            conversation.simple.set(member(index), document, isNotified: false, at: network.now)
        }
        network.closeConnections(of: "simple", .byPeer)
        try network.run(for: .seconds(10))
        for watcher in watchers { #expect(watcher.presence?.notes == ["second"], "\(watcher.name)") }
    }
}
