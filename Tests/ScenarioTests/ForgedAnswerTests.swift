import FederationRouting
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// RFC 3261 17.1.3 names the request that a response answers; whether the response is believed is decided by where it comes from.
@Suite struct ForgedAnswerTests {
    typealias Question = AnswerWorld.Question

    static let asked: [(Question, TransportProtocol)] = Question.allCases.flatMap { question in
        TransportProtocol.allCases.filter { question != .service || $0.isReliable }.map { (question, $0) }
    }

    @Test(
        "an answer from a stranger, or over another partner's connection, changes nothing before the true one and nothing after it",
        arguments: asked)
    func strangers(question: Question, transport: TransportProtocol) throws {
        let world = try AnswerWorld(transport, keepsAlive: question == .options)
        let gateway = world.gateway
        let request = try world.ask(question)
        let (honest, sent) = (world.honest, world.sent)
        try world.forge(AnswerWorld.forgeries(request))
        #expect(gateway.counters.responsesReceived == honest, "a forged answer was believed")
        #expect(gateway.counters.responsesRefused == world.forged)
        #expect(world.sent == sent, "a forged answer made the gateway act")
        try world.network.run(for: .milliseconds(420))
        #expect(world.honest > honest && gateway.counters.responsesReceived == world.honest, "the true answer counts")
        let settled = world.sent
        try world.forge(AnswerWorld.forgeries(request))
        #expect(gateway.counters.responsesReceived == world.honest)
        #expect(world.sent == settled)
        // After the true answer there may be no request left that a response can name.
        #expect(gateway.counters.responsesRefused >= world.forged / 2)
        #expect(world.carol.notifications.allSatisfy { !($0.presence?.notes.contains("forged") ?? false) })
    }

    @Test("answers that are refused are logged once a minute for each host") func log() throws {
        let world = try AnswerWorld(.tls)
        let request = try world.ask(.subscribe)
        for _ in 0..<20 { try world.forge(AnswerWorld.forgeries(request)) }
        let lines = world.gateway.takeLogs().filter { "\($0.message)" == "answer refused" }
        #expect(lines.count == world.forgers.count)
    }

    @Test("a forged document is shown to no watcher, and a forged 481 ends no dialog", arguments: TransportProtocol.allCases)
    func watcher(transport: TransportProtocol) throws {
        let world = try AnswerWorld(transport)
        try world.forge(AnswerWorld.forgeries(try world.ask(.subscribe)))
        try world.network.run(for: .seconds(2))
        #expect(world.carol.presence?.activities == ["busy"])
        world.network.setConditions(nil, from: "simple", to: "gateway")
        try world.forge(AnswerWorld.forgeries(try world.ask(.notify)))
        try world.network.run(for: .seconds(2))
        #expect(world.carol.phase == .live && world.carol.presence?.basic == "closed")
        #expect(world.gateway.counts.watcherDialogs >= 1 && world.gateway.counters.notificationsFailed == 0)
    }

    @Test(
        "RFC 3261 8.2.6.2: an answer from the right place with another Call-ID, From tag, CSeq number or method is refused",
        arguments: [Question.subscribe, .notify, .publish, .options])
    func identifiers(question: Question) throws {
        let world = try AnswerWorld(.udp, keepsAlive: question == .options)
        let gateway = world.gateway
        let request = try world.ask(question)
        let received = gateway.counters.responsesReceived
        func answer(_ status: SIPStatus, _ change: (inout SIPHeaders) -> Void = { _ in }) {
            var response = SIPResponse(to: request, status: status, toTag: request.headers.toTag ?? "t")
            change(&response.headers)
            gateway.receive(world.datagram(response, from: question == .notify ? "192.0.2.30" : "192.0.2.20"), at: world.network.now)
        }
        for status in [SIPStatus.ok, .callOrTransactionDoesNotExist] {
            answer(status) { $0.callID = "another" }
            answer(status) { $0.from = NameAddr("<sip:a@example.org>;tag=another") }
            answer(status) { $0.cSeq = CSeq((request.headers.cSeq?.number ?? 0) + 1, request.method) }
            answer(status) { $0.cSeq = CSeq(request.headers.cSeq?.number ?? 0, .message) }
        }
        #expect(gateway.counters.responsesReceived == received)
        #expect(gateway.counters.responsesRefused == 6 && gateway.counters.responsesStray == 2)
        answer(.ok)
        #expect(gateway.counters.responsesReceived == received + 1)
    }

    @Test("a UDP server may answer from another of its addresses that `peers` names, and from no other")
    func multihomed() throws {
        let world = try AnswerWorld(.udp)
        let request = try world.ask(.subscribe)
        let received = world.gateway.counters.responsesReceived
        let answer = SIPResponse(to: request, status: .trying)
        for (host, isBelieved) in [("192.0.2.42", false), ("192.0.2.10", false), ("192.0.2.41", true), ("192.0.2.20", true)] {
            let before = world.gateway.counters.responsesReceived
            world.gateway.receive(world.datagram(answer, from: host), at: world.network.now)
            #expect((world.gateway.counters.responsesReceived > before) == isBelieved, "\(host)")
        }
        #expect(world.gateway.counters.responsesReceived == received + 2)
    }

    @Test("RFC 3261 17.1.4: when the connection of a request ends before its answer, the request fails at once and is tried again")
    func connectionLost() throws {
        let world = try AnswerWorld(.tls)
        _ = try world.ask(.subscribe)
        world.network.closeConnections(of: "simple")
        world.network.setConditions(nil, from: "simple", to: "gateway")
        #expect(try world.network.run(atMost: .seconds(20)) { world.carol.presence?.activities == ["busy"] })
    }
}

extension AnswerWorld {
    func datagram(_ response: SIPResponse, from host: String) -> InboundMessage {
        InboundMessage(
            bytes: response.serialized(), local: TransportAddress(.udp, "192.0.2.1", 5060), remote: TransportAddress(.udp, host, 5060))
    }
}
