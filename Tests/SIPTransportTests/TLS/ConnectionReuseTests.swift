import SIPCore
import Testing

@testable import SIPTransport

/// Requests over the connections that partners opened (RFC 5923).
@Suite(.timeLimit(.minutes(10))) struct ConnectionReuseTests {
    /// Request with a Via that names a server of example.net.
    private func request(at port: Int, host: String = "sip.example.net", _ parameters: String = ";alias") -> String {
        SIPTransportTests.request(via: "TLS")
            .replacing("192.0.2.1:5060;branch", with: "\(host):\(port)\(parameters);branch")
    }

    /// Returns a port without a listener.
    private func closedPort() throws -> Int {
        let socket = try PlainSocket(.tcpListener)
        defer { socket.close() }
        return socket.port
    }

    /// `example` has sent a request to `contoso`, which now has one for it.
    private func pair(_ text: String, contoso settings: TLSSettings? = nil, shards: Int = 1) async throws -> (SecureNode, SecureNode) {
        let one = try await SecureNode("example")
        let made = try PartnerCertificates.made.get()
        let two = try await SecureNode(settings ?? made.settings("contoso"), shards: shards)
        try await one.send(text, to: two, proving: "contoso.com")
        #expect(try await one.outcome().failure == nil)
        return (one, two)
    }

    private func send(_ node: SecureNode, to host: String = "127.0.0.1", _ port: Int, proving name: String?) async throws {
        let target = Destination.address(TransportAddress(.tls, host, port, proving: name), from: nil)
        _ = try await node.echo.look { endpoint, _ in endpoint.send(SIPTransportTests.request(via: "TLS"), to: target, token: 9) }
    }

    private func failure(_ node: SecureNode) async throws -> String {
        try await node.echo.wait { $0.notices.contains { if case .failed(9, _) = $0 { true } else { false } } }
        return try await node.echo.look { endpoint, _ in
            endpoint.notices.compactMap { if case .failed(9, let reason) = $0 { reason } else { nil } }.first ?? ""
        }
    }

    @Test(
        "RFC 5923 4: a partner behind a NAT that announces its connection gets requests over it, on any loop, if it has proved the name",
        arguments: [("127.0.0.1", 1), ("sip.example.net", 1), ("SIP.example.net", 2)])
    func announced(host: String, shards: Int) async throws {
        let port = try closedPort()
        let (one, two) = try await pair(request(at: port), shards: shards)
        try await send(two, to: host, port, proving: "example.net")
        // The answer to the first, and the request.
        try await one.echo.wait { $0.received.count == 2 }
        let counters = await two.echo.server.statistics().counters
        #expect(counters.connectionsOpened == 0)
        #expect(counters.sendsOverReused == 1)
        for node in [one, two] { await node.stop() }
    }

    @Test(
        "RFC 5923 6: a name that the peer has not proved, another port or another host than it announced is asked there, not here",
        arguments: [("fabrikam.com", 0, "127.0.0.1"), ("example.net", 1, "127.0.0.1"), ("example.net", 0, "127.0.0.9")])
    func notProved(name: String, offset: Int, host: String) async throws {
        let port = try closedPort()
        let (one, two) = try await pair(request(at: port + offset))
        try await send(two, to: host, port, proving: name)
        _ = try await failure(two)
        #expect(try await one.echo.look { endpoint, _ in endpoint.received.count } == 1)
        #expect(await two.echo.server.statistics().counters.sendsOverReused == 0)
        for node in [one, two] { await node.stop() }
    }

    @Test("RFC 5923 4: a partner that announces nothing is called where it is, unless the operator says that its connections serve")
    func configured() async throws {
        let port = try closedPort()
        let (one, two) = try await pair(request(at: port, ""))
        try await send(two, port, proving: "example.net")
        _ = try await failure(two)
        var settings = try PartnerCertificates.made.get().settings("contoso")
        settings.expectations["example.net"] = PeerExpectation(["example.net"], reusesConnections: true)
        let (three, four) = try await pair(request(at: port, ""), contoso: settings)
        try await send(four, to: "192.0.2.1", port, proving: "example.net")
        try await three.echo.wait { $0.received.count == 2 }
        #expect(await four.echo.server.statistics().counters.connectionsOpened == 0)
        for node in [one, two, three, four] { await node.stop() }
    }

    @Test("a connection that has ended carries nothing: the partner is called again") func ended() async throws {
        let port = try closedPort()
        let (one, two) = try await pair(request(at: port))
        await one.stop()
        try await two.echo.wait { $0.notices.contains { if case .closed = $0 { true } else { false } } }
        try await send(two, port, proving: "example.net")
        _ = try await failure(two)
        await two.stop()
    }

    @Test("RFC 5923 4: without a certificate nothing is announced") func noCertificate() async throws {
        let node = try await SecureNode("contoso", isStrict: false)
        let port = try closedPort()
        let client = try await BareClient.connect(to: node.echo.port(.tls))
        client.send(request(at: port))
        try await node.echo.wait { !$0.received.isEmpty }
        try await send(node, port, proving: "example.net")
        _ = try await failure(node)
        await node.stop()
    }
}
