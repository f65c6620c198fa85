import PresenceGateway
import SIPCore
import Testing

/// A watcher that lists application/pidf-diff+xml gets the whole document once and then what changed.
@Suite struct PartialPresenceTests {
    private static let long = String(repeating: "in the garden until late, ", count: 40) + "or later"

    private func publish(_ bench: Bench, _ activity: String, ifMatch: String? = nil) throws -> String {
        bench.sendPublish("alice@example.com", Bench.pidf("alice@example.com", activity: activity, note: Self.long), ifMatch: ifMatch)
        return try #require(try bench.nextResponse(200, at: Bench.endpoint).headers.sipETag)
    }

    @Test(
        "RFC 5263 4.4: first pidf-full version 1, then pidf-diff with the next version; a refresh brings pidf-full, the version counts on")
    func fullThenDifferences() throws {
        let bench = Bench()
        let tag = try publish(bench, "busy")
        bench.send(
            bench.subscribe(
                "bob@example.org", to: "alice@example.com", accept: "application/pidf-diff+xml, application/pidf+xml", via: Bench.simple),
            from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(first.headers.contentType?.essence == "application/pidf-diff+xml")
        #expect(first.text.contains("pidf-full") && first.text.contains("version=\"1\"") && first.text.contains(Self.long))
        bench.answer(first, 200, from: Bench.simple)

        _ = try publish(bench, "away", ifMatch: tag)
        let second = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(second.headers.contentType?.essence == "application/pidf-diff+xml")
        #expect(second.text.contains("pidf-diff ") && second.text.contains("version=\"2\"") && second.text.contains("away"))
        #expect(!second.text.contains(Self.long))
        bench.answer(second, 200, from: Bench.simple)

        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 3_600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let third = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(third.text.contains("pidf-full") && third.text.contains("version=\"3\"") && third.text.contains(Self.long))
    }

    @Test("RFC 5263 4.4: watchers of one state get the same difference, each with the version of its own subscription")
    func versionsOfTheirOwn() throws {
        let bench = Bench()
        let tag = try publish(bench, "busy")
        let accept = "application/pidf-diff+xml"
        bench.send(bench.subscribe("bob@example.org", to: "alice@example.com", accept: accept, via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 3_600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.send(bench.subscribe("carol@example.org", to: "alice@example.com", accept: accept, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)

        _ = try publish(bench, "away", ifMatch: tag)
        let bodies = try (0..<2).map { _ in
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            bench.answer(notify, 200, from: Bench.simple)
            return String(decoding: notify.body, as: UTF8.self)
        }
        #expect(bodies.allSatisfy { $0.contains("pidf-diff ") && !$0.contains(Self.long) })
        #expect(bodies[0].contains("version=\"3\"") && bodies[1].contains("version=\"2\""))
        #expect(bodies[0].replacing("version=\"3\"", with: "version=\"2\"") == bodies[1])
    }

    @Test("RFC 5263 4.1: the quality values say which form is liked better")
    func quality() throws {
        let bench = Bench()
        _ = try publish(bench, "busy")
        for (accept, type) in [
            ("application/pidf-diff+xml;q=0.3, application/pidf+xml;q=0.9", "application/pidf+xml"),
            ("application/pidf+xml;q=0.3, application/pidf-diff+xml;q=0.9", "application/pidf-diff+xml"),
            ("application/pidf-diff+xml", "application/pidf-diff+xml"),
        ] {
            bench.send(bench.subscribe("bob@example.org", to: "alice@example.com", accept: accept, via: Bench.simple), from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
            let notify = try bench.nextRequest(.notify, at: Bench.simple)
            #expect(notify.headers.contentType?.essence == type)
            bench.answer(notify, 200, from: Bench.simple)
        }
    }

    @Test("RFC 5263: a notification that failed is followed by a whole document")
    func failureBringsFull() throws {
        let bench = Bench()
        let tag = try publish(bench, "busy")
        bench.send(
            bench.subscribe("bob@example.org", to: "alice@example.com", accept: "application/pidf-diff+xml", via: Bench.simple),
            from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        _ = try publish(bench, "away", ifMatch: tag)
        let lost = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(lost.text.contains("version=\"2\""))
        bench.answer(lost, 503, from: Bench.simple, headers: [(.retryAfter, "1")])
        bench.pass(.seconds(120))
        let next = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(next.text.contains("pidf-full") && next.text.contains("version=\"3\"") && next.text.contains("away"))
    }
}
