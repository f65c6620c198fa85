import FederationRouting
import SIPCore
import Testing

@Suite struct PeerTableTests {
    private static func pattern(_ text: String) -> [PeerPattern] { PeerPattern(text).map { [$0] } ?? [] }

    private static let routes = RoutingTable(
        [
            "contoso.com": FederatedDomain(side: .enterprise, isHosted: true, network: .sameEnterprise),
            "fabrikam.com": FederatedDomain(side: .enterprise, route: TransportAddress(.tls, "edge.fabrikam.net", 5061)),
            "adatum.example": FederatedDomain(
                side: .enterprise, route: TransportAddress(.tls, "192.0.2.9", 5061), trust: trusting(pattern("sip.adatum.example"))),
            "example.org": FederatedDomain(side: .simple, route: TransportAddress(.tls, "proxy.example.org", 5061)),
            "example.com": FederatedDomain(side: .simple, route: TransportAddress(.udp, "192.0.2.20", 5060)),
            "example.net": FederatedDomain(side: .simple, route: TransportAddress(.tcp, "proxy.example.net", 5060)),
            "inside.example.com": FederatedDomain(
                side: .enterprise, route: TransportAddress(.tcp, "192.0.2.30", 5060), network: .sameEnterprise,
                trust: trusting(pattern("192.0.2.32/28") + pattern("2001:db8::/64"), isEdge: true)),
            "refused.example": .refused(),
        ], identities: IdentityTable(["example.com": .init(aliases: ["im.example.com"], numbers: ["+1425"])]))
    private let table = PeerTable(Self.routes)

    private static func trusting(_ peers: [PeerPattern], isEdge: Bool = false) -> DomainTrust {
        var trust = DomainTrust()
        trust.peers = peers
        trust.isEdge = isEdge
        return trust
    }

    private func certificate(dns: [String] = [], sip: [String] = [], name: String? = nil) -> PeerIdentity {
        PeerIdentity(dnsNames: dns, sipDomains: sip, commonName: name, notAfter: 4_000_000_000, fingerprint: (dns + sip).joined())
    }

