import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

/// Stored record of a dialog while its watcher is notified, and restarts from it at each point (docs/decisions/write-behind.md).
@Suite struct WriteBehindTests {
    private static let client = HostedPresentityTests.client
    private let words = HostedPresentityTests()
    private let store = MemoryStore()
    private let publication = Publication()
    /// Longer than the difference of two documents.
    private static let note = String(repeating: "At the desk until the evening, and on the phone then. ", count: 20)

    /// The publication of alice@example.com.
    private final class Publication { var tag: String? }

    /// A watcher of alice@example.com, whose NOTIFYs are answered.
    private struct Watched {
        let key: StoreKey
        let first: SIPRequest
    }

    private func watch(
        _ bench: Bench, _ presentity: String = "alice@example.com", by watcher: String = "ann@example.org",
        accept: String = "application/pidf+xml"
    ) throws -> Watched {
        bench.send(bench.subscribe(watcher, to: presentity, accept: accept, via: Bench.simple), from: Bench.simple)
        let tag = try #require(try bench.nextResponse(200, at: Bench.simple).headers.toTag)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        bench.answer(first, 200, from: Bench.simple)
        return Watched(key: .dialog(tag), first: first)
    }

    /// Changes what alice@example.com publishes, by an even number after an odd one or the reverse.
    private func change(_ bench: Bench, _ number: Int, expires: Int = 600) throws {
        let body = Bench.pidf("alice@example.com", activity: number % 2 == 0 ? "busy" : "away", note: Self.note)
        words.publish(bench, "alice@example.com", body: body, ifMatch: publication.tag, expires: expires)
        publication.tag = try bench.nextResponse(200, at: Self.client).headers.sipETag
    }

    private func stored(_ watched: Watched) throws -> StoredDialog {
        guard case .dialog(let stored)? = store.records[watched.key] else { throw Bench.Unexpected() }
        return stored
    }

    /// The requests that a process sends first that starts on what the store has now; the present one goes on.
    private func startAnother(_ bench: Bench) -> [SIPRequest] {
        let copy = MemoryStore()
        copy.take(store)
        let gateway = Gateway(configuration: bench.gateway.configuration, key: .seeded(77), store: copy)
        gateway.restore(Array(copy.records.values), at: bench.now)
        return gateway.takeOutput().compactMap {
            guard case .success(.request(let request)) = SIPParser.parse($0.bytes) else { return nil }
            return request
        }
    }

    // MARK: commits

    @Test("a presentity that changes each second costs one record for 64 NOTIFYs of a watcher, and none for their responses")
    func steadyState() throws {
        let bench = Bench(store: store)
        let watched = try watch(bench)
        #expect(store.puts[watched.key] == 1)
        for number in 2...(3 * 64 + 1) {
            try change(bench, number)
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            #expect(notify.headers.cSeq?.number == UInt32(number))
            bench.answer(notify, 200, from: Bench.simple)
            bench.pass(.seconds(1))
            #expect(store.puts[watched.key] == (number - 1) / 64 + 1)
        }
    }

    @Test("the first NOTIFY after quiet waits for one commit: that of the PUBLISH has the dialog too; the next has not")
    func folded() throws {
        let bench = Bench(store: store)
        let watched = try watch(bench)
        bench.settle()
        // That the watcher was shown presence is stored with the first publication.
        try change(bench, 0)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.settle()
        var (commits, puts) = (store.commits, store.puts[watched.key])
        try change(bench, 1)
        #expect(store.commits == commits + 1 && store.puts[watched.key] == puts.map { $0 + 1 })
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        (commits, puts) = (store.commits, store.puts[watched.key])
        try change(bench, 2)
        #expect(store.commits == commits + 1 && store.puts[watched.key] == puts)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        #expect(store.commits == commits + 1)
    }

