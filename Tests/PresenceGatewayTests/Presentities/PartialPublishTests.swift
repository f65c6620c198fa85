import SIPCore
import Testing

@testable import PresenceGateway

/// Partial publication (RFC 5264).
@Suite("Partial publication") struct PartialPublishTests {
    static let alice = "alice@example.com"
    static let type = "application/pidf-diff+xml"
    static let namespaces =
        "xmlns='urn:ietf:params:xml:ns:pidf' xmlns:p='urn:ietf:params:xml:ns:pidf-diff' "
        + "xmlns:dm='urn:ietf:params:xml:ns:pidf:data-model' xmlns:rpid='urn:ietf:params:xml:ns:pidf:rpid'"

    static func full(_ activity: String) -> String {
        "<p:pidf-full \(namespaces) entity='sip:\(alice)'><tuple id='t1'><status><basic>open</basic></status></tuple>"
            + "<dm:person id='p1'><rpid:activities><rpid:\(activity)/></rpid:activities></dm:person></p:pidf-full>"
    }

    static func difference(_ operations: String) -> String { "<p:pidf-diff \(namespaces)>\(operations)</p:pidf-diff>" }

    static func activity(_ name: String) -> String {
        "<p:replace sel='presence/dm:person/rpid:activities/*'><rpid:\(name)/></p:replace>"
    }

    private let store: MemoryStore?
    private let bench: Bench

    init() {
        store = nil
        bench = Bench()
    }

    /// Publishes, and returns the entity-tag.
    private func publish(_ body: String, ifMatch: String? = nil, on bench: Bench, type: String = type) throws -> String {
        bench.sendPublish(Self.alice, body, type: type, ifMatch: ifMatch, expires: 3_600)
        return try #require(try bench.nextResponse(200, at: Bench.endpoint).headers.first(.sipETag))
    }

    private func watch(_ bench: Bench) throws -> SIPRequest {
        bench.send(bench.subscribe("ann@example.org", to: Self.alice, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        return try #require(try bench.takeNotifies(at: Bench.simple).first)
    }

    @Test("RFC 5264 4: pidf-full, then a pidf-diff: 200 with a new entity-tag, and watchers get the changed presence")
    func changed() throws {
        let first = try publish(Self.full("busy"), on: bench)
        #expect(try watch(bench).text.contains("busy"))
        bench.pass(.seconds(10))
        let second = try publish(Self.difference(Self.activity("away")), ifMatch: first, on: bench)
        #expect(second != first)
        let notify = try #require(try bench.takeNotifies(at: Bench.simple).last)
        #expect(notify.text.contains("away") && !notify.text.contains("busy") && notify.text.contains("open"))
        // A difference is applied to the result of the one before, and a refresh keeps it.
        bench.sendPublish(Self.alice, "", ifMatch: second, expires: 3_600)
        let third = try #require(try bench.nextResponse(200, at: Bench.endpoint).headers.first(.sipETag))
        bench.pass(.seconds(10))
        _ = try publish(
            Self.difference(
                "<p:add sel='presence/tuple[@id=\"t1\"]' pos='after'><tuple id='t2'><status><basic>closed</basic></status></tuple></p:add>"),
            ifMatch: third, on: bench)
        let last = try #require(try bench.takeNotifies(at: Bench.simple).last)
        #expect(last.text.contains("away") && last.text.contains("t2"))
    }

    @Test(
        "RFC 5264 4: a difference that cannot be applied is 400, and the publication stays as it was",
        arguments: [
            "<p:replace sel='presence/dm:device'><dm:device id='d'/></p:replace>", "<p:remove sel='presence/tuple[@id=\"other\"]'/>",
            "<p:remove sel='][' />", "<p:replace sel='presence/tuple/status/basic/text()'>ajar</p:replace>", "<p:turn sel='presence'/>",
        ])
    func refused(_ operation: String) throws {
        let tag = try publish(Self.full("busy"), on: bench)
        bench.sendPublish(Self.alice, Self.difference(Self.activity("away") + operation), type: Self.type, ifMatch: tag, expires: 3_600)
        _ = try bench.nextResponse(400, at: Bench.endpoint)
        #expect(try watch(bench).text.contains("busy"))
        _ = try publish(Self.difference(Self.activity("away")), ifMatch: tag, on: bench)
    }

    @Test("RFC 5264 4: a publication does not begin with a difference (400); an unknown entity-tag is 412")
    func begin() throws {
        bench.sendPublish(Self.alice, Self.difference(Self.activity("away")), type: Self.type, expires: 3_600)
        _ = try bench.nextResponse(400, at: Bench.endpoint)
        bench.sendPublish(Self.alice, Self.difference(Self.activity("away")), type: Self.type, ifMatch: "no-such-tag", expires: 3_600)
        _ = try bench.nextResponse(412, at: Bench.endpoint)
        bench.sendPublish(Self.alice, "x", type: "text/plain", expires: 3_600)
        let refused = try bench.nextResponse(415, at: Bench.endpoint)
        #expect(refused.headers.list(.accept).contains(Self.type))
    }

    @Test("RFC 5264 5: a pidf-full replaces the publication, and the other publications of the presentity stay")
    func replaced() throws {
        let tag = try publish(Self.full("busy"), on: bench)
        _ = try publish(Bench.pidf(Self.alice, note: "from the other device"), on: bench, type: "application/pidf+xml")
        _ = try publish(Self.full("meeting"), ifMatch: tag, on: bench)
        let text = try watch(bench).text
        #expect(text.contains("meeting") && !text.contains("busy") && text.contains("from the other device"))
    }

    @Test("a partial publication outlives a restart, and the next difference applies to it")
    func restart() throws {
        let bench = Bench(store: MemoryStore())
        let first = try publish(Self.full("busy"), on: bench)
        let second = try publish(Self.difference(Self.activity("away")), ifMatch: first, on: bench)
        #expect(try bench.restart().publications == 1)
        #expect(try watch(bench).text.contains("away"))
        _ = try publish(Self.difference(Self.activity("meeting")), ifMatch: second, on: bench)
        bench.pass(.seconds(10))
        #expect(try bench.takeNotifies(at: Bench.simple).last?.text.contains("meeting") == true)
    }

    @Test("a difference whose result is larger than body-bytes is 413, and changes nothing")
    func large() throws {
        let bench = Bench { $0.limits.bodyBytes = 2_000 }
        let tag = try publish(Self.full("busy"), on: bench)
        let note = "<p:add sel='presence'><note>\(String(repeating: "x", count: 1_400))</note></p:add>"
        let second = try publish(Self.difference(note), ifMatch: tag, on: bench)
        bench.sendPublish(Self.alice, Self.difference(note), type: Self.type, ifMatch: second, expires: 3_600)
        _ = try bench.nextResponse(413, at: Bench.endpoint)
        _ = try publish(Self.difference(Self.activity("away")), ifMatch: second, on: bench)
    }
}
