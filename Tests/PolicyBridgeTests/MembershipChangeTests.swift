import EnhancedPresence
import PresenceDocuments
import PresenceRules
import SIPCore
import Testing
import XMLCore

@testable import PolicyBridge

/// Changes of members applied to rules, and rules applied to members, one by one.
@Suite struct MembershipChangeTests {
    static let bridge = ContainerTableTests.bridge
    static let user = ContainerMember(.user, value: "a@contoso.com")
    static let domain = ContainerMember(.domain, value: "contoso.com")

    static func container(_ number: Int) throws -> ContainerID { try #require(ContainerID(number)) }

    static func add(_ member: ContainerMember, _ number: Int) throws -> MembershipChange {
        MembershipChange(.add, member, in: try container(number))
    }

    static func remove(_ member: ContainerMember, _ number: Int) throws -> MembershipChange {
        MembershipChange(.remove, member, in: try container(number))
    }

    static func one(_ id: String, _ user: String, _ handling: String = "allow", _ transformations: String = ContainerTableTests.everything)
        -> String
    {
        ContainerTableTests.rule(id, "<identity><one id='\(user)'/></identity>", handling, transformations)
    }

    /// Handling of a user by rules.
    static func handling(_ octets: [UInt8], _ address: String) throws -> SubscriptionHandling {
        let world = World.both[0]
        let index = try #require(world.watchers.firstIndex { $0.address == address })
        return world.decisions(try PresenceRulesDocument.decode(octets))[index].handling
    }

    @Test("RFC 4745 10: a blocked user is excepted from the domain that is allowed, since rules would allow both together")
    func blockInDomain() throws {
        let domain = try Self.bridge.ruleset(applying: [try Self.add(Self.domain, 400)], to: nil).octets
        #expect(try Self.handling(domain, "a@contoso.com") == .allow)
        let blocked = try Self.bridge.ruleset(applying: [try Self.add(Self.user, 32_000)], to: domain)
        #expect(blocked.conflicts.isEmpty)
        #expect(try Self.handling(blocked.octets, "a@contoso.com") == .politeBlock)
        #expect(try Self.handling(blocked.octets, "b@contoso.com") == .allow)
        let back = try Self.bridge.ruleset(applying: [try Self.remove(Self.user, 32_000)], to: blocked.octets).octets
        #expect(try Self.handling(back, "a@contoso.com") == .allow)
        #expect(try PresenceRulesDocument.decode(back) == PresenceRulesDocument.decode(domain))
    }

    @Test("removing a member takes its element out of the rule, and an empty rule out of the document")
    func removing() throws {
        let other = ContainerMember(.user, value: "b@contoso.com")
        let two = try Self.bridge.ruleset(applying: [try Self.add(Self.user, 200), try Self.add(other, 200)], to: nil).octets
        let one = try Self.bridge.ruleset(applying: [try Self.remove(Self.user, 200)], to: two).octets
        #expect(try PresenceRulesDocument.decode(one).rules.map(\.conditions) == [[.identity([.one(id: "sip:b@contoso.com")])]])
        let none = try Self.bridge.ruleset(applying: [try Self.remove(other, 200)], to: one).octets
        #expect(try PresenceRulesDocument.decode(none).rules.isEmpty)
    }

    @Test("rules of other forms, comments and white space keep every octet")
    func untouched() throws {
        let foreign = "  <!-- mine -->\n  <rule id='work'><conditions><sphere value='work'/></conditions><x:note xmlns:x='urn:x'/></rule>\n"
            .replacing("<x:note xmlns:x='urn:x'/>", with: "<actions><x:act xmlns:x='urn:example:x'>1</x:act></actions>")
        let document = ContainerTableTests.ruleset + "\n" + foreign + Self.one("friends", "sip:a@contoso.com") + "\n</ruleset>\n"
        let edit = try Self.bridge.ruleset(applying: [try Self.remove(Self.user, 400)], to: Array(document.utf8))
        #expect(String(decoding: edit.octets, as: UTF8.self) == ContainerTableTests.ruleset + "\n" + foreign + "\n</ruleset>\n")
        let same = try Self.bridge.ruleset(applying: [try Self.add(Self.user, 400)], to: Array(document.utf8))
        #expect(same.octets == Array(document.utf8))
        let empty = try Self.bridge.ruleset(
            applying: [try Self.add(Self.user, 32_000)], to: Array((ContainerTableTests.ruleset + "</ruleset>").utf8))
        let selfClosing = ContainerTableTests.ruleset.dropLast() + "/>"
        let closed = try Self.bridge.ruleset(applying: [try Self.add(Self.user, 32_000)], to: Array(selfClosing.utf8))
        #expect(empty.octets == closed.octets)
    }

    @Test("a blocked member whom a rule of another form still allows is reported with the rule, and not if its list is outweighed")
    func stillAllowed() throws {
        let rules = Self.one("own", "sip:a@contoso.com", "allow", "<pr:provide-all-attributes/>")
        let list = ContainerTableTests.rule(
            "list", "<ocp:external-list><ocp:entry anc='\(World.anchor.replacing("\"", with: "&quot;"))'/></ocp:external-list>", "allow", ""
        )
        let document = Array((ContainerTableTests.ruleset + rules + list + "</ruleset>").utf8)
        let change = try Self.add(Self.user, 32_000)
        let edit = try Self.bridge.ruleset(applying: [change], to: document)
        #expect(edit.conflicts == [RuleConflict(.stillAllowed, byRule: "own", Self.user, in: change.container)])
        #expect(edit.conflicts.first?.description == "rule 'own' still gives 'a@contoso.com' more than container 32000")
        #expect(try Self.handling(edit.octets, "a@contoso.com") == .allow)
    }

    @Test("a domain that outweighs rules which refuse some of its users is reported with each rule")
    func outweighed() throws {
        let rules = Self.one("enemy", "sip:a@contoso.com", "block", "") + Self.one("far", "sip:d@example.com", "block", "")
        let edit = try Self.bridge.ruleset(
            applying: [try Self.add(Self.domain, 400)], to: Array((ContainerTableTests.ruleset + rules + "</ruleset>").utf8))
        #expect(edit.conflicts.map(\.kind) == [.outweighed] && edit.conflicts.map(\.rule) == ["enemy"])
    }

    @Test("everyone is other-identity and anonymous-request together, and hidden while a rule out of sight names watchers")
    func everyone() throws {
        let everyone = ContainerMember(.everyone)
        let edit = try Self.bridge.ruleset(applying: [try Self.add(everyone, 200)], to: nil)
        let rules = try PresenceRulesDocument.decode(edit.octets)
        #expect(rules.rules.map(\.conditions) == [[.otherIdentity], [.anonymousRequest]])
        #expect(Self.bridge.memberships(from: rules) == PolicyBridge.Memberships(members: [try Self.container(200): [everyone]]))
        let enemy = Array((ContainerTableTests.ruleset + Self.one("enemy", "sip:a@contoso.com", "block", "") + "</ruleset>").utf8)
        let beside = try Self.bridge.ruleset(applying: [try Self.add(everyone, 200)], to: enemy)
        #expect(beside.conflicts.map(\.kind) == [.outweighs])
        #expect(try Self.handling(beside.octets, "a@contoso.com") == .block)
        #expect(Self.bridge.memberships(from: try PresenceRulesDocument.decode(beside.octets)).members.isEmpty)
        let gone = try Self.bridge.ruleset(applying: [try Self.remove(everyone, 200)], to: beside.octets)
        #expect(try PresenceRulesDocument.decode(gone.octets).rules.map(\.id) == ["enemy"])
    }

    @Test("a network is its configured domains, or without a list all but those of the other networks")
    func networks() throws {
        let federated = ContainerMember(.federated)
        let members = World.memberships([try Self.container(100): [federated, ContainerMember(.sameEnterprise)]])
        let listed = World.both[0].bridge.ruleset(from: members)
        #expect(listed.rules.map(\.id) == ["isthmus-100-federated", "isthmus-100-sameEnterprise"])
        #expect(listed.rules[0].conditions == [.identity([.many(domain: "example.net")])])
        #expect(listed.rules[1].conditions == [.identity([.many(domain: "contoso.com"), .many(domain: "fabrikam.com")])])
        let open = World.both[1].bridge.ruleset(from: members)
        let others = ["contoso.com", "example.com", "fabrikam.com"].map { IdentityException(domain: $0) }
        #expect(open.rules[0].conditions == [.identity([.many(exceptions: others)])])
        #expect(throws: RulesetEditFailure.unknownMember(federated)) {
            try PolicyBridge(networks: NetworkDomains(federated: [])).ruleset(applying: [try Self.add(federated, 100)], to: nil)
        }
        #expect(NetworkDomains(sameEnterprise: ["Contoso.com"], publicCloud: ["contoso.com"]).publicCloud == [])
    }

    @Test("the same memberships give the same octets, whatever their order")
    func deterministic() throws {
        let members = [Self.user, Self.domain, ContainerMember(.user, value: "b@contoso.com"), ContainerMember(.everyone)]
        let one = Self.bridge.ruleset(from: World.memberships([try Self.container(200): members])).encode()
        #expect(one == Self.bridge.ruleset(from: World.memberships([try Self.container(200): members.reversed()])).encode())
    }

    @Test("members of containers without a row are blocked by rules that a PUT cannot change")
    func otherContainers() throws {
        let memberships = World.memberships([try Self.container(150): [Self.user], try Self.container(400): [Self.domain]])
        var rules = Self.bridge.ruleset(from: memberships)
        #expect(rules.rules.map(\.id) == ["isthmus-400", "isthmus-other"] && rules.rules.map(\.handling) == [.allow, .block])
        rules.rules.removeLast()
        let error = #expect(throws: InexpressibleRule.self) { try Self.bridge.changes(from: rules, given: memberships) }
        #expect(error?.rule == "isthmus-other")
        #expect(throws: RulesetEditFailure.unknownContainer(try Self.container(150))) {
            try Self.bridge.ruleset(applying: [try Self.add(Self.user, 150)], to: nil)
        }
    }

    @Test("a member that a PUT leaves out leaves every container, also those that a higher one hid")
    func hiddenMembership() throws {
        let memberships = World.memberships([try Self.container(400): [Self.user], try Self.container(32_000): [Self.user]])
        let rules = Self.bridge.ruleset(from: memberships)
        #expect(rules.rules.map(\.id) == ["isthmus-blocked"])
        #expect(
            try Self.bridge.changes(from: PresenceRulesDocument(), given: memberships) == [
                Self.remove(Self.user, 400), Self.remove(Self.user, 32_000),
            ])
    }

    @Test("acknowledging allows the pending watcher alone, colleagues in 200 and others in 100, and no watcher who is a member")
    func acknowledgement() throws {
        let rules = try ContainerTableTests.document(ContainerTableTests.rule("ask", "", "confirm", ""))
        let change = try #require(Self.bridge.acknowledgement(of: "sip:A@Contoso.com", decidedAs: .confirm, in: rules))
        #expect(try change == Self.add(ContainerMember(.user, value: "A@contoso.com"), 200))
        #expect(
            Self.bridge.acknowledgement(of: "sip:d@example.com", decidedAs: .confirm, in: rules)?.container == (try Self.container(100)))
        #expect(Self.bridge.acknowledgement(of: "sip:d@example.com", decidedAs: .politeBlock, in: rules) == nil)
        #expect(Self.bridge.acknowledgement(of: "tel:+15555550142", decidedAs: .confirm, in: rules) == nil)
        let pending = try #require(Self.bridge.acknowledgement(of: "sip:a@contoso.com", decidedAs: .confirm, in: rules))
        let world = World.both[0]
        let before = world.decisions(rules)
        let edit = try Self.bridge.ruleset(applying: [pending], to: rules.encode())
        let after = world.decisions(try PresenceRulesDocument.decode(edit.octets))
        for (index, watcher) in world.watchers.enumerated() {
            #expect(after[index].handling == (watcher.address == "a@contoso.com" ? .allow : before[index].handling))
        }
        let again = try PresenceRulesDocument.decode(edit.octets)
        #expect(Self.bridge.acknowledgement(of: "sip:a@contoso.com", decidedAs: .confirm, in: again) == nil)
    }

    @Test("aliases of one user are one member, and a member that rules compare differently is blocked")
    func aliases() throws {
        let bridge = PolicyBridge { uri in
            var uri = uri
            if uri.host == "example.net" { uri.host = "example.com" }
            return uri
        }
        let rules = try ContainerTableTests.document(Self.one("x", "sip:d@example.net"))
        let container = try Self.container(400)
        #expect(bridge.memberships(from: rules).members == [container: [ContainerMember(.user, value: "d@example.com")]])
        let computed = bridge.ruleset(from: World.memberships([container: [ContainerMember(.user, value: "d@example.net")]]))
        #expect(computed.rules.map(\.id) == ["isthmus-other"])
        #expect(computed.rules.map(\.conditions) == [[.identity([.one(id: "sip:d@example.com")])]])
    }

    @Test("a document that cannot be read, and one that would be too large, are refused")
    func refusals() throws {
        let change = try Self.add(Self.user, 400)
        #expect(throws: RulesetEditFailure.self) { try Self.bridge.ruleset(applying: [change], to: Array("<ruleset/>".utf8)) }
        let full = PresenceRulesDocument(
            rules: (0..<PresenceRulesDocument.maximumRules).map {
                PresenceRule(id: "r\($0)", conditions: [.sphere("work")], handling: .block)
            })
        let error = #expect(throws: RulesetEditFailure.self) { try Self.bridge.ruleset(applying: [change], to: full.encode()) }
        guard case .tooLarge = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
