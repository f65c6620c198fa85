import EnhancedPresence
import PresenceDocuments
import Testing

@Suite struct WorkingHoursTests {
    private static let hours = WorkingHours(
        bias: 480, standardTime: TimeZoneChange(bias: 0, time: "02:00:00", dayOrder: 1, month: 11, dayOfWeek: "Sunday"),
        daylightTime: TimeZoneChange(bias: -60, time: "02:00:00", dayOrder: 2, month: 3, dayOfWeek: "Sunday"),
        periods: [WorkingPeriod(daysOfWeek: ["Monday", "Friday"], startTimeInMinutes: 600, endTimeInMinutes: 1140)])
    private static let id = Fixture.id(.workingHours, 1)

    private static func calendar(
        _ content: CalendarDataDocument.Content?, _ instance: UInt32 = 0, in container: Int = 1, version: UInt32 = 0, expires: UInt32? = nil
    ) -> CategoryPublication {
        Aggregating.publication(
            CalendarDataDocument(mailboxID: "bob@contoso.com", content: content), .calendarData, container, instance, version: version,
            expires: expires)
    }

    @Test("MS-PRES 3.8.5.3: the working hours of calendarData 0 in container 1 become workingHours 0 there, static [R310]")
    func made() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let change = try presentity.publish([Self.calendar(.workingHours(Self.hours))])
        #expect(change.pairs.contains(Self.id.pair))
        let instance = try #require(presentity[Self.id])
        #expect(instance.expireType == .static && instance.version == 1 && instance.publishTime == Fixture.start)
        let body = try #require(instance.body)
        #expect(
            try CalendarDataDocument(parsing: body)
                == CalendarDataDocument(mailboxID: "bob@contoso.com", content: .workingHours(Self.hours)))
    }

    @Test("MS-PRES 3.8.5.3: another instance or container gives no working hours [R310]")
    func elsewhere() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish([Self.calendar(.workingHours(Self.hours), 7), Self.calendar(.workingHours(Self.hours), in: 200)])
        #expect(presentity.computedInstances.isEmpty)
    }

    @Test("MS-PRES 3.8.5.3: without the calendar, or without hours in it, they go [R311]")
    func withdrawn() throws {
        for next in [Self.calendar(nil, version: 1), Self.calendar(nil, version: 1, expires: 0)] {
            var presentity = EnhancedPresentity(uri: Fixture.bob)
            try presentity.publish([Self.calendar(.workingHours(Self.hours))])
            let change = try presentity.publish([next], at: 1)
            #expect(presentity[Self.id] == nil)
            #expect(change.pairs == [Self.id.pair, Fixture.pair(.calendarData, 1)])
        }
    }

    @Test("MS-PRES 3.8.5.3: the same hours are not published again [R312]")
    func same() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish([Self.calendar(.workingHours(Self.hours))])
        let change = try presentity.publish([Self.calendar(.workingHours(Self.hours), version: 1)], at: 60)
        #expect(change.pairs == [Fixture.pair(.calendarData, 1)])
        #expect(presentity[Self.id]?.version == 1 && presentity[Self.id]?.publishTime == Fixture.start)
    }
}

@Suite struct DoNotDisturbTests {
    private static func state(_ type: StateType, _ availability: UInt32, in container: Int, version: UInt32 = 0) -> CategoryPublication {
        Aggregating.publication(
            StateDocument(type: type, availability: availability, manual: true), .state, container, 0x2000_0000, version: version)
    }

    private static let set = StateDocument(type: .userState, availability: 9500, manual: true)
    private static let unset = StateDocument(type: .userState, manual: true)

    @Test("MS-PRES 3.8.5.4: of states in 2 it goes to 2, 0, 100, 200 and 400, of states in 3 to 3 and 300; instance 0, static [R313, R316]")
    func places() throws {
        for (input, places) in [(2, [0, 2, 100, 200, 400]), (3, [3, 300])] {
            var presentity = EnhancedPresentity(uri: Fixture.bob)
            try presentity.publish([Self.state(.userState, 9500, in: input)])
            let made = presentity.computedInstances.filter { $0.id.category == .dndState }
            #expect(made.map { Int($0.id.container.rawValue) } == places)
            #expect(made.allSatisfy { $0.id.instance == 0 && $0.expireType == .static })
            for place in places { #expect(try presentity.doNotDisturb(place) == Self.set) }
        }
    }

    @Test(
        "MS-PRES 3.8.5.4: userState and presentingState of 9000 to 11999 set it to 9500; other numbers and types leave it without one [R314, R315]",
        arguments: [
            (.userState, 8999, false), (.userState, 9000, true), (.userState, 11999, true), (.userState, 12000, false),
            (.presentingState, 9500, true), (.presentingState, 6500, false), (.phoneState, 9500, false), (.calendarState, 9500, false),
        ] as [(StateType, UInt32, Bool)])
    func range(type: StateType, availability: UInt32, isSet: Bool) throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish([Self.state(type, availability, in: 2)])
        #expect(try presentity.doNotDisturb(2) == (isSet ? Self.set : Self.unset))
    }

    @Test("MS-PRES 4.3.4: only what changed is published: 3 and 300 are absent from the answer [R317]")
    func unchanged() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish([Self.state(.userState, 3500, in: 2), Self.state(.userState, 3500, in: 3)])
        let change = try presentity.publish(
            [Self.state(.userState, 9500, in: 2, version: 1), Self.state(.userState, 6500, in: 3, version: 1)], at: 1)
        #expect(change.pairs.filter { $0.category == .dndState }.map(\.container.rawValue).sorted() == [0, 2, 100, 200, 400])
        #expect(presentity[Fixture.id(.dndState, 300)]?.version == 1)
    }

    @Test("MS-PRES 2.2.2.7.10: a server of before 2010 makes none")
    func off() throws {
        var policy = EnhancedPresencePolicy.standard
        policy.choices.derivesPrivateCategories = false
        var presentity = EnhancedPresentity(uri: Fixture.bob, policy: policy)
        try presentity.publish([Self.state(.userState, 9500, in: 2)])
        #expect(!presentity.computedInstances.contains { $0.id.category == .dndState })
    }
}
