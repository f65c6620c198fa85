import SIPCore
import Testing

@testable import PresenceGateway

/// Filters of subscriptions (RFC 4660), from SUBSCRIBE to NOTIFY.
@Suite("Filters") struct FilterSubscriptionTests {
    static let alice = "alice@example.com"
    static let ann = "ann@example.org"
    static let type = "application/simple-filter+xml"

    /// Entity-tags of the publications on each bench.
    private final class Published { var tags: [ObjectIdentifier: String] = [:] }
    private let published = Published()
    private let bench = Bench()

    static func filters(_ filters: String...) -> String {
        "<filter-set xmlns='urn:ietf:params:xml:ns:simple-filter'><ns-bindings>"
            + "<ns-binding prefix='pidf' urn='urn:ietf:params:xml:ns:pidf'/>"
            + "<ns-binding prefix='dm' urn='urn:ietf:params:xml:ns:pidf:data-model'/>"
            + "<ns-binding prefix='rpid' urn='urn:ietf:params:xml:ns:pidf:rpid'/></ns-bindings>" + filters.joined() + "</filter-set>"
    }

    static func filter(_ id: String, _ attributes: String = "", what: String = "", trigger: String = "") -> String {
        "<filter id='\(id)'\(attributes.isEmpty ? "" : " " + attributes)>" + (what.isEmpty ? "" : "<what>\(what)</what>") + trigger
            + "</filter>"
    }

    static let basicOnly = filter("f", what: "<include>/pidf:presence/pidf:tuple/pidf:status/pidf:basic</include>")
    static let onActivity = filter(
        "t", trigger: "<trigger><changed>/pidf:presence/dm:person/rpid:activities</changed></trigger>")

    private func publish(_ basic: String, _ activity: String, note: String, on bench: Bench? = nil) throws {
        let bench = bench ?? self.bench
        bench.sendPublish(
            Self.alice, Bench.pidf(Self.alice, basic: basic, activity: activity, note: note),
            ifMatch: published.tags[ObjectIdentifier(bench)],
            expires: 3_600)
        published.tags[ObjectIdentifier(bench)] = try bench.nextResponse(200, at: Bench.endpoint).headers.sipETag
    }

    private func subscribe(
        _ body: String, type: String = type, accept: String = "application/pidf+xml", extra: String = "", answered status: Int = 200,
        on bench: Bench? = nil
    ) throws -> SIPResponse {
        let bench = bench ?? self.bench
        bench.send(
            bench.subscribe(Self.ann, to: Self.alice, accept: accept, extra: extra, body: body, contentType: type, via: Bench.simple),
            from: Bench.simple)
        return try bench.nextResponse(status, at: Bench.simple)
    }

    private func notify(on bench: Bench? = nil) throws -> SIPRequest {
        let notifies = try (bench ?? self.bench).takeNotifies(at: Bench.simple)
        try #require(notifies.count == 1, "\(notifies.count)")
        return notifies[0]
    }

    private func isQuiet(on bench: Bench? = nil) throws -> Bool {
        let bench = bench ?? self.bench
        bench.pass(.seconds(20))
        return try bench.takeNotifies(at: Bench.simple).isEmpty
    }

    @Test("RFC 4660 5.3.1: what is shown is the filtered content, valid PIDF; other changes are not notified")
    func content() throws {
        try publish("open", "busy", note: "one")
        _ = try subscribe(Self.filters(Self.basicOnly))
        let first = try notify()
        #expect(first.text.contains("<basic>open</basic>") && !first.text.contains("busy") && !first.text.contains("one"))
        #expect(first.headers.contentType?.essence == "application/pidf+xml")
        bench.pass(.seconds(10))
        try publish("open", "away", note: "two")
        #expect(try isQuiet())
        try publish("closed", "away", note: "two")
        #expect(try notify().text.contains("<basic>closed</basic>"))
    }

    @Test("RFC 4660 5.3.2: a trigger decides which changes are notified, of the whole content; the first NOTIFY ignores it")
    func trigger() throws {
        try publish("open", "busy", note: "one")
        _ = try subscribe(Self.filters(Self.onActivity))
        #expect(try notify().text.contains("one"))
        bench.pass(.seconds(10))
        try publish("open", "busy", note: "two")
        #expect(try isQuiet())
        try publish("open", "away", note: "three")
        let changed = try notify()
        #expect(changed.text.contains("three") && changed.text.contains("away"))
        bench.pass(.seconds(10))
        try publish("closed", "away", note: "four")
        #expect(try isQuiet())
    }

    @Test("RFC 4660 5.3.1: a filter that leaves nothing is notified with an empty body, and a partial document follows it")
    func empty() throws {
        try publish("open", "busy", note: "one")
        let what = "<include>/pidf:presence/pidf:tuple[pidf:status/pidf:basic=\"closed\"]</include>"
        _ = try subscribe(Self.filters(Self.filter("f", what: what)))
        let nothing = try notify()
        #expect(nothing.body.isEmpty && nothing.headers.contentType == nil && nothing.headers.subscriptionState?.state == .active)
        bench.pass(.seconds(10))
        try publish("closed", "busy", note: "two")
        #expect(try notify().text.contains("<basic>closed</basic>"))
        bench.pass(.seconds(10))
        try publish("open", "busy", note: "three")
        #expect(try notify().body.isEmpty)
    }

