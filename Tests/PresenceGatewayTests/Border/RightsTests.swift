import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// Rights and limits of partners, and what is said of others, at one gateway with raw messages.
@Suite struct RightsTests {
    private func users(_ texts: String...) -> [PartyPattern] { texts.compactMap { PartyPattern($0) } }

    @Test("MS-PRES 3.4.5.3: a watcher without the right is 403 in either direction, and the journal says by which entry [R154]")
    func rights() throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.federation.trust.peers = Bench.oneNetwork?.peers ?? []
            $0.domains["contoso.com"]?.federation.trust.rights = FederationRights(allow: .init(to: users("anna@example.org")))
            $0.domains["example.com"]?.federation.trust.peers = Bench.oneNetwork?.peers ?? []
            $0.domains["example.com"]?.federation.trust.rights = FederationRights(
                deny: .init(from: users("*.contoso.com", "ulla@contoso.com")))
        }
        bench.send(bench.subscribe("ulla@contoso.com", to: "alice@example.org", via: Bench.enterprise), from: Bench.enterprise)
        let outgoing = try bench.nextResponse(403, at: Bench.enterprise)
        #expect(outgoing.headers.msDiagnostics?.errorID == 2004)
        #expect(outgoing.headers.msDiagnostics?.reason?.contains("anna") != true, "what is allowed is nobody's business")
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(bench.gateway.journal(ofCallID: outgoing.headers.callID ?? "").first?.rule.contains("allow.to") == true)
        bench.send(bench.subscribe("ulla@contoso.com", to: "eva@example.com", via: Bench.enterprise), from: Bench.enterprise)
        let incoming = try bench.nextResponse(403, at: Bench.enterprise)
        #expect(incoming.headers.msDiagnostics?.errorID == 2004)
        bench.send(bench.subscribe("ulla@contoso.com", to: "anna@example.org", via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(bench.gateway.counters.rightsRefused == 2)
        #expect(bench.gateway.partnerReports.first { $0.name == "contoso.com" }?.counters.noRight == 2)
    }

    @Test(
        "RFC 3261 19.1.4: an escape in From is no way around a denied prefix",
        arguments: ["sales-1", "%73ales-1", "sales%2D1"])
    func escapedFrom(user: String) throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.federation.trust.peers = Bench.oneNetwork?.peers ?? []
            $0.domains["example.com"]?.federation.trust.peers = Bench.oneNetwork?.peers ?? []
            $0.domains["example.com"]?.federation.trust.rights = FederationRights(deny: .init(from: users("sales-*@contoso.com")))
        }
        bench.send(bench.subscribe("\(user)@contoso.com", to: "eva@example.com", via: Bench.enterprise), from: Bench.enterprise)
        #expect(try bench.nextResponse(403, at: Bench.enterprise).headers.msDiagnostics?.errorID == 2004)
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("a partner's users watch no more URIs than they may; what they watch already goes on") func uris() throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.federation.trust.peers = Bench.oneNetwork?.peers ?? []
            $0.domains["contoso.com"]?.federation.trust.limits = PartnerLimits(watchedURIs: 2)
        }
        for (user, presentity, status) in [
            ("ulla", "a", 200), ("ulla", "b", 200), ("otto", "c", 503), ("otto", "a", 200),
        ] {
            bench.send(
                bench.subscribe("\(user)@contoso.com", to: "\(presentity)@example.com", via: Bench.enterprise), from: Bench.enterprise)
            let answer = try bench.nextResponse(status, at: Bench.enterprise)
            #expect((answer.headers.retryAfter != nil) == (status == 503))
            bench.clear()
        }
        #expect(bench.gateway.partnerReports.first { $0.name == "contoso.com" }?.watchedURIs == 2)
        #expect(bench.gateway.partnerReports.first { $0.name == "contoso.com" }?.counters.tooManyURIs == 1)
        bench.pass(.seconds(50_000))
        #expect(bench.gateway.tableSizes["watchedByPartners"] == 0)
    }

    @Test("RFC 3325 9.1: identities are asserted to partners who want them, marks of the border to our own servers, nothing to others")
    func assertions() throws {
        let bench = Bench {
            var trust = Bench.oneNetwork ?? DomainTrust()
            trust.asserts = true
            $0.domains["example.org"]?.federation.trust = trust
            $0.domains["inside.contoso.com"] = DomainConfiguration(side: .enterprise, route: Bench.enterprise, network: .sameEnterprise)
        }
        bench.send(bench.subscribe("ulla@contoso.com", to: "alice@example.org", via: Bench.enterprise), from: Bench.enterprise)
        let partner = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(partner.headers.first(.pAssertedIdentity) == "<sip:ulla@contoso.com>")
        #expect(!partner.headers.contains(.msEdgeProxyMessageTrust) && !partner.headers.contains(.msSourceNetwork))
        bench.clear()
        bench.send(bench.subscribe("alice@example.org", to: "bob@inside.contoso.com", via: Bench.simple), from: Bench.simple)
        bench.drop(at: Bench.enterprise) { if case .response = $0 { true } else { false } }
        let own = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(own.headers.first(.msSourceNetwork) == "federation")
        let trust = own.headers.first(.msEdgeProxyMessageTrust) ?? ""
        for part in [
            "ms-source-type=DirectPartner", "ms-ep-fqdn=edge1.example.net", "ms-source-verified-user=verified",
            "ms-source-network=federation",
        ] {
            #expect(trust.contains(part), "\(part)")
        }
        #expect(!own.headers.contains(.pAssertedIdentity))
        bench.clear()
        bench.send(bench.subscribe("alice@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        let foreign = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        for name in SIPHeaders.trustHeaderNames { #expect(!foreign.headers.contains(name), "\(name)") }
    }

    @Test("RFC 3325 5: whom a trusted neighbour vouches for is the watcher; of others, and of those he may not speak for, it is From")
    func assertedWatcher() throws {
        for (asserts, asserted, watcher) in [
            (true, "carol@example.org", "carol"), (false, "carol@example.org", "proxy"), (true, "dan@elsewhere.example", "proxy"),
        ] {
            let bench = Bench {
                $0.domains["example.org"]?.federation.trust = Bench.oneNetwork ?? DomainTrust()
                $0.domains["example.org"]?.federation.trust.asserts = asserts
                $0.domains["contoso.com"]?.federation.trust = DomainTrust(peers: "192.0.2.10") ?? DomainTrust()
            }
            bench.send(
                bench.subscribe(
                    "proxy@example.org", to: "bob@contoso.com", extra: "P-Asserted-Identity: <sip:\(asserted)>\r\n", via: Bench.simple),
                from: Bench.simple)
            let far = try bench.nextRequest(.subscribe, at: Bench.enterprise)
            #expect(far.headers.from?.uri.user == watcher, "\(asserted)")
        }
    }

    @Test("RFC 5079 5: a watcher that hides whom its network vouches for is 433, and nobody is told who it is") func privacy() throws {
        let bench = Bench {
            $0.domains["example.org"]?.federation.trust = Bench.oneNetwork ?? DomainTrust()
            $0.domains["example.org"]?.federation.trust.asserts = true
        }
        bench.send(
            bench.subscribe(
                "anonymous@example.org", to: "bob@contoso.com",
                extra: "P-Asserted-Identity: <sip:carol@example.org>\r\nPrivacy: id\r\n", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(433, at: Bench.simple)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("RFC 3325 9.3: who asks for Privacy is asserted with the same wish, in refreshes and after a restart too, to nobody else")
    func privacyToward() throws {
        for asserts in [true, false] {
            let bench = Bench(store: MemoryStore()) {
                $0.domains["example.org"]?.federation.trust = Bench.oneNetwork ?? DomainTrust()
                $0.domains["example.org"]?.federation.trust.asserts = asserts
            }
            bench.send(
                bench.subscribe("ulla@contoso.com", to: "alice@example.org", extra: "Privacy: id\r\n", via: Bench.enterprise),
                from: Bench.enterprise)
            let far = try bench.nextRequest(.subscribe, at: Bench.simple)
            #expect(far.headers.first(.privacy) == (asserts ? "id" : nil))
            #expect(far.headers.contains(.pAssertedIdentity) == asserts)
            bench.answer(far, 200, from: Bench.simple, headers: [(.expires, "600")])
            bench.notify(
                far, "active;expires=600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("alice@example.org"),
                from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.enterprise)
            _ = try bench.takeNotifies()
            try bench.restart()
            bench.pass(.seconds(1))
            let refresh = try bench.nextRequest(.subscribe, at: Bench.simple)
            #expect(refresh.headers.toTag != nil)
            #expect(refresh.headers.first(.privacy) == (asserts ? "id" : nil))
        }
    }

    @Test("RFC 3325 5: what a far side asserts in its answers is believed by nobody and told to nobody") func answers() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ulla@contoso.com", to: "alice@example.org", via: Bench.enterprise), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        let far = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(
            far, 200, from: Bench.simple,
            headers: [(.expires, "3600")] + SIPHeaders.trustHeaderNames.map { ($0, "<sip:carol@example.org>;publiccloud") })
        bench.notify(
            far, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("alice@example.org"), from: Bench.simple)
        let notified = try bench.takeNotifies().map(\.headers)
        #expect(!notified.isEmpty)
        for headers in notified + [accepted.headers] {
            for name in SIPHeaders.trustHeaderNames { #expect(!headers.contains(name), "\(name)") }
        }
        #expect(bench.gateway.flows.subscriptions.dialogs.values.map(\.terms.network) == [.federated])
    }

    @Test("who comes by himself, not by his domain's server, is 403 whatever credentials he shows: only hosted domains ask for some")
    func strayUser() throws {
        let bench = Bench { $0.domains["example.org"]?.federation.trust = DomainTrust(peers: "198.51.100.7") ?? DomainTrust() }
        let credentials =
            "Authorization: Digest username=\"carol\", realm=\"example.org\", nonce=\"1\", uri=\"sip:bob@contoso.com\", "
            + "response=\"00000000000000000000000000000000\"\r\n"
        for extra in ["", credentials] {
            bench.send(bench.subscribe("carol@example.org", to: "eva@fabrikam.com", extra: extra, via: Bench.simple), from: Bench.simple)
            let answer = try bench.nextResponse(403, at: Bench.simple)
            #expect(!answer.headers.contains(.wwwAuthenticate) && !answer.headers.contains(.proxyAuthenticate))
        }
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("MS-SIPRE 2.2.15: ms-source-network counts from an edge of our own only, and decides the container", arguments: [true, false])
    func sourceNetwork(isEdge: Bool) throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.federation.network = .sameEnterprise
            $0.domains["contoso.com"]?.federation.trust = DomainTrust(peers: "192.0.2.10") ?? DomainTrust()
            $0.domains["contoso.com"]?.federation.trust.isEdge = isEdge
        }
        bench.send(
            bench.subscribe(
                "ulla@contoso.com", to: "eva@fabrikam.com", extra: "ms-source-network: publiccloud\r\n", via: Bench.enterprise),
            from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let watched = bench.gateway.flows.subscriptions.dialogs.values.map(\.terms.network)
        #expect(watched == [isEdge ? .publicCloud : .sameEnterprise])
    }
}
