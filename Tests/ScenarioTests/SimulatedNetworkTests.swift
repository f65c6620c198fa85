import GatewayTesting
import SIPCore
import Testing

/// Sends numbered messages and keeps what it receives.
private final class Chatter: SansIOEndpoint {
    var received: [(text: String, at: Instant)] = []
    var notices: [TransportNotice] = []
    var outbox: [OutboundMessage] = []
    var echoes = false
    var alarm: Instant?
    var alarmsSeen: [Instant] = []

    func receive(_ message: InboundMessage, at now: Instant) {
        received.append((String(decoding: message.bytes, as: UTF8.self), now))
        guard echoes else { return }
        let back: Destination =
            message.connection.map { .connection($0, fallback: nil) } ?? .address(message.remote, from: message.local)
        outbox.append(OutboundMessage(bytes: message.bytes, destination: back))
    }
    func receive(_ notice: TransportNotice, at now: Instant) { notices.append(notice) }
    func advance(to now: Instant) {
        guard let due = alarm, due <= now else { return }
        alarmsSeen.append(now)
        alarm = nil
    }
    var nextDeadline: Instant? { alarm }
    func takeOutput() -> [OutboundMessage] {
        defer { outbox = [] }
        return outbox
    }
    func say(_ text: String, to address: TransportAddress, token: UInt64 = 0) {
        outbox.append(OutboundMessage(bytes: Array(text.utf8), destination: .address(address, from: nil), token: token))
    }
}

@Suite struct SimulatedNetworkTests {
    private let left = TransportAddress(.udp, "192.0.2.1", 5060)
    private let right = TransportAddress(.udp, "192.0.2.2", 5060)
    private let rightStream = TransportAddress(.tcp, "192.0.2.2", 5060)

    private func pair(_ conditions: NetworkConditions, seed: UInt64 = 1) -> (SimulatedNetwork, Chatter, Chatter) {
        let network = SimulatedNetwork(seed: seed, conditions: conditions)
        let (one, other) = (Chatter(), Chatter())
        network.attach(one, name: "one", at: [left])
        network.attach(other, name: "other", at: [right, rightStream])
        return (network, one, other)
    }

    @Test func aDatagramArrivesAfterTheDelayOfItsLink() throws {
        let (network, one, other) = pair(NetworkConditions(delay: .milliseconds(30)))
        let start = network.now
        one.say("hello", to: right)
        try network.run(for: .seconds(1))
        #expect(other.received.map(\.text) == ["hello"])
        #expect(other.received.first?.at == start + .milliseconds(30))
        #expect(network.now == start + .seconds(1))
    }

    @Test func lossDuplicationAndReorderingHappenAtAboutTheirShares() throws {
        let (network, one, other) = pair(
            NetworkConditions(delay: .milliseconds(5), jitter: .milliseconds(5), loss: 0.2, duplication: 0.1, reordering: 0.1))
        for number in 0..<2000 {
            one.say("\(number)", to: right)
            try network.run(for: .milliseconds(2))
        }
        try network.run(for: .seconds(1))
        let numbers = other.received.compactMap { Int($0.text) }
        let distinct = Set(numbers).count
        // A number is lost when every copy is: 0.9 * 0.2 + 0.1 * 0.04.
        #expect((1580...1690).contains(distinct))
        #expect(numbers.count > distinct)
        #expect(numbers != numbers.sorted())
    }

    @Test(arguments: [UInt64(1), 7, 99]) func theSameSeedGivesTheSameTranscript(seed: UInt64) throws {
        func digest(_ seed: UInt64) throws -> UInt64 {
            let (network, one, other) = pair(.terrible, seed: seed)
            other.echoes = true
            for number in 0..<200 {
                one.say("\(number)", to: number.isMultiple(of: 3) ? rightStream : right)
                try network.run(for: .milliseconds(40))
            }
            return network.transcript.digest
        }
        #expect(try digest(seed) == digest(seed))
        #expect(try digest(seed) != digest(seed + 1))
    }

    @Test func aStreamKeepsOrderWhateverTheJitter() throws {
        let (network, one, other) = pair(NetworkConditions(delay: .milliseconds(1), jitter: .seconds(1), loss: 0.5, reordering: 0.5))
        for number in 0..<100 { one.say("\(number)", to: rightStream) }
        try network.run(for: .seconds(5))
        #expect(other.received.map(\.text) == (0..<100).map(String.init))
        #expect(network.connectionCount == 1)
    }

    @Test func anAnswerGoesBackOverTheConnectionOfTheRequest() throws {
        let (network, one, other) = pair(.perfect)
        other.echoes = true
        one.say("ping", to: rightStream)
        try network.run(for: .seconds(1))
        #expect(one.received.map(\.text) == ["ping"])
        #expect(network.connectionCount == 1)
    }

    @Test func aRefusedConnectionFailsTheMessageByItsToken() throws {
        let (network, one, _) = pair(.perfect)
        one.say("lost", to: TransportAddress(.tcp, "192.0.2.9", 5060), token: 42)
        try network.run(for: .seconds(1))
        #expect(one.notices == [.failed(token: 42, reason: "connection refused")])
    }

    @Test func bothEndsOfADeadConnectionAreTold() throws {
        let (network, one, other) = pair(.perfect)
        one.say("ping", to: rightStream)
        try network.run(for: .seconds(1))
        network.closeConnections(of: "other")
        try network.run(for: .seconds(1))
        #expect(one.notices.count == 1 && other.notices.count == 1)
        #expect(network.connectionCount == 0)
    }

    @Test func aTimerFiresAtItsExactInstant() throws {
        let (network, one, _) = pair(.perfect)
        let due = network.now + .seconds(3600)
        one.alarm = due
        try network.run(for: .seconds(7200))
        #expect(one.alarmsSeen == [due])
    }

    @Test func anEndpointThatNeverSettlesIsNamed() throws {
        final class Restless: SansIOEndpoint {
            var nextDeadline: Instant? { Instant(secondsSince1970: 0) }
            func receive(_ message: InboundMessage, at now: Instant) {}
            func receive(_ notice: TransportNotice, at now: Instant) {}
            func advance(to now: Instant) {}
            func takeOutput() -> [OutboundMessage] { [] }
        }
        let network = SimulatedNetwork(seed: 1)
        network.attach(Restless(), name: "restless", at: [left])
        #expect(throws: SimulationError.timeStandsStill(at: network.now, who: "restless")) {
            try network.run(for: .seconds(1))
        }
    }

    @Test func aStationThatIsDownNeitherSendsNorReceives() throws {
        let (network, one, other) = pair(.perfect)
        network.takeDown("other")
        one.say("into the void", to: right)
        try network.run(for: .seconds(1))
        #expect(other.received.isEmpty)
        network.bringUp("other")
        one.say("hello again", to: right)
        try network.run(for: .seconds(1))
        #expect(other.received.map(\.text) == ["hello again"])
    }

    @Test func theTranscriptReadsAsALadder() throws {
        let (network, one, _) = pair(NetworkConditions(delay: .milliseconds(250)))
        try network.run(for: .milliseconds(1500))
        one.say("OPTIONS sip:example.org SIP/2.0\r\n\r\n", to: right)
        try network.run(for: .seconds(1))
        #expect(network.transcript.ladder == "1.500s udp one -> other OPTIONS sip:example.org SIP/2.0")
    }
}
