import SIPCore
import SIPTransport
import Testing

/// Responses to received requests are sent before a connection is closed, whichever side closes it.
@Suite(.timeLimit(.minutes(10))) struct ConnectionEndTests {
    private static let answer = "SIP/2.0 200 OK\r\nX-Shard: 0\r\nContent-Length: 0\r\n\r\n"

    /// Sends the responses that the endpoint has withheld.
    private func answerNow(_ echo: EchoServer) async throws {
        try await echo.look { endpoint, _ in
            for message in endpoint.received {
                guard let connection = message.connection else { continue }
                endpoint.send(Self.answer, to: .connection(connection, fallback: nil))
            }
        }
    }

    @Test("RFC 3261 18.3: a request is answered although the octets behind it in the same segment cannot be framed", arguments: [1, 2])
    func garbageBehindRequest(_ shards: Int) async throws {
        let echo = try await EchoServer(shards: shards) { _ in shards - 1 }
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request(via: "TCP") + "\rgarbage")
        let received = try await PlainSocket.aside { try client.receiveAll() }
        #expect(received.hasPrefix("SIP/2.0 200 OK"))
        #expect(await echo.server.statistics().counters.framingErrors == 1)
        await echo.server.stop()
    }

    @Test("a client that goes on sending garbage gets the answers to its requests, and then the end of the stream")
    func muchGarbage() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        try await PlainSocket.aside {
            client.send(request(via: "TCP") + request(via: "TCP") + "\r" + String(repeating: "garbage", count: 300_000))
        }
        let received = try await PlainSocket.aside { try client.receiveAll() }
        #expect(received.components(of: "SIP/2.0 200 OK") == 2)
        await echo.server.stop()
    }

    @Test("a client that closes its sending half after its request gets its answer, however late, and then the end")
    func halfClosed() async throws {
        let echo = try await EchoServer()
        try await echo.look { endpoint, _ in endpoint.answers = false }
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request(via: "TCP"))
        client.shutdownSending()
        try await echo.wait { $0.received.count == 1 }
        try await answerNow(echo)
        #expect(try await PlainSocket.aside { try client.receiveAll() } == Self.answer)
        try await echo.wait { $0.notices.contains { if case .closed = $0 { true } else { false } } }
        #expect(await echo.server.statistics().connections == 0)
        await echo.server.stop()
    }

    @Test("a half-closed connection whose request is never answered is closed after a while")
    func neverAnswered() async throws {
        var options = TransportOptions()
        options.lingerTimeout = .milliseconds(100)
        let echo = try await EchoServer(options: options)
        try await echo.look { endpoint, _ in endpoint.answers = false }
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request(via: "TCP"))
        client.shutdownSending()
        #expect(try await PlainSocket.aside { try client.receive() } == nil)
        #expect(try await echo.look { endpoint, _ in endpoint.received.count } == 1)
        await echo.server.stop()
    }

    @Test("a half-closed connection on which nothing is to be answered is closed at once")
    func nothingToAnswer() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request(via: "TCP"))
        _ = try await client.arriving(until: "\r\n\r\n")
        client.shutdownSending()
        #expect(try await PlainSocket.aside { try client.receive() } == nil)
        #expect(await echo.server.statistics().connections == 0)
        await echo.server.stop()
    }
}
