import PresenceDocuments
import Testing

@testable import PresenceMapping

/// Our policy for RPID, written here apart from the tables, so that a change of a row is a decision.
@Suite("RPID to availability") struct RPIDMappingTests {
    static let expected: [(String, UInt32, String?)] = [
        ("appointment", 6500, "in-a-meeting"), ("away", 15500, nil), ("breakfast", 15500, nil), ("busy", 6500, nil), ("dinner", 15500, nil),
        ("holiday", 15500, "out-of-office"), ("in-transit", 12500, nil), ("looking-for-work", 3500, nil), ("meal", 15500, nil),
        ("meeting", 6500, "in-a-meeting"), ("on-the-phone", 6500, "on-the-phone"), ("performance", 9500, nil),
        ("permanent-absence", 18500, nil), ("playing", 6500, nil), ("presentation", 9500, "in-presentation"), ("shopping", 6500, nil),
        ("sleeping", 15500, nil), ("spectator", 9500, nil), ("steering", 12500, nil), ("travel", 15500, "out-of-office"), ("tv", 6500, nil),
        ("unknown", 3500, nil), ("vacation", 15500, "out-of-office"), ("working", 6500, nil), ("worship", 9500, nil),
    ]

    let mapper = PresenceMapper()

    func document(_ basic: BasicStatus?, _ activities: [String], others: [String] = []) -> PIDFDocument {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: basic)]
        var person = PIDFPerson(id: "p")
        if !activities.isEmpty || !others.isEmpty {
            person.rpid.activities = [RPIDList(activities.map { RPIDActivity($0) }, others: others.map { PIDFNote($0) })]
        }
        document.persons = [person]
        return document
    }

    func read(_ basic: BasicStatus?, _ activities: [String], others: [String] = []) -> CanonicalPresence {
        mapper.canonical(from: document(basic, activities, others: others)).value
    }

    @Test("RFC 4480 3.2 every registered activity has its availability and token, and none is available [R236]")
    func everyActivity() {
        #expect(read(.open, []).availability == 3500)
        #expect(Set(Self.expected.map(\.0)) == Set(RPIDActivity.registered.map(\.name)))
        for (name, availability, token) in Self.expected {
            let presence = read(.open, [name])
            #expect(presence.availability == availability, "\(name)")
            #expect(presence.activity?.token == token, "\(name)")
            #expect(presence.provenance != .published)
        }
    }

    @Test("RFC 4480 3.2 an activity without token of its own is told as a text")
    func customTexts() {
        for (name, availability, token) in Self.expected
        where token == nil && !["away", "busy", "unknown", "permanent-absence"].contains(name) {
            #expect(read(.open, [name]).activity?.texts.first?.lcid == 1033, "\(name) \(availability)")
        }
    }

    @Test("RFC 3863 4.1.4 closed is offline whatever the person does, on the phone excepted [R236]")
    func closed() {
        for (name, _, _) in Self.expected where name != "on-the-phone" { #expect(read(.closed, [name]).availability == 18500, "\(name)") }
        #expect(read(.closed, []).availability == 18500)
        #expect(read(.closed, ["on-the-phone"]).availability == 6500)
        #expect(read(.closed, [], others: ["Do not disturb"]).availability == 18500)
    }

    @Test("RFC 3863 4.1.4 a status without basic is not closed")
    func noBasic() {
        #expect(read(nil, []).availability == 0)
        #expect(read(nil, ["meeting"]).availability == 6500)
    }

    @Test(
        "several activities: the most telling one is shown, the others are reported",
        arguments: [
            (["busy", "meeting"], 6500, "in-a-meeting"), (["away", "on-the-phone"], 6500, "on-the-phone"), (["busy", "away"], 15500, nil),
            (["vacation", "working"], 15500, "out-of-office"), (["meeting", "presentation"], 9500, "in-presentation"),
        ] as [([String], UInt32, String?)])
    func several(_ names: [String], _ availability: UInt32, _ token: String?) {
        let result = mapper.canonical(from: document(.open, names))
        #expect(result.value.availability == availability)
        #expect(result.value.activity?.token == token)
        #expect(result.losses.contains { $0.rowID == "CMB-A1" && names.contains($0.value) })
    }

    @Test(
        "an other that names a Microsoft state is that state",
        arguments: [
            ("Do not disturb", 9500, nil), ("do-not-disturb", 9500, nil), ("BRB", 12500, nil), ("Be Right Back", 12500, nil),
            ("Off work", 15500, "off-work"), ("Urgent interruptions only", 6900, "urgent-interruptions-only"),
        ] as [(String, UInt32, String?)])
    func others(_ text: String, _ availability: UInt32, _ token: String?) {
        let presence = read(.open, ["busy"], others: [text])
        #expect(presence.availability == availability)
        #expect(presence.activity?.token == token)
    }

    @Test("any other text is shown as it is, in its language")
    func freeText() {
        var document = document(.open, [])
        document.persons[0].rpid.activities = [RPIDList([], others: [PIDFNote("A pescar", language: "pt")])]
        let presence = mapper.canonical(from: document).value
        #expect(presence.availability == 3500)
        #expect(presence.activity?.texts == [CanonicalText("A pescar", language: "pt", lcid: 1046)])
    }

    @Test("MS-PRES 3.8.5.1.2.2 idle input adds 1500 to Online and Busy and to nothing else [R236]")
    func idle() {
        for (activities, expected) in [([], 5000), (["busy"], 8000), (["away"], 15500), (["presentation"], 9500)] as [([String], UInt32)] {
            var document = document(.open, activities)
            document.persons[0].rpid.userInputs = [RPIDUserInput(isIdle: true, lastInput: DateTime("2026-05-04T08:00:00Z"))]
            let presence = mapper.canonical(from: document).value
            #expect(presence.availability == expected, "\(activities)")
            #expect(presence.lastActive == DateTime("2026-05-04T08:00:00Z"))
        }
    }

    @Test("a user who is active at one device is active")
    func devices() {
        var document = document(.open, [])
        for (index, isIdle) in [true, false, true].enumerated() {
            var device = PIDFDevice(id: "d\(index)", deviceID: "urn:x:\(index)")
            device.rpid.userInputs = [RPIDUserInput(isIdle: isIdle)]
            document.devices.append(device)
        }
        #expect(mapper.canonical(from: document).value.isIdle == false)
        #expect(mapper.canonical(from: document).value.availability == 3500)
    }

    @Test("RFC 4480 3.1 an activity counts from its from, and no more at its until")
    func interval() throws {
        var document = document(.open, [])
        let info = RPIDInfo(from: DateTime("2026-05-04T09:00:00Z"), until: DateTime("2026-05-04T10:00:00Z"))
        document.persons[0].rpid.activities = [RPIDList([.meeting], info: info)]
        for (time, expected) in [("08:59:59", 3500), ("09:00:00", 6500), ("09:59:59", 6500), ("10:00:00", 3500)] as [(String, UInt32)] {
            let at = try #require(DateTime("2026-05-04T\(time)Z"))
            #expect(mapper.canonical(from: document, at: at).value.availability == expected, "\(time)")
        }
    }

    @Test("RFC 3863 4.1 of several tuples an open one decides, then priority, then time")
    func tuples() throws {
        func tuple(_ id: String, _ basic: BasicStatus?, _ priority: Int?, _ time: String? = nil) -> PIDFTuple {
            var tuple = PIDFTuple(id: id, basic: basic)
            tuple.contact = PIDFContact(uri: "sip:\(id)@example.org", priority: priority)
            tuple.timestamp = time.flatMap { DateTime($0) }
            return tuple
        }
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [
            tuple("a", .closed, 1000), tuple("b", .open, 100), tuple("c", .open, 200, "2026-01-01T00:00:00Z"),
            tuple("d", .open, 200, "2026-01-02T00:00:00Z"),
        ]
        let presence = mapper.canonical(from: document).value
        #expect(presence.serviceURI == "sip:d@example.org")
        #expect(presence.basic == .open)
        #expect(presence.unmapped.filter { $0.field == "further-service" }.count == 3)
    }

    @Test("RFC 4479 3.3 of several persons the newest decides and the report says so")
    func persons() throws {
        var document = document(.open, ["meeting"])
        document.persons[0].timestamp = DateTime("2026-05-04T08:00:00Z")
        var newer = PIDFPerson(id: "q")
        newer.rpid.activities = [RPIDList([.away])]
        newer.timestamp = DateTime("2026-05-04T09:00:00Z")
        document.persons.append(newer)
        let result = mapper.canonical(from: document)
        #expect(result.value.availability == 15500)
        #expect(result.losses.contains { $0.rowID == "CMB-P1" })
    }

    @Test("activities of a tuple, as old clients send them, count where the person says none")
    func tupleActivities() {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        var tuple = PIDFTuple(id: "t", basic: .open)
        tuple.rpid.activities = [RPIDList([.onThePhone])]
        document.tuples = [tuple]
        #expect(mapper.canonical(from: document).value.activity?.token == "on-the-phone")
    }

    @Test("a document that says nothing gives no state, and no watcher of ours is told one")
    func nothing() {
        let presence = mapper.canonical(from: PIDFDocument(entity: "sip:alice@example.org")).value
        #expect(presence.availability == nil)
        #expect(mapper.categories(from: presence).value.categories.isEmpty)
        let asked = mapper.categories(from: presence, requested: [.state, .note]).value.categories
        #expect(asked.map(\.isEmptyMarker) == [true, true])
        #expect(mapper.legacyInterop(from: presence).value.availability == 18500)
    }
}
