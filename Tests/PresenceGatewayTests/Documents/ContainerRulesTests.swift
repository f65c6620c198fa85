import EnhancedPresence
import PolicyBridge
import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

/// Rulesets of users whose watchers containers decide about: computed from memberships, and changed through them.
@Suite("Rules of containers") struct ContainerRulesTests {
    static let rob = "rob@fabrikam.com"
    static let bob = "bob@contoso.com"
    static let rules = "/root/org.openmobilealliance.pres-rules/users/sip:\(rob)/pres-rules"
    static let blocked = Rules.rule("isthmus-blocked", Rules.one(bob), "polite-block")

    private let store = MemoryStore()

    private func bench() throws -> Bench {
        let bench = Bench(store: store) { $0.xcapRoot = "https://xcap.example.com/root" }
        try bench.publish(Self.rob, .state(6_500))
        return bench
    }

    private func request(_ method: String, _ body: String = "", at target: String = rules, on bench: Bench) throws -> DocumentAnswer {
        var answer: DocumentAnswer?
        bench.gateway.receive(
            DocumentRequest(
                user: "sip:\(Self.rob)", method: method, target: target,
                contentType: body.isEmpty ? nil : target.contains("~~") ? "application/xcap-el+xml" : "application/auth-policy+xml",
                body: Array(body.utf8)), at: bench.now
        ) { answer = $0 }
        bench.sort()
        return try #require(answer)
    }

    private func text(_ answer: DocumentAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

    private func tag(_ answer: DocumentAnswer) -> String? { answer.headers.first { $0.name == "ETag" }?.value }

    private func members(_ container: ContainerID, on bench: Bench) -> [String?] {
        bench.gateway.flows.presentities.members.memberships(of: "sip:\(Self.rob)")[container]?.members.map(\.value) ?? []
    }

    private func watch(_ bench: Bench) throws -> String {
        bench.send(bench.categorySubscribe(Self.bob, to: Self.rob), from: Bench.enterprise)
        return try bench.nextResponse(200, at: Bench.enterprise).text
    }

    @Test("GET shows the rules that memberships amount to, with the same octets each time; without memberships it is 404")
    func computed() throws {
        let bench = try bench()
        #expect(try request("GET", on: bench).status == 404)
        try bench.setMembers(Self.rob, 32_000, "user:\(Self.bob)")
        try bench.setMembers(Self.rob, 400, "domain:example.org")
        let first = try request("GET", on: bench)
        #expect(first.status == 200 && text(first).contains("polite-block") && text(first).contains("isthmus-400"))
        let ruleset = try PresenceRulesDocument.decode(first.body)
        #expect(ruleset.rules.map(\.id).sorted() == ["isthmus-400", "isthmus-blocked"])
        let second = try request("GET", on: bench)
        #expect(second.body == first.body && tag(second) == tag(first))
        // Under the other name of the usage too.
        #expect(try request("GET", at: "/root/pres-rules/users/sip:\(Self.rob)/index", on: bench).body == first.body)
    }

    @Test("a PUT becomes memberships: the blocked watcher sees a user who never published, and a GET has the tag of the answer")
    func put() throws {
        let bench = try bench()
        #expect(try watch(bench).contains("6500"))
        let answer = try request("PUT", StoredRulesTests.ruleset(Self.blocked), on: bench)
        #expect(answer.status == 201 && members(.blocked, on: bench) == ["sip:\(Self.bob)"] || members(.blocked, on: bench) == [Self.bob])
        let told = try bench.takeNotifies(at: Bench.enterprise).map(\.text).joined()
        #expect(!told.contains("6500"))
        let shown = try request("GET", on: bench)
        #expect(tag(shown) == tag(answer) && text(shown).contains("polite-block"))
        // The same document again changes nothing.
        let version = bench.gateway.flows.presentities.members.memberships(of: "sip:\(Self.rob)")[.blocked]?.version
        #expect(try request("PUT", text(shown), on: bench).status == 200)
        #expect(bench.gateway.flows.presentities.members.memberships(of: "sip:\(Self.rob)")[.blocked]?.version == version)
    }

    @Test("RFC 4825 8.2.4: an element of the computed ruleset is changed and removed as of any other")
    func element() throws {
        let bench = try bench()
        #expect(try request("PUT", StoredRulesTests.ruleset(Self.blocked), on: bench).status == 201)
        let one = Self.rules + "/~~/ruleset/rule%5b@id=%22isthmus-blocked%22%5d/conditions/identity/one%5b@id=%22sip:ann@example.org%22%5d"
        let element = "<one xmlns='urn:ietf:params:xml:ns:common-policy' id='sip:ann@example.org'/>"
        #expect(try request("PUT", element, at: one, on: bench).status == 201)
        #expect(members(.blocked, on: bench).count == 2)
        #expect(try request("DELETE", at: one, on: bench).status == 200)
        #expect(members(.blocked, on: bench).count == 1)
        #expect(try request("DELETE", on: bench).status == 200)
        #expect(members(.blocked, on: bench).isEmpty)
        #expect(try request("GET", on: bench).status == 404)
    }

    @Test(
        "RFC 4825 11 extension: a rule that containers cannot express is named with its condition or permission, and nothing changes",
        arguments: [
            (Rules.rule("r", "<sphere value='work'/>", "allow"), "sphere"),
            (
                Rules.rule(
                    "r", "<validity><from>2026-01-01T00:00:00Z</from><until>2027-01-01T00:00:00Z</until></validity>", "allow"), "validity"
            ),
            (
                Rules.rule(
                    "r", "<identity><many domain='example.org'><except id='sip:ann@example.org'/></many></identity>", "polite-block"),
                "except"
            ),
            (Rules.rule("r", Rules.one(bob), "allow", "<pr:provide-mood>true</pr:provide-mood>"), "provide-mood"),
            (Rules.rule("r", Rules.list("friends", of: rob), "polite-block"), "external-list"),
            (Rules.rule("r", Rules.one(bob), "confirm"), "sub-handling"), (Rules.rule("r", "", "polite-block"), "conditions"),
        ])
    func inexpressible(rule: String, element: String) throws {
        let bench = try bench()
        try bench.setMembers(Self.rob, 32_000, "user:ann@example.org")
        let before = try request("GET", on: bench)
        let answer = try request("PUT", StoredRulesTests.ruleset(Self.blocked, rule), on: bench)
        #expect(answer.status == 409 && text(answer).contains("<extension"), "\(text(answer))")
        #expect(text(answer).contains("id=\"r\"") && text(answer).contains("element=\"\(element)\""), "\(text(answer))")
        #expect(try request("GET", on: bench).body == before.body)
    }

    @Test("memberships that a PUT made are stored with its answer: a restart has them, and a failed commit is 503 and changes nothing")
    func stored() throws {
        let bench = try bench()
        store.failure = StoreFailure("full")
        #expect(try request("PUT", StoredRulesTests.ruleset(Self.blocked), on: bench).status == 503)
        store.failure = nil
        bench.pass(.seconds(60))
        #expect(members(.blocked, on: bench).isEmpty)
        #expect(try request("PUT", StoredRulesTests.ruleset(Self.blocked), on: bench).status == 201)
        _ = try bench.restart()
        #expect(members(.blocked, on: bench).count == 1)
        #expect(try !watch(bench).contains("6500"))
    }
}
