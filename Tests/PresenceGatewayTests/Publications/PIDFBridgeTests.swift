import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// F4: an enterprise client publishes by SERVICE for an identity of a simple domain that is not hosted here.
@Suite("SERVICE carried to a simple domain as PUBLISH")
struct PIDFBridgeTests {
    static let alice = "alice@example.org"
    static let client = TransportAddress(.tcp, "192.0.2.30", 40_000)
    static let line = ConnectionID(rawValue: 7)
    static let place = Bench.endpoint

    static func bench(store: (any GatewayStore)? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench(store: store) { configuration in
            configuration.domains["example.org"]?.publish = true
            configuration.timing.connectionGrace = .seconds(10)
            change(&configuration)
        }
    }

    func accept(_ bench: Bench, _ publish: SIPRequest, tag: String, expires: Int = 3_600) {
        bench.answer(publish, 200, from: Bench.simple, headers: [(.sipETag, tag), (.expires, String(expires))])
    }

    func publish(_ bench: Bench, _ publications: Bench.Publication...) {
        bench.service(Self.alice, body: Bench.publishBody(Self.alice, publications))
    }

    /// Published, taken over there, and answered.
    func published(_ bench: Bench, _ publications: Bench.Publication..., tag: String) throws -> SIPRequest {
        bench.service(Self.alice, body: Bench.publishBody(Self.alice, publications))
        let publish = try bench.nextRequest(.publish, at: Bench.simple)
        accept(bench, publish, tag: tag)
        _ = try bench.nextResponse(200, at: Self.place)
        return publish
    }

    @Test("RFC 3903 4.2, MS-PRES 3.2.5.1.2 the 200 with its versions waits for the compositor, and changes name its entity-tag")
    func lifecycle() throws {
        let bench = Self.bench()
        publish(bench, .state(6_500))
        let first = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(first.requestURI == "sip:\(Self.alice)")
        #expect(first.headers.from?.uri.description == "sip:\(Self.alice)")
        #expect(first.headers.event?.package == "presence")
        #expect(first.headers.expires == 3_600)
        #expect(first.headers.sipIfMatch == nil)
        #expect(first.headers.contentType?.essence == "application/pidf+xml")
        #expect(first.text.contains("busy") && first.text.contains("<basic>open</basic>"))
        #expect(first.headers.contains("isthmus-hop"))
        #expect(bench.isQuiet(at: Self.place))
        accept(bench, first, tag: "e1")
        let answer = try bench.nextResponse(200, at: Self.place)
        #expect(answer.headers.contentType?.essence == "application/vnd-microsoft-roaming-self+xml")
        #expect(answer.text.contains("version=\"1\""))

        let second = try published(bench, .state(3_500, version: 1), tag: "e2")
        #expect(second.headers.sipIfMatch == "e1")
        #expect(!second.text.contains("busy"))
        bench.service(
            Self.alice, body: Bench.publishBody(Self.alice, [Bench.Publication(name: "state", body: "", version: 2, expires: 0)]))
        let removal = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(removal.headers.expires == 0 && removal.headers.sipIfMatch == "e2" && removal.body.isEmpty)
        accept(bench, removal, tag: "e3", expires: 0)
        _ = try bench.nextResponse(200, at: Self.place)
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test("RFC 3903 4.1 a static publication is refreshed for as long as it lives; 412 makes it anew with full state, 423 longer")
    func lasting() throws {
        let bench = Self.bench()
        _ = try published(bench, .note("Back soon"), tag: "e1")
        bench.pass(.seconds(2_701))
        let refresh = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(refresh.headers.sipIfMatch == "e1" && refresh.body.isEmpty)
        bench.answer(refresh, 412, from: Bench.simple)
        let anew = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(anew.headers.sipIfMatch == nil && anew.text.contains("Back soon"))
        bench.answer(anew, 423, from: Bench.simple, headers: [(.minExpires, "7200")])
        let longer = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(longer.headers.expires == 7_200 && longer.text.contains("Back soon"))
        accept(bench, longer, tag: "e9", expires: 7_200)
        bench.pass(.seconds(5_401))
        #expect(try bench.nextRequest(.publish, at: Bench.simple).headers.sipIfMatch == "e9")
        #expect(bench.gateway.counters.publicationConflicts == 1)
    }

    @Test(
        "a refusal for good is passed on with its meaning, and the change is as if it had never been",
        arguments: [(403, 403), (404, 404), (489, 404), (413, 413), (401, 502), (405, 502)])
    func refused(far: Int, near: Int) throws {
        let bench = Self.bench()
        publish(bench, .state(6_500))
        bench.answer(try bench.nextRequest(.publish, at: Bench.simple), far, from: Bench.simple)
        #expect(try bench.nextResponse(near, at: Self.place).headers.contains(.msDiagnostics))
        #expect(bench.gateway.counts.publicationBridges == 0)

        let kept = try published(bench, .state(3_500), tag: "e1")
        #expect(kept.headers.sipIfMatch == nil)
        publish(bench, .state(9_500, version: 1))
        bench.answer(try bench.nextRequest(.publish, at: Bench.simple), far, from: Bench.simple)
        _ = try bench.nextResponse(near, at: Self.place)
        // Version 1 is still the current one, and the entity-tag that of before.
        let next = try published(bench, .state(6_500, version: 1), tag: "e2")
        #expect(next.headers.sipIfMatch == "e1")
        #expect(bench.gateway.counters.publicationsRefusedUpstream == 2)
    }

    @Test("503 with Retry-After, and silence: the client gets its 200, what it published is kept and carried later")
    func later() throws {
        let bench = Self.bench()
        publish(bench, .state(6_500))
        bench.answer(try bench.nextRequest(.publish, at: Bench.simple), 503, from: Bench.simple, headers: [(.retryAfter, "40")])
        _ = try bench.nextResponse(200, at: Self.place)
        publish(bench, .state(9_500, version: 1))
        _ = try bench.nextResponse(200, at: Self.place)
        bench.pass(.seconds(39))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(2))
        let again = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(again.text.contains("open"))
        accept(bench, again, tag: "e1")

        publish(bench, .state(3_500, version: 2))
        _ = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(bench.isQuiet(at: Self.place))
        bench.pass(.seconds(4))
        _ = try bench.nextResponse(200, at: Self.place)
        bench.pass(.seconds(40))
        let repeated = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(repeated.headers.sipIfMatch == "e1" && !repeated.text.contains("busy"))
    }

