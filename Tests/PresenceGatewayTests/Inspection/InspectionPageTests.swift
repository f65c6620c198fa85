import FederationRouting
import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

/// Lists of what is alive: bounded pages, one order, filters.
@Suite struct InspectionPageTests {
    /// A gateway with this many PIDF watchers of two hosted presentities.
    func bench(watchers count: Int) throws -> Bench {
        let bench = Bench()
        for number in 0..<count {
            // In an order that is not that of the list.
            let name = "w\(number * 7 % count)@example.org"
            bench.send(
                bench.subscribe(name, to: number.isMultiple(of: 2) ? "rob@fabrikam.com" : "sue@example.com", via: Bench.simple),
                from: Bench.simple)
        }
        bench.clear()
        return bench
    }

    @Test("pages follow each other by their cursor, with every subscription once and in the order of their watchers") func pages() throws {
        let bench = try bench(watchers: 25)
        var seen: [String] = []
        var cursor: String?
        var pages = 0
        repeat {
            let page = bench.gateway.subscriptions(limit: 10, after: cursor, at: bench.now)
            seen += page.rows.map(\.watcher)
            #expect(page.rows.count <= 10)
            cursor = page.next
            pages += 1
        } while cursor != nil
        #expect(pages == 3)
        #expect(seen == (0..<25).map { "sip:w\($0)@example.org" }.sorted())
    }

    @Test("filters: watcher, presentity, domain of either, state, Call-ID") func filters() throws {
        let bench = try bench(watchers: 10)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        func watchers(_ filter: SubscriptionFilter) -> [String] {
            bench.gateway.subscriptions(matching: filter, at: bench.now).rows.map(\.watcher)
        }
        #expect(watchers(.init()).count == 11)
        #expect(watchers(.init(watcher: "sip:w3@example.org")).count == 1)
        #expect(watchers(.init(presentity: "sip:rob@fabrikam.com")).count == 5)
        #expect(watchers(.init(domain: "contoso.com")) == ["sip:ulla@contoso.com"])
        #expect(watchers(.init(domain: "example.org")).count == 11)
        #expect(watchers(.init(domain: "example.com")).count == 5)
        #expect(watchers(.init(callID: upstream.headers.callID)) == ["sip:ulla@contoso.com"])
        #expect(watchers(.init(state: .active)).count == 10)
        #expect(watchers(.init(state: .ending)).isEmpty)
        #expect(watchers(.init(watcher: "sip:nobody@example.org")).isEmpty)
    }

