import SIPCore
import SIPTransport
import Testing

/// Incomplete messages hold a limited number of octets, and do not block other senders.
@Suite(.timeLimit(.minutes(10))) struct UnfinishedMessagesTests {
    /// Message with a body of this size, without its last octet.
    private static func half(_ size: Int) -> String {
        String(request(body: String(repeating: "b", count: size), via: "TCP").dropLast())
    }

    private static func flood(_ port: Int, connections: Int, of size: Int, from host: UInt32) async throws -> [PlainSocket] {
        try await PlainSocket.aside {
            let text = half(size)
            return try (0..<connections).map { _ in
                let client = try PlainSocket(.tcp, peer: port, from: host)
                client.send(text)
                return client
            }
        }
    }

    /// Sends a request in two parts, the second after the first was read.
    private static func isAnswered(_ echo: EchoServer, from host: UInt32) async throws -> Bool {
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp), from: host)
        let text = request(body: String(repeating: "b", count: 10_000), via: "TCP")
        let before = await echo.server.statistics().counters.bytesReceived
        client.send(String(text.prefix(9_000)))
        while await echo.server.statistics().counters.bytesReceived < before + 9_000 { try await Task.sleep(for: .milliseconds(2)) }
        client.send(String(text.dropFirst(9_000)))
        return try await PlainSocket.aside { try client.receive()?.hasPrefix("SIP/2.0 200") == true }
    }

    @Test("half messages of one address hold a bounded number of octets, and a request in two halves is answered there and elsewhere")
    func oneAddress() async throws {
        let echo = try await EchoServer()
        let flood = try await Self.flood(echo.port(.tcp), connections: 40, of: 1_000_000, from: 2)
        // All input has been read, or dropped with its connection.
        var counters = await echo.server.statistics().counters
        while counters.bytesReceived < 40_000_000, counters.connectionsClosed < 24 {
            try await Task.sleep(for: .milliseconds(2))
            counters = await echo.server.statistics().counters
        }
        #expect(counters.connectionsClosed >= 24, "40 MB do not fit into 16 MiB")
        for host: UInt32 in [2, 3] { #expect(try await Self.isAnswered(echo, from: host)) }
        flood.forEach { $0.close() }
        await echo.server.stop()
    }

    @Test(
        "half messages of many addresses hold a bounded number of octets together; those that began first are closed, and others answered")
    func manyAddresses() async throws {
        var options = TransportOptions()
        options.unfinishedOctets = 1_000_000
        // Exclude any other cause of closing, however slow the machine is.
        options.messageTimeout = .seconds(3_600)
        let echo = try await EchoServer(options: options)
        var flood: [PlainSocket] = []
        for host: UInt32 in 2...11 {
            flood += try await Self.flood(echo.port(.tcp), connections: 20, of: 10_000, from: host)
            let sent = UInt64(flood.count * Self.half(10_000).utf8.count)
            var statistics = await echo.server.statistics()
            while statistics.counters.bytesReceived < sent { statistics = await echo.server.statistics() }
            #expect(statistics.unfinishedOctets <= 1_000_000)
        }
        let counters = await echo.server.statistics().counters
        #expect(counters.unfinishedCloses >= 100 && counters.unfinishedCloses == counters.connectionsClosed)
        let first = flood[0]
        #expect(try await PlainSocket.aside { try first.receive() } == nil, "the message that began first")
        for host: UInt32 in [2, 30] { #expect(try await Self.isAnswered(echo, from: host)) }
        let last = try #require(flood.last)
        last.send("b")
        #expect(try await PlainSocket.aside { try last.receive()?.hasPrefix("SIP/2.0 200") } == true, "the message that began last")
        flood.forEach { $0.close() }
        while await echo.server.statistics().unfinishedOctets > 0 { try await Task.sleep(for: .milliseconds(2)) }
        await echo.server.stop()
    }

    @Test("a partner whose every read ends inside the next message keeps its connection: the time limit is that of one message")
    func overlapping() async throws {
        var options = TransportOptions()
        options.messageTimeout = .seconds(2)
        // The sweep comes four times in this.
        options.connectTimeout = .milliseconds(400)
        let echo = try await EchoServer(options: options)
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp), from: 2)
        let text = request(body: "body", via: "TCP")
        let (first, rest) = (String(text.prefix(40)), String(text.dropFirst(40)))
        client.send(first)
        let end = ContinuousClock.now + .seconds(4)
        repeat {
            client.send(rest + first)
            #expect(try await PlainSocket.aside { try client.receive()?.hasPrefix("SIP/2.0 200") } == true)
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < end
        #expect(await echo.server.statistics().counters.idleCloses == 0)
        client.close()
        await echo.server.stop()
    }
}
