import FederationRouting
import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// What an operator is told of a watcher and a presentity: every kind of decision.
@Suite struct ExplainTests {
    static let ulla = "ulla@contoso.com"
    static let rob = "rob@fabrikam.com"

    func explain(_ bench: Bench, _ watcher: String, _ presentity: String, includingBodies: Bool = false) throws -> Explanation {
        bench.gateway.explain(
            watcher: try #require(SIPURI("sip:\(watcher)")), presentity: try #require(SIPURI("sip:\(presentity)")),
            includingBodies: includingBodies, at: bench.now)
    }

    /// The remote domain accepts and notifies.
    @discardableResult
    func serve(_ bench: Bench, _ body: String, state: String = "active;expires=3600") throws -> SIPRequest {
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            upstream, state, cSeq: 1, type: body.isEmpty ? "" : "application/pidf+xml", body: body, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        return upstream
    }

    @Test("MS-PRES 3.2.5.3 the container is named with its rule, its member and what lies in it")
    func containerByRule() throws {
        let bench = Bench()
        try bench.publish(Self.rob, .state(3_500, in: 300), .state(6_500, in: 100))
        try bench.setMembers(Self.rob, 300, "federated")
        try bench.setMembers(Self.rob, 100, "user:\(Self.ulla)")
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.rob), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let explanation = try explain(bench, Self.ulla, Self.rob)
        #expect(explanation.route.outcome == .local)
        #expect(explanation.route.entry == "fabrikam.com")
        #expect(explanation.watcher.network == "federated")
        #expect(explanation.presentity.isHosted)
        let only = try #require(explanation.subscriptions.first)
        #expect(explanation.subscriptions.count == 1)
        #expect(only.subscription.source == .hosted)
        #expect(only.subscription.state == .active)
        #expect(only.delivery == .current)
        #expect(only.subscription.notification?.isPiggybacked == true)
        #expect(only.view.origin == .categories)
        let state = try #require(only.view.containers.first { $0.category == "state" })
        #expect(state.container == 100)
        #expect(state.rule == "user")
        #expect(state.member == "user \(Self.ulla)")
        #expect(state.candidates == [300, 100])
        #expect(state.instances.map(\.availability) == [6_500])
        let note = try #require(only.view.containers.first { $0.category == "note" })
        #expect(note.container == nil)
        #expect(note.rule == "not published")
        #expect(only.view.rows.isEmpty)
        #expect(explanation.preview == nil)
        #expect(explanation.home?.published.count == 2)
        #expect(explanation.home?.latest == "categories")
    }

    @Test("MS-PRES 1.3.1.3.4 a block is seen by the operator, though never by the watcher")
    func blocked() throws {
        let bench = Bench()
        try bench.publish(Self.rob, .state(3_500, in: 300))
        try bench.setMembers(Self.rob, 300, "user:dan@contoso.com")
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.rob), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("<category name=\"state\"/>"))
        let only = try #require(try explain(bench, Self.ulla, Self.rob).subscriptions.first)
        #expect(only.view.origin == .offline)
        let state = try #require(only.view.containers.first { $0.category == "state" })
        #expect(state.container == nil)
        #expect(state.rule == "no member matches")
        #expect(state.candidates == [300])
        // A watcher of PIDF is decided by legacyInterop (MS-PRES 3.7.5.1).
        bench.send(bench.subscribe("ann@example.org", to: Self.rob, via: Bench.simple), from: Bench.simple)
        let pidf = try #require(try explain(bench, "ann@example.org", Self.rob).subscriptions.first)
        #expect(pidf.view.containers.first?.category == "legacyInterop")
        #expect(pidf.view.containers.first?.container == nil)
        #expect(!pidf.view.rows.isEmpty)
    }

    @Test("a member by a parent domain is named, and PIDF that a container hides is said to be hidden")
    func hiddenDocument() throws {
        let bench = Bench { $0.domains["emea.contoso.com"] = DomainConfiguration(side: .enterprise, route: Bench.enterprise) }
        try bench.publish(Self.rob, .state(6_500, in: 300))
        try bench.setMembers(Self.rob, 300, "domain:contoso.com")
        bench.sendPublish(Self.rob, Bench.pidf(Self.rob, note: "Hello"))
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.send(bench.categorySubscribe("otto@contoso.com", to: Self.rob), from: Bench.enterprise)
        let explanation = try explain(bench, "otto@contoso.com", Self.rob)
        let view = try #require(explanation.subscriptions.first?.view)
        #expect(view.isDocumentHidden)
        #expect(view.containers.first { $0.category == "state" }?.member == "domain contoso.com")
        #expect(explanation.home?.documents.count == 1)
        #expect(explanation.home?.latest == "pidf")
        // Nobody is put anywhere by a class: both models are shown.
        try bench.setMembers(Self.rob, 300, version: 1, "-domain:contoso.com", "federated")
        let open = try #require(try explain(bench, "otto@contoso.com", Self.rob).subscriptions.first?.view)
        #expect(!open.isDocumentHidden)
        #expect(open.origin == .both)
        #expect(open.containers.first { $0.category == "state" }?.rule == "federated")
    }

    @Test("MS-PRES 3.8.5 a computed state is told from the published ones that it was made of")
    func aggregation() throws {
        let bench = Bench()
        try bench.publish(
            Self.rob,
            .init(
                name: "state",
                body: "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" manual=\"true\" "
                    + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"userState\"><availability>6500</availability></state>",
                container: 2, instance: 7))
        try bench.setMembers(Self.rob, 400, "user:ann@example.org")
        bench.send(bench.subscribe("ann@example.org", to: Self.rob, via: Bench.simple), from: Bench.simple)
        let explanation = try explain(bench, "ann@example.org", Self.rob)
        #expect(explanation.home?.aggregationInputs.map(\.instance) == [7])
        let seen = try #require(explanation.subscriptions.first?.view.containers.first)
        #expect(seen.category == "legacyInterop")
        #expect(seen.instances.map(\.isComputed) == [true])
        // Without a machine he is offline, whatever he says (MS-PRES 3.8.5.1.2.1).
        #expect(seen.instances.map(\.availability) == [18_500])
    }

    @Test("far PIDF in categories: the leg, the rows of the tables and what they lost are named") func rowsAndLosses() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe(Self.ulla, to: "alice@example.org"), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try serve(bench, Bench.pidf("alice@example.org", activity: "vacation"))
        let notify = try bench.nextRequest(.notify, at: Bench.enterprise)
        var only = try #require(try explain(bench, Self.ulla, "alice@example.org").subscriptions.first)
        #expect(only.subscription.notification?.isAwaited == true)
        #expect(only.subscription.notification?.answer == nil)
        bench.answer(notify, 200, from: Bench.enterprise)
        let explanation = try explain(bench, Self.ulla, "alice@example.org", includingBodies: true)
        only = try #require(explanation.subscriptions.first)
        #expect(explanation.route.outcome == .forward)
        #expect(explanation.route.nextHop == Bench.simple.description)
        #expect(only.subscription.callID == accepted.headers.callID)
        #expect(only.subscription.source == .far)
        #expect(only.subscription.knowledge == .known)
        #expect(only.view.origin == .pidf)
        #expect(only.delivery == .current)
        let notified = try #require(only.subscription.notification)
        #expect(notified.cause == .change)
        #expect(notified.answer == 200)
        #expect(notified.cSeq == notify.headers.cSeq?.number)
        #expect(notified.count == 2)
        let row = try #require(only.view.rows.first { $0.table == "rpid-to-availability" })
        #expect(row.id == "R2A-vac" && row.section == "RFC 4480 3.2")
        #expect(only.view.losses.first { $0.row == "R2A-vac" }?.reason == "vacation is shown as out of office")
        #expect(only.body?.contains("<availability>15500</availability>") == true)
        let subscription = try #require(only.subscription.leg)
        #expect(subscription.state == .established)
        #expect(subscription.side == "simple")
        #expect(subscription.route == Bench.simple.description)
        #expect(subscription.callID == upstream.headers.callID)
        #expect(subscription.target == "sip:alice@example.org")
        #expect(subscription.hopMarks.count == 1)
        #expect(subscription.refreshesAt != nil && subscription.failures == 0 && subscription.retriesAt == nil)
        #expect(try explain(bench, Self.ulla, "alice@example.org").subscriptions.first?.body == nil)
    }

    @Test("a lost far leg: stale at first with the moment at which that ends, then offline, with what was lost in the journal")
    func lost() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe(Self.ulla, to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try serve(bench, Bench.pidf("alice@example.org"))
        bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 200, from: Bench.enterprise)
        bench.notify(upstream, "terminated;reason=probation;retry-after=900", cSeq: 2, from: Bench.simple)
        let stale = try #require(try explain(bench, Self.ulla, "alice@example.org").subscriptions.first).subscription
        #expect(stale.knowledge == .stale)
        #expect(stale.leg?.state == .resting)
        #expect(stale.leg?.failures == 1)
        #expect(stale.leg?.staleAt != nil && stale.leg?.retriesAt != nil)
        bench.pass(.seconds(101))
        let explanation = try explain(bench, Self.ulla, "alice@example.org")
        let offline = try #require(explanation.subscriptions.first)
        #expect(offline.subscription.knowledge == .offline)
        #expect(offline.view.origin == .offline)
        #expect(offline.subscription.leg?.state == .resting)
        #expect(offline.subscription.leg?.staleAt == nil)
        #expect(explanation.journal.first?.event == .lost)
        #expect(explanation.journal.first?.rule.contains("probation") == true)
    }

    @Test("a pending far side makes a pending watcher, who is told so") func pending() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe(Self.ulla, to: "alice@example.org", piggyback: false), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        try serve(bench, "", state: "pending;expires=3600")
        bench.pass(.seconds(2))
        let only = try #require(try explain(bench, Self.ulla, "alice@example.org").subscriptions.first)
        #expect(only.subscription.state == .pending)
        #expect(only.subscription.knowledge == .unknown)
        #expect(only.subscription.notification?.cause == .pending)
        #expect(only.view.origin == .nothing)
        #expect(only.delivery == .nothing)
        #expect(bench.gateway.subscriptions(matching: .init(state: .pending), at: bench.now).rows.count == 1)
        #expect(bench.gateway.subscriptions(matching: .init(state: .active), at: bench.now).rows.isEmpty)
    }

    @Test("whoever was refused has no subscription, and the journal has the status and the rule") func refused() throws {
        let bench = Bench()
        bench.send(bench.subscribe("eve@example.net", to: "alice@example.org", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(403, at: Bench.simple)
        bench.send(bench.subscribe("ann@example.org", to: "eve@example.net", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(403, at: Bench.simple)
        bench.pass(.seconds(1))
        bench.send(bench.subscribe("ann@example.org", to: "eve@example.net", expires: 5, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(403, at: Bench.simple)
        let sender = try explain(bench, "eve@example.net", "alice@example.org")
        #expect(sender.subscriptions.isEmpty)
        #expect(sender.watcher.side == nil)
        #expect(sender.journal.map(\.status) == [403])
        #expect(sender.journal.first?.rule == "the sender's domain is refused by configuration")
        let target = try explain(bench, "ann@example.org", "eve@example.net")
        #expect(target.route.outcome == .refuse)
        #expect(target.route.status == 403)
        #expect(target.journal.count == 2)
        #expect(target.journal.first?.method == "SUBSCRIBE")
        #expect(try #require(target.journal.first?.at) > #require(target.journal.last?.at))
        #expect(try explain(bench, "bob@example.org", "eve@example.net").journal.isEmpty)
    }

    @Test("a refusal is found by the user's one name: by that of the Request-URI, which decided, not of To") func refusedUnderAlias() throws
    {
        let bench = Bench {
            $0.domains["contoso.com"]?.forms = .init(aliases: ["im.contoso.com"], numbers: ["+1425555"])
            $0.domains["example.org"]?.forms = .init(aliases: ["pres.example.org"])
        }
        let text = bench.subscribe("ann@pres.example.org", to: "nobody@example.com", via: Bench.simple)
            .replacingOccurrences(of: "SUBSCRIBE sip:nobody@example.com", with: "SUBSCRIBE tel:+1-425-555-0100")
            .replacingOccurrences(of: "Event: presence\r\n", with: "Event: dialog\r\n")
        bench.send(text, from: Bench.simple)
        _ = try bench.nextResponse(489, at: Bench.simple)
        let found = try explain(bench, "ann@example.org", "+14255550100@contoso.com")
        #expect(found.journal.map(\.status) == [489])
        #expect(found.journal.first?.watcher == "sip:ann@example.org")
        #expect(try explain(bench, "ann@pres.example.org", "+14255550100@im.contoso.com").journal == found.journal)
        #expect(try explain(bench, "ann@example.org", "nobody@example.com").journal.isEmpty)
    }

    @Test("RFC 5367 a refused list, and the end of one, are about everybody, and not about the list's address") func listJournal() throws {
        let bench = ListWatcherTests.bench()
        ListWatcherTests.subscribe(bench, [], body: "<not-a-list/>")
        _ = try bench.nextResponse(400, at: Bench.simple)
        ListWatcherTests.subscribe(bench, [Self.rob, "sue@fabrikam.com"])
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.pass(.seconds(1))
        let journal = try explain(bench, "dan@example.org", "sue@fabrikam.com").journal
        #expect(journal.map(\.event) == [.ended, .refused])
        #expect(journal.map(\.presentity) == ["", ""])
    }

    @Test("a far side that refuses for good leaves its status in the journal of the two") func refusedThere() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), 404, from: Bench.enterprise)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        let explanation = try explain(bench, "ann@example.org", "bob@contoso.com")
        #expect(explanation.subscriptions.isEmpty)
        #expect(explanation.journal.contains { $0.event == .farEnded && $0.status == 404 })
        #expect(explanation.journal.contains { $0.event == .ended && $0.rule.contains("noresource") })
    }

    @Test("a request in no dialog is found by its Call-ID: the journal says which one ended, and how") func unknownDialog() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: Self.rob, expires: 60, via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.pass(.seconds(61))
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 60, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(481, at: Bench.simple)
        let journal = try explain(bench, "ann@example.org", Self.rob).journal
        #expect(journal.map(\.event) == [.refused, .ended])
        #expect(journal.map(\.callID) == [accepted.headers.callID, accepted.headers.callID])
        #expect(journal.last?.rule == "the watcher did not refresh in time (RFC 6665 4.2.1.4)")
        #expect(bench.gateway.journal(ofCallID: accepted.headers.callID ?? "").count == 2)
    }

    @Test("without a subscription the view that one would get is shown; of a far presentity nobody can know it") func preview() throws {
        let bench = Bench()
        try bench.publish(Self.rob, .state(3_500))
        let home = try explain(bench, "ann@example.org", Self.rob)
        #expect(home.subscriptions.isEmpty)
        #expect(home.preview?.origin == .categories)
        #expect(home.preview?.containers.first { $0.category == "state" }?.rule == "default")
        #expect(try explain(bench, "ann@example.org", "nobody@fabrikam.com").preview?.origin == .offline)
        #expect(try explain(bench, Self.ulla, "alice@example.org").preview == nil)
        #expect(try explain(bench, "eve@example.net", Self.rob).preview == nil)
    }

    @Test("a resource that a batch was told to look for elsewhere has its verdict") func verdict() throws {
        let bench = Bench { $0.domains["contoso.com"]?.federation.poolFQDN = "sip:pool.contoso.com;gruu" }
        bench.send(bench.batch(Self.ulla, .subscribe("otto@contoso.com", Self.rob)), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let only = try #require(try explain(bench, Self.ulla, "otto@contoso.com").subscriptions.first)
        #expect(only.verdict?.state == "resubscribe")
        #expect(only.verdict?.pool == "sip:pool.contoso.com;gruu")
        #expect(only.delivery == .current)
        #expect(try explain(bench, Self.ulla, "otto@contoso.com").journal.map(\.event) == [.rejected])
        #expect(try explain(bench, Self.ulla, Self.rob).subscriptions.first?.subscription.shape == .batch)
    }

    @Test("what was told is counted: refreshes, changes that tell nothing, lost and repeated notifications") func notifications() throws {
        let bench = Bench()
        try bench.publish(Self.rob, .state(3_500))
        bench.send(bench.subscribe("ann@example.org", to: Self.rob, via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        func notified() throws -> NotificationReport {
            try #require(try explain(bench, "ann@example.org", Self.rob).subscriptions.first?.subscription.notification)
        }
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(try notified().cause == .first)
        #expect(try notified().isAwaited)
        bench.answer(first, 500, from: Bench.simple)
        #expect(try notified().answer == 500)
        bench.pass(.seconds(31))
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        #expect(try notified().cause == .repetition)
        // A category of no interest to PIDF.
        try bench.publish(Self.rob, .init(name: "userProperties", body: "<x xmlns=\"urn:example\"/>"))
        #expect(try notified().suppressed == 1)
        try bench.publish(Self.rob, .state(18_500, version: 1))
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        #expect(try notified().cause == .change)
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        #expect(try notified().cause == .refresh)
        #expect(try notified().count == 4)
    }

    @Test("a change that waits for the answer to the notification before is said to wait") func waiting() throws {
        let bench = Bench()
        try bench.publish(Self.rob, .state(3_500))
        bench.send(bench.subscribe("ann@example.org", to: Self.rob, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        try bench.publish(Self.rob, .state(18_500, version: 1))
        #expect(try explain(bench, "ann@example.org", Self.rob).subscriptions.first?.delivery == .waiting)
        bench.answer(first, 200, from: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        #expect(try explain(bench, "ann@example.org", Self.rob).subscriptions.first?.delivery == .current)
    }

    @Test("asking changes nothing: the same messages go out, octet for octet, whoever asks in between") func askingChangesNothing() throws {
        func play(asking: Bool) throws -> [String] {
            let bench = Bench()
            var seen: [String] = []
            func ask() throws {
                guard asking else { return }
                for watcher in [Self.ulla, "ann@example.org"] {
                    for presentity in [Self.rob, "alice@example.org", "bob@contoso.com"] {
                        _ = try explain(bench, watcher, presentity, includingBodies: true)
                    }
                }
                _ = bench.gateway.subscriptions(at: bench.now)
                _ = bench.gateway.presentities(at: bench.now)
            }
            func take(_ peer: TransportAddress) throws {
                while !bench.isQuiet(at: peer) {
                    try ask()
                    let message = try bench.next(at: peer)
                    seen.append(String(decoding: SIPSerializer.serialize(message), as: UTF8.self))
                    if case .request(let request) = message, request.method == .notify { bench.answer(request, 200, from: peer) }
                }
            }
            bench.send(bench.categorySubscribe(Self.ulla, to: Self.rob), from: Bench.enterprise)
            bench.send(bench.subscribe("ann@example.org", to: Self.rob, via: Bench.simple), from: Bench.simple)
            try ask()
            for number in 0..<4 {
                bench.service(Self.rob, body: Bench.publishBody(Self.rob, [.state(3_500 + 3_000 * number, version: number)]))
                try ask()
                for peer in [Bench.enterprise, Bench.simple, Bench.endpoint] { try take(peer) }
            }
            bench.pass(.seconds(4_000))
            for peer in [Bench.enterprise, Bench.simple] { try take(peer) }
            #expect(bench.gateway.counters.bodiesEncoded > 0)
            return seen + ["\(bench.gateway.counters.bodiesEncoded) \(bench.gateway.counters.notificationsSent)"]
        }
        #expect(try play(asking: true) == play(asking: false))
    }
}
