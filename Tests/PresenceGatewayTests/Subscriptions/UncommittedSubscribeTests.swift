import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing
import XMLCore

/// SUBSCRIBE requests in watcher dialogs that are answered 503 because the commit failed: the dialog is as before (RFC 3261 12.2).
@Suite("RFC 3261 12.2 a SUBSCRIBE in a watcher dialog that is refused because the store fails changes nothing")
struct UncommittedSubscribeTests {
    static let full = StoreFailure("isthmus.db: database or disk is full (SQLite 13)")
    let store = MemoryStore()

    /// Sends a request while the store fails, and repairs the store.
    private func refuse(_ bench: Bench, at peer: TransportAddress, _ text: String) throws {
        store.failure = Self.full
        bench.send(text, from: peer)
        _ = try bench.nextResponse(503, at: peer)
        #expect(bench.isQuiet(at: peer))
        store.failure = nil
        bench.pass(.seconds(2))
    }

    private func watch(_ bench: Bench, _ text: String, at peer: TransportAddress) throws -> SIPResponse {
        bench.send(text, from: peer)
        let accepted = try bench.nextResponse(200, at: peer)
        _ = try bench.takeNotifies(at: peer)
        return accepted
    }

    /// Unsubscribes with the CSeq of the refused request, and expects the end of the dialog.
    private func unsubscribe(
        _ bench: Bench, _ accepted: SIPResponse, cSeq: Int, extra: String = "", at peer: TransportAddress, notifies: Int
    ) throws {
        bench.send(bench.inDialog(accepted, cSeq: cSeq, expires: 0, extra: extra, via: peer), from: peer)
        #expect(try bench.nextResponse(200, at: peer).headers.expires == 0)
        #expect(try bench.takeNotifies(at: peer).count == notifies)
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("an unsubscribe of a PIDF watcher: the watcher is notified of later changes, and unsubscribes with the same CSeq")
    func unsubscribeOfPIDF() throws {
        let bench = Bench(store: store)
        let accepted = try watch(
            bench, bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), at: Bench.simple)
        let before = store.records
        try refuse(bench, at: Bench.simple, bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple))
        #expect(bench.gateway.counts.watcherDialogs == 1 && store.records.keys == before.keys)
        #expect(try bench.takeNotifies(at: Bench.simple).allSatisfy { $0.headers.subscriptionState?.state == .active })
        HostedPresentityTests().publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        let notify = try #require(try bench.takeNotifies(at: Bench.simple).last)
        #expect(notify.text.contains("<basic>open</basic>") && notify.headers.subscriptionState?.state == .active)
        try unsubscribe(bench, accepted, cSeq: 2, at: Bench.simple, notifies: 1)
    }

    @Test("a refresh: the dialog keeps its Contact and expires at the time that was granted before")
    func refreshOfPIDF() throws {
        let bench = Bench(store: store)
        let accepted = try watch(
            bench, bench.subscribe("ann@example.org", to: "alice@example.com", expires: 600, via: Bench.simple), at: Bench.simple)
        bench.pass(.seconds(300))
        let moved = bench.inDialog(accepted, cSeq: 2, expires: 3_600, via: Bench.simple)
            .replacingOccurrences(of: "Contact: <sip:192.0.2.20:5060>", with: "Contact: <sip:elsewhere@192.0.2.20:5060>")
        try refuse(bench, at: Bench.simple, moved)
        let notify = try #require(try bench.takeNotifies(at: Bench.simple).last)
        #expect(notify.requestURI == "sip:192.0.2.20:5060")
        #expect(notify.headers.subscriptionState?.expires ?? 3_600 < 300)
        bench.pass(.seconds(299))
        let last = try #require(try bench.takeNotifies(at: Bench.simple).last)
        #expect(last.headers.subscriptionState?.state == .terminated && bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("an unsubscribe of a bridged watcher: the subscription at the remote domain stays")
    func unsubscribeOfBridged() throws {
        let bench = Bench(store: store)
        let words = SimpleWatcherTests()
        let (accepted, upstream, _) = try words.established(bench)
        bench.clear()
        try refuse(bench, at: Bench.simple, bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple))
        #expect(bench.isQuiet(at: Bench.enterprise))
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.notify(
            upstream, "active;expires=3600", cSeq: 2, type: words.categoriesType,
            body: Bench.categories("bob@contoso.com", Bench.state(18_500)), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try bench.takeNotifies(at: Bench.simple).last?.text.contains("<basic>closed</basic>") == true)
        try unsubscribe(bench, accepted, cSeq: 2, at: Bench.simple, notifies: 1)
        #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).headers.expires == 0)
    }

    @Test("an unsubscribe of a category watcher, whose 200 stands for the last NOTIFY (MS-SIP 3.4.5.1)", arguments: [false, true])
    func unsubscribeOfCategories(isBridged: Bool) throws {
        let bench = Bench(store: store)
        let offer = "Supported: ms-piggyback-first-notify\r\n"
        let presentity = isBridged ? "alice@example.org" : "rob@fabrikam.com"
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: presentity), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        var upstream: SIPRequest?
        if isBridged { upstream = try EnterpriseWatcherTests().serve(bench, Bench.pidf(presentity)) }
        _ = try bench.takeNotifies()
        try refuse(bench, at: Bench.enterprise, bench.inDialog(accepted, cSeq: 2, expires: 0, extra: offer, via: Bench.enterprise))
        #expect(bench.gateway.counts.watcherDialogs == 1 && bench.isQuiet(at: Bench.simple))
        _ = try bench.takeNotifies()
        if let upstream {
            bench.notify(
                upstream, "active;expires=3600", cSeq: 2, type: "application/pidf+xml", body: Bench.pidf(presentity, activity: "busy"),
                from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
        } else {
            try bench.publish(presentity, .state(6_500))
        }
        #expect(try bench.takeNotifies().last?.text.contains("<availability>6500</availability>") == true)
        try unsubscribe(bench, accepted, cSeq: 2, extra: offer, at: Bench.enterprise, notifies: 0)
        if isBridged { #expect(try bench.nextRequest(.subscribe, at: Bench.simple).headers.expires == 0) }
    }

    @Test("an unsubscribe of a client that takes BENOTIFY (MS-SIP 3.5)")
    func unsubscribeOfBestEffort() throws {
        let bench = Bench(store: store)
        let sue = SignedInEndpoint(bench, "sue@fabrikam.com", connection: 1)
        func unsubscribe(in dialog: SIPResponse) {
            sue.subscribe("presence", expires: 0, extra: "Supported: ms-benotify\r\n", in: dialog, to: "rob@fabrikam.com")
        }
        sue.watch("rob@fabrikam.com", extra: SignedInEndpoint.home)
        let accepted = try sue.response(200)
        store.failure = Self.full
        unsubscribe(in: accepted)
        _ = try sue.response(503)
        #expect(sue.isQuiet)
        store.failure = nil
        bench.pass(.seconds(2))
        while !sue.isQuiet { _ = try sue.request(.benotify) }
        try bench.publish("rob@fabrikam.com", .note("later"))
        #expect(try sue.request(.benotify).text.contains("later"))
        unsubscribe(in: accepted)
        _ = try sue.response(200)
        #expect(try sue.request(.benotify).headers.subscriptionState?.state == .terminated)
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("a change of a batch: resources, their categories and the subscriptions that feed them are as before (MS-PRES 3.4.5.1.3)")
    func changeOfBatch() throws {
        let bench = Bench(store: store)
        let accepted = try watch(
            bench, bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com", "sue@fabrikam.com", "alice@example.org")),
            at: Bench.enterprise)
        let upstream = try EnterpriseWatcherTests().serve(bench, Bench.pidf("alice@example.org"))
        _ = try bench.takeNotifies()
        let change: [Bench.Action] = [
            .unsubscribe("rob@fabrikam.com", from: ["note"]), .unsubscribe("sue@fabrikam.com", "alice@example.org"),
            .subscribe("tom@fabrikam.com", "carol@example.org"),
        ]
        try refuse(bench, at: Bench.enterprise, bench.change(accepted, cSeq: 2, change[0], change[1], change[2]))
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(bench.gateway.counts.upstreamSubscriptions == 1)
        _ = try bench.takeNotifies()
        try bench.publish("sue@fabrikam.com", .state(6_500))
        #expect(try bench.takeNotifies().map { $0.text.contains("uri=\"sip:sue@fabrikam.com\"") } == [true])
        try bench.publish("rob@fabrikam.com", .note("here"))
        #expect(try bench.takeNotifies().map { $0.text.contains("here") } == [true])
        try bench.publish("tom@fabrikam.com", .state(6_500))
        #expect(try bench.takeNotifies().isEmpty)
        bench.notify(
            upstream, "active;expires=3600", cSeq: 2, type: "application/pidf+xml",
            body: Bench.pidf("alice@example.org", activity: "busy"), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies().map { $0.text.contains("uri=\"sip:alice@example.org\"") } == [true])
        // Sent again with the same CSeq, the change is made.
        bench.send(bench.change(accepted, cSeq: 2, change[0], change[1], change[2]), from: Bench.enterprise)
        let uris = try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise)).uris
        #expect(uris.contains("sip:tom@fabrikam.com") && !uris.contains("sip:sue@fabrikam.com"))
        let sent = [try bench.nextRequest(.subscribe, at: Bench.simple), try bench.nextRequest(.subscribe, at: Bench.simple)]
        #expect(sent.filter { $0.headers.expires == 0 }.map(\.headers.callID) == [upstream.headers.callID])
        #expect(sent.contains { $0.requestURI == "sip:carol@example.org" && $0.headers.expires != 0 })
        try bench.publish("sue@fabrikam.com", .state(3_500, version: 1))
        #expect(try bench.takeNotifies().isEmpty)
        try bench.publish("tom@fabrikam.com", .state(3_500, version: 1))
        #expect(try bench.takeNotifies().count == 1)
    }

    @Test("two changes of a batch in one commit are both undone, or both kept", arguments: [true, false], [1, 3])
    func twoChanges(isKept: Bool, shards: Int) throws {
        let bench = Bench(shards: shards, store: store)
        let accepted = try watch(bench, bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com")), at: Bench.enterprise)
        if !isKept { store.failure = Self.full }
        bench.inOneTick {
            bench.send(bench.change(accepted, cSeq: 2, .unsubscribe("rob@fabrikam.com")), from: Bench.enterprise)
            bench.send(bench.change(accepted, cSeq: 3, .subscribe("rob@fabrikam.com", "sue@fabrikam.com")), from: Bench.enterprise)
        }
        for _ in 0..<2 { _ = try bench.nextResponse(isKept ? 200 : 503, at: Bench.enterprise) }
        store.failure = nil
        bench.pass(.seconds(2))
        _ = try bench.takeNotifies()
        try bench.publish("rob@fabrikam.com", .state(6_500))
        #expect(try bench.takeNotifies().count == 1)
        try bench.publish("sue@fabrikam.com", .state(6_500))
        #expect(try bench.takeNotifies().count == (isKept ? 1 : 0))
    }

    @Test("an unsubscribe of a list (RFC 5367)")
    func unsubscribeOfList() throws {
        let bench = Bench(store: store) { $0.listServer = SIPURI("sip:\(ListWatcherTests.server)") }
        ListWatcherTests.subscribe(bench, ["rob@fabrikam.com", "sue@fabrikam.com"])
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        try refuse(bench, at: Bench.simple, bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple))
        let whole = try ListWatcherTests.notified(bench)
        #expect(whole.allSatisfy { $0.meta.fullState })
        try bench.publish("sue@fabrikam.com", .legacyInterop(6_500))
        let changed = try #require(try ListWatcherTests.notified(bench).last)
        #expect(changed.entries == ["sue@fabrikam.com active"])
        try unsubscribe(bench, accepted, cSeq: 2, at: Bench.simple, notifies: 1)
    }

    @Test("an unsubscribe while a NOTIFY is unanswered, whose answer arrives before the commit")
    func answerMeanwhile() throws {
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        store.failure = Self.full
        bench.inOneTick {
            bench.send(bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
            bench.answer(first, 200, from: Bench.simple)
        }
        _ = try bench.nextResponse(503, at: Bench.simple)
        store.failure = nil
        bench.pass(.seconds(2))
        #expect(bench.gateway.counts.watcherDialogs == 1)
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
    }

    @Test("a refresh while a NOTIFY is unanswered sends no second one beside it (RFC 6665 4.2.2)")
    func outstanding() throws {
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        try refuse(bench, at: Bench.simple, bench.inDialog(accepted, cSeq: 2, expires: 3_600, via: Bench.simple))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.answer(first, 200, from: Bench.simple)
        bench.pass(.seconds(40))
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
    }

    @Test("a batch of an endpoint that has one (MS-PRES 3.4.5.1.3): the one that it would have replaced stays")
    func replacement() throws {
        let bench = Bench(store: store)
        func batch() -> String {
            bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com"))
                .replacingOccurrences(of: ">;tag=w", with: ">;epid=0a1b2c3d4e;tag=w")
        }
        let first = try watch(bench, batch(), at: Bench.enterprise)
        try refuse(bench, at: Bench.enterprise, batch())
        #expect(try bench.takeNotifies().allSatisfy { $0.headers.subscriptionState?.state == .active })
        try bench.publish("rob@fabrikam.com", .state(6_500))
        #expect(try bench.takeNotifies().map(\.headers.callID) == [first.headers.callID])
        // It is still the only one: the next batch replaces it.
        bench.send(batch(), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let last = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(last.headers.callID == first.headers.callID && last.headers.subscriptionState?.state == .terminated)
        bench.answer(last, 200, from: Bench.enterprise)
        #expect(bench.gateway.counts.watcherDialogs == 1)
    }
}

/// Polls: SUBSCRIBE with Expires 0 outside a dialog.
@Suite struct UncommittedPollTests {
    let store = MemoryStore()

    @Test("MS-PRES 3.4.5.1.2 a poll whose 200 would wait for the remote domain is answered 503 when it cannot be kept")
    func held() throws {
        let bench = Bench(store: store)
        store.failure = UncommittedSubscribeTests.full
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org", expires: 0), from: Bench.enterprise)
        #expect(try bench.nextResponse(503, at: Bench.enterprise).headers.retryAfter != nil)
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.upstreamSubscriptions == 0)
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("RFC 6665 4.4.3 a poll that was accepted is notified with the next commit, if the one of its NOTIFY fails")
    func notified() throws {
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        store.failure = UncommittedSubscribeTests.full
        SimpleWatcherTests().accept(bench, upstream, Bench.state(3_500), expires: 0, state: "terminated;expires=0")
        #expect(bench.isQuiet(at: Bench.simple))
        store.failure = nil
        bench.pass(.seconds(2))
        let notify = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notify.headers.subscriptionState?.state == .terminated && notify.text.contains("<basic>open</basic>"))
        bench.answer(notify, 200, from: Bench.simple)
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }
}
