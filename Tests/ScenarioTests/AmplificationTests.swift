import FederationRouting
import GatewayTesting
import PresenceGateway
import PresenceRules
import SIPCore
import ScriptedPeers
import Testing

/// The source address of a datagram can be forged; what is answered to it hits the host at that address.
@Suite struct AmplificationTests {
    private static let place = TransportAddress(.udp, "192.0.2.1", 5060)

    /// A gateway with a partner, with users that sign in nowhere, and a host that it does not know.
    private struct World {
        let network = SimulatedNetwork(seed: 3, transcriptLimit: 10_000)
        let gateway: Gateway
        let outsider = UnauthorizedPeer(address: TransportAddress(.udp, "203.0.113.9", 5060), target: AmplificationTests.place)
        let partner = UnauthorizedPeer(address: TransportAddress(.udp, "192.0.2.20", 5060), target: AmplificationTests.place)

        init(_ change: (inout GatewayConfiguration) -> Void = { _ in }) {
            var configuration = GatewayConfiguration(
                nodeName: "edge1.example.net", listeners: [AmplificationTests.place],
                domains: [
                    "example.org": DomainConfiguration(side: .simple, route: partner.address),
                    "contoso.com": DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise),
                    "example.com": DomainConfiguration(side: .simple, hosted: true, unruled: .allow),
                ])
            configuration.domains["contoso.com"]?.federation.trust = DomainTrust(peers: "192.0.2.40") ?? DomainTrust()
            change(&configuration)
            gateway = Gateway(configuration: configuration, key: .seeded(3))
            network.attach(gateway, name: "gateway", at: [AmplificationTests.place])
            network.attach(outsider, name: "outsider", at: [outsider.address])
            network.attach(partner, name: "partner", at: [partner.address])
        }

        /// Octets and datagrams that a request brings upon its source address, until nothing more comes of it.
        func echo(of text: String, by unauthorizedPeer: UnauthorizedPeer) throws -> (octets: Int, datagrams: Int) {
            let before = network.transcript.entries.count
            unauthorizedPeer.say(text)
            try network.run(for: .seconds(70))
            let sent = network.transcript.entries.dropFirst(before).filter { $0.from == "gateway" && $0.fate == .sent }
            return (sent.reduce(0) { $0 + $1.bytes.count }, sent.count)
        }
    }

    /// As short as it can be: the shorter the request, the more its answer weighs.
    private static func request(_ method: String, _ uri: String, from: String, extra: String = "", version: String = "SIP/2.0") -> String {
        "\(method) \(uri) \(version)\r\nv:SIP/2.0/UDP a;branch=z9hG4bK\(method)\r\nf:<\(from)>;tag=a\r\nt:<\(uri)>\r\ni:a\(method)\r\n"
            + "CSeq:1 \(method)\r\n\(extra)l:0\r\n\r\n"
    }

    private static let methods = [
        "OPTIONS", "INVITE", "SUBSCRIBE", "NOTIFY", "BENOTIFY", "PUBLISH", "SERVICE", "REGISTER", "MESSAGE", "CANCEL", "ACK", "BYE", "FOO",
    ]

    @Test("an outsider's datagram of any kind is answered once at most, with at most three times its octets", arguments: methods)
    func outsider(method: String) throws {
        let world = World()
        for (uri, from, extra) in [
            ("sip:a@example.com", "sip:b@example.org", ""), ("sip:a@contoso.com", "sip:a@contoso.com", ""),
            ("sip:a@example.org", "sip:a@nowhere.example", ""), ("sip:a@example.com", "sip:a@nowhere.example", "o:x\r\n"),
            ("sip:a@contoso.com", "sip:a@contoso.com", "Require:x\r\n"), ("tel:1", "sip:a@contoso.com", ""),
        ] {
            let text = Self.request(method, uri, from: from, extra: extra)
            let (octets, datagrams) = try world.echo(of: text, by: world.outsider)
            #expect(datagrams <= 1 && octets <= 3 * text.utf8.count, "\(octets) octets for \(text.utf8.count): \(text)")
            let copy = try world.echo(of: text, by: world.outsider)
            #expect(copy.datagrams == datagrams && copy.octets == octets, "a copy is answered as the request was")
        }
        #expect(world.gateway.counts.transactions == 0)
    }

    @Test("what cannot be read, or is of another version, is answered once with at most three times its octets")
    func malformed() throws {
        let world = World()
        let whole = Self.request("OPTIONS", "sip:a@example.com", from: "sip:b@example.org")
        for text in [
            whole.replacing("SIP/2.0\r\nv:", with: "SIP/7.0\r\nv:"), whole.replacing("CSeq:1 ", with: "CSeq:1 X"),
            whole.replacing("l:0", with: "l:-1"), whole.replacing("i:aOPTIONS\r\n", with: ""), whole.replacing("t:<", with: "t:\"<"),
        ] {
            let (octets, datagrams) = try world.echo(of: text, by: world.outsider)
            #expect(datagrams == 1 && octets <= 3 * text.utf8.count, "\(octets) octets for \(text.utf8.count): \(text)")
        }
    }

    @Test("RFC 3261 8.2.7: a flood of INVITEs holds no transaction, and honest requests of others are taken") func flood() throws {
        let world = World { $0.limits.transactions = 50 }
        for number in 0..<500 {
            world.outsider.say(Self.request("INVITE", "sip:a@example.com", from: "sip:b@example.com").replacing("i:a", with: "i:\(number)"))
        }
        try world.network.run(for: .seconds(1))
        #expect(world.gateway.counts.transactions == 0 && world.gateway.counters.limitsReached == 0)
        #expect(world.outsider.statuses.count == 500 && Set(world.outsider.statuses) == [480])
        world.partner.say(Self.request("OPTIONS", "sip:a@example.com", from: "sip:b@example.org"))
        try world.network.run(for: .seconds(1))
        #expect(world.partner.statuses == [200])
    }

    @Test("a partner's server is told all: RFC 3261 11.2, and what explains a refusal; an outsider no more than every response has")
    func known() throws {
        let world = World()
        world.partner.say(Self.request("MESSAGE", "sip:a@example.com", from: "sip:b@example.org"))
        world.partner.say(Self.request("OPTIONS", "sip:a@example.com", from: "sip:b@example.org"))
        // A Via and a Call-ID of its own: what shares Call-ID, From tag and CSeq is a merged request (RFC 3261 8.2.2.2).
        let foreign = Self.request("OPTIONS", "sip:c@example.com", from: "sip:b@example.net")
        world.outsider.say(foreign.replacing("UDP a;", with: "UDP b;").replacing("i:a", with: "i:b"))
        try world.network.run(for: .seconds(1))
        func answer(_ method: SIPMethod) -> SIPHeaders? { world.partner.received.map(\.headers).first { $0.cSeq?.method == method } }
        let options = try #require(answer(.options))
        #expect(options.contains(.allow) && options.contains(.supported))
        #expect(try #require(answer(.message)).contains(.warning))
        let stranger = try #require(world.outsider.received.first?.headers)
        #expect(Set(stranger.lines.map(\.name)) == [.via, .from, .to, .callID, .cSeq])
    }
}
