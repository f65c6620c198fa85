import EnhancedPresence
import PresenceDocuments
import Testing
import XMLCore

/// The computation of MS-PRES 3.8.5.1.2, step by step.
@Suite struct AggregateStateTests {
    // MARK: machine

    @Test("MS-PRES 3.8.5.1.2.1: without a machineState the machine is offline, 18500, and so is the user [R253, R285]")
    func noMachine() {
        let aggregate = Aggregating.aggregate(Aggregating.user(3500))
        #expect(!aggregate.hasMachine)
        #expect(aggregate.machine.availability == 18500)
        #expect(aggregate.availability == 18500)
    }

    @Test(
        "MS-PRES 3.8.5.1.2.1: a machineState that is not bound to an endpoint is ignored [R252, R286]",
        arguments: [ExpireType.static, .user, .time])
    func unboundMachine(type: ExpireType) {
        #expect(!Aggregating.aggregate(Aggregating.machine(3500, type: type)).hasMachine)
        let both = Aggregating.aggregate(
            Aggregating.machine(3500, 1, type: type), Aggregating.machine(5000, 2, of: Aggregating.phone))
        #expect(both.availability == 5000)
    }

    @Test("MS-PRES 3.8.5.1.2.1: the lowest availability is the most active machine, whoever published last [R254]")
    func lowest() {
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(5000, 1, at: 60, of: Aggregating.desk), Aggregating.machine(3500, 2, at: 0, of: Aggregating.phone))
        #expect(aggregate.machine.availability == 3500)
        #expect(aggregate.machine.endpointID == Aggregating.phone.lowercased())
    }

    @Test("MS-PRES 3.8.5.1.2.1: of equal machines the one published later is the most active [R254]")
    func latest() {
        for (first, second, winner) in [(0, 180, Aggregating.phone), (180, 0, Aggregating.desk)] as [(Int64, Int64, String)] {
            let aggregate = Aggregating.aggregate(
                Aggregating.machine(3500, 1, at: first, of: Aggregating.desk),
                Aggregating.machine(3500, 2, at: second, of: Aggregating.phone))
            #expect(aggregate.machine.endpointID == winner.lowercased())
        }
    }

    @Test("MS-PRES 3.8.5.1.2.7: aggregateMachineState copies availability, activity and the endpoint in lower case, nothing else [R255]")
    func copies() {
        let phone = Aggregating.activity(.onThePhone, 3000, 8999)
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(3500) {
                $0.activities = [phone]
                $0.endpointLocation = "office"
                $0.device = .computer
                $0.timeZoneBias = 480
            })
        #expect(
            aggregate.machine
                == StateDocument(
                    type: .aggregateMachineState, availability: 3500, activities: [phone], endpointID: Aggregating.desk.lowercased()))
    }

    // MARK: availability

    @Test("MS-PRES 3.8.5.1.2.2: the highest availability of all types counts; only their type differs [R257, R261, R287]")
    func highest() {
        for type in [StateType.userState, .calendarState, .phoneState, .presentingState, "futureState"] {
            let aggregate = Aggregating.aggregate(
                Aggregating.machine(3500), Aggregating.user(6500, type: type, manual: false), Aggregating.user(3500, 7, type: type))
            #expect(aggregate.availability == 6500)
        }
    }

    @Test("MS-PRES 3.8.5.1.2.2: what servers computed, and machines that did not win, are no part of the set [R257]")
    func excluded() {
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(3500, 1), Aggregating.machine(15500, 2, of: Aggregating.phone),
            Aggregating.user(18500, 3, type: .aggregateState, manual: nil),
            Aggregating.user(15500, 4, type: .aggregateMachineState, manual: nil))
        #expect(aggregate.availability == 3500)
    }

    @Test("MS-PRES 3.8.5.1.2.2: what is older than a state set by hand does not count, what is newer does [R259]")
    func manual() {
        for (seconds, expected) in [(-60, 3500), (60, 6500)] as [(Int64, UInt32)] {
            let aggregate = Aggregating.aggregate(
                Aggregating.machine(3500), Aggregating.user(3500),
                Aggregating.user(6500, 7, at: seconds, type: .calendarState, manual: false))
            #expect(aggregate.availability == expected)
        }
    }

    @Test("MS-PRES 3.8.5.1.2.2: a state as old as the one set by hand counts [R260]")
    func equalAge() {
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(3500), Aggregating.user(3500), Aggregating.user(6500, 7, type: .calendarState, manual: false))
        #expect(aggregate.availability == 6500)
    }

    @Test("MS-PRES 3.8.5.1.2.2: startTime is the age of a state, publishTime only without it [R258]")
    func age() {
        let calendar = Aggregating.user(6500, 7, at: -60, startTime: Fixture.time(60), type: .calendarState, manual: false)
        #expect(Aggregating.aggregate(Aggregating.machine(3500), Aggregating.user(3500), calendar).availability == 6500)
        let old = Aggregating.user(6500, 7, at: 60, startTime: Fixture.time(-60), type: .calendarState, manual: false)
        #expect(Aggregating.aggregate(Aggregating.machine(3500), Aggregating.user(3500), old).availability == 3500)
    }

    @Test("MS-PRES 3.8.5.1.2.2: of several states set by hand the newest decides [R259]")
    func severalManual() {
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(3500), Aggregating.user(9500, 1, at: 0), Aggregating.user(6500, 2, at: 60),
            Aggregating.user(12500, 3, at: 30, type: .calendarState, manual: false))
        #expect(aggregate.availability == 6500)
    }

    @Test("MS-PRES 3.8.5.1.2.2: the machine counts however old it is [R259]")
    func oldMachine() {
        let aggregate = Aggregating.aggregate(Aggregating.machine(15500, at: -3600), Aggregating.user(3500))
        #expect(aggregate.availability == 15500)
    }

    @Test(
        "MS-PRES 3.8.5.1.2.2: a busy user at an idle machine gets 1500 more, and no one else [R262, R263, R264]",
        arguments: [
            (5000, 6900, 8400), (4500, 6000, 7500), (5999, 7499, 8999),  // idle and busy
            (4499, 6900, 6900), (6000, 6900, 6900), (3500, 6900, 6900),  // the machine is not idle
            (5000, 5999, 5999), (5000, 7500, 7500), (5000, 9000, 9000), (5000, 15500, 15500),  // the user is not busy
            (5000, 3500, 5000), (7000, 3500, 7000),
        ] as [(UInt32, UInt32, UInt32)])
    func idleRule(machine: UInt32, user: UInt32, expected: UInt32) {
        #expect(Aggregating.aggregate(Aggregating.machine(machine), Aggregating.user(user)).availability == expected)
    }

    @Test("MS-PRES 3.8.5.1.2.2: an idle machine alone stays 5000 [R264]")
    func idleAlone() {
        #expect(Aggregating.aggregate(Aggregating.machine(5000)).availability == 5000)
    }

    // MARK: activity

    @Test("MS-PRES 3.8.5.1.2.3: an activity without token and text is dropped, and so is one of empty ones [R265, R268]")
    func emptyActivity() {
        let empty = [StateActivity(minimumAvailability: .value(6500)), StateActivity(token: "", custom: [LocalizedText("")])]
        #expect(Aggregating.aggregate(Aggregating.machine(3500), Aggregating.user(6500, activities: empty)).activity == nil)
    }

    @Test(
        "MS-PRES 3.8.5.1.2.3: an activity must hold at the availability, both bounds included [R266]",
        arguments: [(6499, false), (6500, true), (7400, true), (7499, true), (7500, false)] as [(UInt32, Bool)])
    func bounds(availability: UInt32, holds: Bool) {
        let meeting = Aggregating.activity(.inAMeeting, 6500, 7499)
        let aggregate = Aggregating.aggregate(Aggregating.machine(3500), Aggregating.user(availability, activities: [meeting]))
        #expect(aggregate.activity?.token == (holds ? .inAMeeting : nil))
    }

    @Test("MS-PRES 3.8.5.1.2.3: without bounds an activity holds from 0 on, without end [R266]")
    func unbounded() {
        for high in [nil, AvailabilityBound.unbounded] {
            let activity = StateActivity(token: .offWork, maximumAvailability: high)
            for availability: UInt32 in [0, 18500, 4_294_967_295] {
                let aggregate = Aggregating.aggregate(Aggregating.machine(0), Aggregating.user(availability, activities: [activity]))
                #expect(aggregate.availability == availability && aggregate.activity?.token == .offWork)
            }
        }
    }

    @Test("MS-PRES 4.3.1: the bounds are those after the idle rule: urgent-interruptions-only up to 8999 holds at 8400 [R266]")
    func boundsAfterIdle() {
        let urgent = Aggregating.activity(.urgentInterruptionsOnly, 6900, 8999)
        let short = Aggregating.activity(.inAConference, 6901, 7499)
        let aggregate = Aggregating.aggregate(Aggregating.machine(5000), Aggregating.user(6900, activities: [urgent, short]))
        #expect(aggregate.availability == 8400)
        #expect(aggregate.activity?.token == .urgentInterruptionsOnly)
    }

    @Test("MS-PRES 3.8.5.1.2.3: the highest lower bound wins, whatever is newer [R267]")
    func highestBound() {
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(3500),
            Aggregating.user(6500, 1, at: 0, activities: [Aggregating.activity(.onThePhone, 6500)], type: .phoneState, manual: nil),
            Aggregating.user(6500, 2, at: 60, activities: [Aggregating.activity(.inAMeeting, 6000)], type: .calendarState, manual: nil),
            Aggregating.user(6500, 3, at: 90, activities: [Aggregating.activity(.offWork)], manual: nil))
        #expect(aggregate.activity?.token == .onThePhone)
    }

    @Test("MS-PRES 3.8.5.1.2.3: of equal bounds the later state wins, by startTime before publishTime [R267]")
    func activityTie() {
        func phone(at seconds: Int64, from start: Int64?) -> CategoryInstance {
            Aggregating.user(
                6500, 1, at: seconds, startTime: start.map { Fixture.time($0) }, activities: [Aggregating.activity(.onThePhone, 6500)],
                type: .phoneState, manual: nil)
        }
        let meeting = Aggregating.user(
            6500, 2, at: 60, activities: [Aggregating.activity(.inAMeeting, 6500)], type: .calendarState, manual: nil)
        let machine = Aggregating.machine(3500)
        #expect(Aggregating.aggregate(machine, phone(at: 0, from: nil), meeting).activity?.token == .inAMeeting)
        #expect(Aggregating.aggregate(machine, phone(at: 90, from: nil), meeting).activity?.token == .onThePhone)
        #expect(Aggregating.aggregate(machine, phone(at: 0, from: 90), meeting).activity?.token == .onThePhone)
        #expect(Aggregating.aggregate(machine, phone(at: 90, from: 0), meeting).activity?.token == .inAMeeting)
    }

    @Test("MS-PRES 3.8.5.1.2.3: activities of states that the manual one made void are void, the machine's is not [R259, R265]")
    func activityOfFiltered() {
        let old = Aggregating.user(
            3500, 1, at: -60, activities: [Aggregating.activity(.inAMeeting, 3000)], type: .calendarState, manual: nil)
        let machine = Aggregating.machine(3500, at: -60) { $0.activities = [Aggregating.activity(.onThePhone, 2000)] }
        #expect(Aggregating.aggregate(machine, old, Aggregating.user(3500, 2)).activity?.token == .onThePhone)
    }

    @Test("MS-PRES 3.8.5.1.2.7: the aggregated activity has a token or texts, no bounds [R269]")
    func noBounds() {
        let custom = Aggregating.activity(nil, 6000, 8999, custom: "Interviewing")
        let aggregate = Aggregating.aggregate(Aggregating.machine(3500), Aggregating.user(6500, activities: [custom]))
        #expect(aggregate.activity == StateActivity(custom: [LocalizedText("Interviewing", lcid: 1033)]))
    }

    // MARK: lastActive

    @Test(
        "MS-PRES 3.8.5.1.2.4: who is idle, busy and idle, away or offline was last active at some time, others are active [R270]",
        arguments: [
            (3000, false), (4499, false), (4500, true), (5999, true), (6000, false), (7499, false), (7500, true), (8999, true),
            (9000, false), (11999, false), (12000, true), (15500, true), (18500, true), (0, false),
        ] as [(UInt32, Bool)])
    func lastActive(availability: UInt32, isThere: Bool) {
        let aggregate = Aggregating.aggregate(Aggregating.machine(0), Aggregating.user(availability))
        #expect(aggregate.availability == availability)
        #expect((aggregate.lastActive != nil) == isThere)
    }

    @Test("MS-PRES 3.8.5.1.2.4: it is the publishTime of the most active machine in whole seconds, in UTC and without a zone [R271, R272]")
    func lastActiveOfMachine() throws {
        let aggregate = Aggregating.aggregate(Aggregating.machine(5000, at: 7), Aggregating.user(6500, at: 20))
        #expect(aggregate.lastActive?.publishTime == "2026-03-02T08:15:37.000")
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish([Aggregating.publication(of: Aggregating.machine(5000))])
        let body = try #require(presentity[Fixture.id(.state, 2, 1)]?.body)
        #expect(String(decoding: body.source, as: UTF8.self).contains(#" lastActive="2026-03-02T08:15:30""#))
    }

    @Test("MS-PRES 4.4.2: without a machine it is the time of the computation, and stays while there is none [R271]")
    func lastActiveOffline() {
        let first = AggregateState(of: [Aggregating.user(3500)], at: Fixture.time(100))
        #expect(first.lastActive?.publishTime == "2026-03-02T08:17:10.000")
        let kept = AggregateState.Previous(lastActive: first.lastActive, hadMachine: false)
        #expect(AggregateState(of: [Aggregating.user(6500)], previous: kept, at: Fixture.time(200)).lastActive == first.lastActive)
        let machine = AggregateState.Previous(lastActive: first.lastActive, hadMachine: true)
        #expect(
            AggregateState(of: [], previous: machine, at: Fixture.time(200)).lastActive?.publishTime == "2026-03-02T08:18:50.000")
    }

    @Test("away by hand at an active machine: the machine's time, or by choice that of the hand [R273]")
    func lastActiveByHand() {
        let states = [Aggregating.machine(3500, at: 10), Aggregating.user(15500, at: 60)]
        #expect(AggregateState(of: states, at: Fixture.time(90)).lastActive?.publishTime == "2026-03-02T08:15:40.000")
        var choices = StandardChoices.standard
        choices.lastActiveFollowsManualState = true
        #expect(AggregateState(of: states, at: Fixture.time(90), choices: choices).lastActive?.publishTime == "2026-03-02T08:16:30.000")
    }

    @Test("from idle to away: the machine's newest time, or by choice the first [R273]")
    func lastActiveDeepens() {
        let previous = AggregateState.Previous(lastActive: Fixture.time(0), hadMachine: true)
        let states = [Aggregating.machine(15500, at: 60)]
        #expect(
            AggregateState(of: states, previous: previous, at: Fixture.time(60)).lastActive?.publishTime == "2026-03-02T08:16:30.000")
        var choices = StandardChoices.standard
        choices.lastActiveStaysWhileInactive = true
        #expect(
            AggregateState(of: states, previous: previous, at: Fixture.time(60), choices: choices).lastActive == Fixture.time(0))
    }

    // MARK: meeting and place

    private static func meeting(
        _ instance: UInt32, _ subject: String?, _ location: String?, _ availability: UInt32 = 6500, type: StateType = .calendarState
    ) -> CategoryInstance {
        Aggregating.state(
            StateDocument(
                type: type, availability: availability, meetingSubject: subject.map { LocalizedText($0, lcid: 1033) },
                meetingLocation: location.map { LocalizedText($0) }), instance)
    }

    @Test("MS-PRES 3.8.5.1.2.5: one calendar with a subject or a place gives both, even when another state decides [R274]")
    func oneMeeting() {
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(3500), Self.meeting(1, "Budget", "Room 7"), Self.meeting(2, nil, nil), Aggregating.user(9500, at: 60))
        #expect(aggregate.availability == 9500)
        #expect(aggregate.meetingSubject == LocalizedText("Budget", lcid: 1033))
        #expect(aggregate.meetingLocation == LocalizedText("Room 7"))
        let subject = Aggregating.aggregate(Aggregating.machine(3500), Self.meeting(1, "Budget", nil))
        #expect(subject.meetingSubject?.text == "Budget" && subject.meetingLocation == nil)
    }

    @Test("MS-PRES 3.8.5.1.2.5: two calendars with a meeting give two empty elements [R274]")
    func twoMeetings() {
        let aggregate = Aggregating.aggregate(Aggregating.machine(3500), Self.meeting(1, "Budget", nil), Self.meeting(2, nil, "Room 7"))
        #expect(aggregate.meetingSubject == LocalizedText("") && aggregate.meetingLocation == LocalizedText(""))
    }

    @Test("MS-PRES 3.8.5.1.2.5: no calendar with a meeting gives none, and other states have none [R274]")
    func noMeeting() {
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(3500), Self.meeting(1, nil, nil), Self.meeting(2, "Budget", "Room 7", type: .userState))
        #expect(aggregate.meetingSubject == nil && aggregate.meetingLocation == nil)
    }

    @Test(
        "MS-PRES 3.8.5.1.2.6: place, time zone and device are those of the most active machine below 12000, else none [R275]",
        arguments: [(3500, true), (11999, true), (12000, false), (15500, false)] as [(UInt32, Bool)])
    func place(availability: UInt32, isThere: Bool) {
        func fill(_ state: inout StateDocument) {
            state.endpointLocation = "office"
            state.timeZoneBias = 480
            state.timeZoneName = "Pacific Standard Time"
            state.timeZoneAbbreviation = "PST"
            state.device = .deskphone
        }
        let aggregate = Aggregating.aggregate(
            Aggregating.machine(3500, change: fill), Aggregating.machine(5000, 2, at: 60, of: Aggregating.phone) { $0.device = .mobile },
            Aggregating.user(availability))
        #expect(aggregate.endpointLocation == (isThere ? "office" : nil))
        #expect(aggregate.timeZoneBias == (isThere ? 480 : nil))
        #expect(aggregate.timeZoneName == (isThere ? "Pacific Standard Time" : nil))
        #expect(aggregate.timeZoneAbbreviation == (isThere ? "PST" : nil))
        #expect(aggregate.device == (isThere ? .deskphone : nil))
    }

    @Test("MS-PRES 4.4.3: an empty place is none [R276]")
    func emptyPlace() {
        #expect(Aggregating.aggregate(Aggregating.machine(3500) { $0.endpointLocation = "" }).endpointLocation == nil)
    }
}
