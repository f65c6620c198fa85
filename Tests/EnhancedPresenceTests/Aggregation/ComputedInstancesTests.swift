import EnhancedPresence
import PresenceDocuments
import Testing
import XMLCore

/// Where the computed instances go, and when they change (MS-PRES 3.8.5.1.2.7).
@Suite struct ComputedInstancesTests {
    private static let outputs = [2, 3, 100, 200, 300, 400]

    /// What a client publishes when its user signs in: its machine in both input containers, and its device.
    private static func signIn(_ availability: UInt32 = 3500) -> [CategoryPublication] {
        let text = [
            Capability(.text, render: true, capture: true, publish: false),
            Capability(.gifInk, render: true, capture: false, publish: false),
            Capability(.isfInk, render: true, capture: false, publish: false),
        ]
        return [
            Aggregating.publication(
                of: Aggregating.device(Aggregating.desk, 412_819_398, CapabilityList(uri: Fixture.bob, capabilities: text))),
            Aggregating.publication(of: Aggregating.machine(availability, 831_107_580) { $0.endpointLocation = "" }),
            Aggregating.publication(of: Aggregating.machine(availability, 831_107_580, in: 3) { $0.endpointLocation = "" }),
        ]
    }

    private static func signedIn(_ more: CategoryPublication...) throws -> EnhancedPresentity {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish(signIn() + more)
        return presentity
    }

