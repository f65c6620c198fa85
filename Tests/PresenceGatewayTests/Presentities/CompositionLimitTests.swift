import PresenceGateway
import SIPCore
import Testing

/// What all publications of one presentity together may have, and how often they are composed (RFC 3903 4.5).
@Suite struct CompositionLimitTests {
    static let alice = "alice@example.com"

    /// A PIDF document with so many notes and unknown elements, each with a text of its own, under `presence`.
    static func pidf(notes: Int = 0, extensions: Int = 0, tuples: Int = 0, serial: Int = 0, text: String = "") -> String {
        "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:x=\"http://example.com/x\" entity=\"sip:\(alice)\">"
            + (0..<tuples).map { "<tuple id=\"t\(serial)-\($0)\"><status><basic>open</basic></status></tuple>" }.joined()
            + (0..<notes).map { "<note>\(serial)-\($0)\(text)</note>" }.joined()
            + (0..<extensions).map { "<x:e>\(serial)-\($0)\(text)</x:e>" }.joined() + "</presence>"
    }

    /// As many octets as a publication of categories may have.
    static func large(_ serial: Int) -> String {
        pidf(notes: 450, extensions: 450, tuples: 1, serial: serial, text: String(repeating: "x", count: 49))
    }

    /// - Returns: the status of the answer, and its entity-tag.
    @discardableResult
    func publish(_ bench: Bench, _ body: String, ifMatch: String? = nil) throws -> (status: Int, tag: String?) {
        bench.sendPublish(Self.alice, body, ifMatch: ifMatch)
        guard case .response(let response) = try bench.next(at: Bench.endpoint) else { throw Bench.Unexpected() }
        return (response.status.rawValue, response.headers.sipETag)
    }

    /// What a poll of another user shows.
    func poll(_ bench: Bench) throws -> String {
        bench.send(bench.subscribe("ann@example.org", to: Self.alice, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let notify = try bench.nextRequest(.notify, at: Bench.simple)
        bench.answer(notify, 200, from: Bench.simple)
        return notify.text
    }

    @Test("RFC 3261 21.4.11 of 20 publications of 58 kB those beyond the limit are 413, and a poll gets no more than fits")
    func largePublications() throws {
        let bench = Bench()
        var statuses: [Int] = []
        for serial in 0..<20 { statuses.append(try publish(bench, Self.large(serial)).status) }
        #expect(Self.large(9).utf8.count > 56_000)
        #expect(statuses.prefix(1) == [200] && statuses.suffix(16).allSatisfy { $0 == 413 })
        let shown = try poll(bench)
        #expect(shown.utf8.count <= 262_144)
        #expect(shown.contains("<note>0-0x") && !shown.contains("<note>19-0"))
    }

    @Test(
        "RFC 3261 21.4.11 a publication beyond what those of a presentity may have together is 413 and changes nothing",
        arguments: [("octets", 600), ("elements", 5), ("notes", 2), ("extensions", 2)])
    func beyondALimit(name: String, limit: Int) throws {
        let bench = Bench {
            switch name {
            case "octets": $0.limits.composedBytes = limit
            case "elements": $0.limits.composedElements = limit
            case "notes": $0.limits.composedNotes = limit
            default: $0.limits.composedExtensions = limit
            }
        }
        let first = try publish(bench, Self.pidf(notes: 1, extensions: 1, text: "y"))
        #expect(first.status == 200)
        let before = try poll(bench)
        bench.sendPublish(Self.alice, Self.pidf(notes: 2, extensions: 2, serial: 1, text: String(repeating: "z", count: 100)))
        let refused = try bench.nextResponse(413, at: Bench.endpoint)
        let warning = refused.headers.first(.warning) ?? ""
        #expect(warning.contains("\(name) in all publications of sip:alice@example.com, more than the \(limit) allowed"))
        #expect(try poll(bench) == before)
        #expect(bench.gateway.counts.publications == 1 && bench.gateway.counters.limitsReached == 1)
        // The publication that was within goes on: refreshed, replaced by one that is no larger, removed.
        let refreshed = try publish(bench, "", ifMatch: first.tag)
        let replaced = try publish(bench, Self.pidf(notes: 1, extensions: 1, text: "x"), ifMatch: refreshed.tag)
        #expect(refreshed.status == 200 && replaced.status == 200)
        let larger = Self.pidf(notes: 3, extensions: 3, text: String(repeating: "z", count: 100))
        #expect(try publish(bench, larger, ifMatch: replaced.tag).status == 413)
        #expect(try publish(bench, "", ifMatch: replaced.tag).status == 200)
    }

    @Test("a body that is no larger than the one it replaces is taken where the limit was lowered meanwhile")
    func loweredLimit() throws {
        let bench = Bench(store: MemoryStore())
        let first = try publish(bench, Self.pidf(notes: 5))
        try bench.restart { $0.limits.composedNotes = 2 }
        #expect(try publish(bench, Self.pidf(notes: 1, serial: 1)).status == 413)
        let replaced = try publish(bench, Self.pidf(notes: 4), ifMatch: first.tag)
        #expect(replaced.status == 200)
        #expect(try publish(bench, Self.pidf(notes: 5), ifMatch: replaced.tag).status == 413)
    }

    @Test("what came by PUBLISH in one tick is composed once, and each watcher is notified once, of all of it")
    func oncePerTick() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: Self.alice, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        let before = bench.gateway.counters.documentsComposed
        bench.inOneTick { for serial in 0..<20 { bench.sendPublish(Self.alice, Self.pidf(notes: 1, tuples: 1, serial: serial)) } }
        for _ in 0..<20 { _ = try bench.nextResponse(200, at: Bench.endpoint) }
        #expect(bench.gateway.counters.documentsComposed == before + 1)
        let notify = try bench.nextRequest(.notify, at: Bench.simple)
        #expect((0..<20).allSatisfy { notify.text.contains("<note>\($0)-0</note>") })
        bench.answer(notify, 200, from: Bench.simple)
        #expect(bench.isQuiet(at: Bench.simple))
        try publish(bench, Self.pidf(notes: 1, serial: 20))
        #expect(bench.gateway.counters.documentsComposed == before + 2)
    }

    @Test("a poll sees what was published before it in the same tick")
    func pollInTheSameTick() throws {
        let bench = Bench()
        bench.inOneTick {
            bench.sendPublish(Self.alice, Self.pidf(notes: 1, tuples: 1, serial: 7))
            bench.send(bench.subscribe("ann@example.org", to: Self.alice, expires: 0, via: Bench.simple), from: Bench.simple)
        }
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<note>7-0</note>"))
    }

    @Test("a refresh composes nothing")
    func refreshComposesNothing() throws {
        let bench = Bench()
        let first = try publish(bench, Self.pidf(notes: 1, tuples: 1))
        let before = bench.gateway.counters.documentsComposed
        #expect(try publish(bench, "", ifMatch: first.tag).status == 200)
        #expect(bench.gateway.counters.documentsComposed == before)
    }

    @Test("a restart composes once for each presentity, not for each publication")
    func restart() throws {
        let bench = Bench(store: MemoryStore())
        for serial in 0..<20 { try publish(bench, Self.pidf(notes: 1, tuples: 1, serial: serial)) }
        let shown = try poll(bench)
        #expect(try bench.restart().publications == 20)
        #expect(bench.gateway.counters.documentsComposed == 1)
        #expect(try poll(bench) == shown)
    }
}
