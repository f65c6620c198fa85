import FederationRouting
import PresenceDocuments
import SIPCore
import Testing
import UserDirectory

@testable import PresenceGateway

/// Watchers and hosted presentities on different event loops.
@Suite("Watches between shards")
struct WatchesBetweenShardsTests {
    /// Users of the hosted domain; three shards have some of them each.
    static let users = (1...9).map { "user\($0)@fabrikam.com" }

    private func bench(shards: Int = 3, store: (any GatewayStore)? = nil) -> Bench {
        Bench(shards: shards, store: store) { $0.listServer = SIPURI("sip:lists@example.com") }
    }

    private func publishAll(_ bench: Bench, availability: Int = 3_500) throws {
        for user in Self.users { try bench.publish(user, .state(availability, in: 0)) }
    }

    private func watcher(_ bench: Bench) -> String { Self.users[0] }

    private func subscribe(_ bench: Bench, _ watcher: String, to users: [String] = users, expires: Int = 3_600) throws -> SIPResponse {
        bench.send(
            bench.batch(watcher, Bench.Action(resources: users.filter { $0 != watcher }), expires: expires), from: Bench.enterprise)
        return try bench.nextResponse(200, at: Bench.enterprise)
    }

    /// Number of users whose state is in a body.
    private func states(_ body: [UInt8], _ availability: Int) -> Int {
        String(decoding: body, as: UTF8.self).ranges(of: "<availability>\(availability)<").count
    }

    @Test("MS-PRES 4.5 the 200 to a batch has the states of the presentities of all shards")
    func batch() throws {
        let bench = bench()
        #expect(Set(Self.users.map(bench.shard)).count == 3)
        try publishAll(bench)
        let answer = try subscribe(bench, watcher(bench))
        #expect(states(answer.body, 3_500) == Self.users.count - 1)
        #expect(bench.isQuiet(at: Bench.enterprise), "nothing follows")
    }

    @Test("MS-PRES 3.4.5.1.2 a poll is answered with the states of all shards, and leaves no watch")
    func poll() throws {
        let bench = bench()
        try publishAll(bench)
        let answer = try subscribe(bench, watcher(bench), expires: 0)
        #expect(states(answer.body, 3_500) == Self.users.count - 1)
        bench.pass(.seconds(64))
        for gateway in bench.gateways {
            #expect(gateway.tableSizes["watchedViews"] == 0 && gateway.tableSizes["remoteWatchers"] == 0)
            #expect(gateway.tableSizes["parkedRequests"] == 0 && gateway.tableSizes["mailboxes"] == 0)
        }
    }

    @Test("a change reaches the watchers of all shards, and is sent once to each shard")
    func change() throws {
        let bench = bench()
        try publishAll(bench)
        for user in Self.users { _ = try subscribe(bench, user) }
        let changed = Self.users[4]
        bench.inOneTick { bench.service(changed, body: Bench.publishBody(changed, [.state(6_500, in: 0, version: 1)])) }
        let notified = try bench.takeNotifies()
        #expect(notified.filter { states($0.body, 6_500) == 1 }.count == Self.users.count - 1)
        let home = bench.gateways[bench.shard(of: changed)]
        #expect(home.tableSizes["remoteWatchers"] != 0)
    }

    @Test("equal views of one presentity are one value for each shard")
    func sharedView() throws {
        let bench = bench(shards: 2)
        try publishAll(bench)
        for user in Self.users { _ = try subscribe(bench, user) }
        let changed = Self.users[4]
        let home = bench.gateways[bench.shard(of: changed)]
        let elsewhere = Self.users.filter { bench.shard(of: $0) != bench.shard(of: changed) }
        #expect(elsewhere.count > 1)
        var envelopes: [ShardEnvelope] = []
        let text = Bench.publishBody(changed, [.state(6_500, in: 0, version: 1)])
        bench.inOneTick {
            bench.service(changed, body: text)
            _ = home.takeOutput()
            envelopes = home.takeEnvelopes()
        }
        #expect(envelopes.count == 1)
        guard case .views(let view)? = envelopes.first?.content as? WatchMessage else {
            Issue.record("no view")
            return
        }
        #expect(view.addressees.count == elsewhere.count)
    }