    @Test("a quiet watcher's state is stored within 60 s, by a commit of its own; one without a response is not settled")
    func settles() throws {
        let bench = Bench(store: store)
        let watched = try watch(bench)
        let early = try stored(watched)
        #expect(early.isUnsettled && !early.wasNotifiedActive && early.dialog.localCSeq == 64)
        #expect(early.resources.allSatisfy { $0.delivered.isEmpty })
        bench.pass(.seconds(29))
        #expect(try stored(watched) == early)
        bench.pass(.seconds(31))
        let settled = try stored(watched)
        #expect(!settled.isUnsettled && settled.wasNotifiedActive && settled.dialog.localCSeq == 1)
        #expect(settled.resources.allSatisfy { !$0.delivered.isEmpty })
        #expect(store.puts[watched.key] == 2 && bench.gateway.tableSizes["unsettledDialogs"] == 0)
        try change(bench, 1)
        _ = try bench.nextRequest(.notify, at: Bench.simple)
        for _ in 0..<12 {
            bench.pass(.seconds(5))
            #expect(try stored(watched).isUnsettled)
        }
    }

    @Test("many dialogs are settled in commits of at most 256, and all within 60 s")
    func batches() throws {
        let bounded = BoundedStore()
        let bench = Bench(store: bounded)
        for number in 0..<600 { _ = try watch(bench, "user\(number % 7)@example.com", by: "ann\(number)@example.org") }
        bounded.largest = 0
        bench.pass(.seconds(60))
        #expect(bounded.largest > 200 && bounded.largest <= 256 + 1)
        let dialogs = try bounded.load().compactMap { record in
            if case .dialog(let stored) = record { stored } else { nil }
        }
        #expect(dialogs.count == 600 && dialogs.allSatisfy { !$0.isUnsettled })
    }

    /// Notes the largest commit.
    private final class BoundedStore: GatewayStore {
        let memory = MemoryStore()
        var largest = 0

        func commit(_ changes: [StoreChange]) throws(StoreFailure) {
            largest = max(largest, changes.count)
            try memory.commit(changes)
        }

        func load() throws(StoreFailure) -> [StoreRecord] { try memory.load() }
        func load(_ keys: [StoreKey]) throws(StoreFailure) -> [StoreRecord] { try memory.load(keys) }
        func load(_ kinds: Set<StoreKind>, of slice: PartitionSlice) throws(StoreFailure) -> [StoreRecord] {
            try memory.load(kinds, of: slice)
        }
        func assignDialogs(by partition: (DialogAssignment) -> Int) throws(StoreFailure) { try memory.assignDialogs(by: partition) }
        func shiftTimes(by span: TimeSpan, _ clock: StoredClock) throws(StoreFailure) { try memory.shiftTimes(by: span, clock) }
        func loadClock() throws(StoreFailure) -> StoredClock? { try memory.loadClock() }
    }

    @Test("while the store fails nothing is settled, so that no watcher is notified anew for that")
    func failing() throws {
        let bench = Bench(store: store)
        let watched = try watch(bench)
        store.failure = StoreFailureTests.full
        words.publish(bench, "carol@example.com", body: Bench.pidf("carol@example.com"))
        _ = try bench.nextResponse(503, at: Self.client)
        bench.pass(.seconds(60))
        #expect(try stored(watched).isUnsettled)
        store.failure = nil
        bench.pass(.seconds(60))
        #expect(try !stored(watched).isUnsettled && bench.isQuiet(at: Bench.simple))
    }

    @Test("the table of unsettled dialogs is empty when the dialogs have ended")
    func ended() throws {
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", expires: 100, via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
        #expect(bench.gateway.tableSizes["unsettledDialogs"] == 1)
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
        #expect(bench.gateway.tableSizes["unsettledDialogs"] == 0 && store.livingRecords == 0)
    }

    // MARK: a process that ends

    @Test("RFC 3261 12.2.1.1 the CSeq of the next process is higher than all that were used, wherever in a block the process ends")
    func sequenceOverCrashes() throws {
        let bench = Bench(store: store)
        let watched = try watch(bench)
        var last = try #require(watched.first.headers.cSeq?.number)
        for number in 1...140 {
            // Now and then the dialog is settled meanwhile.
            if number % 50 == 0 { bench.settle() }
            try change(bench, number)
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            let next = try #require(notify.headers.cSeq?.number)
            #expect(next == last + 1)
            last = next
            let other = startAnother(bench)
            #expect(other.count == 1 && other.allSatisfy { ($0.headers.cSeq?.number ?? 0) > last })
            bench.answer(notify, 200, from: Bench.simple)
        }
        // And once more from what the next process stored.
        for _ in 0..<3 {
            try bench.restart()
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            let next = try #require(notify.headers.cSeq?.number)
            #expect(next > last)
            last = next
            bench.answer(notify, 200, from: Bench.simple)
        }
    }

