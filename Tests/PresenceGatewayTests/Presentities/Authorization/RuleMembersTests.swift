import EnhancedPresence
import PresenceDocuments
import PresenceRules
import SIPCore
import Testing

@testable import PresenceGateway

/// Containers and subscribers of a user whose watchers presence rules decide about: they are changed as rules.
@Suite("Members by rules") struct RuleMembersTests {
    private typealias Authorization = PresenceAuthorizationTests
    static let alice = "alice@example.com"
    static let ulla = "ulla@contoso.com"

    private let store = MemoryStore()

    private func bench(_ unruled: UnruledHandling = .allow) throws -> Bench {
        let bench = Bench(store: store) {
            $0.xcapRoot = "https://xcap.example.com/root"
            $0.domains["example.com"]?.unruled = unruled
        }
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, activity: "busy"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        return bench
    }

    private func setMembers(
        _ container: Int, version: UInt32 = 0, _ members: String..., answered status: Int = 200, on bench: Bench
    ) throws -> SIPResponse {
        bench.service(
            Self.alice, type: "application/msrtc-setcontainermembers+xml",
            body: Bench.membersBody(container, version: Int(version), members.map(Bench.member)))
        return try bench.nextResponse(status, at: Bench.endpoint)
    }

    private func ruleset(on bench: Bench) -> PresenceRulesDocument? {
        bench.gateway.flows.decidingDocuments.currentRules(of: "sip:\(Self.alice)").flatMap { try? PresenceRulesDocument.decode($0) }
    }

    private func version(_ container: ContainerID, on bench: Bench) -> UInt32 {
        bench.gateway.flows.ruleMembers.memberships(of: "sip:\(Self.alice)")[container]?.version ?? 0
    }

    private func watch(_ bench: Bench) throws -> String {
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.alice), from: Bench.enterprise)
        return try bench.nextResponse(200, at: Bench.enterprise).text
    }

    @Test(
        "MS-PRES 3.5.5: a member of container 32000 is a rule that blocks politely: the live watcher sees a sign-off, others as before [R646]"
    )
    func block() throws {
        let bench = try bench()
        let before = try watch(bench)
        #expect(before.contains(">6500<"))
        _ = try Authorization.watch(bench)
        _ = try setMembers(32_000, "user:\(Self.ulla)", on: bench)
        #expect(ruleset(on: bench)?.rules.map(\.handling) == [.politeBlock])
        let told = try bench.takeNotifies(at: Bench.enterprise).map(\.text).joined()
        #expect(told.contains(">18500<") || told.contains(">18000<"), "\(told)")
        #expect(try bench.takeNotifies(at: Bench.simple).isEmpty)
        // The removal shows her again.
        _ = try setMembers(32_000, version: version(.blocked, on: bench), "-user:\(Self.ulla)", on: bench)
        #expect(ruleset(on: bench)?.rules.isEmpty == true)
        bench.pass(.seconds(60))
        #expect(try bench.takeNotifies(at: Bench.enterprise).map(\.text).joined().contains(">6500<"))
    }

    @Test("MS-PRES 3.5.5.2: a change with another version than that of the members is 409 and changes nothing [R646]")
    func versions() throws {
        let bench = try bench()
        _ = try setMembers(32_000, "user:\(Self.ulla)", on: bench)
        let stored = ruleset(on: bench)
        let refused = try setMembers(32_000, "user:ann@example.org", answered: 409, on: bench)
        let current = version(.blocked, on: bench)
        #expect(current > 0 && String(decoding: refused.body, as: UTF8.self).contains("curVersion=\"\(current)\""))
        #expect(ruleset(on: bench) == stored)
        _ = try setMembers(32_000, version: current, "user:ann@example.org", on: bench)
        #expect(version(.blocked, on: bench) != current)
        // The version is the same after a restart.
        let last = version(.blocked, on: bench)
        _ = try bench.restart()
        #expect(version(.blocked, on: bench) == last)
    }

    @Test("a member of container 400 is admitted where the domain blocks; a change that another rule would undo is 403 and names it")
    func conflicts() throws {
        let bench = try bench(.block)
        _ = try setMembers(400, "user:\(Self.ulla)", on: bench)
        #expect(try watch(bench).contains(">6500<"))
        let other = try self.bench(.block)
        try other.use(
            Rules.rule("work", "<identity><one id='sip:\(Self.ulla)'/></identity><sphere value='work'/>", "allow", Rules.activities),
            of: Self.alice)
        let refused = try setMembers(32_000, "user:\(Self.ulla)", answered: 403, on: other)
        #expect(refused.headers.msDiagnostics?.reason?.contains("rule 'work'") == true)
        #expect(ruleset(on: other)?.rules.map(\.id) == ["work"])
        _ = try setMembers(500, "user:\(Self.ulla)", answered: 403, on: other)
        _ = try setMembers(0, "user:\(Self.ulla)", answered: 400, on: other)
    }

    @Test("rules of the configuration are the beginning of the rules that a client changes: none of them is lost")
    func configured() throws {
        let bench = try bench(.block)
        try bench.use(Rules.rule("ann", Rules.one("ann@example.org"), "allow", Rules.activities), of: Self.alice)
        _ = try setMembers(32_000, "user:\(Self.ulla)", on: bench)
        #expect(ruleset(on: bench)?.rules.map(\.id).contains("ann") == true && ruleset(on: bench)?.rules.count == 2)
        #expect(try Authorization.watch(bench).text.contains("busy"))
    }

    @Test("MS-PRES 3.6.5: a pending watcher whom the user acknowledges is admitted; one that is no subscriber is 400 [R646]")
    func acknowledged() throws {
        let bench = try bench(.confirm)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(202, at: Bench.simple)
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .pending)
        func acknowledge(_ user: String, answered status: Int) throws {
            bench.service(
                Self.alice, type: "application/msrtc-presence-setsubscriber+xml",
                body: "<setSubscribers xmlns=\"http://schemas.microsoft.com/2006/09/sip/presence-subscribers\">"
                    + "<subscriber user=\"\(user)\" acknowledged=\"true\"/></setSubscribers>")
            _ = try bench.nextResponse(status, at: Bench.endpoint)
        }
        try acknowledge(Self.ulla, answered: 400)
        #expect(ruleset(on: bench) == nil)
        try acknowledge("ann@example.org", answered: 200)
        let admitted = try Authorization.only(bench)
        #expect(admitted.headers.subscriptionState?.state == .active && admitted.text.contains("<presence"))
        // Another watcher still waits.
        bench.send(bench.subscribe("max@example.org", to: Self.alice, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(202, at: Bench.simple)
    }

    @Test("a change that could not be stored is 503, and changes nothing")
    func failedCommit() throws {
        let bench = try bench()
        store.failure = StoreFailure("full")
        _ = try setMembers(32_000, "user:\(Self.ulla)", answered: 503, on: bench)
        store.failure = nil
        bench.pass(.seconds(60))
        #expect(ruleset(on: bench) == nil)
        #expect(try watch(bench).contains(">6500<"))
    }
}
