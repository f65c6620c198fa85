import FederationRouting
import SIPCore
import Testing

@Suite struct FederationRightsTests {
    private func users(_ texts: String...) -> [PartyPattern] { texts.compactMap { PartyPattern($0) } }

    private func refusal(_ rights: FederationRights, of domain: String = "contoso.com", _ watcher: String, _ presentity: String) throws
        -> RightsRefusal?
    {
        var entries: [String: FederatedDomain] = [:]
        for name in ["contoso.com", "example.org", "fabrikam.com"] {
            entries[name] = FederatedDomain(side: .simple, route: TransportAddress(.udp, "192.0.2.1", 5060))
        }
        entries[domain]?.trust.rights = rights
        return RoutingTable(entries).rightsRefusal(
            watcher: try #require(SIPURI("sip:\(watcher)")), presentity: try #require(SIPURI("sip:\(presentity)")))
    }

    @Test(
        "patterns mean whole users and whole domains",
        arguments: [
            ("*", "a@b.example", true), ("example.org", "a@example.org", true), ("example.org", "a@sub.example.org", false),
            ("*.example.org", "a@sub.example.org", true), ("*.example.org", "a@example.org", false),
            ("*.example.org", "a@xexample.org", false),
            ("alice@example.org", "alice@EXAMPLE.org", true), ("alice@example.org", "Alice@example.org", false),
            ("sales-*@example.org", "sales-7@example.org", true), ("sales-*@example.org", "sale@example.org", false),
            ("*@example.org", "x@example.org", true), ("a@*.example.org", "a@b.example.org", true),
        ])
    func patterns(text: String, user: String, matches: Bool) throws {
        let pattern = try #require(PartyPattern(text))
        #expect(pattern.matches(try #require(SIPURI("sip:\(user)"))) == matches)
        #expect(pattern.description == text)
    }

    @Test(
        "RFC 3261 19.1.4: escapes in the user part hide a user neither from a pattern nor a pattern from a user",
        arguments: [
            ("sales-*@example.org", "%73ales-1@example.org", true), ("sales-*@example.org", "sales%2D1@example.org", true),
            ("sales-*@example.org", "sales-%CC%81@example.org", true), ("sales-*@example.org", "%53ales-1@example.org", false),
            ("%73ales-*@example.org", "sales-1@example.org", true), ("%73ales-*@example.org", "s%61les-1@example.org", true),
            ("a%2fb-*@example.org", "a%2Fb-1@example.org", true), ("%61lice@example.org", "alice@example.org", true),
            ("alice@example.org", "%61lice@example.org", true), ("a%2fb@example.org", "a%2Fb@example.org", true),
        ])
    func escapes(text: String, user: String, matches: Bool) throws {
        #expect(try #require(PartyPattern(text)).matches(try #require(SIPURI("sip:\(user)"))) == matches)
    }

    @Test(
        "what is no pattern is refused",
        arguments: ["", "@example.org", "a*b@example.org", "a@", "*.", "a@192.0.2.1", "a b@example.org", "sip:a@b.c"])
    func mistakes(text: String) { #expect(PartyPattern(text) == nil) }

    @Test("MS-PRES 3.4.5.3: both directions have rights of their own, of domains and of users")
    func directions() throws {
        let closed = FederationRights(deny: .init(from: users("example.org")))
        #expect(try refusal(closed, "a@example.org", "bob@contoso.com")?.isIncoming == true)
        #expect(try refusal(closed, "bob@contoso.com", "a@example.org") == nil)
        #expect(try refusal(closed, "a@fabrikam.com", "bob@contoso.com") == nil)
        let silent = FederationRights(deny: .init(to: users("alice@example.org")))
        let outgoing = try refusal(silent, "bob@contoso.com", "alice@example.org")
        #expect(outgoing?.isIncoming == false)
        #expect(outgoing?.reason.contains("deny.to has alice@example.org") == true)
        #expect(try refusal(silent, "bob@contoso.com", "anna@example.org") == nil)
        let some = FederationRights(allow: .init(users: users("bob@contoso.com")))
        #expect(try refusal(some, "bob@contoso.com", "a@example.org") == nil)
        #expect(try refusal(some, "a@example.org", "bob@contoso.com") == nil)
        let unlisted = try refusal(some, "ceo@contoso.com", "a@example.org")
        #expect(unlisted?.reason.contains("allow.users does not have sip:ceo@contoso.com") == true)
        #expect(try refusal(some, "a@example.org", "ceo@contoso.com") != nil)
        #expect(try refusal(some, "a@example.org", "b@fabrikam.com") == nil)
    }

    @Test("blocked wins over allowed, and where something is allowed everything else is not")
    func precedence() throws {
        let rights = FederationRights(
            allow: .init(from: users("example.org", "alice@fabrikam.com")), deny: .init(from: users("mallory@example.org")))
        #expect(try refusal(rights, "alice@example.org", "bob@contoso.com") == nil)
        #expect(try refusal(rights, "mallory@example.org", "bob@contoso.com")?.reason.contains("deny.from") == true)
        #expect(try refusal(rights, "alice@fabrikam.com", "bob@contoso.com") == nil)
        #expect(try refusal(rights, "erin@fabrikam.com", "bob@contoso.com")?.reason.contains("allow.from") == true)
    }

    @Test("within a domain nobody asks; of two domains each can say no")
    func both() throws {
        let all = FederationRights(deny: .init(users: users("*"), from: users("*"), to: users("*")))
        #expect(try refusal(all, "bob@contoso.com", "ben@contoso.com") == nil)
        #expect(try refusal(all, of: "example.org", "bob@contoso.com", "a@example.org")?.isIncoming == true)
        #expect(try refusal(all, of: "example.org", "a@example.org", "bob@contoso.com")?.isIncoming == false)
    }

    @Test("a bucket lets a second's worth through at once, then its rate, whatever the clock does")
    func bucket() {
        let start = Instant(secondsSince1970: 1_000)
        var bucket = TokenBucket(rate: 20, at: start)
        func taken(_ tries: Int, at moment: (Int) -> Instant) -> Int {
            var taken = 0
            for number in 0..<tries where bucket.take(at: moment(number)) { taken += 1 }
            return taken
        }
        #expect(taken(50) { _ in start } == 20)
        #expect(taken(50) { _ in start + .milliseconds(500) } == 10)
        #expect(taken(1) { _ in start } == 0)
        #expect(taken(100) { _ in start + .seconds(3_600) } == 20)
        let tenSeconds = taken(10_000) { start + .seconds(7_200) + .milliseconds($0) }
        #expect((218...220).contains(tenSeconds), "ten seconds at 20, and the burst")
    }

    @Test("an operator is told which entries let a watcher in; of domains that say nothing there are none") func grounds() throws {
        var rights = FederationRights()
        rights.allow = .init(users: users("bob@contoso.com", "*"), from: users("fabrikam.com", "*.example.org", "example.org"))
        var trust = DomainTrust()
        trust.rights = rights
        let table = RoutingTable([
            "contoso.com": FederatedDomain(side: .enterprise, isHosted: true, trust: trust),
            "example.org": FederatedDomain(side: .simple, route: TransportAddress(.udp, "192.0.2.1", 5060)),
        ])
        let alice = try #require(SIPURI("sip:alice@example.org"))
        let bob = try #require(SIPURI("sip:bob@contoso.com"))
        #expect(
            table.rightsGrounds(watcher: alice, presentity: bob)
                == ["allow.users has bob@contoso.com (contoso.com)", "allow.from has example.org (contoso.com)"])
        #expect(table.rightsGrounds(watcher: bob, presentity: alice) == ["allow.users has bob@contoso.com (contoso.com)"])
    }
}
