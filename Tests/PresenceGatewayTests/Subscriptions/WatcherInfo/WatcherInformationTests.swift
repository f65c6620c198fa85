import Foundation
import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

/// Watcher information of users of hosted simple domains (RFC 3857).
@Suite("Watcher information") struct WatcherInformationTests {
    typealias Authorization = PresenceAuthorizationTests
    static let alice = Authorization.alice
    static let ann = Authorization.ann
    static let ulla = Authorization.ulla
    /// Where alice subscribes.
    static let own = Bench.endpoint

    static func subscribe(
        _ bench: Bench, by user: String = alice, to presentity: String = alice, event: String = "presence.winfo", expires: Int = 3_600,
        from peer: TransportAddress = own
    ) {
        let text = bench.subscribe(
            user, to: presentity, accept: WatcherInfoSubscription.mediaType, expires: expires, via: peer)
        bench.send(text.replacingOccurrences(of: "Event: presence", with: "Event: \(event)"), from: peer)
    }

    /// The documents that arrived at a peer, with the states of their NOTIFYs.
    static func documents(_ bench: Bench, at peer: TransportAddress = own) throws -> [WatcherInfoDocument] {
        try bench.takeNotifies(at: peer).filter { !$0.body.isEmpty }.map { notify in
            #expect(notify.headers.contentType?.essence == WatcherInfoSubscription.mediaType)
            return try WatcherInfoDocument.decode(notify.body)
        }
    }

    /// Rows of a document as text.
    static func rows(_ document: WatcherInfoDocument) -> [String] {
        document.lists.flatMap(\.watchers).map { "\($0.uri) \($0.status) \($0.event)" }
    }

    static func only(_ bench: Bench, at peer: TransportAddress = own) throws -> WatcherInfoDocument {
        let documents = try documents(bench, at: peer)
        try #require(documents.count == 1, "\(documents.map(rows))")
        return documents[0]
    }

    /// Subscribes, and takes the first document.
    static func watch(
        _ bench: Bench, by user: String = alice, event: String = "presence.winfo", expires: Int = 3_600, from peer: TransportAddress = own
    ) throws -> WatcherInfoDocument {
        subscribe(bench, by: user, event: event, expires: expires, from: peer)
        _ = try bench.nextResponse(200, at: peer)
        return try only(bench, at: peer)
    }

    /// The next document after the least time between two.
    static func next(_ bench: Bench, at peer: TransportAddress = own) throws -> WatcherInfoDocument {
        bench.pass(WatcherInfoSubscription.spacing)
        return try only(bench, at: peer)
    }

    static func confirming(shards: Int = 1, store: (any GatewayStore)? = nil) throws -> Bench {
        let bench = try Authorization.bench(shards: shards, store: store)
        try bench.use(Authorization.ruled("confirm"), of: alice)
        return bench
    }