    @Test("RFC 5263 4.4 the next process begins with a full document, and its version is higher than all that were used")
    func partialOverCrashes() throws {
        let bench = Bench(store: store)
        try change(bench, 0)
        let watched = try watch(bench, accept: "application/pidf-diff+xml, application/pidf+xml")
        func version(_ notify: SIPRequest) throws -> UInt32 {
            let last = try #require(notify.text.split(separator: " version=\"").last)
            return try #require(UInt32(last.prefix { $0 != "\"" }))
        }
        var last = try version(watched.first)
        for number in 1...70 {
            try change(bench, number)
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            #expect(try version(notify) == last + 1 && notify.text.contains("pidf-diff "))
            last += 1
            let other = try #require(startAnother(bench).first)
            #expect(try version(other) > last && other.text.contains("pidf-full"))
            bench.answer(notify, 200, from: Bench.simple)
        }
        // Settled, the versions have no gap, and the first document is full as well.
        bench.settle()
        #expect(try stored(watched).listVersion == last)
        try bench.restart()
        #expect(bench.isQuiet(at: Bench.simple))
        try change(bench, 101)
        let next = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(try version(next) == last + 1 && next.text.contains("pidf-full"))
    }

    @Test("RFC 4662 5.2 the next process begins with the full list, and its version is higher than all that were used")
    func listOverCrashes() throws {
        let bench = Bench(store: store) { $0.listServer = SIPURI("sip:\(ListWatcherTests.server)") }
        ListWatcherTests.subscribe(bench, ["alice@example.com", "bo@example.com"])
        _ = try bench.nextResponse(200, at: Bench.simple)
        let first = try ListWatcherTests.notified(bench).first
        var last = try #require(first).meta.version
        for number in 1...70 {
            try change(bench, number)
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            let meta = try ListWatcherTests.Notified(notify).meta
            #expect(meta.version == last + 1 && !meta.fullState)
            last += 1
            let request = try #require(startAnother(bench).first)
            let other = try ListWatcherTests.Notified(request).meta
            #expect(other.version > last && other.fullState && other.resources.count == 2)
            bench.answer(notify, 200, from: Bench.simple)
        }
    }

