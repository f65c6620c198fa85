import PresenceGateway
import SIPCore
import SIPEvents
import Testing

@Suite("A gateway that starts on what an earlier one kept")
struct RestoreTests {
    let words = HostedPresentityTests()
    static let client = HostedPresentityTests.client

    /// A SIMPLE watcher of alice@example.com whose first NOTIFY is answered; the 200 to its SUBSCRIBE.
    func watch(_ bench: Bench, _ watcher: String = "ann@example.org", of presentity: String = "alice@example.com", expires: Int = 3_600)
        throws -> SIPResponse
    {
        bench.send(bench.subscribe(watcher, to: presentity, expires: expires, via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        return accepted
    }

    @Test("MS-PRES 1.3.1.6 versions, instances and memberships go on where they were")
    func categories() throws {
        let bench = Bench(store: MemoryStore())
        words.service(bench, "rob@fabrikam.com", words.state(6_500))
        _ = try bench.nextResponse(200, at: Self.client)
        let members =
            "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\"><container id=\"300\" "
            + "version=\"0\"><member action=\"add\" type=\"user\" value=\"ann@example.org\"/></container></setContainerMembers>"
        let id = bench.number()
        func setMembers(_ branch: String) {
            bench.send(
                "SERVICE sip:rob@fabrikam.com SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.30:5060;branch=z9hG4bKm\(id)\(branch)\r\n"
                    + "Max-Forwards: 70\r\nFrom: <sip:rob@fabrikam.com>;tag=m\(id)\r\nTo: <sip:rob@fabrikam.com>\r\n"
                    + "Call-ID: m\(id)\(branch)\r\nCSeq: 1 SERVICE\r\nContact: <sip:192.0.2.30:5060>\r\n"
                    + "Content-Type: application/msrtc-setcontainermembers+xml\r\nContent-Length: \(members.utf8.count)\r\n\r\n\(members)",
                from: Self.client)
        }
        setMembers("a")
        _ = try bench.nextResponse(200, at: Self.client)

        let restored = try bench.restart()
        #expect(restored.presentities == 1)
        #expect(restored.publications >= 1)
        #expect(restored.unreadable == 0)
        words.service(bench, "rob@fabrikam.com", words.state(9_500))
        _ = try bench.nextResponse(409, at: Self.client)
        words.service(bench, "rob@fabrikam.com", words.state(9_500, version: 1))
        #expect(try bench.nextResponse(200, at: Self.client).text.contains("version=\"2\""))
        // The membership has version 1 now, so that version 0 is stale.
        setMembers("b")
        #expect(try bench.nextResponse(409, at: Self.client).text.contains("curVersion=\"1\""))
    }

    @Test("RFC 3903 4.1 an entity-tag is good after a restart, and its document is still composed")
    func publications() throws {
        let bench = Bench(store: MemoryStore())
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com", activity: "busy"), expires: 600)
        let tag = try #require(try bench.nextResponse(200, at: Self.client).headers.sipETag)
        try bench.restart(after: .seconds(300))
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.com"), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("<availability>6500</availability>"))
        words.publish(bench, "alice@example.com", body: "", ifMatch: tag, expires: 700)
        let newer = try #require(try bench.nextResponse(200, at: Self.client).headers.sipETag)
        #expect(newer != tag)
        try bench.restart()
        words.publish(bench, "alice@example.com", body: "", ifMatch: tag)
        _ = try bench.nextResponse(412, at: Self.client)
        words.publish(bench, "alice@example.com", body: "", ifMatch: newer, expires: 0)
        _ = try bench.nextResponse(200, at: Self.client)
        try bench.restart()
        #expect(bench.gateway.counts.publications == 0)
    }

    @Test("RFC 6665 4.2 a dialog lives on: same tags, growing CSeq both ways, the remaining time, and no NOTIFY when nothing changed")
    func dialogs() throws {
        let bench = Bench(store: MemoryStore())
        let accepted = try watch(bench)
        bench.settle()
        let restored = try bench.restart(after: .seconds(55))
        #expect(restored.dialogs == 1)
        #expect(restored.notified == 0)
        #expect(bench.isQuiet(at: Bench.simple))

        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        _ = try bench.nextResponse(200, at: Self.client)
        let notified = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notified.headers.cSeq?.number == 2 + Dialog.resumptionGap)
        #expect(notified.headers.fromTag == accepted.headers.toTag)
        #expect(notified.headers.callID == accepted.headers.callID)
        #expect(notified.headers.subscriptionState?.expires == 3_500)
        bench.answer(notified, 200, from: Bench.simple)

        bench.send(bench.inDialog(accepted, cSeq: 1, expires: 3_600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(500, at: Bench.simple)
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 3_600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.nextRequest(.notify, at: Bench.simple).headers.cSeq?.number == 3 + Dialog.resumptionGap)
    }

    @Test("RFC 3261 17.1.2 a SUBSCRIBE whose answer was lost with the process is answered in the dialog that it has made")
    func repeated() throws {
        let bench = Bench(store: MemoryStore())
        let subscribe = bench.subscribe("ann@example.org", to: "alice@example.com", expires: 3_600, via: Bench.simple)
        bench.send(subscribe, from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        try bench.restart(after: .seconds(2))
        #expect(try bench.takeNotifies(at: Bench.simple).map(\.headers.cSeq?.number) == [64 + 1 + Dialog.resumptionGap])
        bench.send(subscribe, from: Bench.simple)
        let again = try bench.nextResponse(200, at: Bench.simple)
        #expect(again.headers.toTag == accepted.headers.toTag)
        let notified = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notified.headers.cSeq?.number == 64 + 2 + Dialog.resumptionGap)
        bench.answer(notified, 200, from: Bench.simple)
        #expect(bench.gateway.counts.watcherDialogs == 1)

        // Later, it is another one: Call-IDs are only as unique as their makers.
        bench.settle()
        try bench.restart(after: .seconds(2))
        bench.pass(.seconds(60))
        bench.send(subscribe, from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.toTag != accepted.headers.toTag)
    }

    @Test("RFC 3261 12.1.1 dialogs of one Call-ID are told apart by the watcher's tag, also when their SUBSCRIBEs come again")
    func forked() throws {
        let bench = Bench(store: MemoryStore())
        let subscribes = ["alice@example.com", "bo@example.com"].map {
            bench.subscribe("ann@example.org", to: $0, via: Bench.simple, callID: "one")
        }
        func tags() throws -> [String?] {
            try subscribes.map { subscribe in
                bench.send(subscribe, from: Bench.simple)
                let accepted = try bench.nextResponse(200, at: Bench.simple)
                bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
                return accepted.headers.toTag
            }
        }
        let first = try tags()
        bench.settle()
        try bench.restart(after: .seconds(2))
        #expect(try tags() == first)
        #expect(bench.gateway.counts.watcherDialogs == 2)
    }

    @Test("what expired meanwhile expires at the start, and each watcher is told once")
    func expired() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"), expires: 90)
        _ = try bench.nextResponse(200, at: Self.client)
        _ = try watch(bench)
        _ = try watch(bench, "bea@example.org", expires: 100)
        let restored = try bench.restart(after: .seconds(200))
        #expect(restored.expired == 2)
        #expect(restored.notified == 1)
        let messages = [try bench.nextRequest(.notify, at: Bench.simple), try bench.nextRequest(.notify, at: Bench.simple)]
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(messages.filter { $0.text.contains("<basic>closed</basic>") }.count == 1)
        #expect(messages.filter { $0.headers.subscriptionState?.reason == .timeout }.count == 1)
        for message in messages { bench.answer(message, 200, from: Bench.simple) }
        #expect(bench.gateway.counts.watcherDialogs == 1)
        // Who was shown presence is remembered.
        #expect(store.livingRecords == 1)
    }

    @Test("a NOTIFY that nobody had answered is made anew, once")
    func unanswered() throws {
        let bench = Bench(store: MemoryStore())
        _ = try watch(bench)
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        _ = try bench.nextResponse(200, at: Self.client)
        let lost = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(try bench.restart().notified == 1)
        let again = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(again.text == lost.text)
        #expect(again.headers.cSeq?.number == 64 + 1 + Dialog.resumptionGap)
        bench.answer(again, 200, from: Bench.simple)
        bench.settle()
        #expect(try bench.restart().notified == 0)
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("RFC 6665 4.1.2.2 a far leg is refreshed in its dialog, and the watcher hears only what differs", arguments: [true, false])
    func bridged(differs: Bool) throws {
        let bench = Bench(store: MemoryStore())
        bench.send(bench.subscribe("ann@example.org", to: "rob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let far = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(far, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        let type = "application/msrtc-event-categories+xml"
        bench.notify(
            far, "active;expires=3600", cSeq: 1, type: type, body: Bench.categories("rob@contoso.com", Bench.state(6_500)),
            from: Bench.enterprise)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        bench.answer(first, 200, from: Bench.simple)
        bench.clear()
        bench.settle()

        let restored = try bench.restart()
        #expect(restored.dialogs == 1)
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.milliseconds(10))
        let anew = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(anew.headers.callID == far.headers.callID)
        #expect(anew.headers.toTag == "far\(far.headers.fromTag ?? "")")
        #expect((anew.headers.cSeq?.number ?? 0) > (far.headers.cSeq?.number ?? 0))
        #expect(restored.upstreamSubscriptions == 1)
        bench.answer(anew, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.notify(
            anew, "active;expires=3600", cSeq: 2, type: type,
            body: Bench.categories("rob@contoso.com", Bench.state(differs ? 3_500 : 6_500)), from: Bench.enterprise)
        if differs {
            let notified = try bench.nextRequest(.notify, at: Bench.simple)
            #expect(notified.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1 + Dialog.resumptionGap)
        }
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("a far leg that does not come back is shown as offline after a while")
    func upstreamStaysAway() throws {
        let bench = Bench(store: MemoryStore())
        bench.send(bench.subscribe("ann@example.org", to: "rob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let far = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(far, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.notify(
            far, "active;expires=3600", cSeq: 1, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("rob@contoso.com", Bench.state(3_500)), from: Bench.enterprise)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(first.text.contains("<basic>open</basic>"))
        bench.answer(first, 200, from: Bench.simple)
        try bench.restart()
        bench.pass(.seconds(90))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(20))
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>closed</basic>"))
    }

    /// A batch SUBSCRIBE of one endpoint of ulla@contoso.com to two hosted users.
    func batchSubscribe(_ bench: Bench) {
        let body = """
            <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe" uri="sip:ulla@contoso.com" name="">\
            <action name="subscribe" id="1"><adhocList><resource uri="sip:rob@fabrikam.com"/><resource uri="sip:sue@fabrikam.com"/></adhocList>\
            <categoryList xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist"><category name="state"/><category name="note"/>\
            </categoryList></action></batchSub>
            """
        let text = bench.subscribe(
            "ulla@contoso.com", to: "ulla@contoso.com",
            accept: "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related",
            extra: "Supported: ms-piggyback-first-notify\r\nSupported: eventlist\r\nRequire: adhoclist, categoryList\r\n", body: body,
            contentType: "application/msrtc-adrl-categorylist+xml", via: Bench.enterprise)
        bench.send(text.replacingOccurrences(of: ";tag=w", with: ";epid=84d3db8c23;tag=w"), from: Bench.enterprise)
    }

    @Test("MS-PRES 3.4.5.1.1 a batch keeps its resources with their categories, and only what changed is told")
    func batch() throws {
        let bench = Bench(store: MemoryStore())
        batchSubscribe(bench)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("sip:sue@fabrikam.com"))
        #expect(try bench.restart().dialogs == 1)
        #expect(bench.isQuiet(at: Bench.enterprise))
        words.service(bench, "sue@fabrikam.com", words.state(6_500))
        _ = try bench.nextResponse(200, at: Self.client)
        let notified = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(notified.text.contains("sip:sue@fabrikam.com"))
        #expect(notified.text.contains("<availability>6500</availability>"))
        #expect(!notified.text.contains("name=\"note\""))
        #expect(!notified.text.contains("sip:rob@fabrikam.com"))
    }

    @Test("MS-PRES 3.4.5.1.3 an endpoint still has one batch dialog: a new one ends that of before the restart")
    func oneBatch() throws {
        let bench = Bench(store: MemoryStore())
        batchSubscribe(bench)
        let first = try bench.nextResponse(200, at: Bench.enterprise)
        try bench.restart()
        batchSubscribe(bench)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let ended = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(ended.headers.callID == first.headers.callID)
        #expect(ended.headers.subscriptionState?.state == .terminated)
        bench.answer(ended, 200, from: Bench.enterprise)
        #expect(bench.gateway.counts.watcherDialogs == 1)
    }

    @Test("records that cannot be read are left out, and the others are taken")
    func unreadable() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        _ = try watch(bench)
        try store.commit([
            .put(
                .presentity(StoredPresentity(user: "sip:x@fabrikam.com", uri: "sip:x@fabrikam.com", document: [0x3C], isSimpleNewer: false))
            )
        ])
        let restored = try bench.restart()
        #expect(restored.unreadable == 1)
        #expect(restored.dialogs == 1)
        #expect(bench.gateway.takeLogs().contains { $0.level == .warning })
    }

    @Test("a store that cannot be read is no empty store")
    func unreadableStore() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        store.loadFailure = StoreFailureTests.full
        #expect(throws: StoreFailure.self) { try bench.restart() }
    }

    @Test("each shard takes its own, also when there are other numbers of shards, and requests in dialogs find them", arguments: [1, 2, 5])
    func shards(count: Int) throws {
        let store = MemoryStore()
        let now = Instant(secondsSince1970: 1_700_000_000)
        let bench = Bench()
        let before = ShardRouter(shards: 3)
        let old = (0..<3).map { Gateway(configuration: Bench.configuration(), shard: $0, shards: 3, key: .seeded(9), store: store) }
        var accepted: [[UInt8]] = []
        for number in 0..<24 {
            let text = Array(bench.subscribe("ann@example.org", to: "user\(number)@example.com", via: Bench.simple).utf8)
            let gateway = old[before.shard(of: text)]
            gateway.receive(InboundMessage(bytes: text, local: Bench.local, remote: Bench.simple), at: now)
            accepted += gateway.takeOutput().map(\.bytes).filter { $0.starts(with: Array("SIP/2.0 200".utf8)) }
        }
        #expect(accepted.count == 24)
        let records = try store.load()
        var router = ShardRouter(shards: count)
        router.adopt(records)
        let gateways = (0..<count).map {
            Gateway(configuration: Bench.configuration(), shard: $0, shards: count, key: .seeded(10), store: store)
        }
        for gateway in gateways { try gateway.restore(at: now) }
        #expect(gateways.map(\.counts.watcherDialogs).reduce(0, +) == 24)
        for bytes in accepted {
            guard case .success(.response(let response)) = SIPParser.parse(bytes) else {
                Issue.record("not a response")
                continue
            }
            let refresh = Array(bench.inDialog(response, cSeq: 2, expires: 600, via: Bench.simple).utf8)
            let gateway = gateways[router.shard(of: refresh)]
            gateway.receive(InboundMessage(bytes: refresh, local: Bench.local, remote: Bench.simple), at: now)
            #expect(gateway.takeOutput().contains { $0.bytes.starts(with: Array("SIP/2.0 200".utf8)) })
        }
    }
}
