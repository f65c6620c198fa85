import Dispatch
import NIOCore
import SIPCore
import Testing

@testable import SIPTransport

/// A flood of one sender does not delay others: shown by the order in which messages reach the endpoint, independent of the machine's
/// speed.
@Suite(.timeLimit(.minutes(10))) struct FairShareTests {
    private func server(_ transport: String) async throws -> EchoServer {
        var options = TransportOptions()
        options.messagesPerTick = 4
        return try await EchoServer([transport], options: options)
    }

    /// Blocks the loop until everything is in its sockets, so that more input is ready than one tick takes.
    private func whileHeld(_ echo: EchoServer, _ body: () async throws -> Void) async throws {
        let gate = DispatchSemaphore(value: 0)
        let held = echo.server.shards[0].perform { _, _ in gate.wait() }
        try await body()
        gate.signal()
        try await held.get()
    }

    private func place(_ echo: EchoServer, of method: String) async throws -> Int? {
        try await echo.look { endpoint, _ in endpoint.received.firstIndex { $0.bytes.starts(with: Array(method.utf8)) } }
    }

    @Test("a connection that brings a thousand messages at once lets another's one message go first") func streams() async throws {
        let echo = try await server("tcp")
        let flood = try PlainSocket(.tcp, peer: echo.port(.tcp))
        let victim = try PlainSocket(.tcp, peer: echo.port(.tcp))
        for client in [flood, victim] {
            client.send(request())
            _ = try client.receive(until: "SIP/2.0 200")
        }
        try await whileHeld(echo) {
            flood.send(String(repeating: request("PUBLISH"), count: 200))
            victim.send(request("NOTIFY"))
        }
        try await echo.wait { $0.received.count == 203 }
        let place = try #require(try await place(echo, of: "NOTIFY"))
        #expect(place <= 2 + 2 * 4, "\(place) messages came before it")
        #expect(await echo.server.statistics().counters.readsPaused > 40)
        await echo.server.stop()
    }

    @Test("what a connection sent before it was closed is taken although it had its share") func closing() async throws {
        let echo = try await server("tcp")
        do {
            let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
            client.send(String(repeating: request("PUBLISH"), count: 60))
            try await echo.wait { $0.received.count >= 4 }
            client.close()
        }
        try await echo.wait { $0.received.count == 60 }
        await echo.server.stop()
    }

    @Test("a source of datagrams that floods waits for its next turn, and another's datagram arrives") func datagrams() async throws {
        let echo = try await server("udp")
        let (flood, victim) = (try PlainSocket(.udp), try PlainSocket(.udp))
        try await whileHeld(echo) {
            for _ in 0..<200 { flood.send(request("PUBLISH"), to: echo.port(.udp)) }
            victim.send(request("NOTIFY"), to: echo.port(.udp))
        }
        try await echo.wait { $0.received.contains { $0.bytes.starts(with: Array("NOTIFY".utf8)) } }
        // The part of the flood handled meanwhile depends on the machine; that the sender had to wait does not.
        #expect(await echo.server.statistics().counters.readsPaused > 0)
        await echo.server.stop()
    }

    @Test("each source keeps its order, gets its turn in each round, and loses what it sends far beyond its share") func shares() {
        var shares = DatagramShares()
        func message(_ port: Int, _ number: Int) -> InboundMessage {
            InboundMessage(
                bytes: Array("\(number)".utf8), local: TransportAddress(.udp, "192.0.2.1", 5060),
                remote: TransportAddress(.udp, "192.0.2.2", port))
        }
        var verdicts: [DatagramShares.Verdict] = []
        for number in 0..<40 { verdicts.append(shares.take(message(1, number), share: 4, in: 1)) }
        #expect(verdicts.filter { $0 == .now }.count == 4 && verdicts.filter { $0 == .later }.count == 32)
        #expect(verdicts.suffix(4).allSatisfy { $0 == .dropped })
        for number in 0..<5 { _ = shares.take(message(2, number), share: 4, in: 1) }
        var rounds: [[String]] = []
        while !shares.isEmpty {
            rounds.append(shares.nextRound(share: 4).map { "\($0.remote.port):\(String(decoding: $0.bytes, as: UTF8.self))" })
        }
        #expect(rounds.first == ["1:4", "1:5", "1:6", "1:7", "2:4"])
        #expect(rounds.count == 8 && rounds.last == ["1:32", "1:33", "1:34", "1:35"])
        #expect(shares.take(message(1, 99), share: 4, in: 2) == .now)
    }
}