    @Test("a view of another shard is encoded once for all watches of a shard that show it, and forgotten with the last of them")
    func encodedOnce() throws {
        let bench = bench(shards: 2)
        try publishAll(bench)
        let presentity = Self.users[4]
        let elsewhere = Self.users.filter { bench.shard(of: $0) != bench.shard(of: presentity) }
        #expect(elsewhere.count > 1)
        let shard = bench.gateways[bench.shard(of: elsewhere[0])]
        let before = shard.counters.bodiesEncoded
        for watcher in elsewhere { #expect(states(try subscribe(bench, watcher, to: [presentity]).body, 3_500) == 1) }
        #expect(shard.counters.bodiesEncoded == before + 1)
        #expect(shard.tableSizes["sharedViews"] == 1 && shard.tableSizes["watchedViews"] == elsewhere.count)
        try bench.publish(presentity, .state(6_500, in: 0, version: 1))
        #expect(try bench.takeNotifies().filter { states($0.body, 6_500) == 1 }.count == elsewhere.count)
        #expect(shard.counters.bodiesEncoded == before + 2)
        #expect(shard.tableSizes["sharedViews"] == 1, "the view before is forgotten")
        // A watcher that comes later is shown the newest view, not the one that it would have shared before.
        #expect(states(try subscribe(bench, elsewhere[0], to: [presentity]).body, 6_500) == 1)
    }

    @Test("MS-PRES 3.4.5.1.2 a poll of one user is served by the shard of the user, without a watch")
    func pollOfOne() throws {
        let bench = bench()
        try publishAll(bench)
        let me = watcher(bench)
        let other = try #require(Self.users.first { bench.shard(of: $0) != bench.shard(of: me) })
        bench.inOneTick {
            bench.send(bench.categorySubscribe(me, to: other, expires: 0), from: Bench.enterprise)
            for gateway in bench.gateways {
                _ = gateway.takeOutput()
                #expect(gateway.takeEnvelopes().isEmpty)
            }
        }
        bench.clear()
        bench.send(bench.categorySubscribe(me, to: other, expires: 0), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(bench.gateways[bench.shard(of: other)].counters.subscriptionsAccepted == 2)
        #expect(bench.gateways[bench.shard(of: me)].counters.subscriptionsAccepted == 0)
    }

    @Test("a batch that waits for other shards is read again when the directory or the configuration changes meanwhile")
    func readAgain() throws {
        for isReloaded in [false, true] {
            let bench = bench(shards: 2)
            try publishAll(bench)
            let me = watcher(bench)
            let mine = bench.gateways[bench.shard(of: me)]
            var envelopes: [ShardEnvelope] = []
            bench.inOneTick {
                bench.send(
                    bench.batch(me, Bench.Action(resources: Self.users.filter { $0 != me })), from: Bench.enterprise)
                _ = mine.takeOutput()
                envelopes = mine.takeEnvelopes()
            }
            #expect(!envelopes.isEmpty && mine.tableSizes["parkedRequests"] == 1)
            if isReloaded {
                var configuration = mine.configuration
                configuration.limits.resourcesPerBatch = 3
                mine.reconfigure(configuration, at: bench.now)
            }
            for envelope in envelopes { bench.gateways[envelope.target].receive(envelope, at: bench.now) }
            bench.sort()
            guard case .response(let response) = try bench.next(at: Bench.enterprise) else {
                Issue.record("no response")
                return
            }
            #expect(response.status.rawValue == (isReloaded ? 413 : 200))
            #expect(mine.tableSizes["parkedRequests"] == 0)
        }
    }

    @Test("MS-PRES 3.4.5.1.3 resources and categories that a SUBSCRIBE adds are in its 200, wherever they live")
    func refresh() throws {
        let bench = bench()
        try publishAll(bench)
        let me = watcher(bench)
        let answer = try subscribe(bench, me, to: [Self.users[1]])
        bench.send(
            bench.change(answer, cSeq: 2, Bench.Action(resources: Array(Self.users[2...6]))), from: Bench.enterprise)
        let second = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(states(second.body, 3_500) == 5)
        bench.send(
            bench.change(answer, cSeq: 3, .unsubscribe(Self.users[2]), .unsubscribe(Self.users[3])), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try bench.takeNotifies()
        for user in Self.users[1...6] { try bench.publish(user, .state(6_500, in: 0, version: 1)) }
        let notified = try bench.takeNotifies()
        #expect(notified.filter { states($0.body, 6_500) == 1 }.count == 4)
    }

    @Test("RFC 3261 12.2.2 requests of a dialog are served in order, also if the first waits for another shard")
    func order() throws {
        let bench = bench()
        try publishAll(bench)
        let me = watcher(bench)
        let answer = try subscribe(bench, me, to: [Self.users[1]])
        let other = try #require(Self.users.first { bench.shard(of: $0) != bench.shard(of: me) })
        bench.inOneTick {
            bench.send(bench.change(answer, cSeq: 2, .subscribe(other)), from: Bench.enterprise)
            bench.send(bench.inDialog(answer, cSeq: 3, expires: 600, via: Bench.enterprise), from: Bench.enterprise)
        }
        #expect(try bench.nextResponse(200, at: Bench.enterprise).headers.cSeq?.number == 2)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).headers.cSeq?.number == 3)
    }

    @Test("MS-PRES 3.2.5.3 containers decide for watchers of other shards, and a change of members moves them")
    func containers() throws {
        let bench = bench()
        let me = watcher(bench)
        let other = try #require(Self.users.first { bench.shard(of: $0) != bench.shard(of: me) })
        try bench.publish(other, .state(3_500, in: 0), .state(6_500, in: 300))
        #expect(states(try subscribe(bench, me, to: [other]).body, 3_500) == 1)
        try bench.setMembers(other, 300, "user:\(me)")
        #expect(states(try #require(try bench.takeNotifies().first).body, 6_500) == 1)
    }

    @Test("RFC 5367 the entries of a list may belong to all shards")
    func list() throws {
        let bench = bench()
        try publishAll(bench)
        let entries = Self.users.map { "<entry uri=\"sip:\($0)\"/>" }.joined()
        bench.send(
            bench.subscribe(
                "ann@example.org", to: "lists@example.com",
                accept: "application/pidf+xml, application/rlmi+xml, multipart/related",
                extra: "Require: recipient-list-subscribe\r\nSupported: eventlist\r\n",
                body:
                    "<?xml version=\"1.0\"?><resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"><list>\(entries)</list></resource-lists>",
                contentType: "application/resource-lists+xml", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let notify = try #require(try bench.takeNotifies(at: Bench.simple).first)
        let body = String(decoding: notify.body, as: UTF8.self)
        #expect(body.ranges(of: "state=\"active\"").count == Self.users.count)
        #expect(body.ranges(of: "<basic>open<").count == Self.users.count)
    }

    @Test(
        "after a restart with another number of shards dialogs go on, and only watchers that miss something are notified",
        arguments: [1, 2, 5])
    func restart(shards: Int) throws {
        let store = MemoryStore()
        let bench = bench(store: store)
        try publishAll(bench)
        let me = watcher(bench)
        let answer = try subscribe(bench, me)
        try bench.restart(shards: shards)
        #expect(try bench.takeNotifies().isEmpty)
        try bench.publish(Self.users[5], .state(6_500, in: 0, version: 1))
        #expect(try bench.takeNotifies().map { states($0.body, 6_500) } == [1])
        bench.send(bench.inDialog(answer, cSeq: 2, expires: 600, via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
    }

    /// The tag as the version before partitions wrote it: with the shard, or without anything if there was one shard.
    private func old(_ tag: String, _ prefix: String) -> String {
        Partition(tag: tag) == nil ? tag : prefix + tag.dropFirst(4)
    }

    /// Rewrites the dialogs of a store as the version before wrote them: single ones and upstream subscriptions belonged to the presentity.
    /// - Returns: the number of dialogs and upstream subscriptions.
    private func age(_ store: MemoryStore, _ prefix: String, at now: Instant) throws -> (dialogs: Int, legs: Int) {
        var counts = (dialogs: 0, legs: 0)
        for record in try store.load(at: now) {
            switch record {
            case .dialog(var dialog):
                let tag = dialog.dialog.localTag
                #expect(Partition(tag: tag) == Partition(ofKey: dialog.owner))
                dialog.dialog.localTag = old(tag, prefix)
                #expect(Partition(tag: dialog.dialog.localTag) == nil)
                if !dialog.isBatch { dialog.owner = try #require(dialog.resources.first).uri }
                try store.commit([.remove(.dialog(tag)), .put(.dialog(dialog))])
                counts.dialogs += 1
            case .upstreamSubscription(var leg):
                let tag = leg.tag
                leg.tag = old(tag, prefix)
                leg.dialog?.localTag = leg.tag
                leg.resources = leg.resources.map { .init(uri: $0.uri, categories: $0.categories, sinks: $0.sinks.map { old($0, prefix) }) }
                leg.owner = try #require(leg.resources.first).uri
                try store.commit([.remove(.upstreamSubscription(tag)), .put(.upstreamSubscription(leg))])
                counts.legs += 1
            default: break
            }
        }
        return counts
    }

    @Test("dialogs of a version without partitions are taken over by any number of shards", arguments: [1, 2, 3], ["", "s02"])
    func takenOver(shards: Int, prefix: String) throws {
        let store = MemoryStore()
        let bench = bench(shards: 1, store: store)
        try publishAll(bench)
        let other = Self.users[3]
        // A single dialog, a batch, and a dialog with an upstream subscription.
        bench.send(bench.categorySubscribe(Self.users[0], to: other), from: Bench.enterprise)
        let single = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try bench.takeNotifies()
        let batch = try subscribe(bench, Self.users[1], to: [other, Self.users[4]])
        _ = try bench.takeNotifies()
        bench.send(bench.categorySubscribe(Self.users[2], to: "alice@example.org"), from: Bench.enterprise)
        let bridged = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            upstream, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("alice@example.org", activity: "busy"),
            from: Bench.simple)
        _ = try bench.takeNotifies()
        bench.clear()
        #expect(try age(store, prefix, at: bench.now) == (3, 1))

        let restored = try bench.restart(shards: shards)
        #expect(restored.dialogs == 3 && restored.upstreamSubscriptions == 1 && restored.unreadable == 0)
        try bench.publish(other, .state(6_500, in: 0, version: 1))
        #expect(try bench.takeNotifies().map { states($0.body, 6_500) } == [1, 1])
        bench.pass(.seconds(1))
        let renewal = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(renewal.headers.fromTag == old(upstream.headers.fromTag ?? "", prefix) && renewal.headers.callID == upstream.headers.callID)
        bench.answer(renewal, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            renewal, "active;expires=3600", cSeq: 2, type: "application/pidf+xml", body: Bench.pidf("alice@example.org", activity: "away"),
            from: Bench.simple, tag: "far" + (upstream.headers.fromTag ?? ""))
        #expect(try bench.takeNotifies().map { states($0.body, 15_500) } == [1])
        // Requests in the dialogs find them by their old tags.
        for answer in [single, batch, bridged] {
            let tag = answer.headers.toTag ?? ""
            let refresh = bench.inDialog(answer, cSeq: 2, expires: 600, via: Bench.enterprise)
            bench.send(refresh.replacingOccurrences(of: tag, with: old(tag, prefix)), from: Bench.enterprise)
            _ = try bench.nextResponse(200, at: Bench.enterprise)
            bench.clear()
        }
        // And again after a restart with another number.
        #expect(try bench.restart(shards: shards % 3 + 1).dialogs == 3)
    }

    @Test("MS-PRES 3.4.5.3 a user who is removed from the directory ends for the watchers of other shards")
    func removedUser() throws {
        let bench = bench()
        let me = watcher(bench)
        let other = try #require(Self.users.first { bench.shard(of: $0) != bench.shard(of: me) })
        func directory(_ names: [String]) throws -> DirectoryState {
            let users = try names.map { try Fabrikam.user(String($0.prefix { $0 != "@" }), [:]) }
            return .known(try UserDirectory(users, asOf: DateTime(nanosecondsSince1970: 1_690_000_000_000_000_000)))
        }
        let everybody = try directory(Self.users)
        for gateway in bench.gateways { gateway.use(directory: everybody, at: bench.now) }
        bench.sort()
        try publishAll(bench)
        _ = try subscribe(bench, me)
        let rest = try directory(Self.users.filter { $0 != other })
        for gateway in bench.gateways { gateway.use(directory: rest, at: bench.now) }
        bench.sort()
        let notified = try bench.takeNotifies().map { String(decoding: $0.body, as: UTF8.self) }
        #expect(notified.contains { $0.contains(other) && $0.contains("resubscribe") })
        let home = bench.gateways[bench.shard(of: other)]
        #expect(home.flows.presentities.remoteWatchers.count(of: "sip:" + other) == 0)
    }

    @Test("a SUBSCRIBE is refused with 503 while the presentity's shard cannot keep changes, and nothing of it is left")
    func failingStore() throws {
        let store = MemoryStore()
        let bench = bench(store: store)
        try publishAll(bench)
        let me = watcher(bench)
        let other = try #require(Self.users.first { bench.shard(of: $0) != bench.shard(of: me) })
        store.failure = StoreFailure("the disk is full")
        bench.send(
            bench.batch(me, Bench.Action(resources: ["<resource uri=\"sip:\(other)\"><context>x</context></resource>"])),
            from: Bench.enterprise)
        let status = try bench.next(at: Bench.enterprise)
        guard case .response(let response) = status else {
            Issue.record("no response")
            return
        }
        #expect(response.status.rawValue == 503 || states(response.body, 3_500) == 0)
        store.failure = nil
        bench.pass(.seconds(5))
        bench.clear()
        #expect(states(try subscribe(bench, me, to: [other]).body, 3_500) == 1)
    }

    @Test("explain shows the derivation of a view for a dialog of another shard")
    func explanation() throws {
        let bench = bench()
        try publishAll(bench)
        let me = watcher(bench)
        let other = try #require(Self.users.first { bench.shard(of: $0) != bench.shard(of: me) })
        _ = try subscribe(bench, me)
        let (one, two) = (try #require(SIPURI("sip:\(me)")), try #require(SIPURI("sip:\(other)")))
        let merged = try #require(
            Explanation.merged(bench.gateways.map { $0.explain(watcher: one, presentity: two, at: bench.now) }))
        #expect(merged.subscriptions.count == 1 && merged.preview == nil)
        #expect(merged.subscriptions.first?.view.origin == .categories)
        #expect(merged.subscriptions.first?.view.containers.contains { $0.category == "state" && $0.container == 0 } == true)
        #expect(merged.home?.watchers == 1)
    }
}

/// What the shard of a watcher takes of late and repeated answers.
@Suite("Views of other shards")
struct WatchedViewsTests {
    @Test("a view is taken by its watch and its number: late ones show nothing")
    func late() throws {
        let bench = Bench(shards: 2)
        let users = WatchesBetweenShardsTests.users
        let me = users[0]
        let other = try #require(users.first { bench.shard(of: $0) != bench.shard(of: me) })
        try bench.publish(other, .state(3_500, in: 0))
        bench.send(bench.batch(me, .subscribe(other)), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let (mine, home) = (bench.gateways[bench.shard(of: me)], bench.gateways[bench.shard(of: other)])
        let views = mine.flows.presenceSubscriptions.views
        var sent: [SharedView] = []
        for (version, availability) in [6_500, 15_500].enumerated() {
            bench.inOneTick {
                bench.service(other, body: Bench.publishBody(other, [.state(availability, in: 0, version: version + 1)]))
                _ = home.takeOutput()
                for envelope in home.takeEnvelopes() {
                    if case .views(let view)? = envelope.content as? WatchMessage { sent.append(view) }
                }
            }
        }
        #expect(sent.count == 2)
        views.receive(sent[1], at: bench.now)
        bench.sort()
        let first = try bench.takeNotifies()
        #expect(first.count == 1 && String(decoding: first[0].body, as: UTF8.self).contains("15500"))
        for late in [sent[0], sent[1]] { views.receive(late, at: bench.now) }
        bench.sort()
        #expect(try bench.takeNotifies().isEmpty)
        // The same numbers for another watch are not for this dialog.
        let stranger = WatchID(shard: bench.shard(of: me), number: 999)
        let addressee = SharedView.Addressee(watch: stranger, sequence: 9, isHidden: false, isPending: false)
        views.receive(SharedView(id: sent[0].id, content: sent[0].content, addressees: [addressee]), at: bench.now)
        bench.sort()
        #expect(try bench.takeNotifies().isEmpty)
    }
}

@Suite struct PartitionTests {
    @Test("a tag names the partition of its user, whatever the number of shards")
    func tags() {
        for shards in [1, 2, 7] {
            let key = "sip:alice@fabrikam.com"
            let place = ShardPlace(index: Partition(ofKey: key).shard(of: shards), count: shards)
            #expect(Partition(tag: place.label(for: key) + "0123456789") == Partition(ofKey: key))
        }
        #expect(Partition(tag: "s0abcdef") == nil && Partition(tag: "pzzzabc") == nil && Partition(tag: "p00") == nil)
    }

    @Test("users spread evenly over the partitions of every number of shards")
    func spread() {
        for shards in [2, 3, 8] {
            var numbers = [Int](repeating: 0, count: shards)
            for user in 0..<8_000 { numbers[Partition(ofKey: "sip:user\(user)@fabrikam.com").shard(of: shards)] += 1 }
            let fair = 8_000 / shards
            #expect(numbers.allSatisfy { (fair * 8 / 10...fair * 12 / 10).contains($0) }, "\(numbers)")
        }
    }

    @Test("a dialog that a foreign shard serves has a tag of that shard")
    func foreign() {
        for index in 0..<5 {
            let partition = Partition(ofKey: "sip:alice@fabrikam.com", at: index, of: 5)
            #expect(partition.shard(of: 5) == index && (0..<Partition.count).contains(partition.rawValue))
        }
    }
}