    @Test("filters take a user by any of his names, and a domain by any of its own") func names() throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.forms = .init(aliases: ["im.contoso.com"], schemes: [.pres, .im], numbers: ["+1425555"])
        }
        bench.send(bench.subscribe("ann@example.org", to: "+14255550100@im.contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        func watchers(_ filter: SubscriptionFilter) -> [String] {
            bench.gateway.subscriptions(matching: filter, at: bench.now).rows.map(\.watcher)
        }
        for name in ["tel:+1-425-555-0100", "im:+14255550100@im.contoso.com", "sip:+14255550100@CONTOSO.com;user=phone"] {
            #expect(watchers(.init(presentity: name)) == ["sip:ann@example.org"])
            #expect(
                bench.gateway.presentities(matching: .init(presentity: name), at: bench.now).rows.map(\.presentity)
                    == ["sip:+14255550100@contoso.com"])
        }
        #expect(watchers(.init(watcher: "pres:ann@example.org")) == ["sip:ann@example.org"])
        #expect(watchers(.init(presentity: "tel:+14255550100;ext=5")).isEmpty, "an extension is another user")
        for domain in ["contoso.com", "IM.contoso.com"] {
            #expect(watchers(.init(domain: domain)) == ["sip:ann@example.org"])
            #expect(bench.gateway.presentities(matching: .init(domain: domain), at: bench.now).rows.count == 1)
        }
    }

    @Test("RFC 5367 a list has a word of its own, and a row for each of its presentities") func lists() throws {
        let bench = ListWatcherTests.bench()
        ListWatcherTests.subscribe(bench, ["rob@fabrikam.com", "sue@fabrikam.com"])
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.send(bench.batch("ulla@contoso.com", .subscribe("rob@fabrikam.com")), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.send(bench.subscribe("ann@example.org", to: "rob@fabrikam.com", via: Bench.simple), from: Bench.simple)
        let rows = bench.gateway.subscriptions(at: bench.now).rows
        #expect(
            rows.map { "\($0.watcher) \($0.shape)" } == [
                "sip:ann@example.org single", "sip:dan@example.org list", "sip:dan@example.org list", "sip:ulla@contoso.com batch",
            ])
    }

    @Test("presentities: published, silent and far, with their watchers") func presentities() throws {
        let bench = try bench(watchers: 10)
        try bench.publish("rob@fabrikam.com", .state(3_500))
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        let all = bench.gateway.presentities(at: bench.now).rows
        #expect(all.map(\.presentity) == ["sip:alice@example.org", "sip:rob@fabrikam.com", "sip:sue@example.com"])
        #expect(all.map(\.state) == [.far, .published, .silent])
        #expect(all.map(\.watchers) == [1, 5, 5])
        #expect(all.map(\.publications) == [0, 1, 0])
        #expect(bench.gateway.presentities(matching: .init(state: .far), at: bench.now).rows.count == 1)
        #expect(bench.gateway.presentities(matching: .init(domain: "example.com"), at: bench.now).rows.count == 1)
        let first = bench.gateway.presentities(limit: 2, at: bench.now)
        #expect(first.next == "sip:rob@fabrikam.com")
        #expect(bench.gateway.presentities(limit: 2, after: first.next, at: bench.now).rows.map(\.presentity) == ["sip:sue@example.com"])
    }

    func row(_ presentity: String, _ state: PresentityReport.State = .far, watchers: Int = 1) -> PresentityReport {
        PresentityReport(presentity: presentity, state: state, watchers: watchers, publications: 0, ownDialogs: 0, endpoints: 0)
    }

    @Test(
        "pages of several shards become one: no row before its shard's horizon is lost, none beyond it shown, and one presentity is one row"
    )
    func merging() {
        typealias Page = InspectionPage<PresentityReport>
        let merged = Page.merged(
            [
                Page(rows: [row("a"), row("c"), row("d")], next: "d"),
                Page(rows: [row("b"), row("c", .silent, watchers: 4), row("f")], next: nil),
            ], limit: 3)
        #expect(merged.rows.map(\.presentity) == ["a", "b", "c"])
        #expect(merged.rows.last?.watchers == 5)
        #expect(merged.rows.last?.state == .silent)
        #expect(merged.next == "c")
        let last = Page.merged([Page(rows: [row("d")]), Page(rows: [row("f")])], limit: 3)
        #expect(last.rows.map(\.presentity) == ["d", "f"])
        #expect(last.next == nil)
        #expect(Page.merged([], limit: 3) == Page(rows: []))
    }

    @Test("the journal keeps the last entries, newest first, and as many as its limit") func journal() {
        var journal = Journal(limit: 3)
        func add(_ number: Int) {
            journal.add(
                JournalEntry(
                    at: DateTime(nanosecondsSince1970: Int64(number)), event: .refused, watcher: "w\(number)", presentity: "p",
                    callID: "", rule: ""))
        }
        for number in 1...2 { add(number) }
        #expect(journal.newestFirst.map(\.watcher) == ["w2", "w1"])
        for number in 3...8 { add(number) }
        #expect(journal.newestFirst.map(\.watcher) == ["w8", "w7", "w6"])
        journal.use(limit: 2)
        #expect(journal.newestFirst.map(\.watcher) == ["w8", "w7"])
        add(9)
        #expect(journal.newestFirst.map(\.watcher) == ["w9", "w8"])
        journal.use(limit: 4)
        for number in 10...12 { add(number) }
        #expect(journal.newestFirst.map(\.watcher) == ["w12", "w11", "w10", "w9"])
        journal.use(limit: 0)
        add(13)
        #expect(journal.newestFirst.isEmpty)
    }

    @Test("a cursor that never was one begins at the beginning") func cursors() throws {
        let bench = try bench(watchers: 3)
        for text in ["", "x", "a b", "  "] {
            #expect(bench.gateway.subscriptions(after: text, at: bench.now).rows.count == 3)
        }
        #expect(SubscriptionKey(cursor: SubscriptionKey(watcher: "a", presentity: "", tag: "t").cursor)?.presentity == "")
    }

    @Test("what a dialog keeps for explanations fits in 24 octets") func size() {
        #expect(MemoryLayout<NotificationRecord>.stride == 24)
    }
}