    @Test("a watcher that was shown B after the stored A is notified of A, if A is the state again when the next process starts")
    func thereAndBack() throws {
        let bench = Bench(store: store)
        _ = try watch(bench)
        bench.settle()
        try change(bench, 1, expires: 60)
        let shown = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(shown.text.contains("<basic>open</basic>"))
        bench.answer(shown, 200, from: Bench.simple)
        // The publication ends while there is no process.
        #expect(try bench.restart(after: .seconds(100)).notified == 1)
        #expect(try bench.takeNotifies(at: Bench.simple).map { $0.text.contains("<basic>closed</basic>") } == [true])
        // After quiet it is known again, and an equal state is not notified.
        bench.settle()
        #expect(try bench.restart(after: .seconds(100)).notified == 0)
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("MS-PRES 3.4.5.1.3 the same in categories, where the state A is that nothing is published")
    func thereAndBackToNothing() throws {
        let bench = Bench(store: store)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.settle()
        words.service(
            bench, "rob@fabrikam.com",
            words.publication("note", "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"/>", expire: "time\" expires=\"60"))
        _ = try bench.nextResponse(200, at: Self.client)
        let shown = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(shown.text.contains("<note"))
        bench.answer(shown, 200, from: Bench.enterprise)
        #expect(try bench.restart(after: .seconds(100)).notified == 1)
        let again = try bench.takeNotifies()
        #expect(again.count == 1 && again.allSatisfy { !$0.text.contains("<note") })
    }

    @Test("a record of an earlier version without a response is taken over: numbers go on above it, in reserved blocks")
    func earlierVersion() throws {
        let bench = Bench(store: store)
        let watched = try watch(bench)
        bench.settle()
        var earlier = try stored(watched)
        earlier.isUnsettled = true
        earlier.dialog.localCSeq = 7
        try store.commit([.put(.dialog(earlier))])
        #expect(try bench.restart().notified == 1)
        #expect(try bench.takeNotifies(at: Bench.simple).map(\.headers.cSeq?.number) == [7 + Dialog.resumptionGap + 1])
        let taken = try stored(watched)
        #expect(taken.isUnsettled && taken.dialog.localCSeq == 7 + Dialog.resumptionGap + 64)
    }

    // MARK: an orderly stop

    @Test("an orderly stop stores what every watcher was notified of, also after a late response, and a start then notifies none")
    func stop() throws {
        let bench = Bench(store: store) { $0.onStop = .keep }
        let watched = [try watch(bench), try watch(bench, by: "bea@example.org")]
        try change(bench, 1)
        let notifies = [try bench.nextRequest(.notify, at: Bench.simple), try bench.nextRequest(.notify, at: Bench.simple)]
        bench.answer(notifies[0], 200, from: Bench.simple)
        bench.gateway.shutdown(at: bench.now)
        bench.sort()
        bench.pass(.milliseconds(100))
        var unsettled = try watched.map { try stored($0).isUnsettled }
        #expect(unsettled.filter(\.self).count == 1 && !bench.gateway.isDrained)
        bench.answer(notifies[1], 200, from: Bench.simple)
        bench.pass(.milliseconds(100))
        unsettled = try watched.map { try stored($0).isUnsettled }
        #expect(unsettled == [false, false] && bench.gateway.isDrained)
        #expect(try bench.restart().notified == 0)
        #expect(bench.isQuiet(at: Bench.simple))
    }

    // MARK: blocks

    @Test("MS-PRES 1.3.1.3.4 a blocked watcher's record is written, and its next process notifies, as that of a user who never published")
    func blocked() throws {
        func play(_ presentity: String) throws -> [String] {
            let store = MemoryStore()
            let bench = Bench(store: store)
            try bench.setMembers("rob@fabrikam.com", 32_000, "user:ann@example.org")
            let watched = try watch(bench, presentity)
            var seen: [String] = []
            for number in 0..<12 {
                try bench.publish("rob@fabrikam.com", .state(number % 2 == 0 ? 3_500 : 6_500, version: number))
                bench.pass(.seconds(7))
                guard case .dialog(let stored)? = store.records[watched.key] else { throw Bench.Unexpected() }
                let copy = MemoryStore()
                copy.take(store)
                let other = Gateway(configuration: bench.gateway.configuration, key: .seeded(77), store: copy)
                let notified = other.restore(Array(copy.records.values), at: bench.now).notified
                seen.append("\(store.puts[watched.key] ?? 0) \(stored.isUnsettled) \(stored.dialog.localCSeq) \(notified)")
            }
            #expect(bench.isQuiet(at: Bench.simple))
            return seen
        }
        let blocked = try play("rob@fabrikam.com")
        #expect(blocked == (try play("tom@fabrikam.com")))
        #expect(blocked.first == "1 true 64 1" && blocked.last == "2 false 1 0")
    }

    // MARK: numbers

    @Test("a block ends at the highest CSeq number that RFC 3261 8.1.1.5 allows, and versions go on from 2^32 - 1 at 0")
    func limits() {
        let highest = DialogRecord.Reserve(from: CSeq.limit - 3, .max - 1)
        #expect(highest.cSeq == CSeq.limit && highest.has(CSeq.limit, .max) && highest.has(CSeq.limit, 61))
        #expect(!highest.has(CSeq.limit, 62))
        // Documents without a number reserve none.
        let first = DialogRecord.Reserve(from: 1, 0)
        #expect(first.cSeq == 64 && first.version == 0 && first.has(64, 0) && !first.has(65, 0) && !first.has(2, 1))
    }
}

extension MemoryStore {
    /// Takes over the records of another store.
    fileprivate func take(_ other: MemoryStore) {
        do throws(StoreFailure) {
            try commit(other.records.values.map(StoreChange.put))
        } catch {
            Issue.record("the records cannot be copied: \(error)")
        }
    }
}