    @Test(
        "MS-PRES 4.4.3: a machine and a device make these states, legacyInterops and services, in the answer too [R039, R256, R277, R278, R282, R301]"
    )
    func sample() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let change = try presentity.publish(Self.signIn())
        let answer = try #require(presentity.publishAnswer(after: change, at: Fixture.start).categories).categories
        func instances(_ name: CategoryName) -> [String] {
            answer.filter { $0.name == name }.map { "\($0.container?.rawValue ?? 0)/\($0.instance ?? 0) \($0.expireType?.rawValue ?? "")" }
        }
        #expect(
            instances(.state) == [
                "2/1 user", "2/268435456 user", "2/831107580 endpoint", "3/1 user", "3/831107580 endpoint", "100/1 user", "200/1 user",
                "300/1 user", "400/1 user",
            ])
        #expect(instances(.legacyInterop) == ["100/1 user", "200/1 user", "300/1 user", "400/1 user"])
        #expect(instances(.services) == ["2/0 user", "100/0 user", "200/0 user", "300/0 user", "400/0 user"])
        #expect(answer.allSatisfy { $0.publishTime == Fixture.start && $0.version == 1 })
        for container in Self.outputs {
            #expect(try presentity.aggregateState(container) == StateDocument(type: .aggregateState, availability: 3500))
        }
        for container in [100, 200, 300, 400] {
            #expect(try presentity.legacyInterop(container) == LegacyInteropDocument(availability: 3500))
        }
        let machine = try #require(presentity[Fixture.id(.state, 2, 268_435_456)]?.body)
        #expect(
            try StateDocument(parsing: machine)
                == StateDocument(type: .aggregateMachineState, availability: 3500, endpointID: Aggregating.desk.lowercased()))
        func shown(_ name: CapabilityName, _ capture: Bool) -> Capability {
            Capability(name, render: true, capture: capture, deviceAvailability: 3500)
        }
        let expected = ServicesDocument(services: [
            ServiceElement(
                uri: Fixture.bob,
                capabilities: CapabilityList(capabilities: [shown(.text, true), shown(.gifInk, false), shown(.isfInk, false)]))
        ])
        for container in [100, 200, 300, 400] { #expect(try presentity.services(container) == expected) }
        #expect(
            try presentity.services(2)?.services.first?.capabilities?.capabilities.last
                == Capability(
                    .isfInk, render: true, capture: false, publish: false, deviceAvailability: 3500,
                    preferredEndpointID: Aggregating.desk.lowercased()))
    }

    @Test(
        "MS-PRES 4.4.2: when the last endpoint ends, the aggregates become static instances 0 of an offline user [R060, R253, R278, R279, R285]"
    )
    func signOut() throws {
        var presentity = try Self.signedIn()
        let change = presentity.endpointEnded(Aggregating.desk, isLast: true, at: Fixture.time(60))
        for container in Self.outputs {
            let instances = presentity.instances(of: Fixture.pair(.state, container))
            #expect(instances.map(\.id.instance) == [0] && instances.map(\.expireType) == [.static] && instances.map(\.version) == [1])
            #expect(try #require(try presentity.aggregateState(container)?.availability) >= 18000)
            #expect(instances.first?.publishTime == Fixture.time(60))
            #expect(change.pairs.contains(Fixture.pair(.state, container)))
        }
        for container in [2, 3, 200, 300, 400] {
            #expect(try presentity.aggregateState(container)?.lastActive?.publishTime == "2026-03-02T08:16:30.000")
        }
        for container in [100, 200, 300, 400] {
            let instances = presentity.instances(of: Fixture.pair(.legacyInterop, container))
            #expect(instances.map(\.id.instance) == [0] && instances.map(\.expireType) == [.static])
            #expect(try presentity.legacyInterop(container)?.availability == 18500)
        }
        #expect(presentity.instances(of: Fixture.pair(.services, 100)).isEmpty)
        #expect(presentity.instances(of: Fixture.pair(.device, 2)).isEmpty)

        try presentity.publish(Self.signIn(), at: 120)
        for container in Self.outputs {
            #expect(presentity[Fixture.id(.state, container, 0)] == nil)
            #expect(presentity[Fixture.id(.state, container, 1)]?.expireType == .user)
        }
    }

    @Test("MS-PRES 3.8.5.1.2.7: every container gets its part of the state, and no more [R277, R284]")
    func details() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        var publications: [CategoryPublication] = []
        for container in [2, 3] {
            publications.append(
                Aggregating.publication(
                    of: Aggregating.machine(5000, 11, in: container) {
                        $0.endpointLocation = "office"
                        $0.timeZoneBias = 480
                        $0.timeZoneName = "Pacific Standard Time"
                        $0.timeZoneAbbreviation = "PST"
                        $0.device = .computer
                    }))
            publications.append(
                Aggregating.publication(
                    of: Aggregating.state(
                        StateDocument(
                            type: .calendarState, availability: 6900, activities: [Aggregating.activity(.inAMeeting, 6500, 8999)],
                            meetingSubject: LocalizedText("Budget"), meetingLocation: LocalizedText("Room 7")), 12, in: container)))
        }
        try presentity.publish(publications)
        let moment = DateTime("2026-03-02T08:15:30")
        let activity = [StateActivity(token: .inAMeeting)]
        let full = StateDocument(
            type: .aggregateState, availability: 8400, activities: activity, lastActive: moment, endpointLocation: "office",
            meetingSubject: LocalizedText("Budget"), meetingLocation: LocalizedText("Room 7"), timeZoneBias: 480,
            timeZoneName: "Pacific Standard Time", timeZoneAbbreviation: "PST", device: .computer)
        for container in [2, 3, 300] { #expect(try presentity.aggregateState(container) == full) }
        #expect(try presentity.aggregateState(100) == StateDocument(type: .aggregateState, availability: 8400))
        #expect(
            try presentity.aggregateState(200)
                == StateDocument(type: .aggregateState, availability: 8400, activities: activity, lastActive: moment, device: .computer))
        var friends = full
        friends.meetingSubject = nil
        friends.meetingLocation = nil
        #expect(try presentity.aggregateState(400) == friends)
        func text(_ container: Int) throws -> String {
            String(decoding: try #require(presentity[Fixture.id(.state, container, 1)]?.body).source, as: UTF8.self)
        }
        #expect(
            try text(200).contains(
                "<delimiter xmlns=\"http://schemas.microsoft.com/2006/09/sip/commontypes\"/><device>computer</device><end "))
        #expect(try !text(100).contains("delimiter"))
        #expect(try text(400).contains("<timeZoneBias>480</timeZoneBias><timeZoneName>Pacific Standard Time</timeZoneName>"))
    }

    @Test("MS-PRES 4.3.1: legacyInterop carries the token of the activity that its container shows; a text gives none [R280]")
    func token() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let urgent = Aggregating.user(6900, activities: [Aggregating.activity(.urgentInterruptionsOnly, 6500, 8999)])
        let custom = Aggregating.state(
            StateDocument(type: .userState, availability: 6500, activities: [Aggregating.activity(nil, custom: "Interviewing")]), 7, in: 3)
        try presentity.publish([
            Aggregating.publication(of: Aggregating.machine(5000)), Aggregating.publication(of: Aggregating.machine(3500, in: 3)),
            Aggregating.publication(of: urgent), Aggregating.publication(of: custom),
        ])
        #expect(try presentity.legacyInterop(100) == LegacyInteropDocument(availability: 8400))
        for container in [200, 400] {
            #expect(try presentity.legacyInterop(container) == LegacyInteropDocument(availability: 8400, token: .urgentInterruptionsOnly))
        }
        #expect(try presentity.legacyInterop(300) == LegacyInteropDocument(availability: 6500))
        var policy = EnhancedPresencePolicy.standard
        policy.choices.writesTokenIntoLegacyInterop = false
        presentity.use(policy)
        try presentity.publish([Aggregating.publication(of: urgent, version: 1)], at: 1)
        #expect(try presentity.legacyInterop(400) == LegacyInteropDocument(availability: 8400))
    }

    @Test("MS-PRES 3.8.5.1.1: an input of container 3 is computed for 3 and 300 only, one of 2 for the others [R251, R256]")
    func inputs() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish([Aggregating.publication(of: Aggregating.machine(3500, in: 3))])
        #expect(Set(presentity.computedInstances.map(\.id.container.rawValue)) == [3, 300])
        #expect(presentity.instances(of: Fixture.pair(.state, 3)).map(\.id.instance) == [1, 0x3000_0001])
        try presentity.publish([Aggregating.publication(of: Aggregating.machine(5000))], at: 1)
        #expect(try presentity.aggregateState(300)?.availability == 3500)
        #expect(try presentity.aggregateState(400)?.availability == 5000)
    }

    @Test("MS-PRES 4.3.1.1: what comes out as before keeps its version and publishTime [R281, R302]")
    func unchanged() throws {
        var presentity = try Self.signedIn()
        let before = presentity
        // A user state that decides nothing in container 2, and something in 3.
        let change = try presentity.publish(
            [
                Aggregating.publication(of: Aggregating.user(3000, manual: false)),
                Aggregating.publication(of: Aggregating.state(StateDocument(type: .userState, availability: 6500), 0x2000_0000, in: 3)),
            ], at: 60)
        #expect(
            change.pairs == [
                Fixture.pair(.state, 2), Fixture.pair(.state, 3), Fixture.pair(.state, 300), Fixture.pair(.legacyInterop, 300),
            ])
        for id in before.computedInstances.map(\.id) where ![3, 300].contains(id.container.rawValue) {
            #expect(presentity[id] == before[id])
        }
        let machine = Fixture.id(.state, 2, 268_435_456)
        #expect(presentity[machine] == before[machine])
        #expect(presentity[Fixture.id(.state, 300, 1)]?.version == 2)
        #expect(presentity[Fixture.id(.state, 300, 1)]?.publishTime == Fixture.time(60))
        // Written otherwise, but saying the same.
        let again = try presentity.publish(
            [Self.signIn()[1]].map { publication in
                var publication = publication
                publication.version = 1
                return publication
            }, at: 90)
        #expect(again.pairs == [Fixture.pair(.state, 2)])
    }

    @Test("MS-PRES 3.8: state of containers 0 and 32000 is the client's, and never computed [R283]")
    func clientStates() throws {
        var presentity = try Self.signedIn(
            Aggregating.publication(StateDocument(type: .aggregateState, availability: 18500, manual: false), .state, 32000, 0),
            Aggregating.publication(StateDocument(type: .userState, availability: 18500), .state, 0, 0))
        for container in [0, 32000] {
            #expect(presentity[Fixture.id(.state, container)]?.isComputed == false)
            #expect(presentity.instances(of: Fixture.pair(.legacyInterop, container)).isEmpty)
        }
        try presentity.publish(
            [Aggregating.publication(StateDocument(type: .userState, availability: 3500), .state, 0, 0, version: 1)], at: 1)
    }

    @Test(
        "MS-PRES 3.2.5.4, 3.8: a client can neither overwrite nor delete what the server computed: 403, 2003, nothing changed [R011]",
        arguments: [
            (.state, 100, 1), (.state, 2, 1), (.state, 2, 268_435_456), (.legacyInterop, 300, 1), (.services, 2, 0), (.dndState, 0, 0),
        ] as [(CategoryName, Int, UInt32)])
    func readOnly(category: CategoryName, container: Int, instance: UInt32) throws {
        var presentity = try Self.signedIn()
        let before = presentity
        for expires in [nil, 0] as [UInt32?] {
            let refusal = presentity.refusal(
                of: Fixture.request(
                    Aggregating.publication(StateDocument(type: .userState), category, container, instance, version: 1, expires: expires)))
            #expect(refusal?.status == 403)
            #expect(
                refusal?.diagnostic
                    == Diagnostic(id: 2003, reason: "Category publication failed - Cannot overwrite read only publication"))
            #expect(presentity == before)
        }
    }

    @Test(
        "MS-PRES 3.2.5.4, 3.8: nor can it take their places in the input containers before anything is computed [R011]",
        arguments: [
            (.state, 2, 0), (.state, 3, 1), (.state, 2, 268_435_456), (.services, 2, 0), (.dndState, 3, 0), (.workingHours, 1, 0),
        ] as [(CategoryName, Int, UInt32)])
    func reserved(category: CategoryName, container: Int, instance: UInt32) throws {
        let publication = Aggregating.publication(StateDocument(type: .userState, availability: 3500), category, container, instance)
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(presentity.refusal(of: Fixture.request(publication))?.status == 403)
        #expect(presentity == EnhancedPresentity(uri: Fixture.bob))
        var policy = EnhancedPresencePolicy.standard
        policy.computesAggregates = false
        var other = EnhancedPresentity(uri: Fixture.bob, policy: policy)
        #expect(other.refusal(of: Fixture.request(publication)) == nil)
    }

    @Test("MS-PRES 3.2.5.6: the end of one of two endpoints, and of a state's time, computes anew with what is left [R060]")
    func ends() throws {
        var presentity = try Self.signedIn()
        try presentity.publish(
            [Aggregating.publication(of: Aggregating.machine(5000, 5, of: Aggregating.phone))], of: Aggregating.phone, at: 1)
        try presentity.publish(
            [
                Aggregating.publication(
                    StateDocument(type: .phoneState, availability: 6500), .state, 2, 9, type: .time, expires: 60)
            ], at: 2)
        #expect(try presentity.aggregateState(400)?.availability == 6500)
        let change = presentity.endpointEnded(Aggregating.desk.lowercased(), isLast: false, at: Fixture.time(3))
        #expect(try presentity.aggregateState(400)?.availability == 8000)
        #expect(change.pairs.contains(Fixture.pair(.state, 400)) && change.pairs.contains(Fixture.pair(.services, 400)))
        #expect(presentity.instances(of: Fixture.pair(.services, 400)).isEmpty)
        let expired = presentity.expire(at: Fixture.time(62))
        #expect(try presentity.aggregateState(400)?.availability == 5000)
        #expect(expired.pairs.contains(Fixture.pair(.legacyInterop, 100)))
    }

    @Test(
        "MS-PRES 3.8.5.1.1: a publication elsewhere computes nothing, and so do a presentity without inputs and a server set not to [R250, R251, R290]"
    )
    func noInput() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish([
            Fixture.publication(.note, 2), Fixture.publication(.note, 3),
            Aggregating.publication(StateDocument(type: .userState, availability: 3500), .state, 200, 7),
        ])
        try presentity.publish([Fixture.publication(.state, 2, expires: 0)], at: 1)
        #expect(presentity.computedInstances.isEmpty)
        #expect(presentity.aggregate(at: Fixture.time(2)).isEmpty)
        var policy = EnhancedPresencePolicy.standard
        policy.computesAggregates = false
        presentity.use(policy)
        try presentity.publish(Self.signIn(), at: 3)
        #expect(presentity.computedInstances.isEmpty)
    }

    @Test("MS-PRES 3.8.5.2.1: a device alone, and a state alone, compute the services anew [R290]")
    func triggers() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish([Self.signIn()[1]])
        #expect(try presentity.services(400) == nil)
        try presentity.publish([Self.signIn()[0]], at: 1)
        #expect(try presentity.services(400)?.services.count == 1)
        try presentity.publish([Aggregating.publication(of: Aggregating.machine(5000, 831_107_580), version: 1)], at: 2)
        #expect(try presentity.services(400)?.services.first?.capabilities?.capabilities.map(\.deviceAvailability) == [5000, 5000, 5000])
        #expect(presentity[Fixture.id(.services, 400)]?.version == 2)
    }

    @Test("MS-PRES 2.2.2.7: a body that cannot be read is kept and ignored")
    func unreadable() throws {
        let bodies = [
            "<nothing/>", "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\"><availability>much</availability></state>",
        ]
        var elements = try bodies.enumerated().map { index, text in
            CategoryElement(
                name: .state, instance: UInt32(index + 5), publishTime: Fixture.start, container: Fixture.container(2), version: 1,
                expireType: .static, body: .raw(try XMLFragment(parsing: Array(text.utf8))))
        }
        elements.append(Aggregating.machine(3500).selfElement(at: Fixture.start))
        elements.append(
            CategoryElement(
                name: .device, instance: 1, publishTime: Fixture.start, container: Fixture.container(2), version: 1, expireType: .endpoint,
                body: .raw(try XMLFragment(parsing: Array("<device xmlns=\"http://schemas.microsoft.com/2006/09/sip/device\"/>".utf8)))))
        var presentity = EnhancedPresentity(
            uri: Fixture.bob, categories: CategoriesDocument(uri: Fixture.bob, categories: elements), containers: nil)
        _ = presentity.aggregate(at: Fixture.time(1))
        #expect(try presentity.aggregateState(400)?.availability == 3500)
        #expect(presentity.instances(of: Fixture.pair(.services, 400)).isEmpty)
        #expect(presentity[Fixture.id(.state, 2, 5)]?.body?.localName == "nothing")
    }

    @Test(
        "MS-PRES 4.4.2: a presentity read from its self documents has its computed instances, and publishes none of them anew [R281, R317]")
    func restored() throws {
        var presentity = try Self.signedIn(
            Aggregating.publication(of: Aggregating.user(6500)),
            Aggregating.publication(
                CalendarDataDocument(mailboxID: nil, content: .workingHours(WorkingHours(bias: 480))), .calendarData, 1, 0))
        for isSignedIn in [true, false] {
            if !isSignedIn { _ = presentity.endpointEnded(Aggregating.desk, isLast: true, at: Fixture.time(60)) }
            let data = try RoamingDataDocument(
                parsing: presentity.roamingData(scope: [.categories, .containers], at: Fixture.time(70)).encoded())
            var restored = EnhancedPresentity(uri: Fixture.bob, categories: data.categories, containers: data.containers)
            #expect(restored.computedInstances == presentity.computedInstances)
            #expect(restored.computedInstances.count == (isSignedIn ? 24 : 18))
            #expect(restored.aggregate(at: Fixture.time(80)).isEmpty)
            #expect(restored.computedInstances == presentity.computedInstances)
        }
    }
}
