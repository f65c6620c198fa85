import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing
import XMLCore

/// F3: a standard client publishes by PUBLISH for an identity of an enterprise domain that is not hosted here.
@Suite("PUBLISH carried to an enterprise domain as SERVICE")
struct CategoryBridgeTests {
    static let bob = "bob@contoso.com"
    static let client = HostedPresentityTests.client
    let words = HostedPresentityTests()

    static func bench(store: (any GatewayStore)? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench(store: store) { configuration in
            configuration.domains["contoso.com"]?.publish = true
            change(&configuration)
        }
    }

    func publish(_ bench: Bench, activity: String? = nil, note: String? = nil, ifMatch: String? = nil, expires: Int = 600) {
        words.publish(bench, Self.bob, body: Bench.pidf(Self.bob, activity: activity, note: note), ifMatch: ifMatch, expires: expires)
    }

    func publications(_ service: SIPRequest) throws -> [CategoryPublication] {
        try CategoryPublishDocument(parsing: service.body).publications
    }

    /// Whatever state is published says busy, and some is.
    func expectBusy(_ service: SIPRequest, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let states = try publications(service).filter { $0.categoryName == .state }.compactMap {
            $0.body.map { String(decoding: $0.bytes, as: UTF8.self) }
        }
        #expect(
            !states.isEmpty && states.allSatisfy { $0.contains("<availability>6500</availability>") }, sourceLocation: sourceLocation)
    }

    /// The home server takes everything, giving each instance this version.
    func accept(_ bench: Bench, _ service: SIPRequest, version: UInt32, expires: Int64? = nil) throws {
        let elements = try publications(service).map { publication in
            publication.isRemoval
                ? CategoryElement(name: publication.categoryName, container: publication.container)
                : CategoryElement(
                    name: publication.categoryName, instance: publication.instance, container: publication.container, version: version,
                    expireType: .time, expires: expires ?? publication.expires.map(Int64.init), body: publication.body.map(CategoryBody.raw)
                )
        }
        let answer = RoamingDataDocument(categories: CategoriesDocument(uri: "sip:\(Self.bob)", categories: elements))
        bench.answer(
            service, 200, from: Bench.enterprise, headers: [(.contentType, "application/vnd-microsoft-roaming-self+xml")],
            body: String(decoding: answer.encoded(), as: UTF8.self))
    }

    func conflict(_ bench: Bench, _ service: SIPRequest, current: UInt32) throws {
        let operations = try publications(service).enumerated().map {
            FaultOperation(index: UInt32($0.offset + 1), version: $0.element.version, currentVersion: current)
        }
        bench.answer(
            service, 409, from: Bench.enterprise, headers: [(.contentType, "application/msrtc-fault+xml")],
            body: String(decoding: FaultDocument(operations: operations).encoded(), as: UTF8.self))
    }

    func tag(_ bench: Bench, status: Int = 200) throws -> String {
        try #require(try bench.nextResponse(status, at: Self.client).headers.sipETag)
    }

    @Test(
        "RFC 3903 6, MS-PRES 3.2.4 create, refresh, modify and remove are answered once the home server took the instances of its own numbers"
    )
    func lifecycle() throws {
        let bench = Self.bench()
        publish(bench, activity: "busy", note: "In town")
        let first = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(first.headers.from?.uri.description == "sip:\(Self.bob)" && first.headers.to?.uri.description == "sip:\(Self.bob)")
        let epid = try #require(first.headers.from?.epid)
        #expect(epid.utf8.count == 10)
        #expect(first.headers.contact?.sipInstance?.contains("urn:uuid:") == true)
        #expect(first.headers.contentType?.essence == "application/msrtc-category-publish+xml")
        let list = try publications(first)
        #expect(list.allSatisfy { $0.version == 0 && $0.expireType == .time && $0.expires == 3_600 })
        #expect(Set(list.filter { $0.categoryName == .state }.map(\.container.rawValue)) == [100, 200, 300, 400])
        #expect(Set(list.filter { $0.categoryName == .note }.map(\.container.rawValue)) == [200, 300, 400])
        #expect(Set(list.filter { $0.categoryName == .state }.map { $0.instance >> 28 }) == [2])
        let outside = try #require(list.first { $0.categoryName == .state && $0.container.rawValue == 100 }?.body)
        #expect(String(decoding: outside.bytes, as: UTF8.self).contains("<availability>6500</availability>"))
        #expect(bench.isQuiet(at: Self.client))
        try accept(bench, first, version: 3)
        let one = try tag(bench)

        words.publish(bench, Self.bob, body: "", ifMatch: one, expires: 600)
        // The home server keeps it for longer than that anyway.
        let two = try tag(bench)
        #expect(two != one && bench.isQuiet(at: Bench.enterprise))
        words.publish(bench, Self.bob, body: "", ifMatch: one)
        _ = try bench.nextResponse(412, at: Self.client)

        publish(bench, ifMatch: two)
        let change = try bench.nextRequest(.service, at: Bench.enterprise)
        let changed = try publications(change)
        #expect(changed.allSatisfy { $0.version == 3 })
        #expect(changed.filter { $0.categoryName == .note }.allSatisfy { $0.isRemoval })
        #expect(Set(changed.map(\.instance)) == Set(list.map(\.instance)))
        #expect(change.headers.from?.epid == epid)
        try accept(bench, change, version: 4)
        let three = try tag(bench)

        words.publish(bench, Self.bob, body: "", ifMatch: three, expires: 0)
        let removal = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(removal).allSatisfy { $0.isRemoval && $0.version == 4 })
        #expect(bench.isQuiet(at: Self.client))
        try accept(bench, removal, version: 0)
        _ = try bench.nextResponse(200, at: Self.client)
        bench.pass(.seconds(40))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("RFC 3903 6.4 what a publication that is not refreshed said is taken back; what another source says stays")
    func sources() throws {
        let bench = Self.bench()
        publish(bench, note: "On the phone", expires: 3_600)
        let phone = try bench.nextRequest(.service, at: Bench.enterprise)
        try accept(bench, phone, version: 1)
        let first = try tag(bench)
        publish(bench, activity: "busy", expires: 600)
        let desk = try bench.nextRequest(.service, at: Bench.enterprise)
        // The note stays as it is, and there is one state of the identity, not one of each device.
        #expect(try publications(desk).allSatisfy { [.state, .services].contains($0.categoryName) && $0.version == 1 && !$0.isRemoval })
        try expectBusy(desk)
        try accept(bench, desk, version: 2)
        _ = try tag(bench)
        bench.pass(.seconds(601))
        let lapse = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(lapse).allSatisfy { !$0.isRemoval && $0.version == 2 })
        #expect(try Set(publications(lapse).map(\.instance)).isSubset(of: Set(publications(phone).map(\.instance))))
        try accept(bench, lapse, version: 3)
        words.publish(bench, Self.bob, body: "", ifMatch: first, expires: 0)
        let removal = try publications(try bench.nextRequest(.service, at: Bench.enterprise))
        #expect(removal.allSatisfy { $0.isRemoval } && Set(removal.map(\.categoryName)).contains(.note))
    }

    @Test("MS-PRES 2.2.2.2.3 409 is reconciled from its fault, a bounded number of times, and then 503 says so")
    func conflicts() throws {
        let bench = Self.bench()
        publish(bench)
        try conflict(bench, try bench.nextRequest(.service, at: Bench.enterprise), current: 8)
        let second = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(second).allSatisfy { $0.version == 8 })
        try accept(bench, second, version: 9)
        let one = try tag(bench)
        // Somebody else has removed everything: created anew.
        publish(bench, activity: "busy", ifMatch: one)
        try conflict(bench, try bench.nextRequest(.service, at: Bench.enterprise), current: 0)
        let anew = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(anew).contains { $0.categoryName == .state && $0.version == 0 })
        try accept(bench, anew, version: 1)
        let two = try tag(bench)

        publish(bench, activity: "away", ifMatch: two)
        for version in [UInt32(3), 4, 5] { try conflict(bench, try bench.nextRequest(.service, at: Bench.enterprise), current: version) }
        #expect(try bench.nextResponse(503, at: Self.client).headers.retryAfter != nil)
        #expect(bench.isQuiet(at: Bench.enterprise))
        #expect(bench.gateway.counters.publicationConflicts == 5)
        // What the entity-tag stood for before is put back, as somebody else has written over it.
        bench.pass(.seconds(6))
        let repair = try bench.nextRequest(.service, at: Bench.enterprise)
        try expectBusy(repair)
        try accept(bench, repair, version: 6)
        words.publish(bench, Self.bob, body: "", ifMatch: two)
        _ = try tag(bench)
    }

    @Test(
        "a refusal for good is passed on with its meaning, and the entity-tag stands for what it did before",
        arguments: [(403, 403), (404, 404), (413, 413), (488, 502)])
    func refused(far: Int, near: Int) throws {
        let bench = Self.bench()
        publish(bench)
        bench.answer(try bench.nextRequest(.service, at: Bench.enterprise), far, from: Bench.enterprise)
        _ = try bench.nextResponse(near, at: Self.client)
        #expect(bench.gateway.counts.publicationBridges == 0)
        publish(bench)
        try accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 1)
        let one = try tag(bench)
        publish(bench, activity: "busy", ifMatch: one)
        bench.answer(try bench.nextRequest(.service, at: Bench.enterprise), far, from: Bench.enterprise)
        _ = try bench.nextResponse(near, at: Self.client)
        words.publish(bench, Self.bob, body: "", ifMatch: one)
        _ = try tag(bench)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("503 with Retry-After is passed on and obeyed; what may have arrived is taken back; a removal is promised and done later")
    func unavailable() throws {
        let bench = Self.bench()
        publish(bench)
        bench.answer(try bench.nextRequest(.service, at: Bench.enterprise), 503, from: Bench.enterprise, headers: [(.retryAfter, "50")])
        #expect(try bench.nextResponse(503, at: Self.client).headers.retryAfter?.seconds == 50)
        publish(bench)
        _ = try bench.nextResponse(503, at: Self.client)
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.pass(.seconds(51))
        let cleaning = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(cleaning).allSatisfy { $0.isRemoval })
        try accept(bench, cleaning, version: 0)
        #expect(bench.gateway.counts.publicationBridges == 0)

        publish(bench)
        try accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 1)
        words.publish(bench, Self.bob, body: "", ifMatch: try tag(bench), expires: 0)
        bench.answer(try bench.nextRequest(.service, at: Bench.enterprise), 503, from: Bench.enterprise, headers: [(.retryAfter, "20")])
        _ = try bench.nextResponse(200, at: Self.client)
        bench.pass(.seconds(21))
        let removal = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(removal).allSatisfy { $0.isRemoval && $0.version == 1 })
        try accept(bench, removal, version: 0)
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test("a silent home server: 504 in time, and what turns out to have arrived is taken back")
    func silence() throws {
        let bench = Self.bench()
        publish(bench)
        let service = try bench.nextRequest(.service, at: Bench.enterprise)
        bench.pass(.seconds(4))
        _ = try bench.nextResponse(504, at: Self.client)
        try accept(bench, service, version: 1)
        let removal = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(removal).allSatisfy { $0.isRemoval && $0.version == 1 })
        try accept(bench, removal, version: 0)
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test("a home server that grants less is asked again before its time is over, and no oftener")
    func renewal() throws {
        let bench = Self.bench()
        publish(bench, expires: 3_000)
        try accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 1, expires: 400)
        _ = try tag(bench)
        bench.pass(.seconds(299))
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.pass(.seconds(2))
        let renewal = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(renewal).allSatisfy { $0.version == 1 && !$0.isRemoval })
        try accept(bench, renewal, version: 2)
        bench.pass(.seconds(2_600))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("refusals that need no home server: not allowed, not oneself, no PIDF, unreadable, loops, bounds")
    func refusals() throws {
        let closed = Bench()
        publish(closed)
        _ = try closed.nextResponse(404, at: Self.client)

        let bench = Self.bench()
        words.publish(bench, Self.bob, body: Bench.pidf(Self.bob), from: "eve@contoso.com")
        _ = try bench.nextResponse(403, at: Self.client)
        words.publish(bench, Self.bob, body: "<presence")
        _ = try bench.nextResponse(400, at: Self.client)
        words.publish(bench, Self.bob, body: "")
        _ = try bench.nextResponse(400, at: Self.client)
        publish(bench, expires: 5)
        #expect(try bench.nextResponse(423, at: Self.client).headers.minExpires == 60)
        bench.sendPublish(Self.bob, "<a/>", type: "application/pidf-diff+xml")
        #expect(try bench.nextResponse(415, at: Self.client).headers.first(.accept) == "application/pidf+xml")
        bench.sendPublish(Self.bob, "<a/>", event: "dialog")
        _ = try bench.nextResponse(489, at: Self.client)
        publish(bench)
        let service = try bench.nextRequest(.service, at: Bench.enterprise)
        bench.sendPublish(Self.bob, "<a/>", extra: "Isthmus-Hop: \(service.headers.first("isthmus-hop") ?? "")\r\n")
        _ = try bench.nextResponse(482, at: Self.client)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("publications of one identity are bounded: 503")
    func limit() throws {
        let bench = Self.bench { $0.limits.publicationsPerPresentity = 1 }
        publish(bench)
        try accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 1)
        _ = try tag(bench)
        publish(bench)
        #expect(try bench.nextResponse(503, at: Self.client).headers.retryAfter != nil)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("after kill -9 the entity-tag and the versions go on, and what was on its way is found out and taken back")
    func restart() throws {
        let bench = Self.bench(store: MemoryStore())
        publish(bench, activity: "busy")
        let first = try bench.nextRequest(.service, at: Bench.enterprise)
        try accept(bench, first, version: 5)
        let one = try tag(bench)
        try bench.restart(after: .seconds(30))
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Bench.enterprise))
        words.publish(bench, Self.bob, body: "", ifMatch: one)
        let two = try tag(bench)
        #expect(bench.isQuiet(at: Bench.enterprise))
        publish(bench, ifMatch: two)
        let change = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(change).allSatisfy { $0.version == 5 })
        #expect(try Set(publications(change).map(\.instance)) == Set(publications(first).map(\.instance)))
        #expect(change.headers.from?.epid == first.headers.from?.epid)

        // Killed before the answer: the client has no new entity-tag, and the home server may have the new instances.
        try bench.restart(after: .seconds(1))
        bench.pass(.seconds(1))
        let repair = try bench.nextRequest(.service, at: Bench.enterprise)
        try conflict(bench, repair, current: 6)
        let again = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(again).allSatisfy { $0.version == 6 })
        try expectBusy(again)
        try accept(bench, again, version: 7)
        words.publish(bench, Self.bob, body: "", ifMatch: two, expires: 0)
        #expect(try publications(try bench.nextRequest(.service, at: Bench.enterprise)).allSatisfy { $0.version == 7 && $0.isRemoval })
    }

    @Test("after kill -9 a publication that lapsed meanwhile is taken back, and one that never got its 200 too")
    func restartLate() throws {
        let bench = Self.bench(store: MemoryStore())
        publish(bench, expires: 120)
        try accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 2)
        _ = try tag(bench)
        publish(bench, note: "never answered")
        let orphan = try bench.nextRequest(.service, at: Bench.enterprise)
        try bench.restart(after: .seconds(200))
        bench.pass(.seconds(1))
        let removal = try bench.nextRequest(.service, at: Bench.enterprise)
        let removed = try publications(removal)
        #expect(removed.allSatisfy { $0.isRemoval })
        #expect(try Set(removed.map(\.instance)).isSuperset(of: Set(publications(orphan).map(\.instance))))
        try accept(bench, removal, version: 0)
        #expect(bench.gateway.counts.publicationBridges == 0)
    }

    @Test("what cannot be kept is taken back at the home server: 503, and no entity-tag that nobody heard of")
    func storeFails() throws {
        let store = MemoryStore()
        let bench = Self.bench(store: store)
        publish(bench)
        let first = try bench.nextRequest(.service, at: Bench.enterprise)
        store.failure = StoreFailure("full")
        try accept(bench, first, version: 1)
        _ = try bench.nextResponse(503, at: Self.client)
        store.failure = nil
        bench.pass(.seconds(10))
        let removal = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(removal).allSatisfy(\.isRemoval))
        #expect(try Set(publications(removal).map(\.instance)) == Set(publications(first).map(\.instance)))
        try accept(bench, removal, version: 0)
        #expect(bench.gateway.counts.publicationBridges == 0)
        #expect(store.records.isEmpty)
    }

    @Test("a change or a removal that cannot be kept leaves the entity-tag to what it stood for, and so the home server")
    func storeFailsLater() throws {
        let store = MemoryStore()
        let bench = Self.bench(store: store)
        publish(bench, activity: "busy")
        try accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 1)
        let one = try tag(bench)
        for (expires, queued) in [(600, true), (600, false), (0, false)] {
            publish(bench, activity: "away", ifMatch: one, expires: expires)
            let change = try bench.nextRequest(.service, at: Bench.enterprise)
            // What waits is worked on with the tables as they are then.
            if queued { publish(bench, note: "more") }
            store.failure = StoreFailure("full")
            try accept(bench, change, version: 2)
            for _ in 0..<(queued ? 2 : 1) { _ = try bench.nextResponse(503, at: Self.client) }
            store.failure = nil
            bench.pass(.seconds(10))
            let repair = try bench.nextRequest(.service, at: Bench.enterprise)
            try expectBusy(repair)
            try accept(bench, repair, version: 3)
        }
        words.publish(bench, Self.bob, body: "", ifMatch: one)
        _ = try tag(bench)
        #expect(bench.gateway.counts.publicationBridges == 1)
    }

    @Test("a clean stop without a store takes back what is published, and a PUBLISH that waits is told to come again")
    func shutdown() throws {
        let bench = Self.bench()
        publish(bench)
        try accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 1)
        _ = try tag(bench)
        publish(bench, note: "more")
        let more = try bench.nextRequest(.service, at: Bench.enterprise)
        bench.gateway.shutdown(at: bench.now)
        bench.sort()
        _ = try bench.nextResponse(503, at: Self.client)
        try accept(bench, more, version: 1)
        let removal = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publications(removal).allSatisfy { $0.isRemoval })
        try accept(bench, removal, version: 0)
        #expect(bench.gateway.isDrained)
    }
}