    private func verdict(
        _ uri: String, from host: String, _ transport: TransportProtocol = .udp, proving identity: PeerIdentity? = nil,
        signIn: Bool = false,
        in other: PeerTable? = nil
    ) throws -> SpeakerVerdict {
        let table = other ?? table
        let peer = table.peer(at: TransportAddress(transport, host, 40_000), proving: identity)
        return table.verdict(on: peer, speakingFor: try #require(SIPURI(uri)), usersSignIn: signIn)
    }

    private func speaks(_ uri: String, _ identity: PeerIdentity?) throws -> Bool {
        try verdict(uri, from: "203.0.113.5", .tls, proving: identity).partner != nil
    }

    @Test("RFC 5922 7.3: over TLS the certificate decides for whom a standard peer speaks, whole names only")
    func standard() throws {
        #expect(try speaks("sip:alice@example.org", certificate(sip: ["example.org"])))
        #expect(try speaks("sip:alice@EXAMPLE.org.", certificate(dns: ["example.org"])))
        #expect(try !speaks("sip:alice@example.org", certificate(dns: ["proxy.example.org"])))
        #expect(try !speaks("sip:alice@example.org", certificate(dns: ["*.example.org"])))
        #expect(try !speaks("sip:alice@example.org", certificate(dns: ["example.org"], sip: ["example.net"])))
        #expect(try !speaks("sip:alice@example.org", certificate(name: "example.org")))
        #expect(try !speaks("sip:alice@example.org", nil))
        #expect(try !speaks("sip:alice@example.org", certificate(dns: ["evil-example.org", "example.org.evil.example"])))
    }

    @Test("an enterprise peer proves its domain, or the host of the route or of `peers`; named hosts replace that of the route")
    func enterprise() throws {
        #expect(try speaks("sip:erin@fabrikam.com", certificate(dns: ["edge.fabrikam.net"])))
        #expect(try speaks("sip:erin@fabrikam.com", certificate(dns: ["fabrikam.com"])))
        #expect(try speaks("sip:erin@fabrikam.com", certificate(name: "edge.fabrikam.net")))
        #expect(try !speaks("sip:erin@fabrikam.com", certificate(dns: ["sip.fabrikam.com"])))
        #expect(try speaks("sip:erin@adatum.example", certificate(dns: ["sip.adatum.example"])))
        #expect(try !speaks("sip:erin@fabrikam.com", certificate(dns: ["sip.adatum.example"])))
    }

    @Test("over UDP and TCP the address decides: that of a plain route, or those of `peers`")
    func addresses() throws {
        #expect(try verdict("sip:a@example.com", from: "192.0.2.20").partner == .init(name: "example.com", entry: "example.com"))
        #expect(try verdict("sip:a@example.com", from: "::ffff:192.0.2.20", .tcp).partner != nil)
        #expect(try verdict("sip:a@example.com", from: "192.0.2.21").partner == nil)
        #expect(try verdict("sip:a@inside.example.com", from: "192.0.2.33").partner != nil)
        #expect(try verdict("sip:a@inside.example.com", from: "2001:db8::7", .tcp).partner != nil)
        #expect(try verdict("sip:a@inside.example.com", from: "192.0.2.30").partner == nil, "`peers` replace the route's address")
    }

    @Test("a plain route to a host name says nothing of where requests come from, and a TLS route nothing of addresses")
    func names() throws {
        for user in ["sip:a@example.net", "sip:a@example.org", "sip:a@fabrikam.com", "sip:a@adatum.example"] {
            for host in ["192.0.2.9", "192.0.2.20", "127.0.0.1"] {
                guard case .unauthorized(let reason) = try verdict(user, from: host, .tcp) else {
                    Issue.record("\(host) speaks for \(user)")
                    continue
                }
                #expect(reason.contains(host) && reason.contains("peers"))
            }
        }
        let local = PeerTable(RoutingTable(["a.example": FederatedDomain(side: .simple, route: TransportAddress(.udp, "localhost", 5080))]))
        #expect(try verdict("sip:b@a.example", from: "127.0.0.2", in: local).partner != nil)
        #expect(try verdict("sip:b@a.example", from: "::1", in: local).partner != nil)
        #expect(try verdict("sip:b@a.example", from: "192.0.2.1", in: local).partner == nil)
    }

    @Test("addresses do not count over TLS, and certificates not where nothing is encrypted")
    func kinds() throws {
        #expect(try verdict("sip:a@example.com", from: "192.0.2.20", .tls).partner == nil)
        #expect(try verdict("sip:a@example.org", from: "192.0.2.20", .tcp, proving: certificate(dns: ["example.org"])).partner == nil)
    }

    @Test("no partner's server speaks for users of a hosted domain; credentials decide where no certificate does")
    func hosted() throws {
        let user = "sip:bob@contoso.com"
        #expect(try verdict(user, from: "198.51.100.1") == .user(domain: "contoso.com"))
        #expect(try verdict(user, from: "198.51.100.1", .tls) == .user(domain: "contoso.com"))
        for identity in [certificate(dns: ["edge.fabrikam.net"]), certificate(sip: ["example.org"])] {
            for signIn in [false, true] {
                guard case .unauthorized = try verdict(user, from: "203.0.113.5", .tls, proving: identity, signIn: signIn) else {
                    Issue.record("\(identity) speaks for our user")
                    continue
                }
            }
        }
        guard case .unauthorized = try verdict(user, from: "192.0.2.20") else { return #expect(Bool(false), "a partner's address") }
        #expect(try verdict(user, from: "192.0.2.20", signIn: true) == .user(domain: "contoso.com"))
        var routes = Self.routes
        routes["contoso.com"]?.trust.peers = Self.pattern("192.0.2.16/28") + Self.pattern("front.contoso.com")
        let named = PeerTable(routes)
        #expect(try verdict(user, from: "192.0.2.20", in: named) == .user(domain: "contoso.com"))
        #expect(
            try verdict(user, from: "203.0.113.5", .tls, proving: certificate(dns: ["front.contoso.com"]), in: named)
                == .user(domain: "contoso.com"))
        guard case .unauthorized = try verdict(user, from: "198.51.100.1", signIn: true, in: named) else {
            return #expect(Bool(false), "who is not among the peers")
        }
    }

    @Test("who falls to the star is discovered by a certificate of the very domain that he speaks for")
    func discovered() throws {
        var routes = Self.routes
        routes["*"] = FederatedDomain(side: .simple, route: TransportAddress(.tls, "hub.example.net", 5061))
        let open = PeerTable(routes)
        let own = try verdict("sip:x@new.example", from: "203.0.113.5", .tls, proving: certificate(sip: ["new.example"]), in: open)
        #expect(own.partner == .init(name: "new.example", entry: "*", isDiscovered: true))
        let hub = try verdict("sip:x@new.example", from: "203.0.113.5", .tls, proving: certificate(dns: ["hub.example.net"]), in: open)
        #expect(hub.partner == .init(name: "new.example", entry: "*"))
        // A domain that has an entry is proved by its own certificate alone.
        let other = try verdict("sip:x@example.org", from: "203.0.113.5", .tls, proving: certificate(dns: ["hub.example.net"]), in: open)
        #expect(other.partner == nil)
        #expect(
            try verdict("sip:x@new.example", from: "203.0.113.5", .tls, proving: certificate(sip: ["other.example"]), in: open).partner
                == nil)
    }

