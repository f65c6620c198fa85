import SIPCore
import Testing

@testable import PresenceGateway

/// Notification rates (RFC 6446), case by case.
@Suite("Notification rates") struct NotificationRateTests {
    static let alice = "alice@example.com"
    static let ann = "ann@example.org"

    /// Entity-tags of the publications on each bench.
    private final class Published { var tags: [ObjectIdentifier: String] = [:] }
    private let published = Published()

    private func bench(spacing: TimeSpan = .zero, store: MemoryStore? = nil) throws -> Bench {
        let bench = Bench(store: store) { $0.timing.notifySpacing = spacing }
        try publish("start", on: bench)
        return bench
    }

    private func publish(_ note: String, on bench: Bench) throws {
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, note: note), ifMatch: published.tags[ObjectIdentifier(bench)], expires: 36_000)
        published.tags[ObjectIdentifier(bench)] = try bench.nextResponse(200, at: Bench.endpoint).headers.sipETag
    }

    private func subscribe(_ rates: String, extra: String = "", on bench: Bench, answered status: Int = 200) throws -> SIPResponse {
        let text = bench.subscribe(Self.ann, to: Self.alice, expires: 36_000, extra: extra, via: Bench.simple)
            .replacing("Event: presence\r\n", with: "Event: presence\(rates)\r\n")
        bench.send(text, from: Bench.simple)
        return try bench.nextResponse(status, at: Bench.simple)
    }

    /// Passes time in steps of a second, with a change in each, and returns the seconds of the NOTIFYs.
    private func changes(_ count: Int, on bench: Bench) throws -> [Int] {
        var seconds: [Int] = []
        for second in 1...count {
            bench.pass(.seconds(1))
            try publish("at \(second)", on: bench)
            for _ in try bench.takeNotifies(at: Bench.simple) { seconds.append(second) }
        }
        return seconds
    }

    /// Passes time without changes, and returns the NOTIFYs with their seconds.
    private func rest(_ count: Int, on bench: Bench) throws -> [(second: Int, notify: SIPRequest)] {
        try (1...count).flatMap { second -> [(Int, SIPRequest)] in
            bench.pass(.seconds(1))
            return try bench.takeNotifies(at: Bench.simple).map { (second, $0) }
        }
    }

    @Test("RFC 6446 5: max-rate=0.05 is one NOTIFY in 20 s at most, the newest state last, and Subscription-State says so")
    func maximum() throws {
        let bench = try bench()
        _ = try subscribe(";max-rate=0.05", on: bench)
        let first = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(first.headers.first(.subscriptionState)?.hasSuffix(";max-rate=0.05") == true)
        #expect(first.headers.first(.event) == "presence")
        #expect(try changes(60, on: bench) == [20, 40, 60])
        // The change of the last second is not lost.
        let waiting = try rest(20, on: bench)
        #expect(waiting.map(\.second) == [20] && waiting.last?.notify.text.contains("at 60") == true)
    }

    @Test("RFC 6446 5: the node's own spacing is kept if it is stricter, and is what Subscription-State says")
    func spacing() throws {
        let bench = try bench(spacing: .seconds(5))
        _ = try subscribe(";max-rate=2", on: bench)
        let first = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(first.headers.first(.subscriptionState)?.hasSuffix(";max-rate=0.2") == true)
        #expect(try changes(15, on: bench) == [5, 10, 15])
    }

    @Test("RFC 6446 4.1: a refresh without rates ends them; the end of a subscription is not held back")
    func refreshed() throws {
        let bench = try bench()
        let response = try subscribe(";max-rate=0.01", on: bench)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.send(bench.inDialog(response, cSeq: 2, expires: 36_000, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let refreshed = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(refreshed.headers.first(.subscriptionState)?.contains("rate") == false)
        #expect(try changes(3, on: bench) == [1, 2, 3])
        let slow = try subscribe(";max-rate=0.01", on: bench)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.send(bench.inDialog(slow, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies(at: Bench.simple).first?.headers.subscriptionState?.state == .terminated)
    }

    @Test("RFC 6446 6: min-rate=0.05 repeats the state every 20 s; after a conditional SUBSCRIBE without a body")
    func minimum() throws {
        let bench = try bench()
        let response = try subscribe(";min-rate=0.05", on: bench)
        _ = try bench.takeNotifies(at: Bench.simple)
        let repeated = try rest(65, on: bench)
        #expect(repeated.map(\.second) == [20, 40, 60])
        #expect(repeated.allSatisfy { $0.notify.text.contains("start") && $0.notify.headers.sipETag != nil })
        let text = bench.inDialog(response, cSeq: 2, expires: 36_000, extra: "Suppress-If-Match: other\r\n", via: Bench.simple)
            .replacing("Event: presence\r\n", with: "Event: presence;min-rate=0.05\r\n")
        bench.send(text, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies(at: Bench.simple).first?.body.isEmpty == false)
        let quiet = try rest(45, on: bench)
        #expect(quiet.map(\.second) == [20, 40])
        #expect(quiet.allSatisfy { $0.notify.body.isEmpty && $0.notify.headers.sipETag != nil })
    }

    @Test("RFC 6446 6: a min-rate above max-rate, or above once in ten seconds, is lowered")
    func lowered() throws {
        let bench = try bench()
        _ = try subscribe(";min-rate=1;max-rate=0.04", on: bench)
        let first = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(first.headers.first(.subscriptionState)?.hasSuffix(";max-rate=0.04;min-rate=0.04") == true)
        #expect(try rest(60, on: bench).map(\.second) == [25, 50])
        let other = try self.bench()
        _ = try subscribe(";min-rate=100", on: other)
        _ = try other.takeNotifies(at: Bench.simple)
        #expect(try rest(25, on: other).map(\.second) == [10, 20])
    }

    @Test("RFC 6446 7: with adaptive-min-rate the state is repeated so that the average is reached, and less after changes")
    func adaptive() throws {
        let bench = try bench()
        _ = try subscribe(";adaptive-min-rate=0.05", on: bench)
        let first = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(first.headers.first(.subscriptionState)?.hasSuffix(";adaptive-min-rate=0.05") == true)
        let quiet = try rest(1_000, on: bench).count
        #expect((45...60).contains(quiet), "\(quiet)")
        // Ten changes in ten seconds are the average of 200 s.
        _ = try changes(10, on: bench)
        #expect(try rest(35, on: bench).isEmpty)
    }

    @Test(
        "RFC 6446 9: a rate that is no positive decimal number is 400, and changes nothing",
        arguments: ["max-rate=0", "min-rate=-1", "max-rate", "adaptive-min-rate=fast", "max-rate=1e3", "min-rate=0.000", "max-rate=1.2.3"])
    func malformed(rate: String) throws {
        let bench = try bench()
        _ = try subscribe(";" + rate, on: bench, answered: 400)
        #expect(bench.gateway.counts.watcherDialogs == 0)
        let response = try subscribe(";max-rate=0.05", on: bench)
        _ = try bench.takeNotifies(at: Bench.simple)
        let text = bench.inDialog(response, cSeq: 2, expires: 36_000, via: Bench.simple)
            .replacing("Event: presence\r\n", with: "Event: presence;\(rate)\r\n")
        bench.send(text, from: Bench.simple)
        _ = try bench.nextResponse(400, at: Bench.simple)
        #expect(try changes(20, on: bench) == [20])
    }

    @Test("rates outlive a restart")
    func restart() throws {
        let bench = try bench(store: MemoryStore())
        _ = try subscribe(";max-rate=0.05;min-rate=0.01", on: bench)
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.settle()
        _ = try bench.restart()
        try publish("new", on: bench)
        let notify = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(notify.headers.first(.subscriptionState)?.hasSuffix(";max-rate=0.05;min-rate=0.01") == true)
        #expect(try changes(40, on: bench) == [20, 40])
        // The change of the last second, and then the state as it is.
        #expect(try rest(250, on: bench).map(\.second) == [20, 120, 220])
    }

    @Test("RFC 6446 5: the rate of a list is one of the list as a whole")
    func list() throws {
        let listing = Bench { $0.listServer = SIPURI("sip:\(ListWatcherTests.server)") }
        let body =
            "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"><list><entry uri=\"sip:\(Self.alice)\"/>"
            + "<entry uri=\"sip:silent@example.com\"/></list></resource-lists>"
        let text = listing.subscribe(
            Self.ann, to: ListWatcherTests.server, accept: ListWatcherTests.accept, expires: 36_000,
            extra: ListWatcherTests.required, body: body,
            contentType: "application/resource-lists+xml", via: Bench.simple
        ).replacing("Event: presence\r\n", with: "Event: presence;max-rate=0.05\r\n")
        try publish("start", on: listing)
        listing.send(text, from: Bench.simple)
        _ = try listing.nextResponse(200, at: Bench.simple)
        _ = try listing.takeNotifies(at: Bench.simple)
        #expect(try changes(45, on: listing) == [20, 40])
    }
}
