import SIPCore
import SIPTransport
import Testing

/// Keep-alive, loss, replacement and limits of connections.
@Suite(.timeLimit(.minutes(10))) struct ConnectionLifeTests {
    private func quick(_ change: (inout TransportOptions) -> Void = { _ in }) -> TransportOptions {
        var options = TransportOptions()
        options.pingInterval = .milliseconds(200)
        options.pongTimeout = .milliseconds(400)
        change(&options)
        return options
    }

    private func target(_ peer: PlainSocket) -> TransportAddress { TransportAddress(.tcp, "127.0.0.1", peer.port) }

    private func failures(_ endpoint: EchoEndpoint) -> [UInt64: String] {
        endpoint.notices.reduce(into: [:]) { if case .failed(let token, let reason) = $1 { $0[token] = reason } }
    }

    @Test("RFC 5626 4.4.1: a silent connection of ours is pinged, and lives while the pings are answered") func pingPong() async throws {
        let echo = try await EchoServer(options: quick { $0.pongTimeout = .seconds(20) })
        let peer = try PlainSocket(.tcpListener)
        let address = target(peer)
        try await echo.look { endpoint, _ in endpoint.send("ONE", to: .address(address, from: nil)) }
        let accepted = try await peer.nextPeer()
        #expect(try await accepted.arriving(until: "ONE\r\n\r\n") == "ONE\r\n\r\n")
        accepted.send("\r\n")
        #expect(try await accepted.arriving(until: "\r\n\r\n") == "\r\n\r\n")
        accepted.send("\r\n")
        try await echo.look { endpoint, _ in endpoint.send("TWO", to: .address(address, from: nil)) }
        // The next ping may come with it.
        #expect(try await accepted.arriving(until: "TWO").contains("TWO"))
        let counters = await echo.server.statistics().counters
        #expect(counters.pingsSent >= 2)
        #expect(counters.connectionsOpened == 1)
        #expect(counters.flowsFailed == 0)
        await echo.server.stop()
    }

    @Test("RFC 5626 4.4.1: a peer that answered a ping and then none is dead: what it was sent since fails, and the next connection is new")
    func deadFlow() async throws {
        let echo = try await EchoServer(options: quick { $0.pongTimeout = .seconds(3) })
        let peer = try PlainSocket(.tcpListener)
        let address = target(peer)
        try await echo.look { endpoint, _ in endpoint.send("ONE", to: .address(address, from: nil), token: 1) }
        let accepted = try await peer.nextPeer()
        _ = try await accepted.arriving(until: "ONE\r\n\r\n")
        accepted.send("\r\n")
        try await echo.look { endpoint, _ in endpoint.send("TWO", to: .address(address, from: nil), token: 2) }
        try await echo.wait { $0.notices.contains { if case .closed = $0 { true } else { false } } }
        #expect(try await echo.look { endpoint, _ in failures(endpoint) } == [2: "no answer to a ping (RFC 5626 4.4.1)"])
        #expect(await echo.server.statistics().counters.flowsFailed == 1)
        try await echo.look { endpoint, _ in endpoint.send("THREE", to: .address(address, from: nil)) }
        #expect(try await peer.nextPeer().arriving(until: "THREE").hasPrefix("THREE"))
        await echo.server.stop()
    }

    @Test("RFC 5626 4.4.1: a peer that never answered a ping keeps its connection, and is pinged no more") func noPong() async throws {
        let echo = try await EchoServer(options: quick())
        let peer = try PlainSocket(.tcpListener)
        let address = target(peer)
        try await echo.look { endpoint, _ in endpoint.send("ONE", to: .address(address, from: nil)) }
        let accepted = try await peer.nextPeer()
        _ = try await accepted.arriving(until: "ONE\r\n\r\n")
        // Longer than the time limit of a ping, and than the interval to the next.
        try await Task.sleep(for: .seconds(2))
        try await echo.look { endpoint, _ in endpoint.send("TWO", to: .address(address, from: nil)) }
        #expect(try await accepted.arriving(until: "TWO") == "TWO")
        let counters = await echo.server.statistics().counters
        #expect(counters.flowsFailed == 0)
        #expect(counters.pingsSent == 1)
        #expect(counters.connectionsOpened == 1)
        await echo.server.stop()
    }

    @Test("RFC 5626 4.4.1: pings and their answers alone keep no connection from its idle end") func idleDespitePings() async throws {
        let echo = try await EchoServer(
            options: quick {
                $0.idleTimeout = .seconds(2)
                $0.pongTimeout = .seconds(20)
            })
        let peer = try PlainSocket(.tcpListener)
        let address = target(peer)
        try await echo.look { endpoint, _ in endpoint.send("ONE", to: .address(address, from: nil)) }
        let accepted = try await peer.nextPeer()
        var pings = 0
        while let text = try await PlainSocket.aside({ try accepted.receive() }) {
            pings += text.components(of: "\r\n\r\n")
            accepted.send("\r\n")
        }
        #expect(pings >= 1)
        let counters = await echo.server.statistics().counters
        #expect(counters.idleCloses == 1)
        #expect(counters.flowsFailed == 0)
        await echo.server.stop()
    }

    @Test(
        "a target that refused a connection is not tried by each message: they fail at once with the diagnosis, and it comes back by itself"
    )
    func reconnect() async throws {
        let echo = try await EchoServer(options: quick { $0.reconnectPause = .seconds(2) })
        let dead = try PlainSocket(.tcpListener)
        let address = target(dead)
        dead.close()
        try await echo.look { endpoint, _ in endpoint.send("X", to: .address(address, from: nil), token: 1) }
        try await echo.wait { !$0.notices.isEmpty }
        let back = try PlainSocket(.tcpListener, port: address.port)
        try await echo.look { endpoint, _ in
            for token in 2...4 { endpoint.send("X", to: .address(address, from: nil), token: UInt64(token)) }
        }
        try await echo.wait { $0.notices.count >= 4 }
        let reasons = try await echo.look { endpoint, _ in failures(endpoint) }
        #expect(reasons.keys.sorted() == [1, 2, 3, 4])
        #expect(Set(reasons.values).count == 1)
        #expect(await echo.server.statistics().counters.sendsPutOff == 3)
        // A sender that retries succeeds after the pause.
        while await echo.server.statistics().counters.connectionsOpened == 0 {
            try await echo.look { endpoint, _ in endpoint.send("BACK", to: .address(address, from: nil)) }
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try await back.nextPeer().arriving(until: "BACK").hasPrefix("BACK"))
        await echo.server.stop()
    }

    @Test("a target that takes connections and drops them without a word is put off as well") func dropped() async throws {
        let echo = try await EchoServer(options: quick { $0.reconnectPause = .seconds(60) })
        let peer = try PlainSocket(.tcpListener)
        let address = target(peer)
        try await echo.look { endpoint, _ in endpoint.send("X", to: .address(address, from: nil)) }
        try await peer.nextPeer().close()
        try await echo.wait { !$0.notices.isEmpty }
        try await echo.look { endpoint, _ in endpoint.send("X", to: .address(address, from: nil), token: 2) }
        try await echo.wait { failures($0)[2] != nil }
        #expect(await echo.server.statistics().counters.sendsPutOff == 1)
        await echo.server.stop()
    }

    @Test("RFC 3261 18.1.1: a large request toward a UDP peer whose TCP port was refused a moment ago goes over UDP at once")
    func largeRequest() async throws {
        let echo = try await EchoServer(options: quick { $0.reconnectPause = .seconds(60) })
        let closed = try PlainSocket(.tcpClosed)
        defer { closed.close() }
        let peer = try PlainSocket(.udp, port: closed.port)
        let (tcp, udp) = (target(closed), TransportAddress(.udp, "127.0.0.1", peer.port))
        try await echo.look { endpoint, _ in endpoint.send("X", to: .address(tcp, from: nil), token: 1) }
        try await echo.wait { !$0.notices.isEmpty }
        let text = request(body: String(repeating: "b", count: 2_000))
        try await echo.look { endpoint, _ in endpoint.send(text, to: .address(udp, from: nil)) }
        #expect(try await PlainSocket.aside { try peer.receive() } == text)
        await echo.server.stop()
    }

    @Test("an address with as many connections as it may have gets no more, while others do, until one of its own ends")
    func perAddress() async throws {
        let echo = try await EchoServer(shards: 2, options: quick { $0.connectionsPerAddress = 2 }) { _ in 0 }
        let own = try (0..<2).map { _ in try PlainSocket(.tcp, peer: echo.port(.tcp)) }
        for client in own {
            client.send(request())
            #expect(try await PlainSocket.aside { try client.receive() }?.hasPrefix("SIP/2.0 200") == true)
        }
        let third = try PlainSocket(.tcp, peer: echo.port(.tcp))
        #expect((try? await PlainSocket.aside { try third.receive() }) == .some(nil))
        let other = try PlainSocket(.tcp, peer: echo.port(.tcp), from: 2)
        other.send(request())
        #expect(try await PlainSocket.aside { try other.receive() }?.hasPrefix("SIP/2.0 200") == true)
        #expect(await echo.server.statistics().counters.connectionsOverShare == 1)
        own[0].close()
        try await echo.wait { $0.notices.contains { if case .closed = $0 { true } else { false } } }
        let fourth = try PlainSocket(.tcp, peer: echo.port(.tcp))
        fourth.send(request())
        #expect(try await PlainSocket.aside { try fourth.receive() }?.hasPrefix("SIP/2.0 200") == true)
        await echo.server.stop()
    }

    @Test("while the queue of a peer that does not read fills, and when it is closed, another peer gets all that it is sent")
    func slowPeer() async throws {
        let echo = try await EchoServer(
            options: quick {
                $0.maximumQueuedBytes = 400_000
                $0.pingInterval = .zero
            })
        let slow = try PlainSocket(.tcpListener, receiveBuffer: 4_096)
        let brisk = try PlainSocket(.tcpListener)
        let (slowAddress, briskAddress) = (target(slow), target(brisk))
        let chunk = String(repeating: "y", count: 50_000)
        var reader: PlainSocket?
        var rounds = 0
        var reasons: Set<String> = []
        while reasons.isEmpty, rounds < 2_000 {
            rounds += 1
            let round = rounds
            reasons = try await echo.look { endpoint, _ in
                endpoint.send(chunk, to: .address(slowAddress, from: nil), token: 9)
                endpoint.send("<\(round)>", to: .address(briskAddress, from: nil))
                return Set(endpoint.notices.compactMap { if case .failed(9, let reason) = $0 { reason } else { nil } })
            }
            if reader == nil { reader = try await brisk.nextPeer() }
            #expect(try await reader?.arriving(until: "<\(round)>").hasSuffix("<\(round)>") == true)
        }
        #expect(reasons.contains("the peer reads too slowly"))
        let counters = await echo.server.statistics().counters
        #expect(counters.queueOverflows == 1)
        // Messages sent before the end was noticed used a new connection.
        #expect((2...3).contains(counters.connectionsOpened))
        await echo.server.stop()
    }
}
