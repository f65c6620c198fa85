import SIPCore
import SIPTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConnectionTableTests {
    @Test("RFC 3261 18 one connection serves all messages to an address, and an accepted one serves its peer") func reuse() async throws {
        let echo = try await EchoServer()
        let peer = try PlainSocket(.tcpListener)
        let target = Destination.address(TransportAddress(.tcp, "127.0.0.1", peer.port), from: nil)
        try await echo.look { endpoint, _ in
            endpoint.send("ONE", to: target)
            endpoint.send("TWO", to: target)
        }
        let accepted = try peer.accept()
        #expect(try accepted.receive(until: "TWO") == "ONETWO")
        try await echo.look { endpoint, _ in endpoint.send("THREE", to: target) }
        #expect(try accepted.receive() == "THREE")
        #expect(await echo.server.statistics().counters.connectionsOpened == 1)

        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request())
        _ = try client.receive()
        try await echo.look { endpoint, _ in endpoint.send("FOUR", to: .address(endpoint.received[0].remote, from: nil)) }
        #expect(try client.receive() == "FOUR")
        #expect(await echo.server.statistics().counters.connectionsOpened == 1)
        await echo.server.stop()
    }

    @Test("a refused connect fails every message that waited for it") func refusedConnect() async throws {
        let echo = try await EchoServer()
        let dead = try PlainSocket(.tcpListener)
        let port = dead.port
        dead.close()
        try await echo.look { endpoint, _ in
            for token in 7...9 {
                endpoint.send("X", to: .address(TransportAddress(.tcp, "127.0.0.1", port), from: nil), token: UInt64(token))
            }
        }
        try await echo.wait { $0.notices.count >= 3 }
        let tokens = try await echo.look { endpoint, _ in
            endpoint.notices.compactMap { if case .failed(let token, _) = $0 { token } else { nil } }
        }
        #expect(tokens == [7, 8, 9])
        await echo.server.stop()
    }

    @Test("a message for a connection that has gone takes the fallback, else fails") func goneConnection() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request())
        _ = try client.receive()
        let id = try await echo.look { endpoint, _ in endpoint.received[0].connection! }
        client.close()
        try await echo.wait { $0.notices.contains(.closed(id, .byPeer)) }
        let peer = try PlainSocket(.tcpListener)
        try await echo.look { endpoint, _ in
            endpoint.send("FALLBACK", to: .connection(id, fallback: TransportAddress(.tcp, "127.0.0.1", peer.port)))
            endpoint.send("LOST", to: .connection(id, fallback: nil), token: 5)
        }
        #expect(try peer.accept().receive() == "FALLBACK")
        try await echo.wait { $0.notices.contains { if case .failed(5, _) = $0 { true } else { false } } }
        await echo.server.stop()
    }

    @Test("a peer that does not read is closed when its queue is full") func slowPeer() async throws {
        var options = TransportOptions()
        options.maximumQueuedBytes = 100_000
        let echo = try await EchoServer(options: options)
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp), receiveBuffer: 4_096)
        client.send(request())
        try await echo.wait { !$0.received.isEmpty }
        let id = try await echo.look { endpoint, _ in endpoint.received[0].connection! }
        let chunk = String(repeating: "y", count: 50_000)
        var closed = false
        for _ in 0..<2_000 where !closed {
            closed = try await echo.look { endpoint, _ in
                endpoint.send(chunk, to: .connection(id, fallback: nil), token: 9)
                return endpoint.notices.contains(.closed(id))
            }
        }
        #expect(closed)
        #expect(await echo.server.statistics().counters.queueOverflows >= 1)
        await echo.server.stop()
    }

    @Test("a silent connection is closed after the idle time") func idle() async throws {
        var options = TransportOptions()
        options.idleTimeout = .milliseconds(150)
        let echo = try await EchoServer(options: options)
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request())
        _ = try client.receive()
        #expect(try client.receive() == nil)
        try await echo.wait { !$0.notices.isEmpty }
        #expect(await echo.server.statistics().connections == 0)
        await echo.server.stop()
    }

    @Test("connections beyond the limit are closed at once") func tooManyConnections() async throws {
        var options = TransportOptions()
        options.maximumConnections = 1
        let echo = try await EchoServer(options: options)
        let first = try PlainSocket(.tcp, peer: echo.port(.tcp))
        first.send(request())
        _ = try first.receive()
        let second = try PlainSocket(.tcp, peer: echo.port(.tcp))
        #expect((try? second.receive()) == .some(nil))
        first.send(request())
        #expect(try first.receive()?.hasPrefix("SIP/2.0 200") == true)
        await echo.server.stop()
    }

    @Test("a name is resolved, and a name without an address fails the message") func names() async throws {
        let echo = try await EchoServer()
        let peer = try PlainSocket(.udp)
        try await echo.look { endpoint, _ in
            endpoint.send("HELLO", to: .address(TransportAddress(.udp, "localhost", peer.port), from: nil))
            endpoint.send("X", to: .address(TransportAddress(.udp, "no-such-host.invalid", 5060), from: nil), token: 3)
        }
        #expect(try peer.receive() == "HELLO")
        try await echo.wait { $0.notices.contains { if case .failed(3, _) = $0 { true } else { false } } }
        await echo.server.stop()
    }

    @Test("a connection of another loop is reached through that loop's mailbox") func shards() async throws {
        // Shard by the last digit of the request's body.
        let echo = try await EchoServer(["tcp", "udp"], shards: 2) { Int($0.bytes.last! - UInt8(ascii: "0")) % 2 }
        let clients = try (0..<4).map { _ in try PlainSocket(.tcp, peer: echo.port(.tcp)) }
        for client in clients {
            for shard in 0...1 {
                client.send(request(body: "\(shard)"))
                #expect(try client.receive(until: "Content-Length: 0").contains("X-Shard: \(shard)"))
            }
        }
        let datagram = try PlainSocket(.udp)
        for shard in 0...1 {
            datagram.send(request(body: "\(shard)"), to: echo.port(.udp))
            #expect(try datagram.receive()?.contains("X-Shard: \(shard)") == true)
        }
        #expect(await echo.server.statistics().counters.handedToOtherShards > 0)
        await echo.server.stop()
    }

    @Test("a message keeps the parse by which its shard was selected, also on the way to another loop") func parsed() async throws {
        let echo = try await EchoServer(["tcp"], shards: 2) { message in
            guard case .success(let parsed) = message.parse() else { return 0 }
            return parsed.body == Array("1".utf8) ? 1 : 0
        }
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        for shard in 0...1 {
            client.send(request(body: "\(shard)"))
            #expect(try client.receive(until: "Content-Length: 0").contains("X-Shard: \(shard)"))
            #expect(try await echo.look(shard: shard) { endpoint, _ in endpoint.received.map(\.isParsed) } == [true])
        }
        #expect(await echo.server.statistics().counters.handedToOtherShards == 1)
        await echo.server.stop()
    }
}
