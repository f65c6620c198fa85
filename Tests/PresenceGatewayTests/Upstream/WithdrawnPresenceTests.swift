import FederationRouting
import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// State that the remote domain has not granted, or has withdrawn, is not shown to any watcher.
@Suite struct WithdrawnPresenceTests {
    static let list = "lists@example.org"
    let open = Bench.state(3_500)
    let gone = Bench.state(18_500)

    private func bench(store: (any GatewayStore)? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench.trusted(store: store) {
            $0.timing.notifySpacing = .zero
            $0.listServer = SIPURI("sip:\(Self.list)")
            change(&$0)
        }
    }

    private func entries(_ bench: Bench) throws -> [String] { try ListWatcherTests.notified(bench).flatMap(\.entries) }

    /// dan sees bob in a batch of ours; the SUBSCRIBE that made it.
    private func watching(_ bench: Bench) throws -> SIPRequest {
        try bench.watch("bob@contoso.com", by: "dan@example.org")
        let subscription = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(subscription, [("bob@contoso.com", open)])
        #expect(try bench.notified() == ["bob@contoso.com active open"])
        return subscription
    }

    private func notify(_ bench: Bench, _ subscription: SIPRequest, cSeq: Int, _ body: String, state: String = "active;expires=3600") throws
    {
        let isList = body.hasPrefix("--")
        bench.notify(
            subscription, state, cSeq: cSeq, type: body.isEmpty ? "" : isList ? Bench.listType : "application/msrtc-event-categories+xml",
            body: body, from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
    }

    @Test("RFC 6665 4.1.3, MS-PRES 3.4.5.1.3.1: who comes while the presentity is pending is pending too, and sees nothing of before")
    func comesLater() throws {
        let bench = bench()
        let subscription = try watching(bench)
        try notify(bench, subscription, cSeq: 2, Bench.list([], [Bench.instanceState("bob@contoso.com", "state=\"pending\"")]))
        #expect(try bench.notified() == ["bob@contoso.com pending"])

        try bench.watch("bob@contoso.com", by: "dan@example.org")
        let second = try bench.takeNotifies(at: Bench.simple)
        #expect(second.map(\.headers.subscriptionState?.state) == [.pending] && second.allSatisfy(\.body.isEmpty))
        ListWatcherTests.subscribe(bench, ["bob@contoso.com"])
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try entries(bench) == ["bob@contoso.com pending"])
        #expect(bench.isQuiet(at: Bench.enterprise))

        try notify(bench, subscription, cSeq: 3, Bench.categories("bob@contoso.com", gone))
        let granted = try bench.takeNotifies(at: Bench.simple)
        #expect(granted.count == 3 && granted.allSatisfy { $0.headers.subscriptionState?.state == .active })
        #expect(granted.allSatisfy { $0.text.contains("<basic>closed</basic>") })
    }

    @Test("when-lost pending: who comes while the far side is away, or is being asked again, is pending too")
    func comesWhileLost() throws {
        let bench = bench { $0.domains["contoso.com"]?.whenLost = .pending }
        let subscription = try watching(bench)
        try notify(bench, subscription, cSeq: 2, "", state: "terminated;reason=probation;retry-after=50")
        #expect(try bench.notified() == ["bob@contoso.com pending"])
        try bench.watch("bob@contoso.com", by: "dan@example.org")
        #expect(try bench.notified() == ["bob@contoso.com pending"])
        for _ in 0..<100 where bench.isQuiet(at: Bench.enterprise) { bench.pass(.seconds(1)) }
        let anew = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        try bench.watch("bob@contoso.com", by: "dan@example.org")
        #expect(try bench.notified() == ["bob@contoso.com pending"])
        bench.grant(anew, [("bob@contoso.com", open)])
        #expect(try bench.notified() == Array(repeating: "bob@contoso.com active open", count: 3))
    }

