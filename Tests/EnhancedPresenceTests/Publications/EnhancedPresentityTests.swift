import EnhancedPresence
import PresenceDocuments
import Testing

@Suite struct EnhancedPresentityTests {
    @Test("MS-PRES 1.3.1.6.1 a new instance published with version 0 gets version 1 [R020]")
    func create() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.note, 200)])
        let instance = try #require(presentity[Fixture.id(.note, 200)])
        #expect(instance.version == 1)
        #expect(instance.publishTime == Fixture.start)
        #expect(instance.body == Fixture.body("here"))
    }

    @Test("MS-PRES 1.3.1.6.1 a new instance published with another version is 409 [R021]")
    func createWithVersion() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let refusal = presentity.refusal(of: Fixture.request(Fixture.publication(.note, 200, version: 4)))
        #expect(refusal?.status == 409)
        #expect(refusal?.fault?.operations == [FaultOperation(index: 1, version: 4, currentVersion: 0)])
    }

    @Test("MS-PRES 1.3.1.6.2 versions equal is a change and one version more [R023]")
    func change() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200)])
        let change = try presentity.publish(
            Fixture.request(Fixture.publication(.note, 200, version: 1, type: .time, expires: 60, text: "gone")), by: Fixture.laptop,
            at: Fixture.time(5))
        let instance = try #require(presentity[Fixture.id(.note, 200)])
        #expect(instance.version == 2)
        #expect(instance.publishTime == Fixture.time(5))
        #expect(instance.expireType == .time && instance.deadline == Fixture.time(65))
        #expect(instance.body == Fixture.body("gone"))
        #expect(change.pairs == [Fixture.pair(.note, 200)])
    }

    @Test("MS-PRES 1.3.1.6.2 versions differ is 409 with the stored version and data [R022, R024, R031]")
    func stale() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200)])
        let before = presentity
        for version: UInt32 in [0, 2, 4_294_967_295] {
            let refusal = presentity.refusal(of: Fixture.request(Fixture.publication(.note, 200, version: version, text: "late")))
            #expect(refusal?.status == 409)
            #expect(refusal?.diagnostic == Diagnostic(id: 2044, reason: "Publication version out of date"))
            #expect(
                refusal?.fault?.operations == [
                    FaultOperation(index: 1, version: version, currentVersion: 1, currentData: Fixture.body("here"))
                ])
            #expect(presentity == before)
        }
    }

    @Test("MS-PRES 3.2.5.4 one stale version refuses the whole batch, and the fault names positions from 1 [R029, R030, R031, R033]")
    func batch() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200), Fixture.publication(.note, 300)])
        let before = presentity
        let refusal = presentity.refusal(
            of: Fixture.request(
                Fixture.publication(.note, 100), Fixture.publication(.note, 200, version: 9),
                Fixture.publication(.note, 300, version: 1), Fixture.publication(.state, 2, 7, version: 1)))
        #expect(refusal?.status == 409)
        #expect(refusal?.fault?.faultCode == "Client.BadCall.WrongDelta")
        #expect(refusal?.fault?.operations.map(\.index) == [2, 4])
        #expect(presentity == before)
    }

    @Test("MS-PRES 1.3.1.6.3 expires 0 with the stored version deletes, and the answer shows the category without the instance [R025]")
    func delete() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200), Fixture.publication(.note, 200, 1)])
        let change = try presentity.publish(
            Fixture.request(Fixture.publication(.note, 200, version: 1, expires: 0, text: nil)), by: Fixture.laptop, at: Fixture.time(1))
        #expect(presentity[Fixture.id(.note, 200)] == nil)
        let answer = presentity.publishAnswer(after: change, at: Fixture.time(1))
        #expect(answer.categories?.categories.map(\.instance) == [1])
    }

    @Test("MS-PRES 1.3.1.6.3 expires 0 with another version is 409 [R026]")
    func deleteStale() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200)])
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.note, 200, version: 2, expires: 0)))?.status == 409)
        #expect(presentity[Fixture.id(.note, 200)] != nil)
    }

    @Test("MS-PRES 3.2.5.1.2 deleting what is not there with version 0 is skipped [R027]")
    func deleteAbsent() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let change = try presentity.publish(
            Fixture.request(Fixture.publication(.note, 200, expires: 0)), by: Fixture.laptop, at: Fixture.start)
        #expect(change.isEmpty)
        #expect(change.untouched == [Fixture.pair(.note, 200)])
        let answer = presentity.publishAnswer(after: change, at: Fixture.start)
        #expect(answer.categories?.categories == [CategoryElement(name: .note, container: Fixture.container(200))])
    }

    @Test("MS-PRES 1.3.1.6.4 a deleted instance comes back with version 1 and a later publishTime, even in the same instant [R028]")
    func recreate() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200)])
        let first = try #require(presentity[Fixture.id(.note, 200)])
        for request in [
            Fixture.request(Fixture.publication(.note, 200, version: 1, expires: 0)), Fixture.request(Fixture.publication(.note, 200)),
        ] {
            _ = try presentity.publish(request, by: Fixture.laptop, at: Fixture.start)
        }
        let second = try #require(presentity[Fixture.id(.note, 200)])
        #expect(second.version == 1)
        #expect(second.publishTime > first.publishTime)
    }

    @Test("MS-PRES 3.2.5.1.2 all instances of one batch have one publishTime in whole milliseconds [R038]")
    func publishTime() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let now = DateTime(nanosecondsSince1970: Fixture.start.nanosecondsSince1970 + 123_456)
        let batch = Fixture.request(Fixture.publication(.note, 200), Fixture.publication(.note, 300))
        _ = try presentity.publish(batch, by: Fixture.laptop, at: now)
        #expect(presentity[Fixture.id(.note, 200)]?.publishTime == Fixture.start)
        #expect(presentity[Fixture.id(.note, 300)]?.publishTime == Fixture.start)
    }

    @Test("MS-PRES 3.2.5.1.2 the answer has the complete instance set of every changed pair with all attributes [R035, R036, R041]")
    func answer() throws {
        var presentity = try Fixture.presentity([
            Fixture.publication(.contactCard, 2, 1), Fixture.publication(.contactCard, 3, 1), Fixture.publication(.note, 200),
        ])
        let change = try presentity.publish(
            Fixture.request(
                Fixture.publication(.contactCard, 2, 7, type: .endpoint), Fixture.publication(.contactCard, 2, 8, type: .time, expires: 90)),
            by: Fixture.laptop, at: Fixture.time(1))
        let elements = try #require(presentity.publishAnswer(after: change, at: Fixture.time(1)).categories?.categories)
        #expect(elements.map(\.instance) == [1, 7, 8])
        #expect(elements.map(\.container?.rawValue) == [2, 2, 2])
        #expect(elements.map(\.version) == [1, 1, 1])
        #expect(elements.map(\.expireType) == [.static, .endpoint, .time])
        #expect(elements.map(\.endpointID) == [nil, "6B29FC40-CA47-1067-B31D-00DD010662DA", nil])
        #expect(elements.map(\.expires) == [nil, nil, 90])
        #expect(elements.allSatisfy { $0.publishTime != nil && $0.body != nil })
    }

    @Test("MS-PRES 4.2.2 a pair left empty is shown by its name and container only [R037]")
    func emptyPair() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200), Fixture.publication(.note, 300)])
        let change = try presentity.publish(
            Fixture.request(
                Fixture.publication(.note, 300, version: 1, expires: 0), Fixture.publication(.note, 200, version: 1, expires: 0)),
            by: Fixture.laptop, at: Fixture.time(1))
        let text = String(decoding: presentity.publishAnswer(after: change, at: Fixture.time(1)).encoded(), as: UTF8.self)
        #expect(
            text.contains(
                #"uri="sip:bob@contoso.com"><category name="note" container="200"/><category name="note" container="300"/></categories>"#))
    }

    @Test("MS-PRES 1.3.1.1 an instance with an empty body is an instance")
    func emptyBody() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.note, 200, text: nil)])
        #expect(presentity[Fixture.id(.note, 200)]?.version == 1)
        #expect(presentity[Fixture.id(.note, 200)]?.body == nil)
    }

    @Test("MS-PRES 3.2.6.2 the server publishes where clients may not, and the same data only once [R326]")
    func server() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let id = Fixture.id(.userProperties, 1)
        #expect(presentity.publishByServer(id, body: Fixture.body("a"), at: Fixture.start).pairs == [id.pair])
        #expect(presentity.publishByServer(id, body: Fixture.body("a"), at: Fixture.time(60)).isEmpty)
        #expect(presentity[id]?.version == 1 && presentity[id]?.publishTime == Fixture.start)
        #expect(presentity.publishByServer(id, body: Fixture.body("b"), at: Fixture.time(120)).pairs == [id.pair])
        #expect(presentity[id]?.version == 2)
    }
}

