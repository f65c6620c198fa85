import FederationRouting
import PresenceDocuments
import PresenceGateway
import PresenceRules
import SIPCore
import Testing

/// Presence rules of a user of a hosted simple domain decide about watchers of every kind, when they subscribe and while they watch.
@Suite("Presence authorization")
struct PresenceAuthorizationTests {
    static let alice = "alice@example.com"
    static let silent = "silent@example.com"
    static let ann = "ann@example.org"
    static let ulla = "ulla@contoso.com"
    static let everyone = Rules.rule("everyone", "", "allow", Rules.everything)

    static func ruled(_ handling: String, _ grants: String = Rules.everything) -> String {
        Rules.rule("r", "", handling, handling == "allow" ? grants : "")
    }

    /// A bench with alice present, busy, with a note.
    static func bench(
        shards: Int = 1, store: (any GatewayStore)? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        let bench = Bench(shards: shards, store: store) {
            $0.listServer = SIPURI("sip:\(ListWatcherTests.server)")
            change(&$0)
        }
        bench.sendPublish(alice, Bench.pidf(alice, activity: "busy", note: "hello"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        return bench
    }

    static func subscribe(_ bench: Bench, _ watcher: String = ann, to user: String = alice, expires: Int = 3_600, extra: String = "") {
        bench.send(bench.subscribe(watcher, to: user, expires: expires, extra: extra, via: Bench.simple), from: Bench.simple)
    }

    /// Subscribes, and takes the first NOTIFY.
    static func watch(_ bench: Bench, _ watcher: String = ann, to user: String = alice, extra: String = "") throws -> SIPRequest {
        subscribe(bench, watcher, to: user, extra: extra)
        _ = try bench.nextResponse(200, at: Bench.simple)
        return try only(bench)
    }

    /// The only NOTIFY that arrived at a peer.
    static func only(_ bench: Bench, at peer: TransportAddress = Bench.simple) throws -> SIPRequest {
        let notifies = try bench.takeNotifies(at: peer)
        try #require(notifies.count == 1, "\(notifies.count)")
        return notifies[0]
    }

    // MARK: block

    @Test("RFC 5025 3.2.1 block: the subscription of a PIDF client is 403, a fetch too [R640]")
    func blocked() throws {
        let bench = try Self.bench()
        try bench.use(Self.ruled("block"), of: Self.alice)
        for expires in [3_600, 0] {
            Self.subscribe(bench, expires: expires)
            let response = try bench.nextResponse(403, at: Bench.simple)
            #expect(response.headers.first(.warning)?.contains("RFC 5025 3.2.1") == true)
        }
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test(
        "RFC 5025 3.2.1 block: a category subscriber gets 403 with ms-diagnostics; a batch and a list name the refusal for the resource [R640]"
    )
    func blockedElsewhere() throws {
        let bench = try Self.bench()
        try bench.use(Self.ruled("block"), of: Self.alice)
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.alice), from: Bench.enterprise)
        #expect(try bench.nextResponse(403, at: Bench.enterprise).headers.msDiagnostics?.errorID == 2_004)
        bench.send(bench.batch(Self.ulla, .subscribe(Self.alice, Self.silent)), from: Bench.enterprise)
        let batch = try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
        let instance = try #require(batch.list.resources.first { $0.uri == "sip:\(Self.alice)" }?.instances.first)
        #expect(instance.state == .terminated && instance.reason == "rejected" && instance.statusCode == 403)
        #expect(batch.uris == ["sip:\(Self.silent)"])
        ListWatcherTests.subscribe(bench, [Self.alice, Self.silent])
        _ = try bench.nextResponse(200, at: Bench.simple)
        let list = try ListWatcherTests.Notified(try Self.only(bench))
        #expect(Set(list.entries) == ["\(Self.alice) terminated rejected", "\(Self.silent) active"])
    }

    // MARK: confirm

    @Test("RFC 5025 3.2.1 confirm: 202, NOTIFY pending without presence; the grant sends the document [R641]")
    func confirmed() throws {
        let bench = try Self.bench()
        try bench.use(Self.ruled("confirm"), of: Self.alice)
        Self.subscribe(bench)
        _ = try bench.nextResponse(202, at: Bench.simple)
        let pending = try Self.only(bench)
        #expect(pending.headers.subscriptionState?.state == .pending && pending.body.isEmpty)
        // Publications meanwhile are not shown.
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, activity: "away"))
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Bench.simple))
        try bench.use(Self.everyone, of: Self.alice)
        let active = try Self.only(bench)
        #expect(active.headers.subscriptionState?.state == .active && active.text.contains("away"))
    }

    @Test(
        "RFC 5025 3.2.1 each handling for watchers of every document format [R640, R641, R642, R643]",
        arguments: [
            "application/pidf+xml", "application/pidf-diff+xml, application/pidf+xml", "application/xpidf+xml", "text/xml+msrtc.pidf",
        ])
    func formats(accept: String) throws {
        let bench = try Self.bench()
        let isEnterprise = accept.contains("msrtc")
        let (watcher, peer) = isEnterprise ? (Self.ulla, Bench.enterprise) : (Self.ann, Bench.simple)
        /// The status, and the first NOTIFY if there is one.
        func watch(_ handling: String, _ user: String) throws -> (status: Int, state: SubscriptionState.State?, text: String) {
            try bench.use(Self.ruled(handling), of: user)
            bench.send(bench.subscribe(watcher, to: user, accept: accept, via: peer), from: peer)
            guard case .response(let response) = try bench.next(at: peer) else { throw Bench.Unexpected() }
            let notifies = try bench.takeNotifies(at: peer)
            #expect(notifies.count == (handling == "block" ? 0 : 1))
            return (response.status.rawValue, notifies.first?.headers.subscriptionState?.state, notifies.first?.text ?? "")
        }
        let blocked = try watch("block", Self.alice)
        #expect(blocked.status == 403)
        let pending = try watch("confirm", Self.alice)
        #expect(pending.status == (isEnterprise ? 200 : 202) && pending.state == .pending && pending.text.isEmpty)
        let polite = try watch("polite-block", Self.silent)
        try bench.use(Self.ruled("polite-block"), of: Self.alice)
        _ = try bench.takeNotifies(at: peer)
        let hidden = try watch("polite-block", Self.alice)
        #expect(hidden.status == 200 && hidden.state == .active)
        #expect(hidden.text.replacingOccurrences(of: Self.alice, with: "X") == polite.text.replacingOccurrences(of: Self.silent, with: "X"))
        try bench.use(Self.everyone, of: Self.alice)
        _ = try bench.takeNotifies(at: peer)
        let shown = try watch("allow", Self.alice)
        #expect(shown.status == 200 && shown.state == .active && shown.text != hidden.text)
    }

    @Test("RFC 5025 3.2.1 confirm: a refresh stays pending, a fetch shows nothing [R641]")
    func confirmedFetch() throws {
        let bench = try Self.bench()
        try bench.use(Self.ruled("confirm"), of: Self.alice)
        Self.subscribe(bench, expires: 0)
        _ = try bench.nextResponse(202, at: Bench.simple)
        let fetched = try Self.only(bench)
        #expect(fetched.headers.subscriptionState?.state == .terminated && fetched.body.isEmpty)
        Self.subscribe(bench)
        let response = try bench.nextResponse(202, at: Bench.simple)
        _ = try Self.only(bench)
        bench.send(bench.inDialog(response, cSeq: 2, expires: 600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(202, at: Bench.simple)
        #expect(try Self.only(bench).headers.subscriptionState?.state == .pending)
    }

    @Test("RFC 5025 3.2.1 confirm: a category subscriber, a batch and a list are told pending, and get the state with the grant [R641]")
    func confirmedElsewhere() throws {
        let bench = try Self.bench()
        try bench.use(Self.ruled("confirm"), of: Self.alice)
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.alice), from: Bench.enterprise)
        let single = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(single.body.isEmpty)
        bench.send(bench.batch("otto@contoso.com", .subscribe(Self.alice, Self.silent)), from: Bench.enterprise)
        let batch = try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
        #expect(batch.instanceStates == ["sip:\(Self.alice): pending"] && batch.uris == ["sip:\(Self.silent)"])
        ListWatcherTests.subscribe(bench, [Self.alice])
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try ListWatcherTests.Notified(try Self.only(bench)).entries == ["\(Self.alice) pending"])
        _ = try bench.takeNotifies()

        try bench.use(Self.everyone, of: Self.alice)
        let granted = try bench.takeNotifies()
        #expect(granted.count == 2 && granted.allSatisfy { $0.text.contains("<availability>6500</availability>") })
        let list = try ListWatcherTests.Notified(try Self.only(bench))
        #expect(list.entries == ["\(Self.alice) active"] && list.document("sip:\(Self.alice)")?.contains("busy") == true)
    }

    @Test("MS-PRES 3.4.5.1.2 a poll of a pending category subscriber has no state")
    func confirmedPoll() throws {
        let bench = try Self.bench()
        try bench.use(Self.ruled("confirm"), of: Self.alice)
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.alice, expires: 0), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).body.isEmpty)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    // MARK: polite-block

    @Test("RFC 5025 3.2.1 polite-block: every kind of watcher is accepted and sees a presentity that never published [R642]")
    func politelyBlocked() throws {
        let bench = try Self.bench()
        try bench.use(Self.ruled("polite-block"), of: Self.alice)
        func documents(_ user: String) throws -> [String] {
            let first = try Self.watch(bench, to: user)
            #expect(first.headers.subscriptionState?.state == .active)
            bench.send(bench.categorySubscribe(Self.ulla, to: user, expires: 0), from: Bench.enterprise)
            let poll = try bench.nextResponse(200, at: Bench.enterprise).text
            bench.send(bench.batch(Self.ulla, .subscribe(user), expires: 0), from: Bench.enterprise)
            let batch = try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
            ListWatcherTests.subscribe(bench, [user], expires: 0)
            _ = try bench.nextResponse(200, at: Bench.simple)
            let list = try ListWatcherTests.Notified(try Self.only(bench))
            let texts = [
                first.text, String(try #require(poll.split(separator: "<categories").last).prefix { $0 != "\r\n" }),
                String(decoding: try #require(batch.mime.last).body, as: UTF8.self), list.entries.joined(),
                try #require(list.document("sip:\(user)")),
            ]
            return texts.map { $0.replacingOccurrences(of: user, with: "X") }
        }
        let shown = try documents(Self.alice)
        #expect(try shown == documents(Self.silent))
        #expect(shown[0].contains("closed") && shown[1].contains("18500"))
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, activity: "away"))
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Bench.simple) && bench.isQuiet(at: Bench.enterprise))
    }

    @Test("RFC 5025 3.2.1 polite-block: a full table refuses the watcher as it refuses one of a presentity that never published")
    func fullTable() throws {
        let bench = try Self.bench { $0.limits.presentities = 1 }
        try bench.use(
            Rules.rule("r", Rules.one(Self.ann), "polite-block"), Rules.rule("b", Rules.one("bea@example.org"), "allow"), of: Self.alice)
        for (watcher, user, status) in [(Self.ann, Self.silent, 503), (Self.ann, Self.alice, 503), ("bea@example.org", Self.alice, 200)] {
            Self.subscribe(bench, watcher, to: user)
            _ = try bench.nextResponse(status, at: Bench.simple)
        }
    }

    // MARK: allow

    @Test("RFC 5025 3.3 allow: a PIDF client sees the granted part, a category subscriber its mapping [R643]")
    func granted() throws {
        let bench = try Self.bench { $0.domains["example.com"]?.unruled = nil }
        try bench.use(
            Rules.rule("ann", Rules.one(Self.ann), "allow", Rules.services),
            Rules.rule("ulla", Rules.one(Self.ulla), "allow", Rules.activities), of: Self.alice)
        let first = try Self.watch(bench).text
        #expect(first.contains("<basic>open</basic>") && !first.contains("busy") && !first.contains("hello"))
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.alice), from: Bench.enterprise)
        let categories = try bench.nextResponse(200, at: Bench.enterprise).text
        #expect(categories.contains("<availability>6500</availability>") && !categories.contains("hello"))
        Self.subscribe(bench, "eve@example.org")
        _ = try bench.nextResponse(403, at: Bench.simple)
    }

    @Test("RFC 5025 3.3 allow: changes are filtered too, and one that the watcher may not see sends nothing [R643]")
    func grantedChanges() throws {
        let bench = Bench { $0.domains["example.com"]?.unruled = nil }
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, activity: "busy", note: "hello"), expires: 3_600)
        let tag = try #require(try bench.nextResponse(200, at: Bench.endpoint).headers.first(.sipETag))
        try bench.use(
            Rules.rule("ann", Rules.one(Self.ann), "allow", Rules.services),
            Rules.rule("ulla", Rules.one(Self.ulla), "allow", Rules.activities), of: Self.alice)
        _ = try Self.watch(bench)
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.alice), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try bench.takeNotifies()
        bench.pass(.seconds(30))
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, activity: "away", note: "secret"), ifMatch: tag)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.pass(.seconds(30))
        #expect(try bench.takeNotifies(at: Bench.simple).isEmpty)
        let ulla = try Self.only(bench, at: Bench.enterprise)
        #expect(ulla.text.contains("<availability>15500</availability>") && !ulla.text.contains("secret"))
    }

    @Test("RFC 5025 3.3 an allowed watcher without permissions sees the document without components")
    func grantedNothing() throws {
        let bench = try Self.bench()
        try bench.use(Rules.rule("r"), of: Self.alice)
        let document = try PIDFDocument.decode(try Self.watch(bench).body)
        #expect(document.entity == "sip:\(Self.alice)")
        #expect(document.tuples.isEmpty && document.persons.isEmpty && document.notes.isEmpty)
    }

    @Test("MS-PRES 3.2.5.1.2 categories that a user of a simple domain published are granted as the PIDF that they map to [R643]")
    func grantedCategories() throws {
        let bench = Bench()
        try bench.publish(Self.alice, .state(6_500), .note("secret"))
        try bench.use(Rules.rule("r", "", "allow", Rules.activities), of: Self.alice)
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.alice), from: Bench.enterprise)
        let categories = try bench.nextResponse(200, at: Bench.enterprise).text
        #expect(categories.contains("<availability>6500</availability>") && !categories.contains("secret"), "\(categories)")
        let document = try Self.watch(bench).text
        #expect(document.contains("busy") && !document.contains("secret"))
    }

    @Test("watchers with equal grants share one view, whatever rules give them")
    func shared() throws {
        let bench = try Self.bench()
        try bench.use(
            Rules.rule("ann", Rules.one(Self.ann), "allow", Rules.activities),
            Rules.rule("org", "<identity><many domain='example.org'/></identity>", "allow", Rules.activities), of: Self.alice)
        for number in 0..<20 { _ = try Self.watch(bench, number == 0 ? Self.ann : "user\(number)@example.org") }
        let before = bench.gateway.counters.bodiesEncoded
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, activity: "away"))
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        #expect(try bench.takeNotifies(at: Bench.simple).count == 20)
        // The document that all of them get, and the one with which noteShown compares it.
        #expect(bench.gateway.counters.bodiesEncoded - before == 1)
    }

    // MARK: precedence

    @Test(
        "PKT-SP-PRS 6.3.5.1 a user without rules is handled by the default of the domain: block unless configured [R645]",
        arguments: [
            (UnruledHandling?.none, 403), (.block, 403), (.confirm, 202), (.allow, 200),
        ])
    func unruled(handling: UnruledHandling?, status: Int) throws {
        let bench = try Self.bench { $0.domains["example.com"]?.unruled = handling }
        Self.subscribe(bench)
        _ = try bench.nextResponse(status, at: Bench.simple)
        // A watcher that no rule of the user matches, too.
        try bench.use(Rules.rule("r", Rules.one("somebody@example.org"), "allow", Rules.everything), of: Self.alice)
        bench.clear()
        Self.subscribe(bench, "eve@example.org")
        _ = try bench.nextResponse(status, at: Bench.simple)
    }

    @Test("PKT-SP-PRS 6.3.5 a denial by the operator precedes the rules")
    func operatorFirst() throws {
        let bench = try Self.bench {
            $0.domains["example.com"]?.federation.trust.peers = Bench.oneNetwork?.peers ?? []
            $0.domains["example.com"]?.federation.trust.rights = FederationRights(
                deny: .init(from: [PartyPattern(Self.ann)].compactMap(\.self)))
        }
        try bench.use(Self.everyone, of: Self.alice)
        Self.subscribe(bench)
        _ = try bench.nextResponse(403, at: Bench.simple)
        _ = try Self.watch(bench, "bea@example.org")
    }

    @Test("RFC 3325 9.3 a watcher that asks for privacy is anonymous to the rules: only anonymous-request matches")
    func anonymous() throws {
        let bench = try Self.bench()
        try bench.use(
            Rules.rule("ann", Rules.one(Self.ann), "allow", Rules.everything),
            Rules.rule("anonymous", "<ocp:anonymous-request/>", "confirm"), of: Self.alice)
        _ = try Self.watch(bench)
        Self.subscribe(bench, extra: "Privacy: id\r\n")
        _ = try bench.nextResponse(202, at: Bench.simple)
    }

    @Test("RFC 3325 9.3 a full table answers a politely blocked anonymous watcher as it does for a user that never published")
    func anonymousInFullTable() throws {
        let bench = try Self.bench { $0.limits.presentities = 1 }
        try bench.use(
            Rules.rule("ann", Rules.one(Self.ann), "allow", Rules.everything),
            Rules.rule("anonymous", "<ocp:anonymous-request/>", "polite-block"), of: Self.alice)
        // The same watcher is allowed by name, and alice has an entry.
        _ = try Self.watch(bench)
        var statuses: [Int] = []
        for user in [Self.silent, Self.alice] {
            Self.subscribe(bench, to: user, extra: "Privacy: id\r\n")
            guard case .response(let response) = try bench.next(at: Bench.simple) else { throw Bench.Unexpected() }
            statuses.append(response.status.rawValue)
        }
        #expect(statuses[0] >= 400 && statuses[0] == statuses[1], "\(statuses)")
    }

    @Test("RFC 5025 3 rules of a user decide about nobody else's watchers, and none about those of an enterprise domain")
    func others() throws {
        let bench = try Self.bench()
        try bench.use(Self.ruled("block"), of: Self.alice)
        try bench.use(Self.ruled("block"), of: "rob@fabrikam.com")
        _ = try Self.watch(bench, to: Self.silent)
        _ = try Self.watch(bench, to: "rob@fabrikam.com")
    }

    // MARK: explain

    @Test("explain names the handling, the rule, the condition and the list of the decision")
    func explained() throws {
        let bench = try Self.bench()
        try bench.use(
            Rules.rule("friends", Rules.list("friends", of: Self.alice), "allow", Rules.activities),
            Rules.rule("others", "<ocp:other-identity/>", "polite-block"), lists: ["friends": [Self.ann]], of: Self.alice)
        let explain = ExplainTests()
        let preview = try #require(try explain.explain(bench, Self.ulla, Self.alice).preview?.decision)
        #expect(
            preview.contains("handling: polite-block, by rules") && preview.contains("rule 'others' matches: other identity; polite-block"))
        #expect(try explain.explain(bench, Self.ulla, Self.alice).preview?.origin == .offline)
        try bench.use(Self.ruled("block"), of: Self.silent)
        #expect(try explain.explain(bench, Self.ulla, Self.silent).preview?.origin == .refused)
        try bench.use(Self.ruled("confirm"), of: Self.silent)
        #expect(try explain.explain(bench, Self.ulla, Self.silent).preview?.origin == .pending)
        _ = try Self.watch(bench)
        let live = try #require(try explain.explain(bench, Self.ann, Self.alice).subscriptions.first?.view.decision)
        #expect(live.contains("handling: allow, by rules"))
        #expect(live.contains { $0.hasPrefix("rule 'friends' matches: list friends of https://xcap.example.com/root/") })
        #expect(try explain.explain(bench, Self.ann, "rob@fabrikam.com").preview?.decision == nil)
    }
}