    @Test("when-lost pending: a presentity that is alone in a list is offline meanwhile, and comes back")
    func aloneInAList() throws {
        let bench = bench {
            $0.domains["contoso.com"]?.whenLost = .pending
            $0.domains["contoso.com"]?.federation.network = .federated
        }
        ListWatcherTests.subscribe(bench, ["bob@contoso.com"])
        _ = try bench.nextResponse(200, at: Bench.simple)
        let subscription = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(subscription, [("bob@contoso.com", open)])
        #expect(try entries(bench) == ["bob@contoso.com active"])
        try notify(bench, subscription, cSeq: 2, "", state: "terminated;reason=probation;retry-after=50")
        let lost = try #require(try ListWatcherTests.notified(bench).first)
        #expect(lost.request.headers.subscriptionState?.state == .active)
        #expect(lost.document("sip:bob@contoso.com")?.contains("<basic>closed</basic>") == true)
        for _ in 0..<100 where bench.isQuiet(at: Bench.enterprise) { bench.pass(.seconds(1)) }
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [("bob@contoso.com", open)])
        let back = try #require(try ListWatcherTests.notified(bench).first)
        #expect(back.request.headers.subscriptionState?.state == .active)
        #expect(back.document("sip:bob@contoso.com")?.contains("<basic>open</basic>") == true)
    }

    @Test("RFC 6665 4.1.3: what a NOTIFY brings with the word pending is not told, neither at first nor later")
    func pendingWithBody() throws {
        let bench = bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "ann@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let subscription = try #require(try StandardPresentityAnswerTests.subscriptions(bench)["ann"])
        StandardPresentityAnswerTests.serve(
            bench, subscription, Bench.pidf("ann@example.org", activity: "busy"), state: "pending;expires=3600")
        func notified() throws -> [String] {
            try bench.takeNotifies().map { "\($0.headers.subscriptionState?.state.rawValue ?? "") \($0.body.isEmpty)" }
        }
        #expect(try notified() == ["pending true"])
        func notify(_ state: String, cSeq: Int, activity: String) {
            bench.notify(
                subscription, "\(state);expires=3600", cSeq: cSeq, type: StandardPresentityAnswerTests.pidfType,
                body: Bench.pidf("ann@example.org", activity: activity), from: Bench.simple)
        }
        notify("active", cSeq: 2, activity: "away")
        #expect(try notified().last == "active false")
        notify("pending", cSeq: 3, activity: "busy")
        #expect(try notified() == ["pending true"])
    }

    @Test("RFC 6665 4.1.3: what comes in a batch that is pending as a whole is not told either")
    func pendingBatch() throws {
        let bench = bench()
        let subscription = try watching(bench)
        try notify(bench, subscription, cSeq: 2, Bench.categories("bob@contoso.com", gone), state: "pending;expires=3600")
        #expect(try bench.notified() == ["bob@contoso.com pending"])
        try notify(bench, subscription, cSeq: 3, Bench.categories("bob@contoso.com", open))
        #expect(try bench.notified() == ["bob@contoso.com active open"])
    }

    @Test("RFC 6665 4.4.3: who asks once is shown nothing of what comes with the word pending")
    func pendingPoll() throws {
        let bench = bench { $0.domains["contoso.com"]?.federation.network = .federated }
        bench.send(bench.subscribe("dan@example.org", to: "bob@contoso.com", expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let fetch = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(fetch, 200, from: Bench.enterprise, headers: [(.expires, "0")])
        try notify(bench, fetch, cSeq: 1, Bench.categories("bob@contoso.com", open), state: "pending;expires=0")
        #expect(try bench.notified() == ["bob@contoso.com terminated timeout closed"])
    }

    /// bob's first watcher rests after bob was sent in circles.
    private func circling(_ bench: Bench) throws { try circle(bench, try watching(bench), cSeq: 2) }

    private func circle(_ bench: Bench, _ subscription: SIPRequest, cSeq: Int) throws {
        try notify(bench, subscription, cSeq: cSeq, Bench.list([], [Bench.elsewhere("bob@contoso.com", Bench.poolOne)]))
        func ask() throws -> SIPRequest {
            while true {
                let request = try bench.nextRequest(.subscribe, at: Bench.enterprise)
                if request.headers.toTag == nil { return request }
            }
        }
        for pool in [Bench.poolTwo, Bench.poolOne] {
            bench.grant(try ask(), [], [Bench.elsewhere("bob@contoso.com", pool)], expires: 0)
        }
        bench.clear()
    }

    @Test("MS-PRES 3.4.5.1.3.1: who comes back from a rest to where others watch the presentity already hears what they hear")
    func joins() throws {
        let bench = bench()
        try circling(bench)
        try bench.watch("bob@contoso.com", by: "dan@example.org")
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [("bob@contoso.com", gone)])
        #expect(try bench.notified() == ["bob@contoso.com active closed"])
        bench.pass(.seconds(12))
        #expect(try bench.notified() == ["bob@contoso.com active closed"] && bench.isQuiet(at: Bench.enterprise))
    }

    @Test("MS-PRES 3.4.5.1.3.1: who comes back from a rest to where the presentity is pending by now is pending too")
    func joinsPending() throws {
        let bench = bench()
        try circling(bench)
        try bench.watch("bob@contoso.com", by: "dan@example.org")
        let subscription = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(subscription, [], [Bench.instanceState("bob@contoso.com", "state=\"pending\"")])
        bench.pass(.seconds(12))
        #expect(try bench.notified() == ["bob@contoso.com pending", "bob@contoso.com pending"])
        try notify(bench, subscription, cSeq: 2, Bench.categories("bob@contoso.com", open))
        #expect(try bench.notified() == ["bob@contoso.com active open", "bob@contoso.com active open"])
    }

    @Test("MS-PRES 3.4.5.1.3.1: who was pending before a rest makes pending where bob was asked for and nothing is heard yet")
    func joinsUnheard() throws {
        let bench = bench()
        let subscription = try watching(bench)
        try notify(bench, subscription, cSeq: 2, Bench.list([], [Bench.instanceState("bob@contoso.com", "state=\"pending\"")]))
        #expect(try bench.notified() == ["bob@contoso.com pending"])
        try circle(bench, subscription, cSeq: 3)
        try bench.watch("bob@contoso.com", by: "dan@example.org")
        let second = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.pass(.seconds(12))
        // The second one, twice: at first nothing is known, then the first one comes back.
        let waiting = try bench.notified()
        #expect(waiting == ["bob@contoso.com pending", "bob@contoso.com pending"])
        // What the first one saw is shown to no third.
        try bench.watch("bob@contoso.com", by: "dan@example.org")
        #expect(try bench.notified() == ["bob@contoso.com pending"])
        bench.grant(second, [("bob@contoso.com", gone)])
        #expect(try bench.notified() == Array(repeating: "bob@contoso.com active closed", count: 3))
    }

    /// ulla's batch of alice and ann, of whom alice is shown and ann is not granted.
    private func batch(_ bench: Bench) throws -> (answer: SIPResponse, ann: SIPRequest) {
        let names = ["alice@example.org", "ann@example.org"]
        bench.send(bench.batch("ulla@fabrikam.com", Bench.Action(resources: names)), from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        let subscriptions = try StandardPresentityAnswerTests.subscriptions(bench)
        StandardPresentityAnswerTests.serve(bench, try #require(subscriptions["alice"]), Bench.pidf("alice@example.org"))
        let ann = try #require(subscriptions["ann"])
        StandardPresentityAnswerTests.serve(bench, ann, Bench.pidf("ann@example.org", activity: "busy"))
        return (answer, ann)
    }

    private func says(_ bench: Bench, _ subscription: SIPRequest, _ state: String, cSeq: Int) throws -> [SIPRequest] {
        bench.notify(
            subscription, "\(state);expires=3600", cSeq: cSeq, type: StandardPresentityAnswerTests.pidfType,
            body: Bench.pidf("ann@example.org", activity: "busy"), from: Bench.simple)
        return try bench.takeNotifies()
    }

    @Test("MS-PRES 3.4.5.1.3.1: a resource of a batch that was pending meanwhile is told again, even if it shows what it showed before")
    func againAsBefore() throws {
        let bench = bench()
        let (_, ann) = try batch(bench)
        #expect(try bench.takeNotifies().contains { $0.text.contains("<availability>6500</availability>") })
        let pending = try says(bench, ann, "pending", cSeq: 2)
        #expect(try pending.map { try BatchAnswer($0).instanceStates } == [["sip:ann@example.org: pending"]])
        #expect(try BatchAnswer(try #require(pending.first)).parts.isEmpty)
        let granted = try says(bench, ann, "active", cSeq: 3)
        #expect(granted.count == 1 && granted.first?.text.contains("<availability>6500</availability>") == true)
    }

    @Test(
        "when-lost pending: a batch that saw the presentity offline meanwhile is told that the far side makes it wait, and nothing that comes with that word",
        arguments: [true, false])
    func pendingAfterLoss(hasBody: Bool) throws {
        let bench = bench { $0.domains["example.org"]?.whenLost = .pending }
        let (_, ann) = try batch(bench)
        _ = try bench.takeNotifies()
        bench.notify(ann, "terminated;reason=probation;retry-after=50", cSeq: 2, from: Bench.simple)
        #expect(try bench.takeNotifies().map { $0.text.contains("sip:ann@example.org") } == [true])
        _ = try StandardPresentityAnswerTests.subscriptions(bench)
        for _ in 0..<100 where bench.isQuiet(at: Bench.simple) { bench.pass(.seconds(1)) }
        let anew = try #require(try StandardPresentityAnswerTests.subscriptions(bench)["ann"])
        let busy = Bench.pidf("ann@example.org", activity: "busy")
        StandardPresentityAnswerTests.serve(bench, anew, hasBody ? busy : "", state: "pending;expires=3600")
        let pending = try bench.takeNotifies()
        #expect(try pending.map { try BatchAnswer($0).instanceStates } == [["sip:ann@example.org: pending"]])
        #expect(!pending.contains { $0.text.contains("<availability>6500</availability>") })
        #expect(try says(bench, anew, "active", cSeq: 2).map { $0.text.contains("<availability>6500</availability>") } == [true])
    }

    @Test("MS-PRES 3.4.5.1.3.1: after a restart who was pending is pending until his side speaks, and then has no verdict beside his part")
    func restart() throws {
        let bench = Bench(store: MemoryStore()) { $0.timing.notifySpacing = .zero }
        let (answer, ann) = try batch(bench)
        _ = try bench.takeNotifies()
        #expect(try says(bench, ann, "pending", cSeq: 2).count == 1)
        bench.settle()
        try bench.restart()
        func refresh(_ cSeq: Int) throws -> BatchAnswer {
            bench.send(
                bench.inDialog(
                    answer, cSeq: cSeq, expires: 3_600,
                    extra: "Require: adhoclist, categoryList\r\nSupported: eventlist, ms-piggyback-first-notify\r\n",
                    via: Bench.enterprise), from: Bench.enterprise)
            return try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
        }
        #expect(try refresh(2).instanceStates == ["sip:ann@example.org: pending"])
        bench.pass(.milliseconds(20))
        for subscription in try StandardPresentityAnswerTests.subscriptions(bench).values {
            bench.answer(subscription, 200, from: Bench.simple, headers: [(.expires, "3600")])
        }
        let granted = try says(bench, ann, "active", cSeq: 3)
        #expect(granted.count == 1 && granted.first?.text.contains("<availability>6500</availability>") == true)
        let last = try refresh(3)
        #expect(last.instanceStates.isEmpty && last.uris.contains("sip:ann@example.org"))
    }

    @Test("MS-PRES 3.4.5.1.3.1: after a restart a word about another presentity of the batch grants nobody who was pending")
    func restartedBatch() throws {
        let bench = bench(store: MemoryStore())
        ListWatcherTests.subscribe(bench, ["amy@contoso.com", "bob@contoso.com"])
        let answer = try bench.nextResponse(200, at: Bench.simple)
        let subscription = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(subscription, [("amy@contoso.com", open)], [Bench.instanceState("bob@contoso.com", "state=\"pending\"")])
        #expect(try entries(bench) == ["amy@contoso.com active", "bob@contoso.com pending"])
        bench.settle()
        try bench.restart()
        try notify(bench, subscription, cSeq: 2, Bench.categories("amy@contoso.com", whole(18_500)))
        #expect(try entries(bench) == ["amy@contoso.com active"])
        bench.send(bench.inDialog(answer, cSeq: 2, expires: 3_600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try entries(bench) == ["amy@contoso.com active", "bob@contoso.com pending"])
        try bench.watch("bob@contoso.com", by: "dan@example.org")
        bench.pass(.seconds(4))
        #expect(try bench.notified() == ["bob@contoso.com pending"])
    }

    /// Every category that is asked for, so that nothing is missing.
    private func whole(_ availability: Int) -> String {
        Bench.state(availability)
            + ["note", "contactCard", "services", "calendarData"].map { "<category name=\"\($0)\"/>" }.joined()
    }

    @Test("MS-PRES 3.4.5.1.3.1: the list names who is pending as the watcher does, and after a restart too")
    func alias() throws {
        let bench = Bench(store: MemoryStore()) { $0.domains["example.org"]?.forms = .init(aliases: ["im.example.org"]) }
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("ann@im.example.org")), from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        let subscription = try #require(try StandardPresentityAnswerTests.subscriptions(bench)["ann"])
        #expect(subscription.headers.to?.uri.description == "sip:ann@example.org")
        StandardPresentityAnswerTests.serve(bench, subscription, "", state: "pending;expires=3600")
        let instanceStates = ["sip:ann@im.example.org: pending"]
        #expect(try bench.takeNotifies().map { try BatchAnswer($0).instanceStates } == [instanceStates])
        bench.settle()
        try bench.restart()
        bench.send(
            bench.inDialog(
                answer, cSeq: 2, expires: 3_600,
                extra: "Require: adhoclist, categoryList\r\nSupported: eventlist, ms-piggyback-first-notify\r\n", via: Bench.enterprise),
            from: Bench.enterprise)
        #expect(try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise)).instanceStates == instanceStates)
    }
}