@Suite struct PublicationLifetimeTests {
    private static func filled() throws -> EnhancedPresentity {
        try Fixture.presentity([
            Fixture.publication(.note, 2, 1, type: .static), Fixture.publication(.note, 2, 2, type: .endpoint),
            Fixture.publication(.note, 2, 3, type: .user), Fixture.publication(.note, 2, 4, type: .time, expires: 60),
        ])
    }

    @Test("MS-PRES 2.2.2.1 endpoint instances end with their endpoint, whatever the case of its name [R040, R051]")
    func endpoint() throws {
        var presentity = try Self.filled()
        #expect(presentity.endpointEnded("00000000-0000-0000-0000-000000000000", isLast: false, at: Fixture.time(1)).isEmpty)
        let change = presentity.endpointEnded("6b29fc40-ca47-1067-b31d-00dd010662da", isLast: false, at: Fixture.time(1))
        #expect(change.pairs == [Fixture.pair(.note, 2)])
        #expect(presentity.instances(of: Fixture.pair(.note, 2)).map(\.id.instance) == [1, 3, 4])
    }

    @Test("MS-PRES 3.2.5.5.1 the last endpoint takes user instances and what endpoints left with it [R050, R052]")
    func user() throws {
        var presentity = try Self.filled()
        #expect(
            presentity.endpointEnded("00000000-0000-0000-0000-000000000000", isLast: true, at: Fixture.time(1)).pairs == [
                Fixture.pair(.note, 2)
            ])
        #expect(presentity.instances(of: Fixture.pair(.note, 2)).map(\.id.instance) == [1, 4])
    }

    @Test("MS-PRES 3.2.6.1 time instances end at their deadline, and an update sets a new one [R053]")
    func time() throws {
        var presentity = try Self.filled()
        #expect(presentity.nextDeadline == Fixture.time(60))
        #expect(presentity.expire(at: Fixture.time(59)).isEmpty)
        _ = try presentity.publish(
            Fixture.request(Fixture.publication(.note, 2, 4, version: 1, type: .time, expires: 100)), by: Fixture.laptop,
            at: Fixture.time(59))
        #expect(presentity.nextDeadline == Fixture.time(159))
        #expect(presentity.expire(at: Fixture.time(60)).isEmpty)
        #expect(presentity.expire(at: Fixture.time(159)).pairs == [Fixture.pair(.note, 2)])
        #expect(presentity.nextDeadline == nil)
        #expect(presentity.instances(of: Fixture.pair(.note, 2)).map(\.id.instance) == [1, 2, 3])
    }

    @Test("MS-PRES 2.2.2.1 expires shows the life that is left, at least a second [R058]")
    func remaining() throws {
        let presentity = try Self.filled()
        func expires(_ seconds: Int64) -> Int64? {
            presentity.roamingData(scope: [.categories], at: Fixture.time(seconds)).categories?.categories.last?.expires
        }
        #expect(expires(0) == 60)
        #expect(expires(45) == 15)
        #expect(expires(61) == 1)
    }

    @Test("the longest expires does not overflow")
    func longest() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.note, 2, 0, type: .time, expires: 4_294_967_295)])
        let deadline = try #require(presentity.nextDeadline)
        #expect(deadline > Fixture.start)
    }
}
