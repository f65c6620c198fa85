import NIOCore
import NIOPosix
import NIOSSL
import SIPCore
import SIPSecurity
import Testing

@testable import SIPTransport

/// Certificate that must be refused, with the expected diagnosis.
struct WrongCertificate: CustomTestStringConvertible, Sendable {
    var name: String
    var kind: HandshakeFailure.Kind
    /// Text that the diagnosis must contain.
    var words: String
    /// Name of the test case.
    var testDescription: String { name }
}

@Suite(.timeLimit(.minutes(10))) struct TLSTests {
    private func made() throws -> PartnerCertificates { try PartnerCertificates.made.get() }

    @Test("RFC 5922 7: two partners prove their domains to each other, and messages say by whom") func mutual() async throws {
        let one = try await SecureNode("example")
        let two = try await SecureNode("contoso")
        try await one.send(to: two, proving: "contoso.com")
        let (peer, failure) = try await one.outcome()
        #expect(failure == nil)
        #expect(peer?.sipDomains == ["contoso.com"])
        #expect(peer?.dnsNames == ["sip.contoso.com"])
        #expect(peer?.roots == [PeerIdentity.commonRoots])
        let seen = try await two.echo.look { endpoint, _ in endpoint.received[0] }
        #expect(seen.peer?.sipDomains == ["example.net"])
        #expect(seen.remote.transport == .tls)
        #expect(seen.local.transport == .tls)
        #expect(one.tls.statistics.handshakesWithServers == 1)
        #expect(two.tls.statistics.handshakesWithClients == 1)
        #expect(two.tls.statistics.peers.map(\.certificate.subject) == ["CN=sip.example.net"])
        await one.stop()
        await two.stop()
    }

    @Test("RFC 3261 18: one TLS connection serves all messages to a name, in both directions, and another name has its own")
    func reuse() async throws {
        let one = try await SecureNode("example")
        let two = try await SecureNode("contoso")
        for token in 1...3 { try await one.send(to: two, proving: "contoso.com", token: UInt64(token)) }
        try await one.echo.wait { $0.received.count == 3 }
        #expect(await one.echo.server.statistics().counters.connectionsOpened == 1)
        try await two.echo.look { endpoint, _ in
            endpoint.send(request(via: "TLS"), to: .connection(endpoint.received[0].connection!, fallback: nil))
        }
        try await two.echo.wait { $0.received.count == 4 }
        #expect(await two.echo.server.statistics().counters.connectionsOpened == 0)
        // A name that this partner cannot prove is another address, despite an open connection to the same host.
        try await one.send(to: two, proving: "fabrikam.com", token: 9)
        try await one.waitForFailure(.wrongName, .here)
        await one.stop()
        await two.stop()
    }

    static let wrongServers = [
        WrongCertificate(name: "expired", kind: .expired, words: "2021-01-01T00:00:00Z"),
        WrongCertificate(name: "early", kind: .notYetValid, words: "not yet valid"),
        WrongCertificate(name: "wrong-name", kind: .wrongName, words: "other.example.org"),
        WrongCertificate(name: "foreign", kind: .unknownRoot, words: "CN=Throw-away authority stranger"),
        WrongCertificate(name: "self-signed", kind: .selfSigned, words: "self-signed"),
        WrongCertificate(name: "wildcard", kind: .wildcardOnly, words: "*.contoso.com"),
        WrongCertificate(name: "address", kind: .addressOnly, words: "127.0.0.1"),
        WrongCertificate(name: "common-name", kind: .wrongName, words: "only the common name sip.contoso.com"),
        WrongCertificate(name: "mail", kind: .wrongName, words: "RFC 5922 7.1"),
        WrongCertificate(name: "client-only", kind: .unusable, words: "not for servers"),
        WrongCertificate(name: "chained-expired", kind: .expired, words: "CN=Throw-away authority ended"),
        WrongCertificate(name: "pinned", kind: .unknownRoot, words: "CN=Throw-away authority private"),
    ]

    @Test("RFC 5922 7.3: a server with a wrong certificate is sent nothing, and the diagnosis names it", arguments: wrongServers)
    func wrongServer(_ wrong: WrongCertificate) async throws {
        let one = try await SecureNode("example")
        let two = try await SecureNode(wrong.name)
        try await one.send(to: two, proving: "sip.contoso.com")
        let reason = try #require(try await one.outcome().failure)
        #expect(reason.hasPrefix("TLS: refused here:"))
        #expect(reason.contains(wrong.words), "\(reason)")
        #expect(reason.contains("CN="))
        #expect(one.failures(wrong.kind, .here) == 1)
        // A stray client of another test may meet the port of this node, and has a line of its own.
        let log = try #require(one.logs.all.first { $0.hasPrefix("TLS handshake failed") && $0.contains(" kind=\(wrong.kind.rawValue) ") })
        #expect(log.contains("peer-role=server"))
        #expect(log.contains("issuer=CN="))
        // The other side receives this alert for every rule (RFC 8446 6.2), and no message.
        try await two.waitForFailure(.badCertificate, .peer)
        #expect(two.logs.all.contains { $0.contains("alert certificate_unknown") }, "\(two.logs.all)")
        #expect(try await two.echo.look { endpoint, _ in endpoint.received.isEmpty })
        await one.stop()
        await two.stop()
    }

    static let wrongClients =
        wrongServers.filter { !["wrong-name", "client-only", "common-name", "mail"].contains($0.name) } + [
            WrongCertificate(name: "wrong-name", kind: .wrongName, words: "other.example.org"),
            WrongCertificate(name: "mail", kind: .wrongName, words: "contoso.com"),
            WrongCertificate(name: "common-name", kind: .wrongName, words: "only the common name"),
        ]

    @Test("RFC 5922 7.4: a client with a wrong certificate is told so and heard by nobody", arguments: wrongClients)
    func wrongClient(_ wrong: WrongCertificate) async throws {
        var settings = try made().settings("example")
        settings.clientExpectations = [PeerExpectation(["sip.contoso.com"]), PeerExpectation(["fabrikam.com"])]
        let one = try await SecureNode(settings)
        let two = try await SecureNode(wrong.name)
        try await two.send(to: one, proving: "example.net")
        let reason = try #require(try await two.outcome().failure)
        #expect(reason.hasPrefix("TLS: refused by the peer:"), "\(reason)")
        try await one.waitForFailure(wrong.kind, .here)
        let log = try #require(one.logs.all.first { $0.hasPrefix("TLS handshake failed") && $0.contains(" kind=\(wrong.kind.rawValue) ") })
        #expect(log.contains(wrong.words), "\(log)")
        #expect(log.contains("peer-role=client"))
        #expect(try await one.echo.look { endpoint, _ in endpoint.received.isEmpty })
        #expect(two.failures(.badCertificate, .peer) == 1)
        #expect(reason.contains("alert certificate_unknown"), "\(reason)")
        await one.stop()
        await two.stop()
    }

    @Test("RFC 5922 7.4: a client without a certificate is refused, unless the listener takes it, and then proves nothing")
    func noCertificate() async throws {
        let strict = try await SecureNode("example")
        let refused = try await BareClient.connect(to: strict.echo.port(.tls))
        refused.send(request(via: "TLS"))
        try await strict.waitForFailure(.noCertificate, .here)
        #expect(try await refused.received() == "")
        #expect(try await strict.echo.look { endpoint, _ in endpoint.received.isEmpty })
        await strict.stop()

        let lenient = try await SecureNode("example", isStrict: false)
        let client = try await BareClient.connect(to: lenient.echo.port(.tls))
        client.send(request(via: "TLS"))
        try await lenient.echo.wait { !$0.received.isEmpty }
        #expect(try await lenient.echo.look { endpoint, _ in endpoint.received[0].peer } == nil)
        // A presented certificate must be valid even where none is required.
        let wrong = try await SecureNode("foreign")
        try await wrong.send(to: lenient, proving: "example.net")
        try await lenient.waitForFailure(.unknownRoot, .here)
        #expect(try await lenient.echo.look { endpoint, _ in endpoint.received.count } == 1)
        let good = try await SecureNode("contoso")
        try await good.send(to: lenient, proving: "example.net")
        #expect(try await good.outcome().failure == nil)
        #expect(try await lenient.echo.look { endpoint, _ in endpoint.received[1].peer?.sipDomains } == ["contoso.com"])
        for node in [lenient, wrong, good] { await node.stop() }
    }

    @Test("RFC 8996: neither TLS 1.1 nor what is no TLS gets an answer of SIP") func oldVersions() async throws {
        let node = try await SecureNode("example")
        _ = try? await BareClient.connect(to: node.echo.port(.tls), maximum: .tlsv11)
        try await node.waitForFailure(.version, .here)
        let plain = try PlainSocket(.tcp, peer: node.echo.port(.tls))
        plain.send(request(via: "TCP"))
        try await node.waitForFailure(.notTLS, .here)
        plain.close()
        let silent = try PlainSocket(.tcp, peer: node.echo.port(.tls))
        silent.close()
        try await node.waitForFailure(.closed, .peer)
        #expect(try await node.echo.look { endpoint, _ in endpoint.received.isEmpty })
        await node.stop()
    }

    @Test("RFC 6066 3: each name that is asked for has its own certificate, other names the first") func serverNames() async throws {
        let one = try await SecureNode("example")
        let two = try await SecureNode(try made().settings("contoso", names: ["fabrikam.com": "fabrikam"]))
        try await one.send(to: two, proving: "fabrikam.com", token: 1)
        #expect(try await one.outcome(token: 1).peer?.sipDomains == ["fabrikam.com"])
        try await one.send(to: two, proving: "contoso.com", token: 2)
        try await one.echo.wait { $0.received.count == 2 }
        #expect(try await one.echo.look { endpoint, _ in endpoint.received[1].peer?.sipDomains } == ["contoso.com"])
        await one.stop()
        await two.stop()
    }

    @Test("a domain with roots of its own is proved by those alone, and they vouch for no other") func pinnedRoots() async throws {
        var settings = try made().settings("example")
        settings.roots["contoso.com"] = try made().certificates("private")
        settings.expectations["contoso.com"] = PeerExpectation(["contoso.com"], by: PeerNameRule(roots: "contoso.com"))
        let one = try await SecureNode(settings)
        let pinned = try await SecureNode("pinned")
        try await one.send(to: pinned, proving: "contoso.com", token: 1)
        #expect(try await one.outcome(token: 1).peer?.roots == ["contoso.com"])
        let common = try await SecureNode("contoso")
        try await one.send(to: common, proving: "contoso.com", token: 2)
        try await one.waitForFailure(.otherRoots, .here)
        let other = try await SecureNode("pinned-fabrikam")
        try await one.send(to: other, proving: "fabrikam.com", token: 3)
        while one.failures(.otherRoots, .here) < 2 { try await Task.sleep(for: .milliseconds(2)) }
        // A client may be trusted by any of the sets; its identity names the set.
        try await pinned.echo.look { endpoint, _ in endpoint.received.removeAll() }
        var reverse = try made().settings("pinned")
        reverse.expectations = [:]
        let client = try await SecureNode(reverse)
        try await client.send(to: one, proving: "example.net")
        #expect(try await client.outcome().failure == nil)
        #expect(try await one.echo.look { endpoint, _ in endpoint.received.last?.peer?.roots } == ["contoso.com"])
        for node in [one, pinned, common, other, client] { await node.stop() }
    }

    @Test("a server proves its name to every domain whose roots vouch for it, and not only to the one that it was called for")
    func sharedRoots() async throws {
        var settings = try made().settings("example")
        settings.roots["contoso.com"] = try made().certificates("authority")
        settings.expectations["contoso.com"] = PeerExpectation(["contoso.com"], by: PeerNameRule(roots: "contoso.com"))
        let one = try await SecureNode(settings)
        let partner = try await SecureNode("contoso")
        try await one.send(to: partner, proving: "contoso.com")
        #expect(try await one.outcome().peer?.roots == ["contoso.com", PeerIdentity.commonRoots])
        for node in [one, partner] { await node.stop() }
    }

    @Test("wildcards and the common name prove a partner whose entry allows them") func lenientPartner() async throws {
        var settings = try made().settings("example")
        settings.expectations["sip.contoso.com"] = PeerExpectation(
            ["sip.contoso.com"], by: PeerNameRule(allowsCommonName: true, allowsWildcards: true))
        let one = try await SecureNode(settings)
        for (index, name) in ["wildcard", "common-name"].enumerated() {
            let two = try await SecureNode(name)
            try await one.send(to: two, proving: "sip.contoso.com", token: UInt64(index + 1))
            try await one.echo.wait { $0.received.count == index + 1 }
            await two.stop()
        }
        await one.stop()
    }

    @Test("RFC 5280 6: a chain over an authority in between is followed") func intermediate() async throws {
        let one = try await SecureNode("chained")
        let two = try await SecureNode("example")
        try await one.send(to: two, proving: "example.net")
        #expect(try await one.outcome().failure == nil)
        #expect(try await two.echo.look { endpoint, _ in endpoint.received[0].peer?.sipDomains } == ["contoso.com"])
        await one.stop()
        await two.stop()
    }

    @Test("an address that is dialled without a name to prove is refused, since no certificate proves one") func bareAddress() async throws
    {
        let one = try await SecureNode("example")
        let two = try await SecureNode("address")
        try await one.send(to: two, proving: nil)
        let reason = try #require(try await one.outcome().failure)
        #expect(reason.contains("an address was asked for"))
        await one.stop()
        await two.stop()
    }
}