    @Test(
        "PKT-SP-PRS appendix I: the owner learns of a pending watcher, allows it, the watcher is notified, and the owner learns of the approval",
        arguments: [1, 3])
    func reactiveAuthorization(shards: Int) throws {
        let bench = try Self.confirming(shards: shards)
        let first = try Self.watch(bench)
        #expect(first.version == 0 && first.isFull && first.lists.map(\.resource) == ["sip:\(Self.alice)"])
        #expect(first.lists.map(\.package) == ["presence"] && Self.rows(first).isEmpty)
        bench.pass(.seconds(5))
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(202, at: Bench.simple)
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .pending)
        let pending = try Self.only(bench)
        #expect(pending.version == 1 && !pending.isFull && Self.rows(pending) == ["sip:\(Self.ann) pending subscribe"])
        try bench.use(Authorization.everyone, of: Self.alice)
        let active = try Authorization.only(bench)
        #expect(active.headers.subscriptionState?.state == .active && active.text.contains("busy"))
        let approved = try Self.next(bench)
        #expect(approved.version == 2 && Self.rows(approved) == ["sip:\(Self.ann) active approved"])
        #expect(approved.lists[0].watchers[0].id == pending.lists[0].watchers[0].id)
    }

    @Test("PKT-SP-PRS appendix I, variant: the owner refuses a pending watcher, whose row ends with rejected")
    func refusedLater() throws {
        let bench = try Self.confirming()
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(202, at: Bench.simple)
        _ = try Authorization.only(bench)
        #expect(Self.rows(try Self.watch(bench)) == ["sip:\(Self.ann) pending subscribe"])
        try bench.use(Authorization.ruled("block"), of: Self.alice)
        #expect(try Authorization.only(bench).headers.subscriptionState?.state == .terminated)
        #expect(Self.rows(try Self.next(bench)) == ["sip:\(Self.ann) terminated rejected"])
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Self.own))
    }

    @Test("RFC 3857 4.7.1: a pending watcher that leaves is waiting, also for an owner who subscribes later, until it is decided about")
    func waiting() throws {
        let bench = try Self.confirming()
        // A fetch that is not admitted waits too.
        Authorization.subscribe(bench, expires: 0)
        _ = try bench.nextResponse(202, at: Bench.simple)
        _ = try Authorization.only(bench)
        let first = try Self.watch(bench, expires: 7_200)
        #expect(Self.rows(first) == ["sip:\(Self.ann) waiting timeout"])
        // The same watcher subscribes again: the row that waits is given up.
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(202, at: Bench.simple)
        _ = try Authorization.only(bench)
        let again = try Self.next(bench)
        #expect(Self.rows(again).sorted() == ["sip:\(Self.ann) pending subscribe", "sip:\(Self.ann) terminated giveup"])
        bench.pass(.seconds(3_700))
        _ = try bench.takeNotifies(at: Bench.simple)
        let timeout = try #require(try Self.documents(bench).last)
        #expect(Self.rows(timeout) == ["sip:\(Self.ann) waiting timeout"])
        Self.subscribe(bench)
        _ = try bench.nextResponse(200, at: Self.own)
        #expect(Self.rows(try Self.only(bench)) == ["sip:\(Self.ann) waiting timeout"])
        try bench.use(Authorization.everyone, of: Self.alice)
        bench.pass(WatcherInfoSubscription.spacing)
        // Both subscriptions of the owner.
        #expect(try Self.documents(bench).map(Self.rows) == Array(repeating: ["sip:\(Self.ann) terminated approved"], count: 2))
        #expect(bench.gateway.tableSizes["waitingWatchers"] == 0)
    }

    @Test("RFC 3857 4.7.1: an admitted fetch makes no row, a subscription makes one that ends with timeout")
    func transient() throws {
        let bench = try Authorization.bench()
        try bench.use(Authorization.everyone, of: Self.alice)
        _ = try Self.watch(bench)
        Authorization.subscribe(bench, expires: 0)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try Authorization.only(bench)
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Self.own))
        Authorization.subscribe(bench)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        _ = try Authorization.only(bench)
        #expect(Self.rows(try Self.only(bench)) == ["sip:\(Self.ann) active subscribe"])
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        #expect(Self.rows(try Self.next(bench)) == ["sip:\(Self.ann) terminated timeout"])
    }

    @Test("watchers of a Microsoft client are rows as those of any other, in single subscriptions and batches")
    func categories() throws {
        let bench = try Authorization.bench()
        try bench.use(Authorization.everyone, of: Self.alice)
        bench.send(bench.batch(Self.ulla, .subscribe(Self.alice, Authorization.silent)), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(Self.rows(try Self.watch(bench)) == ["sip:\(Self.ulla) active subscribe"])
    }

    @Test("RFC 3857 4.6: a watcher sees its own rows alone, and nothing of the information about the information")
    func ownRows() throws {
        let bench = try Self.confirming()
        for watcher in [Self.ann, "eve@example.org"] {
            Authorization.subscribe(bench, watcher)
            _ = try bench.nextResponse(202, at: Bench.simple)
            _ = try Authorization.only(bench)
        }
        let document = try Self.watch(bench, by: Self.ann, from: Bench.simple)
        #expect(Self.rows(document) == ["sip:\(Self.ann) pending subscribe"])
        Self.subscribe(bench, by: Self.ann, event: "presence.winfo.winfo", from: Bench.simple)
        _ = try bench.nextResponse(403, at: Bench.simple)
        // A change of another row sends it nothing.
        Authorization.subscribe(bench, "third@example.org")
        _ = try bench.nextResponse(202, at: Bench.simple)
        bench.pass(.seconds(30))
        #expect(try bench.takeNotifies(at: Bench.simple).allSatisfy { $0.headers.event?.package == "presence" })
    }

    @Test("RFC 3857 4.5: presence.winfo.winfo lists for the presentity who subscribes to presence.winfo; deeper packages are 489")
    func information() throws {
        let bench = try Self.confirming()
        _ = try Self.watch(bench, by: Self.ann, from: Bench.simple)
        let first = try Self.watch(bench, event: "presence.winfo.winfo")
        #expect(first.lists.map(\.package) == ["presence.winfo"] && Self.rows(first) == ["sip:\(Self.ann) active subscribe"])
        Self.subscribe(bench, event: "presence.winfo.winfo.winfo")
        _ = try bench.nextResponse(489, at: Self.own)
    }

    @Test("watcher information of users with containers, and for watchers of other shards, is 403")
    func elsewhere() throws {
        let bench = try Self.confirming()
        Self.subscribe(bench, by: Self.ann, to: "rob@fabrikam.com", from: Bench.simple)
        _ = try bench.nextResponse(403, at: Bench.simple)
        Self.subscribe(bench, event: "presence.winfo", from: Self.own)
        #expect(try bench.nextResponse(200, at: Self.own).headers.expires == 3_600)
    }

    @Test("RFC 3857 4.10: changes within five seconds are one document with the newest rows")
    func spacing() throws {
        let bench = try Self.confirming()
        _ = try Self.watch(bench)
        for number in 0..<4 {
            Authorization.subscribe(bench, "w\(number)@example.org")
            _ = try bench.nextResponse(202, at: Bench.simple)
            _ = try Authorization.only(bench)
        }
        #expect(bench.isQuiet(at: Self.own))
        try bench.use(Authorization.everyone, of: Self.alice)
        _ = try bench.takeNotifies(at: Bench.simple)
        let document = try Self.next(bench)
        #expect(document.version == 1 && Self.rows(document).sorted() == (0..<4).map { "sip:w\($0)@example.org active approved" })
    }

    @Test("RFC 3858 4.1: after a restart the subscriber gets all rows with a higher version, and later changes")
    func restart() throws {
        let store = MemoryStore()
        let bench = try Self.confirming(store: store)
        let documents = try Rules.documents([Authorization.ruled("confirm")], of: Self.alice)
        Authorization.subscribe(bench)
        _ = try bench.nextResponse(202, at: Bench.simple)
        _ = try Authorization.only(bench)
        let first = try Self.watch(bench)
        bench.settle()
        bench.prepareNext { [now = bench.now] in $0.use(documents, of: "sip:\(Self.alice)", at: now) }
        #expect(try bench.restart().unreadable == 0)
        bench.pass(.seconds(30))
        let after = try #require(try Self.documents(bench).last)
        #expect(after.isFull && after.version > first.version && Self.rows(after) == ["sip:\(Self.ann) pending subscribe"])
        _ = try bench.takeNotifies(at: Bench.simple)
        try bench.use(Authorization.everyone, of: Self.alice)
        let approved = try Self.next(bench)
        #expect(!approved.isFull && Self.rows(approved) == ["sip:\(Self.ann) active approved"])
    }

    @Test("a watcher with Privacy: id is anonymous in the rows, and does not see its own")
    func anonymous() throws {
        let bench = try Self.confirming()
        Authorization.subscribe(bench, extra: "Privacy: id\r\n")
        _ = try bench.nextResponse(202, at: Bench.simple)
        _ = try Authorization.only(bench)
        #expect(Self.rows(try Self.watch(bench)) == ["sip:anonymous@anonymous.invalid pending subscribe"])
        #expect(Self.rows(try Self.watch(bench, by: Self.ann, from: Bench.simple)).isEmpty)
    }

    @Test("watchers that wait are bounded for a presentity and in all, and rows by watcher-rows, pending ones first")
    func limits() throws {
        let bench = try Authorization.bench {
            $0.limits.waitingWatchersPerPresentity = 2
            $0.limits.waitingWatchers = 3
            $0.limits.watcherRows = 3
        }
        for user in [Self.alice, Authorization.silent] { try bench.use(Authorization.ruled("confirm"), of: user) }
        for (user, number) in [(Self.alice, 0), (Self.alice, 1), (Self.alice, 2), (Authorization.silent, 3), (Authorization.silent, 4)] {
            Authorization.subscribe(bench, "w\(number)@example.org", to: user, expires: 0)
            _ = try bench.nextResponse(202, at: Bench.simple)
            _ = try Authorization.only(bench)
        }
        #expect(bench.gateway.tableSizes["waitingWatchers"] == 3 && bench.gateway.counters.limitsReached == 1)
        let rows = Self.rows(try Self.watch(bench))
        #expect(rows == ["sip:w1@example.org waiting timeout", "sip:w2@example.org waiting timeout"])
        for number in 5..<8 {
            Authorization.subscribe(bench, "w\(number)@example.org")
            _ = try bench.nextResponse(202, at: Bench.simple)
            _ = try Authorization.only(bench)
        }
        Self.subscribe(bench)
        _ = try bench.nextResponse(200, at: Self.own)
        let full = try #require(try Self.documents(bench).last)
        #expect(full.lists[0].watchers.map(\.status) == [.pending, .pending, .pending])
    }

    @Test("POL-1: the own row of a politely blocked watcher equals that of an allowed one and that toward a user that never published")
    func politelyBlocked() throws {
        func play(_ handling: String, _ user: String) throws -> [[String]] {
            let bench = try Authorization.bench()
            try bench.use(Authorization.ruled("confirm"), of: user)
            Authorization.subscribe(bench, to: user)
            _ = try bench.nextResponse(202, at: Bench.simple)
            _ = try Authorization.only(bench)
            Self.subscribe(bench, by: Self.ann, to: user, from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
            var seen = [Self.rows(try Self.only(bench, at: Bench.simple))]
            try bench.use(Authorization.ruled(handling), of: user)
            bench.pass(.seconds(5))
            for notify in try bench.takeNotifies(at: Bench.simple) where notify.headers.event?.package == "presence.winfo" {
                let document = try WatcherInfoDocument.decode(notify.body)
                seen.append(["v\(document.version)", notify.headers.first(.subscriptionState) ?? ""] + Self.rows(document))
            }
            bench.sendPublish(user, Bench.pidf(user, activity: "away"))
            bench.pass(.seconds(60))
            for notify in try bench.takeNotifies(at: Bench.simple) where notify.headers.event?.package == "presence.winfo" {
                seen.append([notify.text])
            }
            return seen
        }
        let blocked = try play("polite-block", Self.alice)
        #expect(blocked.count == 2 && blocked[1].last == "sip:\(Self.ann) active approved")
        #expect(try play("allow", Self.alice) == blocked)
        #expect(try play("polite-block", Authorization.silent) == blocked)
    }
}
