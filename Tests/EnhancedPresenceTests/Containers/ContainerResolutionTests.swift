import EnhancedPresence
import PresenceDocuments
import Testing

@Suite struct ContainerResolutionTests {
    private static func resolve(
        _ members: [Int: [ContainerMember]], holding: [Int], _ watcher: String, _ network: SourceNetwork,
        policy: EnhancedPresencePolicy = .standard
    ) throws -> String {
        let presentity = try Fixture.presentity(holding.map { Fixture.publication(.state, $0) }, members: members, policy: policy)
        return presentity.resolve(.state, for: WatcherIdentity(uri: watcher, network: network)).description
    }

    @Test("MS-PRES 3.2.5.3 rule 1: the watcher as user beats every class, however high [R074, R084]")
    func user() throws {
        let members: [Int: [ContainerMember]] = [
            100: [ContainerMember(.user, value: "alice@contoso.com"), ContainerMember(.publicCloud)],
            300: [ContainerMember(.sameEnterprise)], 400: [ContainerMember(.domain, value: "contoso.com")],
        ]
        #expect(try Self.resolve(members, holding: [100, 300, 400], "sip:alice@CONTOSO.com", .sameEnterprise) == "container 100 (user)")
    }

    @Test(
        "RFC 3261 19.1.4: a block holds for either case of the hexadecimal digits of an escape",
        arguments: ["a%2fb", "a%2Fb", "%61%2fb"], ["a%2fb", "a%2Fb"])
    func escapes(member: String, watcher: String) throws {
        let members: [Int: [ContainerMember]] = [
            100: [ContainerMember(.federated)], 32_000: [ContainerMember(.user, value: "\(member)@example.org")],
        ]
        #expect(
            try Self.resolve(members, holding: [100], "sip:\(watcher)@example.org", .federated) == "container 32000 (user)")
        #expect(try Self.resolve(members, holding: [100], "sip:a/b@example.org", .federated) == "container 100 (federated)")
    }

    @Test("MS-PRES 3.2.5.3 only containers that hold the category are candidates [R073]")
    func candidates() throws {
        let members: [Int: [ContainerMember]] = [
            100: [ContainerMember(.user, value: "alice@contoso.com")], 300: [ContainerMember(.sameEnterprise)],
        ]
        #expect(try Self.resolve(members, holding: [300], "sip:alice@contoso.com", .sameEnterprise) == "container 300 (sameEnterprise)")
    }

    @Test("MS-PRES 4.4.2 container 32000 decides about a category that it does not hold, for watchers that it finds first [R093]")
    func blockedContainer() throws {
        let members: [Int: [ContainerMember]] = [
            100: [ContainerMember(.federated)], 400: [ContainerMember(.user, value: "fred@contoso.com")],
            32_000: [ContainerMember(.domain, value: "contoso.com")],
        ]
        #expect(try Self.resolve(members, holding: [100, 400], "sip:eve@contoso.com", .federated) == "container 32000 (domain)")
        #expect(try Self.resolve(members, holding: [100, 400], "sip:fred@contoso.com", .federated) == "container 400 (user)")
        #expect(try Self.resolve(members, holding: [100, 400], "sip:dan@example.org", .federated) == "container 100 (federated)")
        #expect(
            try Self.resolve([100: [ContainerMember(.federated)], 32_000: []], holding: [100], "sip:eve@contoso.com", .federated)
                == "container 100 (federated)")
    }

    @Test("MS-PRES 3.2.5.3 rule 2: the domain beats the class [R075]")
    func domain() throws {
        let members: [Int: [ContainerMember]] = [
            100: [ContainerMember(.domain, value: "Fabrikam.com")], 300: [ContainerMember(.federated)],
        ]
        #expect(try Self.resolve(members, holding: [100, 300], "sip:alice@fabrikam.com", .federated) == "container 100 (domain)")
    }

    @Test(
        "MS-PRES 3.2.5.3 rules 3 to 5: each class only for watchers of its network [R076, R077, R078]",
        arguments: [
            (SourceNetwork.sameEnterprise, "container 200 (sameEnterprise)"), (.federated, "container 300 (federated)"),
            (.publicCloud, "container 400 (publicCloud)"),
        ])
    func classes(_ network: SourceNetwork, _ expected: String) throws {
        let members: [Int: [ContainerMember]] = [
            200: [ContainerMember(.sameEnterprise)], 300: [ContainerMember(.federated)], 400: [ContainerMember(.publicCloud)],
        ]
        #expect(try Self.resolve(members, holding: [200, 300, 400], "sip:someone@example.org", network) == expected)
    }

    @Test("MS-PRES 1.3.1.3.6 within one rule the highest number wins [R083]")
    func highest() throws {
        let members: [Int: [ContainerMember]] = [
            100: [ContainerMember(.federated)], 200: [ContainerMember(.federated)], 32000: [ContainerMember(.sameEnterprise)],
        ]
        #expect(try Self.resolve(members, holding: [100, 200, 32000], "sip:x@fabrikam.com", .federated) == "container 200 (federated)")
    }

    @Test("MS-PRES 3.2.5.3 rule 6: container 0 is for everybody else [R071, R079]")
    func zero() throws {
        let members: [Int: [ContainerMember]] = [200: [ContainerMember(.sameEnterprise)]]
        #expect(try Self.resolve(members, holding: [0, 200], "sip:x@example.org", .federated) == "container 0 (default)")
    }

    @Test("MS-PRES 1.3.1.3.7 an everyone member counts after the classes and before container 0 [R079]")
    func everyone() throws {
        let members: [Int: [ContainerMember]] = [300: [ContainerMember(.everyone)], 100: [ContainerMember(.federated)]]
        #expect(try Self.resolve(members, holding: [0, 100, 300], "sip:x@example.org", .federated) == "container 100 (federated)")
        #expect(try Self.resolve(members, holding: [0, 100, 300], "sip:x@example.org", .publicCloud) == "container 300 (everyone)")
        var policy = EnhancedPresencePolicy.standard
        policy.everyoneMembersCount = false
        #expect(
            try Self.resolve(members, holding: [0, 100, 300], "sip:x@example.org", .publicCloud, policy: policy) == "container 0 (default)")
    }

    @Test("MS-PRES 3.2.5.3 nothing matches: blocked [R080]")
    func blocked() throws {
        let members: [Int: [ContainerMember]] = [200: [ContainerMember(.sameEnterprise)]]
        #expect(try Self.resolve(members, holding: [200], "sip:x@example.org", .federated) == "blocked (no member matches)")
        #expect(try Self.resolve(members, holding: [], "sip:x@example.org", .federated) == "blocked (not published)")
        #expect(try Self.resolve([:], holding: [1, 300], "sip:x@example.org", .federated) == "blocked (no member matches)")
    }

    @Test("MS-PRES 1.3.1.2 a private category is nobody's [R091]")
    func privateCategory() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.routing, 0), Fixture.publication(.legacyInterop, 0)])
        let watcher = WatcherIdentity(uri: "sip:alice@contoso.com", network: .sameEnterprise)
        #expect(presentity.resolve(.routing, for: watcher).description == "blocked (private category)")
        #expect(presentity.resolve(.legacyInterop, for: watcher).description == "blocked (private category)")
    }

    @Test("MS-PRES 3.2.5.3 the resolution is per category [R082]")
    func perCategory() throws {
        let presentity = try Fixture.presentity(
            [Fixture.publication(.state, 300), Fixture.publication(.state, 200), Fixture.publication(.note, 200)],
            members: [300: [ContainerMember(.user, value: "alice@contoso.com")], 200: [ContainerMember(.sameEnterprise)]])
        let alice = WatcherIdentity(uri: "sip:alice@contoso.com", network: .sameEnterprise)
        #expect(presentity.resolve(.state, for: alice).description == "container 300 (user)")
        #expect(presentity.resolve(.note, for: alice).description == "container 200 (sameEnterprise)")
    }

    @Test("MS-PRES 3.2.5.3 and 2.2.2.5.1: a domain member is equality, its sub-domains only when switched on [R075]")
    func subdomain() throws {
        let members: [Int: [ContainerMember]] = [100: [ContainerMember(.domain, value: "contoso.com")]]
        #expect(try Self.resolve(members, holding: [100], "sip:x@eu.contoso.com", .federated) == "blocked (no member matches)")
        #expect(try Self.resolve(members, holding: [100], "sip:x@notcontoso.com", .federated) == "blocked (no member matches)")
        var policy = EnhancedPresencePolicy.standard
        policy.domainMembersMatchSubdomains = true
        #expect(try Self.resolve(members, holding: [100], "sip:x@eu.contoso.com", .federated, policy: policy) == "container 100 (domain)")
        #expect(
            try Self.resolve(members, holding: [100], "sip:x@notcontoso.com", .federated, policy: policy) == "blocked (no member matches)")
    }

    @Test("an explanation names for each rule the containers that it matches")
    func explanation() throws {
        let presentity = try Fixture.presentity(
            [Fixture.publication(.state, 0), Fixture.publication(.state, 100), Fixture.publication(.state, 200)],
            members: [
                100: [ContainerMember(.domain, value: "fabrikam.com")], 200: [ContainerMember(.federated), ContainerMember(.everyone)],
            ])
        let lines = presentity.resolver.explain(
            heldBy: [200, 100, 0].map(Fixture.container), for: WatcherIdentity(uri: "sip:x@fabrikam.com", network: .federated))
        #expect(lines.map(\.rule) == ResolutionRule.inOrder)
        #expect(lines.map { $0.matching.map(\.rawValue) } == [[], [100], [], [200], [], [200], [0]])
    }

    @Test(
        "MS-PRES 3.2.5.3 over random memberships the resolver agrees with the rules read literally [R073, R074, R075, R076, R077, R078, R079, R080, R083]"
    )
    func literal() throws {
        var random = LinearGenerator(state: 20_260_302)
        let types: [ContainerMemberType] = [.user, .domain, .sameEnterprise, .federated, .publicCloud, .everyone]
        let numbers = [0, 1, 100, 200, 300, 32000]
        for _ in 0..<300 {
            var members: [Int: [ContainerMember]] = [:]
            for number in numbers.dropFirst() {
                let chosen = types.filter { _ in random.next() % 4 == 0 }.map { type in
                    ContainerMember(type, value: type == .user ? "alice@fabrikam.com" : type == .domain ? "fabrikam.com" : nil)
                }
                if !chosen.isEmpty { members[number] = chosen }
            }
            let holding = numbers.filter { _ in random.next() % 2 == 0 }
            for (watcher, network) in [
                ("sip:alice@fabrikam.com", SourceNetwork.federated), ("sip:zoe@fabrikam.com", .publicCloud),
                ("sip:x@example.org", .sameEnterprise),
            ] {
                let wanted = Self.literally(members, holding, watcher, network.rawValue)
                let found = try Self.resolve(members, holding: holding, watcher, network)
                #expect(found.hasPrefix(wanted.map { "container \($0) " } ?? "blocked"), "\(members) \(holding) \(watcher)")
            }
        }
    }

    /// Section 3.2.5.3 sentence by sentence, but for container 32000, which decides about every category as soon as it has a member.
    private static func literally(_ members: [Int: [ContainerMember]], _ holding: [Int], _ watcher: String, _ network: String) -> Int? {
        let candidates = members[32_000] == nil ? holding : holding + [32_000]
        func highest(_ type: String, _ value: String?) -> Int? {
            candidates.filter { $0 > 0 && (members[$0] ?? []).contains { $0.type.rawValue == type && $0.value == value } }.max()
        }
        let address = String(watcher.dropFirst(4))
        return highest("user", address) ?? highest("domain", address.split(separator: "@").last.map(String.init)) ?? highest(network, nil)
            ?? highest("everyone", nil) ?? (holding.contains(0) ? 0 : nil)
    }
}

/// A small seeded generator (Knuth's constants).
struct LinearGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