    @Test("MS-PRES 3.2.5.4 versions are kept here: a stale one is 409 with the stored data, and nothing is sent on [R024, R031]")
    func conflict() throws {
        let bench = Self.bench()
        _ = try published(bench, .state(6_500), tag: "e1")
        publish(bench, .state(9_500))
        let fault = try bench.nextResponse(409, at: Self.place)
        #expect(fault.headers.contentType?.essence == "application/msrtc-fault+xml")
        for part in ["index=\"1\"", "version=\"0\"", "curVersion=\"1\"", "<availability>6500</availability>"] {
            #expect(fault.text.contains(part), "\(part) in \(fault.text)")
        }
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("only what a watcher of the identity's domain would see is shown: not what narrower circles or the blocked get")
    func containers() throws {
        let bench = Self.bench()
        publish(bench, .note("for friends", in: 400), .note("for the blocked", in: 32_000), .note("for myself", in: 1))
        _ = try bench.nextResponse(200, at: Self.place)
        #expect(bench.isQuiet(at: Bench.simple))
        let shown = try published(bench, .note("for all"), .note("for partners", in: 100), tag: "e1")
        #expect(shown.text.contains("for partners"))
        for hidden in ["for friends", "for the blocked", "for myself", "for all"] { #expect(!shown.text.contains(hidden)) }

        let colleagues = Self.bench { $0.domains["example.org"]?.federation.network = .sameEnterprise }
        let inside = try published(colleagues, .note("for all"), .note("for colleagues", in: 200), .note("out", in: 100), tag: "e1")
        #expect(inside.text.contains("for colleagues") && !inside.text.contains("for all"))
    }

    @Test("the identity's own home gets the note and the activity, whatever the network, though partners get the bare number")
    func ownHome() throws {
        var whole = Bench.Publication.state(6_500, in: 200)
        whole.body = whole.body.replacingOccurrences(of: "</availability>", with: "</availability><activity token=\"on-the-phone\"/>")
        for network in DomainNetwork.allCases {
            let bench = Self.bench { $0.domains["example.org"]?.federation.network = network }
            let shown = try published(bench, .state(6_500, in: 100), whole, .note("In town", in: 200), tag: "e1")
            #expect(shown.text.contains("on-the-phone") && shown.text.contains("In town"), "\(network): \(shown.text)")
        }
    }

    @Test("MS-PRES 2.2.2.1 expireType time: the publication is over with its expires, and one PUBLISH says so")
    func time() throws {
        let bench = Self.bench()
        var note = Bench.Publication.note("Back at ten")
        note.expireType = "time"
        note.expires = 300
        _ = try published(bench, note, tag: "e1")
        bench.pass(.seconds(301))
        let removal = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(removal.headers.expires == 0 && removal.headers.sipIfMatch == "e1")
        accept(bench, removal, tag: "e2", expires: 0)
        bench.pass(.seconds(40))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("MS-PRES 3.2.5.5 expireType endpoint ends with its connection and a grace, user with the last; who comes back keeps it")
    func endpoints() throws {
        let bench = Self.bench()
        func service(_ type: String, _ text: String, instance: String, over connection: Int, tag: String) throws {
            var note = Bench.Publication.note(text, instance: type == "user" ? 5 : 6)
            note.expireType = type
            bench.service(
                Self.alice, body: Bench.publishBody(Self.alice, [note]), instance: instance, via: Self.client,
                connection: ConnectionID(rawValue: UInt64(connection)))
            accept(bench, try bench.nextRequest(.publish, at: Bench.simple), tag: tag)
            _ = try bench.nextResponse(200, at: Self.client)
        }
        let (desk, phone) = ("221ef77e-3a68-5570-86ed-6ea5bd4b7ff8", "331ef77e-3a68-5570-86ed-6ea5bd4b7ff9")
        try service("endpoint", "at the desk", instance: desk, over: 1, tag: "e1")
        try service("user", "somewhere", instance: phone, over: 2, tag: "e2")
        bench.gateway.receive(.closed(ConnectionID(rawValue: 1)), at: bench.now)
        bench.pass(.seconds(9))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(2))
        let left = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(left.text.contains("somewhere") && !left.text.contains("at the desk"))
        accept(bench, left, tag: "e3")
        bench.gateway.receive(.closed(ConnectionID(rawValue: 2)), at: bench.now)
        bench.pass(.seconds(11))
        let removal = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(removal.headers.expires == 0 && removal.headers.sipIfMatch == "e3")
        accept(bench, removal, tag: "e4", expires: 0)
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test(
        "MS-PRES 3.2.5.4 what is bound to an endpoint or user is 488 from an endpoint that cannot be seen to end [R012]",
        arguments: ["endpoint", "user"])
    func unseen(type: String) throws {
        let bench = Self.bench()
        var note = Bench.Publication.note("x")
        note.expireType = type
        publish(bench, note)
        _ = try bench.nextResponse(488, at: Self.place)
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test("refused as before unless the domain allows it; only for oneself; no loop; a limit")
    func permission() throws {
        let closed = Bench()
        publish(closed, .state(3_500))
        _ = try closed.nextResponse(404, at: Self.place)

        let bench = Self.bench { $0.limits.publicationBridges = 1 }
        bench.service(Self.alice, body: Bench.publishBody(Self.alice, [.state(3_500)]), from: "eve@example.org")
        _ = try bench.nextResponse(403, at: Self.place)
        bench.service(Self.alice, body: "")
        _ = try bench.nextResponse(400, at: Self.place)
        bench.service(Self.alice, type: "application/msrtc-setdelegate+xml", body: "<x/>")
        _ = try bench.nextResponse(404, at: Self.place)
        let publish = try published(bench, .state(3_500), tag: "e1")
        bench.service("anna@example.org", body: Bench.publishBody("anna@example.org", [.state(3_500)]))
        #expect(try bench.nextResponse(503, at: Self.place).headers.retryAfter != nil)
        // Its own PUBLISH comes back as a SERVICE by way of another gateway.
        let hop = try #require(publish.headers.first("isthmus-hop"))
        let body = Bench.publishBody(Self.alice, [.state(6_500, version: 1)])
        bench.send(
            "SERVICE sip:\(Self.alice) SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.30:5060;branch=z9hG4bKloop\r\nMax-Forwards: 60\r\n"
                + "From: <sip:\(Self.alice)>;tag=l\r\nTo: <sip:\(Self.alice)>\r\nCall-ID: l\r\nCSeq: 1 SERVICE\r\nIsthmus-Hop: \(hop)\r\n"
                + "Content-Type: application/msrtc-category-publish+xml\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
            from: Self.place)
        _ = try bench.nextResponse(482, at: Self.place)
    }

    @Test("after kill -9 the refresh goes on with SIP-If-Match, nothing is published twice, and versions are as they were")
    func restart() throws {
        let store = MemoryStore()
        let bench = Self.bench(store: store)
        _ = try published(bench, .state(6_500), .note("kept"), tag: "e1")
        try bench.restart(after: .seconds(60))
        bench.pass(.seconds(600))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(286))
        let refresh = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(refresh.headers.sipIfMatch == "e1" && refresh.body.isEmpty)
        accept(bench, refresh, tag: "e2")
        publish(bench, .state(3_500))
        _ = try bench.nextResponse(409, at: Self.place)
        let next = try published(bench, .state(3_500, version: 1), tag: "e3")
        #expect(next.headers.sipIfMatch == "e2")

        // Killed between PUBLISH and its answer: what is not known to be there goes there.
        publish(bench, .state(9_500, version: 2))
        _ = try bench.nextRequest(.publish, at: Bench.simple)
        try bench.restart(after: .seconds(5))
        bench.pass(.seconds(1))
        let repeated = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(repeated.headers.sipIfMatch == "e3" && repeated.text.contains("kept"))
        accept(bench, repeated, tag: "e4")
    }

    @Test("after kill -9 endpoints have a while to come back, and then what was bound to them is taken back")
    func restartEndpoint() throws {
        let bench = Self.bench(store: MemoryStore())
        var note = Bench.Publication.note("at the desk")
        note.expireType = "endpoint"
        bench.service(
            Self.alice, body: Bench.publishBody(Self.alice, [note]), via: Self.client, connection: Self.line)
        accept(bench, try bench.nextRequest(.publish, at: Bench.simple), tag: "e1")
        _ = try bench.nextResponse(200, at: Self.client)
        try bench.restart()
        bench.pass(.seconds(119))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(2))
        let removal = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(removal.headers.expires == 0 && removal.headers.sipIfMatch == "e1")
        accept(bench, removal, tag: "e2", expires: 0)
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test("what cannot be kept is not published: 503, and the version is as before")
    func storeFails() throws {
        let store = MemoryStore()
        let bench = Self.bench(store: store)
        _ = try published(bench, .state(6_500), tag: "e1")
        store.failure = StoreFailure("full")
        publish(bench, .state(3_500, version: 1))
        _ = try bench.nextResponse(503, at: Self.place)
        #expect(bench.isQuiet(at: Bench.simple))
        store.failure = nil
        bench.pass(.seconds(10))
        _ = try published(bench, .state(9_500, version: 1), tag: "e2")
    }

    @Test("a first publication that cannot be kept leaves nothing behind, and nothing without a body is ever sent")
    func storeFailsFirst() throws {
        let store = MemoryStore()
        let bench = Self.bench(store: store)
        store.failure = StoreFailure("full")
        publish(bench, .state(6_500))
        _ = try bench.nextResponse(503, at: Self.place)
        #expect(bench.gateway.counts.publicationBridges == 0)
        store.failure = nil
        bench.pass(.seconds(400))
        #expect(bench.isQuiet(at: Bench.simple))
        let first = try published(bench, .state(6_500), tag: "e1")
        #expect(first.headers.sipIfMatch == nil && first.text.contains("busy"))
    }

    @Test("a removal that cannot be kept is none: 503, and the publication lives on at the far side")
    func storeFailsRemoval() throws {
        let store = MemoryStore()
        let bench = Self.bench(store: store)
        _ = try published(bench, .state(6_500), tag: "e1")
        store.failure = StoreFailure("full")
        bench.service(
            Self.alice, body: Bench.publishBody(Self.alice, [Bench.Publication(name: "state", body: "", version: 1, expires: 0)]))
        _ = try bench.nextResponse(503, at: Self.place)
        store.failure = nil
        bench.pass(.seconds(2_699))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(2))
        let refresh = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(refresh.headers.sipIfMatch == "e1" && refresh.headers.expires == 3_600 && refresh.body.isEmpty)
    }

    @Test("a compositor that gives no entity-tag gets the whole document again before it lapses")
    func noTag() throws {
        let bench = Self.bench()
        publish(bench, .state(6_500))
        bench.answer(try bench.nextRequest(.publish, at: Bench.simple), 200, from: Bench.simple, headers: [(.expires, "3600")])
        _ = try bench.nextResponse(200, at: Self.place)
        bench.pass(.seconds(2_701))
        let again = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(again.headers.sipIfMatch == nil && again.text.contains("busy"))
    }

    @Test("what is published again while its removal waits for the far side is there in the end")
    func changeOfMind() throws {
        let bench = Self.bench()
        _ = try published(bench, .state(6_500), tag: "e1")
        bench.service(
            Self.alice, body: Bench.publishBody(Self.alice, [Bench.Publication(name: "state", body: "", version: 1, expires: 0)]))
        bench.answer(try bench.nextRequest(.publish, at: Bench.simple), 503, from: Bench.simple, headers: [(.retryAfter, "40")])
        _ = try bench.nextResponse(200, at: Self.place)
        publish(bench, .state(6_500))
        _ = try bench.nextResponse(200, at: Self.place)
        bench.pass(.seconds(41))
        let anew = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(anew.headers.expires == 3_600 && anew.headers.sipIfMatch == "e1" && anew.text.contains("busy"))
    }

    @Test("a refusal takes back what it is about, and not what clients were promised before")
    func promised() throws {
        let bench = Self.bench()
        publish(bench, .state(6_500))
        let first = try bench.nextRequest(.publish, at: Bench.simple)
        publish(bench, .note("In town", in: 100))
        bench.pass(.seconds(5))
        for _ in 0..<2 { _ = try bench.nextResponse(200, at: Self.place) }
        accept(bench, first, tag: "e1")
        bench.answer(try bench.nextRequest(.publish, at: Bench.simple), 403, from: Bench.simple)
        publish(bench, .state(3_500, version: 1))
        bench.answer(try bench.nextRequest(.publish, at: Bench.simple), 403, from: Bench.simple)
        _ = try bench.nextResponse(403, at: Self.place)
        publish(bench, .note("At home", in: 100))
        #expect(try bench.nextResponse(409, at: Self.place).text.contains("curVersion=\"1\""))
    }

    @Test("what lapsed while the gateway was away leaves no record behind")
    func restartEmpty() throws {
        let store = MemoryStore()
        let bench = Self.bench(store: store)
        var note = Bench.Publication.note("for friends", in: 400)
        note.expireType = "time"
        note.expires = 300
        publish(bench, note)
        _ = try bench.nextResponse(200, at: Self.place)
        #expect(store.records.count == 1)
        try bench.restart(after: .seconds(400))
        #expect(bench.gateway.counts.publicationBridges == 0)
        #expect(store.records.isEmpty)
    }

    @Test("a clean stop without a store takes back what nobody would refresh; with one it stays for the next start")
    func shutdown() throws {
        let forgetful = Self.bench()
        _ = try published(forgetful, .state(6_500), tag: "e1")
        forgetful.gateway.shutdown(at: forgetful.now)
        forgetful.sort()
        let removal = try forgetful.nextRequest(.publish, at: Bench.simple)
        #expect(removal.headers.expires == 0)
        accept(forgetful, removal, tag: "e2", expires: 0)
        #expect(forgetful.gateway.isDrained)

        let lasting = Self.bench(store: MemoryStore())
        _ = try published(lasting, .state(6_500), tag: "e1")
        lasting.gateway.shutdown(at: lasting.now)
        lasting.sort()
        #expect(lasting.isQuiet(at: Bench.simple))
        #expect(lasting.gateway.isDrained)
    }
}
