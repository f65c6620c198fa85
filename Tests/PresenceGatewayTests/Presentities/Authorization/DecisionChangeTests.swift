import FederationRouting
import PresenceDocuments
import PresenceGateway
import PresenceRules
import SIPCore
import Testing

/// Live subscriptions follow every change of the decision: of rules, lists, sphere, time and configuration, and over a restart.
@Suite("Changes of presence authorization")
struct DecisionChangeTests {
    typealias Authorization = PresenceAuthorizationTests
    static let alice = Authorization.alice

    /// NOTIFY to a watcher of a single presentity after a change of its handling: state, and text of the body; empty: no body.
    static let transitions: [(from: String, to: String, state: SubscriptionState.State, text: String)] = [
        ("allow", "block", .terminated, ""), ("allow", "confirm", .pending, ""), ("allow", "polite-block", .active, "closed"),
        ("polite-block", "block", .terminated, ""), ("polite-block", "confirm", .pending, ""), ("polite-block", "allow", .active, "busy"),
        ("confirm", "block", .terminated, ""), ("confirm", "polite-block", .active, "closed"), ("confirm", "allow", .active, "busy"),
    ]

    @Test("PKT-SP-PRS 6.1.1, RFC 5025 3.2.1 a PIDF client follows a change of the handling at once [R644]", arguments: transitions, [1, 3])
    func handling(transition: (from: String, to: String, state: SubscriptionState.State, text: String), shards: Int) throws {
        let bench = try Authorization.bench(shards: shards)
        try bench.use(Authorization.ruled(transition.from), of: Self.alice)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(transition.from == "confirm" ? 202 : 200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.pass(.seconds(30))
        try bench.use(Authorization.ruled(transition.to), of: Self.alice)
        let notify = try Authorization.only(bench)
        let state = try #require(notify.headers.subscriptionState)
        #expect(state.state == transition.state)
        if transition.state == .terminated { #expect(state.reason?.rawValue == "rejected") }
        #expect(transition.text.isEmpty ? notify.body.isEmpty : notify.text.contains(transition.text))
        #expect(!notify.text.contains("busy") || transition.to == "allow")
    }

    /// A hosted enterprise user: its dialogs belong to its own shard, which is not that of alice where there are several.
    static func enterpriseWatcher(_ bench: Bench) throws -> String {
        try #require(
            (0..<50).map { "user\($0)@fabrikam.com" }.first { bench.shard(of: $0) != bench.shard(of: alice) || $0 == "user49@fabrikam.com" }
        )
    }

    @Test(
        "RFC 5025 3.2.1 a category subscriber follows a change of the handling, from another shard too [R644]", arguments: transitions,
        [1, 3])
    func categoryHandling(transition: (from: String, to: String, state: SubscriptionState.State, text: String), shards: Int) throws {
        let bench = try Authorization.bench(shards: shards)
        let watcher = try Self.enterpriseWatcher(bench)
        try bench.use(Authorization.ruled(transition.from), of: Self.alice)
        bench.send(bench.categorySubscribe(watcher, to: Self.alice), from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(answer.text.contains("6500") == (transition.from == "allow"))
        _ = try bench.takeNotifies()
        bench.pass(.seconds(30))
        try bench.use(Authorization.ruled(transition.to), of: Self.alice)
        let notify = try Authorization.only(bench, at: Bench.enterprise)
        #expect(notify.headers.subscriptionState?.state == transition.state)
        let text = transition.text == "closed" ? "18500" : transition.text == "busy" ? "6500" : ""
        #expect(text.isEmpty ? notify.body.isEmpty : notify.text.contains(text))
    }

    @Test(
        "RFC 4662 5.5, MS-PRES 3.4.5.1.3.1 a batch and a list name a resource that is blocked or pending now, and show it when it is allowed",
        arguments: [1, 3])
    func lists(shards: Int) throws {
        let bench = try Authorization.bench(shards: shards)
        let watcher = try Self.enterpriseWatcher(bench)
        try bench.use(Authorization.ruled("allow"), of: Self.alice)
        bench.send(bench.batch(watcher, .subscribe(Self.alice, Authorization.silent)), from: Bench.enterprise)
        #expect(try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise)).uris.count == 2)
        ListWatcherTests.subscribe(bench, [Self.alice, Authorization.silent])
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.pass(.seconds(30))

        try bench.use(Authorization.ruled("confirm"), of: Self.alice)
        var batch = try BatchAnswer(try Authorization.only(bench, at: Bench.enterprise))
        #expect(batch.instanceStates == ["sip:\(Self.alice): pending"] && batch.parts.isEmpty)
        #expect(try ListWatcherTests.Notified(try Authorization.only(bench)).entries == ["\(Self.alice) pending"])
        bench.pass(.seconds(30))

        try bench.use(Authorization.ruled("allow"), of: Self.alice)
        #expect(try Authorization.only(bench, at: Bench.enterprise).text.contains("6500"))
        #expect(try ListWatcherTests.Notified(try Authorization.only(bench)).entries == ["\(Self.alice) active"])
        bench.pass(.seconds(30))

        try bench.use(Authorization.ruled("block"), of: Self.alice)
        batch = try BatchAnswer(try Authorization.only(bench, at: Bench.enterprise))
        #expect(batch.instanceStates == ["sip:\(Self.alice): terminated"] && batch.parts.isEmpty)
        #expect(try ListWatcherTests.Notified(try Authorization.only(bench)).entries == ["\(Self.alice) terminated rejected"])
        // The other resource goes on.
        bench.pass(.seconds(30))
        bench.sendPublish(Authorization.silent, Bench.pidf(Authorization.silent, activity: "busy"))
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.pass(.seconds(10))
        #expect(try Authorization.only(bench, at: Bench.enterprise).text.contains("6500"))
        #expect(try ListWatcherTests.Notified(try Authorization.only(bench)).entries == ["\(Authorization.silent) active"])
        for gateway in bench.gateways where shards > 1 { #expect(gateway.tableSizes["watchedViews"] ?? 0 <= 1) }
    }

    @Test(
        "watches of other shards are refused and pending by the decision of the presentity's shard",
        arguments: [
            ("block", "terminated", ""), ("confirm", "pending", ""), ("polite-block", "", "18500"), ("allow", "", "6500"),
        ])
    func otherShard(handling: String, state: String, text: String) throws {
        let bench = try Authorization.bench(shards: 3)
        let watcher = try Self.enterpriseWatcher(bench)
        #expect(bench.shard(of: watcher) != bench.shard(of: Self.alice))
        try bench.use(Authorization.ruled(handling), of: Self.alice)
        bench.send(bench.batch(watcher, .subscribe(Self.alice)), from: Bench.enterprise)
        let answer = try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
        #expect(answer.instanceStates == (state.isEmpty ? [] : ["sip:\(Self.alice): \(state)"]))
        if state == "terminated" { #expect(answer.list.resources.first?.instances.first?.reason == "rejected") }
        #expect(text.isEmpty ? answer.parts.isEmpty : String(decoding: try #require(answer.mime.last).body, as: UTF8.self).contains(text))
        bench.send(bench.categorySubscribe(watcher, to: Self.alice), from: Bench.enterprise)
        _ = try bench.nextResponse(handling == "block" ? 403 : 200, at: Bench.enterprise)
    }

    // MARK: inputs of a decision

    @Test("RFC 5025 3.3 other grants send the new part, equal ones nothing")
    func grants() throws {
        let bench = try Authorization.bench()
        try bench.use(Authorization.ruled("allow"), of: Self.alice)
        #expect(try Authorization.watch(bench).text.contains("hello"))
        bench.pass(.seconds(10))
        try bench.use(Authorization.ruled("allow", Rules.activities), of: Self.alice)
        let less = try Authorization.only(bench).text
        #expect(less.contains("busy") && !less.contains("hello"))
        bench.pass(.seconds(10))
        try bench.use(Rules.rule("renamed", "", "allow", Rules.activities), of: Self.alice)
        bench.pass(.seconds(10))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("RFC 4745 7.3 a validity begins and ends at its moments, without a request [R644]")
    func validity() throws {
        let bench = try Authorization.bench()
        func moment(_ seconds: Int) -> String {
            DateTime(nanosecondsSince1970: (bench.now + .seconds(seconds)).nanosecondsSince1970).rfc3339()
        }
        try bench.use(
            Rules.rule(
                "r", "<validity><from>\(moment(100))</from><until>\(moment(200))</until></validity>", "allow", Rules.everything),
            Rules.rule("else", "", "polite-block"), of: Self.alice)
        #expect(try Authorization.watch(bench).text.contains("closed"))
        bench.pass(.seconds(99))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(1))
        #expect(try Authorization.only(bench).text.contains("busy"))
        bench.pass(.seconds(99))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(1))
        #expect(try Authorization.only(bench).text.contains("closed"))
    }

    private static func withSphere(_ sphere: String) -> String {
        Bench.pidf(alice, activity: "busy").replacingOccurrences(
            of: "<rpid:activities>", with: "<rpid:sphere><rpid:\(sphere)/></rpid:sphere><rpid:activities>")
    }

    @Test("RFC 5025 3.1.2 the sphere of a publication decides at once, two that differ match no rule [R644]")
    func sphere() throws {
        let bench = Bench()
        func publish(_ sphere: String) throws {
            bench.sendPublish(Self.alice, Self.withSphere(sphere))
            _ = try bench.nextResponse(200, at: Bench.endpoint)
        }
        try publish("work")
        try bench.use(
            Rules.rule("work", "<sphere value='work'/>", "allow", Rules.activities), Rules.rule("else", "", "polite-block"), of: Self.alice)
        #expect(try Authorization.watch(bench).text.contains("busy"))
        bench.pass(.seconds(10))
        try publish("home")
        #expect(try Authorization.only(bench).text.contains("closed"))
        // Both publications end; the watcher notices nothing, because it sees a presentity that never published.
        bench.pass(.seconds(700))
        #expect(bench.isQuiet(at: Bench.simple))
        try publish("work")
        #expect(try Authorization.only(bench).text.contains("busy"))
    }

    @Test("OMA external-list, RFC 4826 3.1 a change of a list of the user decides at once [R644]")
    func list() throws {
        let bench = try Authorization.bench { $0.domains["example.com"]?.unruled = nil }
        let rule = Rules.rule("friends", Rules.list("friends", of: Self.alice), "allow", Rules.everything)
        try bench.use(rule, lists: ["friends": [Authorization.ann]], of: Self.alice)
        #expect(try Authorization.watch(bench).text.contains("busy"))
        try bench.use(rule, lists: ["friends": [Authorization.ulla]], of: Self.alice)
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .terminated)
    }

    @Test("PKT-SP-PRS 6.3.5.1 documents that are deleted, and another default of the domain, decide at once [R644, R645]")
    func defaults() throws {
        let bench = try Authorization.bench()
        try bench.use(Authorization.ruled("polite-block"), of: Self.alice)
        #expect(try Authorization.watch(bench).text.contains("closed"))
        bench.use(nil, of: Self.alice)
        #expect(try Authorization.only(bench).text.contains("busy"))
        bench.reconfigure { $0.domains["example.com"]?.unruled = .confirm }
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .pending)
        bench.reconfigure { $0.domains["example.com"]?.unruled = .block }
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .terminated)
        #expect(bench.gateway.tableSizes["presencePolicies"] == 0 && bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("RFC 3856 6.10 the offline state of a polite block waits like a sign-off, and what waited before is never sent")
    func spacing() throws {
        let bench = try Authorization.bench { $0.timing.notifySpacing = .seconds(5) }
        try bench.use(Authorization.ruled("allow"), of: Self.alice)
        _ = try Authorization.watch(bench)
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, activity: "away"))
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        try bench.use(Authorization.ruled("polite-block"), of: Self.alice)
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(5))
        let notify = try Authorization.only(bench)
        #expect(notify.text.contains("closed") && !notify.text.contains("away"))
    }

    // MARK: restart

    @Test(
        "after a restart decisions are made again from the documents [R644]", arguments: ["block", "confirm", "polite-block", "allow"],
        [1, 3])
    func restart(handling: String, shards: Int) throws {
        let bench = try Authorization.bench(shards: shards, store: MemoryStore())
        let watcher = try Self.enterpriseWatcher(bench)
        try bench.use(Authorization.ruled("allow"), of: Self.alice)
        _ = try Authorization.watch(bench)
        bench.send(bench.categorySubscribe(watcher, to: Self.alice, piggyback: false), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try bench.takeNotifies()
        bench.settle()
        bench.clear()
        let documents = try Rules.documents([Authorization.ruled(handling)], of: Self.alice)
        bench.prepareNext { $0.use(documents, of: "sip:\(Self.alice)", at: bench.now) }
        try bench.restart()
        bench.pass(.seconds(1))
        for (peer, offline) in [(Bench.simple, "closed"), (Bench.enterprise, "18500")] {
            let notifies = try bench.takeNotifies(at: peer)
            guard handling != "allow" else {
                #expect(notifies.isEmpty)
                continue
            }
            let notify = try #require(notifies.last)
            #expect(notifies.count == 1)
            switch handling {
            case "block": #expect(notify.headers.subscriptionState?.state == .terminated && notify.body.isEmpty)
            case "confirm": #expect(notify.headers.subscriptionState?.state == .pending && notify.body.isEmpty)
            default: #expect(notify.headers.subscriptionState?.state == .active && notify.text.contains(offline))
            }
        }
    }

    @Test(
        "a reload replaces rules and the default of the domain together: a watcher that both restrict is never shown the document",
        arguments: ["polite-block", "confirm"], [1, 3])
    func reloadTogether(former: String, shards: Int) throws {
        let bench = try Authorization.bench(shards: shards) { $0.domains["example.com"]?.unruled = .allow }
        try bench.use(Authorization.ruled(former), of: Self.alice)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(former == "confirm" ? 202 : 200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.pass(.seconds(30))
        bench.reconfigure(documents: [(user: "sip:\(Self.alice)", documents: nil)]) { $0.domains["example.com"]?.unruled = .block }
        let notify = try Authorization.only(bench)
        #expect(notify.headers.subscriptionState?.state == .terminated && notify.body.isEmpty)

        // The other way round: a domain that shows everything by default, with rules that come with the default.
        let other = try Authorization.bench(shards: shards) { $0.domains["example.com"]?.unruled = .confirm }
        Authorization.subscribe(other)
        _ = try other.nextResponse(202, at: Bench.simple)
        _ = try other.takeNotifies(at: Bench.simple)
        other.pass(.seconds(30))
        let documents = try Rules.documents([Authorization.ruled("block")], of: Self.alice)
        other.reconfigure(documents: [(user: "sip:\(Self.alice)", documents: documents)]) { $0.domains["example.com"]?.unruled = .allow }
        let last = try Authorization.only(other)
        #expect(last.headers.subscriptionState?.state == .terminated && last.body.isEmpty)
    }

    @Test("a domain that moves to another server shows live watchers no more than its rules did", arguments: ["polite-block", "confirm"])
    func domainMoved(handling: String) throws {
        let bench = try Authorization.bench()
        try bench.use(Authorization.ruled(handling), of: Self.alice)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(handling == "confirm" ? 202 : 200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.pass(.seconds(30))
        bench.reconfigure {
            $0.domains["example.com"]?.federation.isHosted = false
            $0.domains["example.com"]?.federation.route = TransportAddress(.tcp, "192.0.2.77", 5060)
        }
        bench.pass(.seconds(30))
        for notify in try bench.takeNotifies(at: Bench.simple) { #expect(!notify.text.contains("busy") && !notify.text.contains("hello")) }
    }

    @Test("a watcher that becomes blocked is withdrawn once, also where a politely blocked one watches the same presentity")
    func withdrawnOnce() throws {
        let bench = try Authorization.bench()
        let eve = "eve@example.org"
        let polite = Rules.rule("eve", Rules.one(eve), "polite-block")
        let listWatcher = Rules.one("dan@example.org")
        try bench.use(polite, Rules.rule("dan", listWatcher, "allow", Rules.everything), of: Self.alice)
        _ = try Authorization.watch(bench, eve)
        ListWatcherTests.subscribe(bench, [Self.alice, Authorization.silent])
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.pass(.seconds(30))
        let before = bench.gateway.counts.watchedResources
        try bench.use(polite, Rules.rule("dan", listWatcher, "block"), of: Self.alice)
        bench.pass(.seconds(30))
        #expect(bench.gateway.counts.watchedResources == before - 1)
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
    }

    @Test("a pending resource of a batch and of a list follows a decision that changed while the gateway was down", arguments: [1, 3])
    func restartGranted(shards: Int) throws {
        let bench = try Authorization.bench(shards: shards, store: MemoryStore())
        let watcher = try Self.enterpriseWatcher(bench)
        try bench.use(Authorization.ruled("confirm"), of: Self.alice)
        bench.send(bench.batch(watcher, .subscribe(Self.alice, Authorization.silent)), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        ListWatcherTests.subscribe(bench, [Self.alice, Authorization.silent])
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies()
        bench.pass(.seconds(60))
        bench.settle()
        bench.clear()
        let documents = try Rules.documents([Authorization.ruled("allow")], of: Self.alice)
        bench.prepareNext { $0.use(documents, of: "sip:\(Self.alice)", at: bench.now) }
        try bench.restart()
        bench.pass(.seconds(120))
        #expect(try bench.takeNotifies(at: Bench.enterprise).contains { $0.text.contains("6500") })
        #expect(try bench.takeNotifies(at: Bench.simple).contains { $0.text.contains("busy") })
    }

    @Test("a pending watcher is pending after a restart, without another NOTIFY, and the grant sends the document", arguments: [1, 3])
    func restartPending(shards: Int) throws {
        let bench = try Authorization.bench(shards: shards, store: MemoryStore())
        let documents = try Rules.documents([Authorization.ruled("confirm")], of: Self.alice)
        bench.prepareNext { $0.use(documents, of: "sip:\(Self.alice)", at: bench.now) }
        bench.use(documents, of: Self.alice)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(202, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        ListWatcherTests.subscribe(bench, [Self.alice])
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.settle()
        try bench.restart()
        bench.pass(.seconds(60))
        let late = try bench.takeNotifies(at: Bench.simple)
        #expect(late.isEmpty, "\(late.map { $0.headers.first(.subscriptionState) ?? "" } + late.map(\.text))")
        try bench.use(Authorization.ruled("allow"), of: Self.alice)
        let granted = try bench.takeNotifies(at: Bench.simple)
        #expect(granted.count == 2 && granted.allSatisfy { $0.text.contains("busy") })
    }
}
