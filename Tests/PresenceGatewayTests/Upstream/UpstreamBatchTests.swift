import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// F1 inside the enterprise: one batch dialog for all that a watcher sees of a pool.
@Suite struct UpstreamBatchTests {
    let open = Bench.state(3_500)
    let gone = Bench.state(18_500)

    /// One watcher of these users, whose batch was granted.
    func watching(_ users: String..., on bench: Bench) throws -> SIPRequest {
        var answers: [SIPResponse] = []
        for user in users { answers.append(try bench.watch(user)) }
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(first, [(users[0], open)])
        if users.count > 1 {
            bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), users.dropFirst().map { ($0, open) })
        }
        #expect(try bench.notified().sorted() == users.sorted().map { "\($0) active open" })
        return first
    }

    @Test("MS-PRES 3.4.5.1.1: inside the enterprise a batch goes to the pool, from the watcher to itself")
    func form() throws {
        let bench = Bench.trusted()
        try bench.watch("bob@contoso.com")
        let request = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(request.requestURI == "sip:contoso.com")
        #expect(request.headers.from?.uri.description == "sip:ann@example.org")
        #expect(request.headers.to?.uri.description == "sip:ann@example.org")
        #expect(request.headers.hasToken(.require, "adhoclist") && request.headers.hasToken(.require, "categoryList"))
        for type in ["application/msrtc-event-categories+xml", "application/rlmi+xml", "multipart/related"] {
            #expect(request.headers.accept.contains { $0.essence == type })
        }
        #expect(Bench.actions(request) == ["subscribe: sip:bob@contoso.com"])
    }

    @Test("MS-PRES 3.4.5.1.1: the batch goes to the pool GRUU that the configuration names")
    func configuredPool() throws {
        let bench = Bench { configuration in
            configuration.domains["contoso.com"]?.upstream = .batch
            configuration.domains["contoso.com"]?.federation.poolFQDN = Bench.poolOne
        }
        try bench.watch("bob@contoso.com")
        #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).requestURI == Bench.poolOne)
    }

    @Test("over federation, or where the configuration says so, each presentity is asked for by itself")
    func noBatch() throws {
        for bench in [Bench(), Bench.trusted { $0.domains["contoso.com"]?.upstream = .categories }] {
            try bench.watch("bob@contoso.com")
            try bench.watch("eve@contoso.com")
            #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).requestURI == "sip:bob@contoso.com")
            #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).requestURI == "sip:eve@contoso.com")
        }
    }

    @Test(
        "MS-PRES 3.4.5.1.3: 50 subscriptions of one watcher make one batch dialog, and what comes while one SUBSCRIBE is on its way is asked for in the next"
    )
    func fifty() throws {
        let bench = Bench.trusted()
        let users = (0..<50).map { "u\($0)@contoso.com" }
        for user in users { try bench.watch(user) }
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.grant(first, [(users[0], open)])
        let second = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(second.headers.callID == first.headers.callID && second.headers.toTag != nil)
        #expect(Bench.actions(second) == ["subscribe: " + users.dropFirst().map { "sip:\($0)" }.joined(separator: " ")])
        bench.grant(second, users.dropFirst().map { ($0, open) })
        #expect(bench.isQuiet(at: Bench.enterprise))
        #expect(try bench.notified().sorted() == users.map { "\($0) active open" }.sorted())
        #expect(bench.gateway.counts.upstreamSubscriptions == 1)
    }

    @Test("each watcher has a batch of its own, and two dialogs of one watcher share what is known of a presentity")
    func watchers() throws {
        let bench = Bench.trusted()
        _ = try watching("bob@contoso.com", on: bench)
        try bench.watch("bob@contoso.com", by: "carl@example.org")
        let other = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(other.headers.from?.uri.description == "sip:carl@example.org" && other.headers.toTag == nil)
        bench.clear()
        try bench.watch("bob@contoso.com", accept: "application/xpidf+xml")
        #expect(bench.isQuiet(at: Bench.enterprise))
        #expect(try bench.nextRequest(.notify, at: Bench.simple).headers.contentType?.essence == "application/xpidf+xml")
    }

    @Test(
        "MS-PRES 2.2.2.4.3: a notification about one resource changes nothing of the others, as NOTIFY or BENOTIFY",
        arguments: [true, false])
    func oneOfMany(isBest: Bool) throws {
        let bench = Bench.trusted()
        let dialog = try watching("bob@contoso.com", "eve@contoso.com", on: bench)
        bench.notify(
            dialog, "active;expires=3600", cSeq: 2, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("eve@contoso.com", gone), from: Bench.enterprise, method: isBest ? .benotify : .notify)
        #expect(try bench.notified() == ["eve@contoso.com active closed"])
    }

    @Test(
        "MS-PRES 3.4.5.3: a NOTIFY of a batch, whose From names the watcher, is admitted from the servers of the asked domain alone",
        arguments: [true, false])
    func admission(isBest: Bool) throws {
        let bench = Bench.trusted()
        let (pool, server) = (try #require(PeerPattern(Bench.enterprise.host)), try #require(PeerPattern(Bench.simple.host)))
        bench.reconfigure {
            $0.domains["contoso.com"]?.federation.trust.peers = [pool]
            $0.domains["example.org"]?.federation.trust.peers = [server]
        }
        let dialog = try watching("bob@contoso.com", on: bench)
        #expect(dialog.headers.to?.uri.description == "sip:ann@example.org")
        func notify(cSeq: Int, from peer: TransportAddress) {
            bench.notify(
                dialog, "active;expires=3600", cSeq: cSeq, type: "application/msrtc-event-categories+xml",
                body: Bench.categories("bob@contoso.com", gone), from: peer, method: isBest ? .benotify : .notify)
        }
        // The watcher's own domain may send for From, but was not asked; the other server may send for neither.
        let strangers = [(Bench.simple, 481), (TransportAddress(.udp, "192.0.2.40", 5060), 403)]
        for (peer, status) in strangers {
            notify(cSeq: 2, from: peer)
            if !isBest { #expect(try bench.nextResponse(status, at: peer).headers.callID == dialog.headers.callID) }
            #expect(bench.isQuiet(at: Bench.simple))
        }
        notify(cSeq: 2, from: Bench.enterprise)
        #expect(try bench.notified() == ["bob@contoso.com active closed"])
    }

    @Test("MS-PRES 3.4.5.1.3: who is watched no more is unsubscribed in the dialog, and the dialog ends with the last one")
    func removal() throws {
        let bench = Bench.trusted()
        let bob = try bench.watch("bob@contoso.com")
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(first, [("bob@contoso.com", open)])
        _ = try bench.notified()
        let eve = try bench.watch("eve@contoso.com")
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [("eve@contoso.com", open)])
        _ = try bench.notified()
        bench.send(bench.inDialog(bob, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.notified() == ["bob@contoso.com terminated timeout"])
        let removal = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(Bench.actions(removal) == ["unsubscribe: sip:bob@contoso.com"])
        #expect(removal.headers.expires == 28_800 && removal.headers.callID == first.headers.callID)
        bench.grant(removal)
        bench.send(bench.inDialog(eve, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.notified() == ["eve@contoso.com terminated timeout"])
        let goodbye = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(goodbye.headers.expires == 0 && goodbye.headers.callID == first.headers.callID)
        bench.grant(goodbye, expires: 0)
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("one that leaves while its SUBSCRIBE is on its way, and comes back, is asked for once more")
    func comesBack() throws {
        let bench = Bench.trusted()
        let dialog = try watching("bob@contoso.com", on: bench)
        let eve = try bench.watch("eve@contoso.com")
        let added = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.send(bench.inDialog(eve, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.notified()
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.grant(added, [("eve@contoso.com", open)])
        let removed = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(Bench.actions(removed) == ["unsubscribe: sip:eve@contoso.com"])
        try bench.watch("eve@contoso.com")
        bench.grant(removed)
        let again = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(Bench.actions(again) == ["subscribe: sip:eve@contoso.com"] && again.headers.callID == dialog.headers.callID)
        bench.grant(again, [("eve@contoso.com", open)])
        #expect(try bench.notified() == ["eve@contoso.com active open"])
    }

    @Test("RFC 6665 4.1.2.2: 481 to a refresh of a batch makes one new dialog for all its resources, and no watcher notices")
    func remade() throws {
        let bench = Bench.trusted()
        let dialog = try watching("bob@contoso.com", "eve@contoso.com", on: bench)
        bench.pass(.seconds(2_700))
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(Bench.actions(refresh) == ["subscribe: sip:bob@contoso.com sip:eve@contoso.com"])
        bench.answer(refresh, 481, from: Bench.enterprise)
        bench.pass(.seconds(1))
        let anew = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(anew.headers.callID != dialog.headers.callID && anew.headers.toTag == nil)
        #expect(Bench.actions(anew) == ["subscribe: sip:bob@contoso.com sip:eve@contoso.com"])
        bench.grant(anew, [("bob@contoso.com", open), ("eve@contoso.com", gone)])
        #expect(try bench.notified() == ["eve@contoso.com active closed"])
    }

    @Test("MS-PRES 3.4.5.1.3: a NOTIFY with Expires 0 ends the dialog, and its resources are asked for anew")
    func endedByExpires() throws {
        let bench = Bench.trusted()
        let dialog = try watching("bob@contoso.com", on: bench)
        bench.notify(dialog, "active\r\nExpires: 0", cSeq: 2, from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(.seconds(1))
        let anew = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(anew.headers.toTag == nil && Bench.actions(anew) == ["subscribe: sip:bob@contoso.com"])
    }

    @Test("a batch holds as many resources as its limit says, the next one opens a second dialog")
    func limit() throws {
        let bench = Bench.trusted { $0.limits.resourcesPerBatch = 2 }
        for user in ["a", "b", "c"] { try bench.watch("\(user)@contoso.com") }
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        let second = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(Bench.actions(first) == ["subscribe: sip:a@contoso.com"])
        #expect(Bench.actions(second) == ["subscribe: sip:c@contoso.com"] && second.headers.toTag == nil)
    }

    @Test("MS-PRES 3.4.5.1.3: a far side that takes fewer resources in one batch gets the others in another")
    func upstreamLimit() throws {
        let bench = Bench.trusted()
        _ = try watching("bob@contoso.com", on: bench)
        try bench.watch("eve@contoso.com")
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), 413, from: Bench.enterprise)
        let second = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(second.headers.toTag == nil && Bench.actions(second) == ["subscribe: sip:eve@contoso.com"])
        bench.grant(second, [("eve@contoso.com", open)])
        #expect(try bench.notified() == ["eve@contoso.com active open"])
    }

    @Test("a domain that takes no batches is asked one by one, and not by a batch again for a while", arguments: [420, 403, 501])
    func noBatches(status: Int) throws {
        let bench = Bench.trusted()
        try bench.watch("bob@contoso.com")
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), status, from: Bench.enterprise)
        let single = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(single.requestURI == "sip:bob@contoso.com" && !single.headers.hasToken(.require, "adhoclist"))
        bench.grant(single, [("bob@contoso.com", open)])
        #expect(try bench.notified() == ["bob@contoso.com active open"])
        try bench.watch("eve@contoso.com")
        #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).requestURI == "sip:eve@contoso.com")
        bench.pass(.seconds(3_601))
        bench.clear()
        try bench.watch("joe@contoso.com")
        var last: SIPRequest?
        while !bench.isQuiet(at: Bench.enterprise) { last = try bench.nextRequest(.subscribe, at: Bench.enterprise) }
        #expect(last?.headers.hasToken(.require, "adhoclist") == true)
    }

    @Test("MS-PRES 1.3.3: the form that a domain was found to want is asked for first, until it is refused")
    func rememberedForm() throws {
        let bench = Bench()
        try bench.watch("bob@contoso.com")
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), 406, from: Bench.enterprise)
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), 406, from: Bench.enterprise)
        let pidf = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(pidf, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.notify(
            pidf, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("bob@contoso.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try bench.notified()
        try bench.watch("eve@contoso.com")
        let second = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(second.headers.first(.accept) == "application/pidf+xml")
        bench.answer(second, 406, from: Bench.enterprise)
        #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).headers.first(.accept)?.contains("categories") == true)
    }

    @Test("RFC 6665 4.4.3: a poll is a batch of its own, with Expires 0")
    func poll() throws {
        let bench = Bench.trusted()
        let dialog = try watching("bob@contoso.com", on: bench)
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let fetch = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(fetch.headers.expires == 0 && fetch.headers.toTag == nil && fetch.headers.callID != dialog.headers.callID)
        #expect(Bench.actions(fetch) == ["subscribe: sip:bob@contoso.com"])
        bench.grant(fetch, [("bob@contoso.com", gone)], expires: 0)
        #expect(try bench.notified() == ["bob@contoso.com terminated timeout closed"])
        #expect(bench.gateway.counts.upstreamSubscriptions == 1)
    }

    @Test("RFC 3261 16.3: a presence subscription that comes back from where a batch went is a loop")
    func loop() throws {
        let bench = Bench.trusted()
        try bench.watch("bob@contoso.com")
        let batch = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        let mark = try #require(batch.headers.first("Isthmus-Hop"))
        bench.send(
            bench.subscribe("ann@example.org", to: "bob@contoso.com", extra: "Isthmus-Hop: \(mark)\r\n", via: Bench.enterprise),
            from: Bench.enterprise)
        _ = try bench.nextResponse(482, at: Bench.enterprise)
    }

    @Test("after a restart a batch is asked for once, for all its resources")
    func restart() throws {
        let bench = Bench(store: MemoryStore()) { $0.domains["contoso.com"]?.federation.network = .sameEnterprise }
        _ = try watching("bob@contoso.com", "eve@contoso.com", on: bench)
        bench.settle()
        try bench.restart()
        bench.pass(.seconds(1))
        let anew = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(Bench.actions(anew).count == 1 && ["bob", "eve"].allSatisfy { anew.text.contains("sip:\($0)@contoso.com") })
        bench.grant(anew, [("bob@contoso.com", open), ("eve@contoso.com", gone)])
        #expect(bench.isQuiet(at: Bench.enterprise))
        #expect(try bench.notified() == ["eve@contoso.com active closed"])
    }
}