    @Test("a domain that is refused or not configured is for routing to answer; aliases and numbers are their domain")
    func others() throws {
        #expect(try verdict("sip:a@refused.example", from: "192.0.2.20") == .unknown)
        #expect(try verdict("sip:a@nowhere.example", from: "192.0.2.20") == .unknown)
        #expect(try verdict("sip:a@im.example.com", from: "192.0.2.20").partner?.name == "example.com")
        #expect(try verdict("tel:+1-425-555-0100", from: "192.0.2.20").partner?.name == "example.com")
        #expect(try verdict("tel:+1-425-555-0100", from: "192.0.2.21").partner == nil)
    }

    @Test("what a peer is believed: marks of an edge of our own, identities of the own enterprise, nothing of strangers")
    func trust() {
        func peer(_ host: String) -> Peer { table.peer(at: TransportAddress(.udp, host, 5060), proving: nil) }
        #expect(peer("192.0.2.33").isEdge && peer("192.0.2.33").isTrusted && peer("192.0.2.33").kind == .sameEnterprise)
        #expect(!peer("192.0.2.20").isEdge && !peer("192.0.2.20").isTrusted && peer("192.0.2.20").kind == .federated)
        #expect(peer("198.51.100.1").domains.isEmpty && peer("198.51.100.1").kind == .untrusted)
        var routes = Self.routes
        routes["example.com"]?.trust.asserts = true
        routes["example.com"]?.trust.isEdge = true
        let partner = PeerTable(routes).peer(at: TransportAddress(.udp, "192.0.2.20", 5060), proving: nil)
        #expect(partner.isTrusted && !partner.isEdge, "an edge of somebody else is none of ours")
    }

    @Test("requests of a dialog go to its far end's servers, to its domain, and to whoever began it")
    func places() throws {
        let peer = table.peer(at: TransportAddress(.udp, "192.0.2.20", 5060), proving: nil)
        let user = try #require(SIPURI("sip:a@example.com"))
        for host in ["192.0.2.20", "example.com", "p1.example.com"] {
            #expect(table.isAddress(host, of: user, beside: peer, at: Instant(secondsSince1970: 0)), "\(host)")
        }
        for host in ["192.0.2.21", "192.0.2.1", "example.net", "evilexample.com"] {
            #expect(!table.isAddress(host, of: user, beside: peer, at: Instant(secondsSince1970: 0)), "\(host)")
        }
    }

    @Test("an operator is told by what those are known who speak for a domain") func speakers() {
        var routes = Self.routes
        routes.locatesNames = true
        let table = PeerTable(routes)
        #expect(table.speakers(for: "example.com").addresses.map(\.description) == ["192.0.2.20"])
        #expect(table.speakers(for: "example.com").names == ["example.com"])
        #expect(table.speakers(for: "example.net").hopTargets.map(\.description) == ["tcp:proxy.example.net:5060"])
        #expect(table.speakers(for: "fabrikam.com").names == ["edge.fabrikam.net", "fabrikam.com"])
        #expect(table.speakers(for: "fabrikam.com").addresses.isEmpty && table.speakers(for: "fabrikam.com").hopTargets.isEmpty)
        #expect(table.speakers(for: "contoso.com").isAnywhere)
        let nobody = table.speakers(for: "nobody.example")
        #expect(nobody.addresses.isEmpty && nobody.hopTargets.isEmpty && nobody.names.isEmpty && !nobody.isAnywhere)
        #expect(table.speakers(for: "refused.example") == nobody)
    }
}
