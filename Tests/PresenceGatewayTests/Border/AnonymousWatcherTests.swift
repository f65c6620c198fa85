import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// Watchers whose From is `anonymous@anonymous.invalid` (RFC 3323 4.1.1.3).
@Suite struct AnonymousWatcherTests {
    static let nobody = "anonymous@anonymous.invalid"
    static let stranger = TransportAddress(.udp, "203.0.113.9", 5060)

    func bench(store: (any GatewayStore)? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Bench {
        let example = try #require(DomainTrust(peers: "192.0.2.20"))
        let contoso = try #require(DomainTrust(peers: "192.0.2.10"))
        let users = try #require(DomainTrust(peers: "192.0.2.30"))
        return Bench(store: store) {
            $0.domains["example.org"]?.federation.trust = example
            $0.domains["contoso.com"]?.federation.trust = contoso
            for name in ["fabrikam.com", "example.com"] { $0.domains[name]?.federation.trust = users }
            change(&$0)
        }
    }

    func watch(_ bench: Bench, _ presentity: String, from peer: TransportAddress = Bench.simple, expires: Int = 3_600, extra: String = "") {
        bench.send(bench.subscribe(Self.nobody, to: presentity, expires: expires, extra: extra, via: peer), from: peer)
    }

    /// A refresh of the dialog that a NOTIFY belongs to.
    func refresh(_ bench: Bench, _ notify: SIPRequest, cSeq: Int, from peer: TransportAddress) {
        bench.send(
            "SUBSCRIBE \(notify.headers.contact?.uri.description ?? "") SIP/2.0\r\n"
                + "Via: SIP/2.0/UDP \(peer.host):\(peer.port);branch=z9hG4bKa\(bench.number())\r\nMax-Forwards: 70\r\n"
                + "From: \(notify.headers.first(.to) ?? "")\r\nTo: \(notify.headers.first(.from) ?? "")\r\n"
                + "Call-ID: \(notify.headers.callID ?? "")\r\nCSeq: \(cSeq) SUBSCRIBE\r\nContact: <sip:\(peer.host):\(peer.port)>\r\n"
                + "Event: presence\r\nExpires: 600\r\nContent-Length: 0\r\n\r\n", from: peer)
    }

    @Test("RFC 3323 4.1.1.3 a partner's anonymous watcher is served, and refreshed by that partner alone, after a restart too")
    func served() throws {
        let bench = try bench(store: MemoryStore())
        bench.sendPublish("carol@example.com", Bench.pidf("carol@example.com"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        watch(bench, "carol@example.com")
        _ = try bench.nextResponse(200, at: Bench.simple)
        let notify = try bench.nextRequest(.notify, at: Bench.simple)
        bench.answer(notify, 200, from: Bench.simple)
        #expect(notify.headers.to?.uri.description == "sip:\(Self.nobody)" && notify.text.contains("<basic>open</basic>"))
        refresh(bench, notify, cSeq: 2, from: Bench.enterprise)
        _ = try bench.nextResponse(481, at: Bench.enterprise)
        refresh(bench, notify, cSeq: 2, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        try bench.restart(after: .seconds(5))
        bench.clear()
        refresh(bench, notify, cSeq: 3, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
    }

    @Test("MS-PRES 3.2.5.3 an anonymous watcher is in no container of a network or a domain: it sees what everybody sees")
    func everybody() throws {
        let bench = try bench()
        try bench.publish("rob@fabrikam.com", .state(3_500), .state(6_500, in: 100))
        try bench.setMembers("rob@fabrikam.com", 100, "federated", "domain:example.org")
        func shown(_ watcher: String) throws -> Bool {
            bench.send(bench.categorySubscribe(watcher, to: "rob@fabrikam.com", expires: 0, via: Bench.simple), from: Bench.simple)
            let text = try bench.nextResponse(200, at: Bench.simple).text
            #expect(text.contains("<availability>6500</availability>") != text.contains("<availability>3500</availability>"))
            return text.contains("<availability>6500</availability>")
        }
        #expect(try shown("ann@example.org"))
        #expect(try !shown(Self.nobody))
    }

    @Test("MS-PRES 3.2.5.3 an anonymous watcher of a peer of \"*\" sees what everybody sees", arguments: [true, false])
    func fallback(isAnonymous: Bool) throws {
        let peers = try #require(DomainTrust(peers: Self.stranger.host))
        let bench = try bench {
            $0.domains["*"] = DomainConfiguration(side: .simple, network: .federated)
            $0.domains["*"]?.federation.trust = peers
        }
        try bench.publish("rob@fabrikam.com", .state(3_500), .state(6_500, in: 100))
        try bench.setMembers("rob@fabrikam.com", 100, "federated")
        let watcher = isAnonymous ? Self.nobody : "ann@elsewhere.example.com"
        bench.send(bench.categorySubscribe(watcher, to: "rob@fabrikam.com", expires: 0, via: Self.stranger), from: Self.stranger)
        let text = try bench.nextResponse(200, at: Self.stranger).text
        #expect(text.contains("<availability>6500</availability>") == !isAnonymous)
        #expect(text.contains("<availability>3500</availability>") == isAnonymous)
    }

    @Test(
        "RFC 5922 7.3 the name opens nothing: whoever is no partner's server is 403, as is anything but SUBSCRIBE, and its host as a From")
    func strangers() throws {
        let bench = try bench()
        watch(bench, "carol@example.com", from: Self.stranger)
        _ = try bench.nextResponse(403, at: Self.stranger)
        watch(bench, "carol@example.com", from: Bench.endpoint)
        _ = try bench.nextResponse(403, at: Bench.endpoint)
        watch(bench, "carol@example.com", from: Self.stranger, extra: "Isthmus-Anonymous: sip:anonymous@example.org.anonymous.invalid\r\n")
        _ = try bench.nextResponse(403, at: Self.stranger)
        bench.sendPublish("carol@example.com", Bench.pidf("carol@example.com"), from: Self.nobody, via: Bench.simple)
        _ = try bench.nextResponse(403, at: Bench.simple)
        for peer in [Self.stranger, Bench.simple] {
            bench.send(bench.subscribe("ann@example.org.anonymous.invalid", to: "carol@example.com", via: peer), from: peer)
            _ = try bench.nextResponse(403, at: peer)
        }
        watch(bench, "anonymous@contoso.com.anonymous.invalid")
        _ = try bench.nextResponse(404, at: Bench.simple)
    }

    @Test("what a partner or one of its users is denied is denied to its anonymous watchers, who may be anybody there")
    func rights() throws {
        let users = try #require(PartyPattern("ann@example.org"))
        for deny in [users, try #require(PartyPattern("example.org"))] {
            let bench = try bench { $0.domains["example.com"]?.federation.trust.rights = FederationRights(deny: .init(from: [deny])) }
            watch(bench, "carol@example.com")
            _ = try bench.nextResponse(403, at: Bench.simple)
            watch(bench, "eva@fabrikam.com")
            _ = try bench.nextResponse(200, at: Bench.simple)
        }
        let bench = try bench { $0.domains["example.com"]?.federation.trust.rights = FederationRights(allow: .init(from: [users])) }
        watch(bench, "carol@example.com")
        _ = try bench.nextResponse(403, at: Bench.simple)
    }

    @Test("RFC 3323 4.1.1.3, RFC 3325 9.3 another domain is asked in the name of nobody, and no identity is asserted")
    func bridged() throws {
        let bench = try bench { $0.domains["contoso.com"]?.federation.trust.asserts = true }
        watch(bench, "bob@contoso.com")
        _ = try bench.nextResponse(200, at: Bench.simple)
        let far = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(far.headers.from?.uri.description == "sip:\(Self.nobody)" && !far.headers.contains(.pAssertedIdentity))
        #expect(!String(decoding: SIPSerializer.serialize(far), as: UTF8.self).contains("example.org.anonymous"))
        #expect(!far.headers.contains("Isthmus-Anonymous"))
    }
}
