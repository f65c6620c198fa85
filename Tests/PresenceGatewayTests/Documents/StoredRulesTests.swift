import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

/// Presence rules and lists that users keep by XCAP decide about their watchers.
@Suite("Presence rules by XCAP") struct StoredRulesTests {
    typealias Authorization = PresenceAuthorizationTests
    static let alice = Authorization.alice
    static let ann = Authorization.ann
    static let root = "https://xcap.example.com/root"
    static let rules = "/root/org.openmobilealliance.pres-rules/users/sip:\(alice)/pres-rules"
    static let otherRules = "/root/pres-rules/users/sip:\(alice)/index"
    static let lists = "/root/resource-lists/users/sip:\(alice)/index"

    private let store = MemoryStore()

    private func bench(shards: Int = 1) throws -> Bench {
        try Authorization.bench(shards: shards, store: store) { $0.xcapRoot = Self.root }
    }

    static func ruleset(_ rules: String...) -> String { "<ruleset \(Rules.namespaces)>\(rules.joined())</ruleset>" }

    static func list(_ name: String, _ users: String...) -> String {
        "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'><list name='\(name)'>"
            + users.map { "<entry uri='sip:\($0)'/>" }.joined() + "</list></resource-lists>"
    }

    /// Status of a request by alice to the shard of her documents.
    private func request(
        _ method: String, _ target: String, _ body: String = "", type: String = "application/auth-policy+xml", on bench: Bench
    ) -> Int? {
        var status: Int?
        let user = "sip:\(Self.alice)"
        let gateway = bench.gateways.first { $0.context.place.has(user) }
        gateway?.receive(
            DocumentRequest(
                user: user, method: method, target: target, contentType: body.isEmpty ? nil : type, body: Array(body.utf8)), at: bench.now
        ) { status = $0.status }
        bench.sort()
        return status
    }

    private func put(_ body: String, at target: String = rules, on bench: Bench) -> Int? { request("PUT", target, body, on: bench) }

    private func putList(_ body: String, on bench: Bench) -> Int? {
        request("PUT", Self.lists, body, type: "application/resource-lists+xml", on: bench)
    }

    @Test(
        "RFC 5025 3.2.1: a PUT of a blocking rule ends the watcher's subscription with rejected, and its DELETE admits the watcher again",
        arguments: [1, 3])
    func block(shards: Int) throws {
        let bench = try bench(shards: shards)
        #expect(try Authorization.watch(bench).text.contains("busy"))
        #expect(put(Self.ruleset(Rules.rule("r", Rules.one(Self.ann), "block")), on: bench) == 201)
        let ended = try Authorization.only(bench)
        #expect(ended.headers.subscriptionState?.state == .terminated && ended.headers.subscriptionState?.reason == .rejected)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(403, at: Bench.simple)
        #expect(request("DELETE", Self.rules, on: bench) == 200)
        #expect(try Authorization.watch(bench).text.contains("busy"))
    }

    @Test("OMA XDM: a change of a list that a rule names admits its new entries, and shows nothing more to those that are gone")
    func listChange() throws {
        let bench = try bench()
        #expect(
            put(
                Self.ruleset(
                    Rules.rule("r", Rules.list("friends", of: Self.alice), "allow", Rules.everything),
                    Rules.rule("others", "<ocp:other-identity/>", "confirm")), on: bench) == 201)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(202, at: Bench.simple)
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .pending)
        #expect(putList(Self.list("friends", Self.ann), on: bench) == 201)
        let active = try Authorization.only(bench)
        #expect(active.headers.subscriptionState?.state == .active && active.text.contains("busy"))
        #expect(putList(Self.list("friends", "other@example.org"), on: bench) == 200)
        let again = try Authorization.only(bench)
        #expect(again.headers.subscriptionState?.state == .pending && !again.text.contains("busy"))
    }

    @Test("both usages of presence rules are names of one ruleset")
    func oneRuleset() throws {
        let bench = try bench()
        #expect(put(Self.ruleset(Rules.rule("r", "", "block")), at: Self.otherRules, on: bench) == 201)
        #expect(put(Self.ruleset(Rules.rule("r", "", "allow", Rules.everything)), on: bench) == 200)
        #expect(try Authorization.watch(bench).text.contains("busy"))
        #expect(request("DELETE", Self.otherRules, on: bench) == 200)
        #expect(request("GET", Self.rules, on: bench) == 404)
    }

    @Test("rules by XCAP come before those of the configuration, which decide again when they are removed")
    func precedence() throws {
        let bench = try bench()
        try bench.use(Rules.rule("r", "", "block"), of: Self.alice)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(403, at: Bench.simple)
        #expect(put(Self.ruleset(Rules.rule("r", "", "allow", Rules.everything)), on: bench) == 201)
        _ = try Authorization.watch(bench)
        // Other documents of the configuration change nothing meanwhile.
        try bench.use(Rules.rule("r", "", "confirm"), of: Self.alice)
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(request("DELETE", Self.rules, on: bench) == 200)
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .pending)
    }

    @Test("stored rules and lists decide after a restart before any watcher is notified, and the live subscription keeps its state")
    func restart() throws {
        let bench = try bench()
        let allowed = Rules.rule("r", Rules.list("friends", of: Self.alice), "allow", Rules.everything)
        #expect(putList(Self.list("friends", Self.ann), on: bench) == 201)
        #expect(put(Self.ruleset(allowed, Rules.rule("others", "<ocp:other-identity/>", "block")), on: bench) == 201)
        _ = try Authorization.watch(bench)
        #expect(try bench.restart().unreadable == 0)
        bench.pass(.seconds(60))
        for notify in try bench.takeNotifies(at: Bench.simple) { #expect(notify.headers.subscriptionState?.state == .active) }
        Authorization.subscribe(bench, "stranger@example.org")
        _ = try bench.nextResponse(403, at: Bench.simple)
        #expect(putList(Self.list("friends"), on: bench) == 200)
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .terminated)
    }

    @Test("rules that could not be stored decide nothing")
    func failedCommit() throws {
        let bench = try bench()
        _ = try Authorization.watch(bench)
        store.failure = StoreFailure("full")
        #expect(put(Self.ruleset(Rules.rule("r", "", "block")), on: bench) == 503)
        store.failure = nil
        bench.pass(.seconds(2))
        for notify in try bench.takeNotifies(at: Bench.simple) { #expect(notify.headers.subscriptionState?.state == .active) }
        _ = try Authorization.watch(bench, "bob@example.org")
    }

    @Test(
        "RFC 4825 11: rules that the containers of a user cannot express, and rules that cannot be read, are 409; nothing is kept"
    )
    func constraints() throws {
        let bench = try bench()
        var answer: DocumentAnswer?
        let enterprise = "sip:rob@fabrikam.com"
        bench.gateway.receive(
            DocumentRequest(
                user: enterprise, method: "PUT", target: "/root/pres-rules/users/\(enterprise)/index",
                contentType: "application/auth-policy+xml", body: Array(Self.ruleset(Rules.rule("r", "", "block")).utf8)), at: bench.now
        ) { answer = $0 }
        bench.sort()
        #expect(answer?.status == 409 && String(decoding: answer?.body ?? [], as: UTF8.self).contains("<extension"))
        let many = (0...PresenceRulesDocument.maximumRules).map { Rules.rule("r\($0)", "", "block") }.joined()
        #expect(put(Self.ruleset(many), on: bench) == 409)
        #expect(!store.records.values.contains { if case .document = $0 { true } else { false } })
        _ = try Authorization.watch(bench)
    }
}