    @Test("RFC 5263 4: partial PIDF is the difference of filtered documents")
    func partial() throws {
        try publish("open", "busy", note: "one")
        let accept = "application/pidf-diff+xml, application/pidf+xml"
        _ = try subscribe(Self.filters(Self.basicOnly), accept: accept)
        #expect(try notify().text.contains("pidf-full"))
        bench.pass(.seconds(10))
        try publish("closed", "away", note: "two")
        let difference = try notify().text
        #expect(difference.contains("pidf-diff") && difference.contains("closed") && !difference.contains("away"))
    }

    @Test("RFC 4660 5.2.2: a refresh replaces, suspends and removes filters; one without a body leaves them")
    func refreshed() throws {
        try publish("open", "busy", note: "one")
        let response = try subscribe(Self.filters(Self.basicOnly))
        #expect(try !notify().text.contains("busy"))
        func refresh(_ cSeq: Int, _ body: String, answered status: Int = 200) throws -> SIPRequest? {
            bench.send(
                bench.inDialog(
                    response, cSeq: cSeq, expires: 3_600, body: body, contentType: body.isEmpty ? "" : Self.type, via: Bench.simple),
                from: Bench.simple)
            _ = try bench.nextResponse(status, at: Bench.simple)
            return try bench.takeNotifies(at: Bench.simple).first
        }
        #expect(try refresh(2, "")?.text.contains("busy") == false)
        let replaced = try refresh(3, Self.filters(Self.filter("f", what: "<include>/pidf:presence/dm:person</include>")))
        #expect(replaced?.text.contains("busy") == true && replaced?.text.contains("one") == false)
        #expect(try refresh(4, Self.filters(Self.filter("f", "enabled='false'")))?.text.contains("one") == true)
        #expect(try refresh(5, Self.filters(Self.basicOnly))?.text.contains("busy") == false)
        // A refused refresh leaves the filters as they are.
        #expect(try refresh(6, Self.filters(Self.filter("g"), Self.filter("h")), answered: 488) == nil)
        #expect(try refresh(7, "")?.text.contains("busy") == false)
        #expect(try refresh(8, Self.filters(Self.filter("f", "remove='true'")))?.text.contains("one") == true)
    }

    @Test(
        "RFC 4660 5.2: filters that cannot be followed are 488, that cannot be read 400, that are too large 413; no dialog is made",
        arguments: [
            (filters(filter("a"), filter("b")), 488), (filters(filter("a", what: "<include>/pidf:presence/[</include>")), 488),
            (filters(filter("a", trigger: "<trigger><changed by='x'>/pidf:presence</changed></trigger>")), 400),
            ("<filter-set", 400), ("<presence xmlns='urn:ietf:params:xml:ns:pidf' entity='sip:a@example.com'/>", 400),
            (filters(filter("a", what: "<include>\(String(repeating: "/*", count: 5_000))</include>")), 413),
            (filters((0..<9).map { filter("a\($0)", "uri='sip:\($0)@example.com'") }.joined()), 413),
        ])
    func refused(body: String, status: Int) throws {
        let response = try subscribe(body, answered: status)
        #expect(response.headers.first(.warning)?.contains("RFC 466") == true, "\(response.headers.first(.warning) ?? "")")
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("RFC 4660 4: filters of a format that is not filtered are 415, and Accept names the type where it is")
    func formats() throws {
        _ = try subscribe(Self.filters(Self.basicOnly), accept: "application/xpidf+xml", answered: 415)
        let response = try subscribe("x", type: "text/plain", answered: 415)
        #expect(response.headers.list(.accept).contains(Self.type))
    }

    @Test("filters outlive a restart: the first change after it is filtered as the last one before it")
    func restart() throws {
        let bench = Bench(store: MemoryStore())
        try publish("open", "busy", note: "one", on: bench)
        _ = try subscribe(Self.filters(Self.basicOnly), on: bench)
        _ = try notify(on: bench)
        bench.settle()
        _ = try bench.restart()
        #expect(try isQuiet(on: bench))
        try publish("open", "away", note: "two", on: bench)
        #expect(try isQuiet(on: bench))
        try publish("closed", "away", note: "two", on: bench)
        let changed = try notify(on: bench).text
        #expect(changed.contains("closed") && !changed.contains("away"))
    }

    @Test("PKT-SP-PRS 6.3.5: a filter comes after the rules: it selects nothing that they hide")
    func rules() throws {
        try publish("open", "busy", note: "one")
        try bench.use(
            Rules.rule(
                "r", "", "allow",
                "<pr:provide-persons><pr:all-persons/></pr:provide-persons><pr:provide-services><pr:all-services/></pr:provide-services>"),
            of: Self.alice)
        _ = try subscribe(Self.filters(Self.filter("f", what: "<include>/pidf:presence/dm:person/rpid:activities</include>")))
        #expect(try !notify().text.contains("busy"))
    }

    @Test("RFC 5839: the entity-tag is that of the filtered document")
    func tags() throws {
        try publish("open", "busy", note: "one")
        let response = try subscribe(Self.filters(Self.basicOnly))
        let tag = try #require(try notify().headers.sipETag)
        bench.pass(.seconds(10))
        try publish("open", "away", note: "two")
        #expect(try isQuiet())
        bench.send(
            bench.inDialog(response, cSeq: 2, expires: 3_600, extra: "Suppress-If-Match: \(tag)\r\n", via: Bench.simple), from: Bench.simple
        )
        _ = try bench.nextResponse(204, at: Bench.simple)
    }
}
