import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// Partners that restart and forget their subscriptions, with default lifetimes and the default configuration.
@Suite("Far legs are verified when something happened to their far side") struct VerificationTests {
    private func conversation(
        _ stage: SimulatedStage, _ transport: TransportProtocol, _ configure: (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws -> Conversation {
        let conversation = try await Conversation(on: stage, transport: transport, configure: configure)
        conversation.gateway.keepPartnersAlive(at: stage.network.now)
        return conversation
    }

    private func show(_ text: String, _ conversation: Conversation, at now: Instant) {
        conversation.enterprise.set(Conversation.bob, EnhancedState(3500, note: text), at: now)
        conversation.simple.set(Conversation.alice, SimpleDocuments.pidf(of: Conversation.alice, "open", note: text), at: now)
    }

    private func watchers(_ conversation: Conversation) async throws -> [ScriptedWatcher] {
        var watchers: [ScriptedWatcher] = []
        for index in 0..<5 {
            watchers.append(try await conversation.simpleWatcher("sip:carol\(index)@example.com", of: Conversation.bob))
            watchers.append(try await conversation.enhancedWatcher("sip:erin\(index)@fabrikam.com", of: Conversation.alice))
        }
        return watchers
    }

    private func restart(_ conversation: Conversation, away span: TimeSpan, _ network: SimulatedNetwork, showing text: String) throws {
        for server in ["enterprise", "simple"] { network.takeDown(server) }
        conversation.enterprise.forgetDialogs()
        conversation.simple.forgetDialogs()
        try network.run(for: span)
        for server in ["enterprise", "simple"] { network.bringUp(server) }
        show(text, conversation, at: network.now)
    }

    @Test("RFC 6665 4.1.2.2 a partner over TCP that restarts in 2 s and forgets: the right state within 10 s")
    func restartOverTCP() async throws {
        let stage = SimulatedStage(seed: 31)
        let network = stage.network
        let conversation = try await conversation(stage, .tcp)
        show("first", conversation, at: network.now)
        let watchers = try await watchers(conversation)
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        try network.run(for: .seconds(3))
        #expect(watchers.allSatisfy { $0.presence?.notes == ["first"] })
        try restart(conversation, away: .seconds(2), network, showing: "second")
        #expect(conversation.gateway.counts.unverifiedUpstreams == 10)
        let subscriptions = conversation.gateway.subscriptions(at: network.now).rows.compactMap(\.leg)
        #expect(subscriptions.count == 10 && subscriptions.allSatisfy { $0.unverifiedSince != nil })
        #expect(conversation.gateway.partnerReports.first { $0.name == "contoso.com" }?.unverified == 5)
        try network.run(for: .seconds(8))
        for watcher in watchers { #expect(watcher.presence?.notes == ["second"], "\(watcher.name) of \(watcher.presentity)") }
        #expect(conversation.gateway.counts.unverifiedUpstreams == 0)
        #expect(conversation.enterprise.dialogCount == 5 && conversation.simple.dialogCount == 5)
    }

    @Test(
        "a partner over UDP that is away for a while and forgets is found by its keep-alive: the right state within 60 s after it is back")
    func restartOverUDP() async throws {
        let stage = SimulatedStage(seed: 32)
        let network = stage.network
        let conversation = try await conversation(stage, .udp)
        show("first", conversation, at: network.now)
        let watchers = try await watchers(conversation)
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        try network.run(for: .seconds(3))
        try restart(conversation, away: .seconds(150), network, showing: "second")
        #expect(conversation.gateway.partnerReports.filter { $0.contact.state == .down }.count >= 2)
        try network.run(for: .seconds(60))
        for watcher in watchers { #expect(watcher.presence?.notes == ["second"], "\(watcher.name) of \(watcher.presentity)") }
    }

    @Test("while a partner is down, what its watchers see is decided by when-lost", arguments: LostPresence.allCases)
    func down(lost: LostPresence) async throws {
        let stage = SimulatedStage(seed: 33)
        let network = stage.network
        let conversation = try await conversation(stage, .udp) { $0.domains["contoso.com"]?.whenLost = lost }
        show("first", conversation, at: network.now)
        let watcher = try await conversation.simpleWatcher(of: Conversation.bob)
        watcher.subscribe(expires: 3600, at: network.now)
        try network.run(for: .seconds(3))
        network.takeDown("enterprise")
        try network.run(for: .seconds(110))
        switch lost {
        case .pending: #expect(watcher.subscriptionState?.state == .pending)
        case .offline: #expect(watcher.presence?.basic == "closed")
        case .stale: #expect(watcher.subscriptionState?.state == .active && watcher.presence?.notes == ["first"])
        }
        network.bringUp("enterprise")
        try network.run(for: .seconds(60))
        #expect(watcher.subscriptionState?.state == .active && watcher.presence?.notes == ["first"])
    }

    @Test("a partner that closes its connections every second is not asked faster than every 30 s")
    func flapping() async throws {
        let stage = SimulatedStage(seed: 34)
        let network = stage.network
        let conversation = try await conversation(stage, .tcp)
        show("first", conversation, at: network.now)
        let watchers = try await watchers(conversation)
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        try network.run(for: .seconds(3))
        let before = conversation.simple.requests.count + conversation.enterprise.requests.count
        for _ in 0..<60 {
            network.closeConnections(of: "enterprise")
            network.closeConnections(of: "simple")
            try network.run(for: .seconds(1))
        }
        let after = conversation.simple.requests.count + conversation.enterprise.requests.count
        // Ten subscriptions, each verified at most three times in a minute, and the answers to their NOTIFYs are none.
        #expect(after - before <= 60, "\(after - before)")
    }

    @Test(
        "RFC 4662 two watchers behind one list of a server that forgot it see what the server then says, and go on with its changes",
        arguments: [true, false], [TransportProtocol.udp, .tcp])
    func list(beginsWithoutInstances: Bool, transport: TransportProtocol) async throws {
        let stage = SimulatedStage(seed: 35)
        let network = stage.network
        let service = "sip:lists@example.org"
        let conversation = try await conversation(stage, transport) {
            $0.domains["example.org"]?.lists = .adHoc(service: service)
            $0.domains["example.org"]?.keepAlive = .zero
        }
        conversation.simple.lists.adHocURI = service
        conversation.simple.lists.beginsWithoutInstances = beginsWithoutInstances
        let members = (0..<3).map { "sip:alice\($0)@example.org" }
        func show(_ text: String) {
            for member in members {
                conversation.simple.set(member, SimpleDocuments.pidf(of: member, "open", note: text), at: network.now)
            }
        }
        show("first")
        var watchers: [ListWatcher] = []
        for index in 0..<2 { watchers.append(try await conversation.listWatcher(of: members, as: "sip:carol\(index)@example.com")) }
        // The second watcher has a second dialog, which joins the list subscription of its first.
        watchers.append(try await conversation.listWatcher(of: Array(members.prefix(2)), as: "sip:carol0@example.com"))
        for watcher in watchers {
            watcher.refreshesItself = true
            watcher.subscribe(expires: 3600, at: network.now)
        }
        try network.run(for: .seconds(20))
        func check(_ text: String) {
            for watcher in watchers {
                for member in watcher.list {
                    #expect(watcher.presence(of: member)?.notes == [text], "\(watcher.name) of \(member)")
                }
            }
        }
        check("first")
        conversation.simple.forgetDialogs()
        network.closeConnections(of: "simple")
        show("second")
        try network.run(for: transport == .tcp ? .seconds(10) : .seconds(2_720))
        check("second")
        show("third")
        try network.run(for: .seconds(10))
        check("third")
    }

    @Test("a NOTIFY that was refused because the store failed is asked for once the store works, though its notifier does not repeat it")
    func refusedHere() async throws {
        let stage = SimulatedStage(seed: 36)
        let network = stage.network
        let store = MemoryStore()
        let conversation = try await Conversation(on: stage, transport: .tcp, store: store)
        show("first", conversation, at: network.now)
        let watchers = try await watchers(conversation)
        for watcher in watchers { watcher.subscribe(expires: 3600, at: network.now) }
        // From then on the next NOTIFY of each watcher waits for a commit.
        try network.run(for: .seconds(60))
        store.failure = StoreFailure("disk full")
        for text in ["second", "third"] {
            show(text, conversation, at: network.now)
            try network.run(for: .milliseconds(500))
        }
        #expect(conversation.gateway.counts.unverifiedUpstreams == 10)
        store.failure = nil
        try network.run(for: .seconds(10))
        for watcher in watchers { #expect(watcher.presence?.notes == ["third"], "\(watcher.name) of \(watcher.presentity)") }
        #expect(conversation.gateway.counts.unverifiedUpstreams == 0)
    }

    @Test("RFC 3263 4.3 live subscriptions move to the reserve when their server dies, though it answers keep-alives in its place")
    func reserve() throws {
        for transport in [TransportProtocol.tcp, .udp] {
            let border = Border(transport: transport)
            border.gateway.keepPartnersAlive(at: border.network.now)
            let watchers = (0..<20).map { _ in border.watcher() }
            for watcher in watchers { #expect(try border.show(watcher) == "at the first") }
            border.network.takeDown("first")
            try border.network.run(for: transport == .tcp ? .seconds(10) : .seconds(110))
            for watcher in watchers { #expect(watcher.presence?.notes == ["at the second"], "\(transport) \(watcher.name)") }
            #expect(border.second.dialogCount == 20)
            #expect(border.gateway.counts.unverifiedUpstreams == 0)
        }
    }
}
