import NIOCore
import SIPCore
import SIPSecurity
import Testing

@testable import SIPTransport

/// Reload, limits and expiry of TLS, and their log messages and statistics.
@Suite(.timeLimit(.minutes(10))) struct TLSLifeTests {
    private func made() throws -> PartnerCertificates { try PartnerCertificates.made.get() }

    @Test("new certificates are taken over under load: no message is lost, no connection closed, and new ones see them")
    func renewal() async throws {
        let one = try await SecureNode("example")
        let two = try await SecureNode("contoso")
        let renewed = try made().settings("renewed")
        var sent = 0
        for round in 0..<20 {
            for _ in 0..<50 {
                sent += 1
                try await one.send(to: two, proving: "contoso.com", token: UInt64(sent))
            }
            // Reload both sides during the exchange.
            if round == 10 {
                try two.tls.replace(renewed)
                try one.tls.replace(try made().settings("example"))
            }
        }
        let all = sent
        try await one.echo.wait { $0.received.count == all }
        #expect(try await one.echo.look { endpoint, _ in endpoint.notices.isEmpty })
        #expect(await one.echo.server.statistics().counters.connectionsOpened == 1)
        let old = try #require(try await one.echo.look { endpoint, _ in endpoint.received.last?.peer })
        #expect(old.fingerprint == (try made().certificates("contoso")[0].fingerprint))

        let three = try await SecureNode("fabrikam")
        try await three.send(to: two, proving: "contoso.com")
        #expect(try await three.outcome().peer?.fingerprint == (try made().certificates("renewed")[0].fingerprint))
        #expect(two.tls.statistics.reloads == 1)
        for node in [one, two, three] { await node.stop() }
    }

    @Test("roots that are taken away on a reload refuse the next handshake, and settings that cannot be used change nothing")
    func rootsTakenAway() async throws {
        let one = try await SecureNode("example")
        let two = try await SecureNode("contoso")
        try await one.send(to: two, proving: "contoso.com", token: 1)
        _ = try await one.outcome(token: 1)
        var unusable = try made().settings("example")
        unusable.roots = ["fabrikam.com": []]
        #expect(throws: TLSProblem.self) { try one.tls.replace(unusable) }
        var other = try made().settings("example")
        other.roots = [PeerIdentity.commonRoots: try made().certificates("stranger")]
        try one.tls.replace(other)
        // Another name is another address, and needs its own connection.
        try await one.send(to: two, proving: "sip.contoso.com", token: 2)
        try await one.waitForFailure(.unknownRoot, .here)
        for node in [one, two] { await node.stop() }
    }

    @Test("connections that live are closed on a reload if their roots are taken away, on both sides, and kept if the roots stay")
    func rootsTakenFromConnections() async throws {
        let one = try await SecureNode("example")
        let two = try await SecureNode("contoso")
        try await one.send(to: two, proving: "contoso.com", token: 1)
        _ = try await one.outcome(token: 1)
        try one.tls.replace(try made().settings("example"))
        await one.echo.server.checkPeers()
        #expect(try await one.echo.look { endpoint, _ in endpoint.notices.isEmpty })
        // The side that accepted the connection.
        var other = try made().settings("contoso")
        other.roots = [PeerIdentity.commonRoots: try made().certificates("stranger")]
        try two.tls.replace(other)
        await two.echo.server.checkPeers()
        try await two.echo.wait { $0.notices.contains { if case .closed = $0 { true } else { false } } }
        #expect(await two.echo.server.statistics().counters.peersDistrusted == 1)
        try await one.echo.wait { $0.notices.contains { if case .closed = $0 { true } else { false } } }
        try two.tls.replace(try made().settings("contoso"))
        // The side that opened it.
        try await one.send(to: two, proving: "contoso.com", token: 2)
        try await one.echo.wait { $0.received.count == 2 }
        var mine = try made().settings("example")
        mine.roots = [PeerIdentity.commonRoots: try made().certificates("stranger")]
        try one.tls.replace(mine)
        await one.echo.server.checkPeers()
        #expect(await one.echo.server.statistics().counters.peersDistrusted == 1)
        try await one.send(to: two, proving: "contoso.com", token: 3)
        #expect(try await one.failure(token: 3).contains("refused here"))
        #expect(one.failures(.unknownRoot, .here) == 1)
        for node in [one, two] { await node.stop() }
    }

    @Test("a handshake that a reload meets on its way is judged by the new roots") func reloadDuringHandshake() async throws {
        // However slow the machine is, the handshake itself does not end.
        func settings(_ name: String) throws -> TLSSettings {
            var settings = try made().settings(name)
            settings.handshakeTimeout = .seconds(600)
            return settings
        }
        let one = try await SecureNode(try settings("example"))
        let two = try await SecureNode(try settings("contoso"))
        let relay = try await HoldingRelay.start(before: two.echo.port(.tls))
        let target = Destination.address(TransportAddress(.tls, "127.0.0.1", relay.port, proving: "contoso.com"), from: nil)
        _ = try await one.echo.look { endpoint, _ in endpoint.send(request(via: "TLS"), to: target, token: 1) }
        // The server has the ClientHello and waits for the client's certificate.
        try await relay.isHolding()
        var other = try settings("contoso")
        other.roots = [PeerIdentity.commonRoots: try made().certificates("stranger")]
        try two.tls.replace(other)
        await two.echo.server.checkPeers()
        try await relay.release()
        try await two.waitForFailure(.unknownRoot, .here)
        #expect(try await two.echo.look { endpoint, _ in endpoint.received.isEmpty })
        try await relay.stop()
        for node in [one, two] { await node.stop() }
    }

    @Test("RFC 5280 4.1.2.5: a connection is closed when its peer's certificate ends, by the wall clock, and not before")
    func endsWithCertificate() async throws {
        let one = try await SecureNode("soon")
        let two = try await SecureNode("example")
        try await one.send(to: two, proving: "example.net")
        _ = try await one.outcome()
        let end = Instant(secondsSince1970: try made().certificates("soon")[0].notAfter)
        let shard = two.echo.server.shards[0]
        func check(_ now: Instant) async throws -> Int {
            try await shard.eventLoop.submit {
                shard.connectionTable.checkPeers(at: now)
                return shard.connectionTable.connectionCount
            }.get()
        }
        #expect(try await check(end + .seconds(-1)) == 1)
        #expect(try await check(end + .seconds(1)) == 0)
        try await one.echo.wait { $0.notices.contains { if case .closed = $0 { true } else { false } } }
        await one.stop()
        await two.stop()
    }

    @Test(
        "a message that may wait a moment only is given back while a server is silent in the handshake, and is never sent; others wait on")
    func patience() async throws {
        let node = try await SecureNode("example")
        let partner = try await SecureNode("contoso")
        let silent = try PlainSocket(.tcpListener)
        let target = Destination.address(TransportAddress(.tls, "127.0.0.1", silent.port, proving: "contoso.com"), from: nil)
        _ = try await node.echo.look { endpoint, _ in
            endpoint.send("X", to: target, token: 7, patience: .milliseconds(50))
            endpoint.send("Y", to: target, token: 8)
        }
        #expect(try await node.failure(token: 7).contains("the TLS handshake was not over after 50 ms"))
        #expect(try await node.echo.look { endpoint, _ in !endpoint.notices.contains { $0.isFailure(of: 8) } })
        // With a fast server, the time limit changes nothing.
        let address = Destination.address(partner.address(proving: "contoso.com"), from: nil)
        _ = try await node.echo.look { endpoint, _ in
            endpoint.send(request(via: "TLS"), to: address, token: 9, patience: .seconds(30))
        }
        try await node.echo.wait { !$0.received.isEmpty }
        for node in [node, partner] { await node.stop() }
    }

    @Test("a client that closes its sending half over TLS after its request gets its answer, however late, and then the end")
    func halfClosed() async throws {
        let node = try await SecureNode("example", isStrict: false)
        try await node.echo.look { endpoint, _ in endpoint.answers = false }
        let client = try await BareClient.connect(to: node.echo.port(.tls))
        client.send(request(via: "TLS"))
        try await client.closeOutput()
        try await node.echo.wait { $0.received.count == 1 }
        let answer = "SIP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"
        try await node.echo.look { endpoint, _ in
            guard let connection = endpoint.received[0].connection else { return }
            endpoint.send(answer, to: .connection(connection, fallback: nil))
        }
        #expect(try await client.received() == answer)
        await node.stop()
    }

    @Test("failures that the handshake finds, and those that its time limit finds, are logged by one clock: each once a minute")
    func oneClock() async throws {
        var settings = try made().settings("example")
        settings.handshakeTimeout = .milliseconds(200)
        let node = try await SecureNode(settings)
        let failure = HandshakeFailure(.timeout, by: .here, reason: "as the sweep says it")
        let peer = TransportAddress(.tls, "127.0.0.1", 1)
        node.tls.failed(failure, role: .client, remote: peer)
        let silent = try PlainSocket(.tcp, peer: node.echo.port(.tls))
        #expect((try? silent.receive()) == .some(nil))
        #expect(node.failures(.timeout, .here) == 2)
        #expect(node.logs.all.filter { $0.contains("TLS handshake failed") }.count == 1)
        await node.stop()
    }

    @Test("handshakes of one address beyond its share are closed at once, and their places are free when one ends")
    func tooMany() async throws {
        var settings = try made().settings("example")
        settings.maximumHandshakes = 8
        settings.handshakeTimeout = .seconds(100)
        let node = try await SecureNode(settings)
        let port = node.echo.port(.tls)
        let silent = try (0..<2).map { _ in try PlainSocket(.tcp, peer: port) }
        while await node.echo.server.statistics().counters.connectionsAccepted < 2 { try await Task.sleep(for: .milliseconds(2)) }
        let third = try PlainSocket(.tcp, peer: port)
        #expect((try? third.receive()) == .some(nil))
        #expect(node.failures(.tooMany, .here) == 1)
        for socket in silent { socket.close() }
        while await node.echo.server.statistics().connections > 0 { try await Task.sleep(for: .milliseconds(2)) }
        let partner = try await SecureNode("contoso")
        try await partner.send(to: node, proving: "example.net")
        #expect(try await partner.outcome().failure == nil)
        await node.stop()
        await partner.stop()
    }

    @Test("a handshake that never ends is closed after its time") func halfOpen() async throws {
        var settings = try made().settings("example")
        settings.handshakeTimeout = .milliseconds(200)
        let node = try await SecureNode(settings)
        let silent = try PlainSocket(.tcp, peer: node.echo.port(.tls))
        #expect((try? silent.receive()) == .some(nil))
        #expect(node.failures(.timeout, .here) == 1)
        #expect(await node.echo.server.statistics().connections == 0)
        await node.stop()
    }

    @Test("a server that does not answer the handshake fails the messages that wait for it") func silentServer() async throws {
        var settings = try made().settings("example")
        settings.handshakeTimeout = .milliseconds(300)
        let node = try await SecureNode(settings)
        let listener = try PlainSocket(.tcpListener)
        let target = Destination.address(TransportAddress(.tls, "127.0.0.1", listener.port, proving: "contoso.com"), from: nil)
        _ = try await node.echo.look { endpoint, _ in endpoint.send("X", to: target, token: 7) }
        let reason = try #require(try await node.outcome().failure)
        #expect(reason.contains("handshake was not over"))
        await node.stop()
    }

    @Test("a server that talks no TLS fails the messages that wait for it") func plainServer() async throws {
        let node = try await SecureNode("example")
        let listener = try PlainSocket(.tcpListener)
        let target = Destination.address(TransportAddress(.tls, "127.0.0.1", listener.port, proving: "contoso.com"), from: nil)
        _ = try await node.echo.look { endpoint, _ in endpoint.send("X", to: target, token: 7) }
        let accepted = try listener.accept()
        accepted.send("SIP/2.0 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        let reason = try #require(try await node.outcome().failure)
        #expect(reason.contains("does not speak TLS"), "\(reason)")
        #expect(node.failures(.notTLS, .here) == 1)
        await node.stop()
    }

    @Test("a message for TLS fails where no TLS is configured, and a listener cannot be opened") func notConfigured() async throws {
        let echo = try await EchoServer(["tcp"])
        _ = try await echo.look { endpoint, _ in
            endpoint.send("X", to: .address(TransportAddress(.tls, "127.0.0.1", 5061, proving: "contoso.com"), from: nil), token: 4)
        }
        try await echo.wait { $0.notices.contains(.failed(token: 4, reason: "TLS is not configured")) }
        await echo.server.stop()
        await #expect(throws: TransportError.self) { try await EchoServer(["tls"]) }
    }

    @Test("certificates that end soon are named once a day: ours and those of peers that were met") func expiry() async throws {
        let one = try await SecureNode("soon")
        let two = try await SecureNode("example")
        try await one.send(to: two, proving: "example.net")
        _ = try await one.outcome()
        // The first certificate expires in the year 2100.
        let end = try made().certificates("soon")[0].notAfter
        let early = Instant(secondsSince1970: end - 29 * 86_400)
        #expect(two.tls.statistics.peers.map(\.certificate.notAfter) == [end])
        func warnings(_ node: SecureNode) -> [String] { node.logs.all.filter { $0.contains("certificate expires soon") } }
        for node in [one, two] {
            node.tls.warnOfExpiry(at: Instant(secondsSince1970: end - 31 * 86_400))
            #expect(warnings(node).isEmpty)
        }
        one.tls.warnOfExpiry(at: early)
        one.tls.warnOfExpiry(at: early + .seconds(86_399))
        #expect(warnings(one).count == 1)
        #expect(warnings(one).first?.contains("whose=own") == true)
        #expect(warnings(one).first?.contains("not-after=2100-01-01T00:00:00Z") == true)
        #expect(warnings(one).first?.contains("days-left=29") == true)
        one.tls.warnOfExpiry(at: early + .seconds(86_400))
        #expect(warnings(one).count == 2)
        one.tls.warnOfExpiry(at: Instant(secondsSince1970: end + 86_400))
        #expect(one.logs.all.contains { $0.contains("certificate has expired") })
        #expect(one.tls.statistics.ownExpiry.values.sorted() == [end])
        // A peer without recent handshakes is forgotten.
        two.tls.warnOfExpiry(at: early)
        #expect(warnings(two).isEmpty)
        #expect(two.tls.statistics.peers.isEmpty)
        await one.stop()
        await two.stop()
    }

    @Test("a peer's certificate that ends soon is named, too") func peerExpiry() async throws {
        var settings = try made().settings("example")
        settings.warningTime = .seconds(100 * 365 * 86_400)
        let one = try await SecureNode(settings)
        let two = try await SecureNode("soon")
        try await two.send(to: one, proving: "example.net")
        _ = try await two.outcome()
        one.tls.warnOfExpiry(at: HostClock().now() + .seconds(2 * 86_400))
        let warning = try #require(one.logs.all.first { $0.contains("whose=peer") })
        #expect(warning.contains("CN=sip.contoso.com (sip:contoso.com, sip.contoso.com)"))
        await one.stop()
        await two.stop()
    }

    @Test("a peer that resumes its session is recognised by its certificate", arguments: [TLSVersionName.tls1_2, .tls1_3])
    func resumption(version: TLSVersionName) async throws {
        let node = try await SecureNode("example")
        let seen = try await ResumingClient.connectTwice(to: node.echo.port(.tls), as: "contoso", version: version.rawValue)
        #expect(seen.contains("Reused, "), "\(seen)")
        try await node.echo.wait { $0.received.count == 2 }
        #expect(
            try await node.echo.look { endpoint, _ in endpoint.received.map { $0.peer?.sipDomains } } == [["contoso.com"], ["contoso.com"]])
        await node.stop()
    }
}

enum TLSVersionName: String, Sendable { case tls1_2, tls1_3 }
