import PresenceDocuments
import Testing

@testable import PresenceMapping

@Suite("Exact values and round trips") struct LosslessTests {
    let mapper = PresenceMapper()

    func categories(_ state: StateDocument) -> CategoriesDocument {
        CategoriesDocument(
            uri: "sip:bob@contoso.com",
            categories: [
                CategoryElement(
                    name: .state, instance: 1, publishTime: DateTime("2026-05-04T09:00:00.123"), body: .state(state))
            ])
    }

    static let tokens = [
        "on-the-phone", "in-a-conference", "in-a-meeting", "out-of-office", "urgent-interruptions-only", "off-work", "in-presentation",
        "a-token-of-tomorrow",
    ]

    @Test(
        "with exact values every state survives PIDF, bytes and all",
        arguments: [0, 2999, 3000, 3700, 5000, 6500, 6900, 8000, 8400, 9500, 11999, 12500, 15500, 18000, 18500] as [UInt32])
    func identity(_ availability: UInt32) throws {
        for token in [nil] + Self.tokens.map({ $0 as String? }) {
            var state = StateDocument(type: .aggregateState, availability: availability)
            if let token {
                state.activities = [
                    StateActivity(
                        token: ActivityToken(rawValue: token), minimumAvailability: .value(6000), maximumAvailability: .value(8999),
                        custom: [LocalizedText("Ocupado", lcid: 2070), LocalizedText("Busy", lcid: 1033)])
                ]
            }
            state.endpointLocation = "Porto office"
            state.timeZoneBias = 0
            state.timeZoneName = "GMT Standard Time"
            state.device = .computer
            let source = categories(state)
            let pidf = mapper.pidf(from: mapper.canonical(from: source).value, lossless: true)
            let read = try PIDFDocument.decode(pidf.value.encode())
            let presence = mapper.canonical(from: read).value
            #expect(presence.availability == availability)
            #expect(presence.provenance == .published)
            let back = mapper.categories(from: presence).value
            #expect(back.encoded() == source.encoded(), "\(availability) \(token ?? "-")")
        }
    }

    @Test("exact values are off by default and never in the draft profile unasked")
    func offByDefault() {
        let presence = mapper.canonical(from: categories(StateDocument(type: .aggregateState, availability: 6900))).value
        #expect(mapper.pidf(from: presence).value.exact == nil)
        #expect(mapper.pidf(from: presence, profile: .rpidDraft).value.exact == nil)
        #expect(mapper.pidf(from: presence, lossless: true).value.exact?.availability == 6900)
        #expect(mapper.pidf(from: presence, lossless: true).losses.isEmpty)
    }

    @Test("exact values that contradict the document are reported and not believed")
    func contradiction() {
        let presence = mapper.canonical(from: categories(StateDocument(type: .aggregateState, availability: 9500))).value
        var document = mapper.pidf(from: presence, lossless: true).value
        document.tuples[0].basic = .closed
        let read = mapper.canonical(from: document).value
        #expect(read.availability == 18500)
        #expect(mapper.categories(from: read).losses.contains { $0.rowID == "FLD-exact" })
    }

    @Test("a document of the same format is written as it came, residue or not asked for")
    func residue() throws {
        let text = """
            <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:x="urn:example:x" entity="sip:a@example.org"><tuple id="a"><status>\
            <basic>open</basic></status><x:thing/></tuple></presence>
            """
        let document = try PIDFDocument.decode(Array(text.utf8))
        let presence = mapper.canonical(from: document).value
        #expect(mapper.pidf(from: presence).value == document)
        #expect(mapper.pidf(from: presence).losses.isEmpty)
        let bare = mapper.pidf(from: presence.withoutResidue()).value
        #expect(bare.tuples.first?.basic == .open)
        #expect(bare.tuples.first?.extensions.isEmpty == true)
    }

    @Test("round trips without exact values keep open, closed and the class that the table gives [R236]")
    func classSurvives() throws {
        for (availability, expected) in [
            (3500, 3500), (5000, 15500), (6500, 6500), (8000, 15500), (9500, 6500), (12500, 15500), (15500, 15500), (18500, 18500),
        ] as [(UInt32, UInt32)] {
            let legacy = LegacyInteropDocument(availability: availability)
            let pidf = mapper.pidf(from: mapper.canonical(from: legacy, entity: "sip:bob@contoso.com").value).value
            #expect(mapper.canonical(from: pidf).value.availability == expected, "\(availability)")
        }
    }

    @Test("tokens of a state reach a rpid watcher beside the table's activity, and come back")
    func tokens() {
        let cases: [(UInt32, String, [String], String?)] = [
            (6500, "in-a-meeting", ["busy", "meeting"], "in-a-meeting"), (8000, "on-the-phone", ["away", "on-the-phone"], "on-the-phone"),
            (9500, "in-presentation", ["busy", "presentation"], "in-presentation"), (15500, "out-of-office", ["away"], "out-of-office"),
            (15500, "off-work", ["away"], "off-work"), (6900, "urgent-interruptions-only", ["busy"], "urgent-interruptions-only"),
            (7000, "in-a-conference", ["busy", "meeting"], "in-a-conference"),
        ]
        for (availability, token, activities, back) in cases {
            var state = StateDocument(type: .aggregateState, availability: availability)
            state.activities = [StateActivity(token: ActivityToken(rawValue: token))]
            let document = mapper.pidf(from: mapper.canonical(from: categories(state)).value).value
            #expect(document.persons.first?.rpid.activities.first?.values.map(\.name) == activities, "\(token)")
            #expect(mapper.canonical(from: document).value.activity?.token == back, "\(token)")
        }
    }

    @Test("a token outside its range or its bounds is not said, and the report says so")
    func inapplicable() {
        var state = StateDocument(type: .aggregateState, availability: 3500)
        state.activities = [StateActivity(token: .onThePhone, minimumAvailability: .value(6500), maximumAvailability: .value(8999))]
        let result = mapper.pidf(from: mapper.canonical(from: categories(state)).value)
        #expect(result.value.persons.isEmpty)
        #expect(result.losses.contains { $0.rowID == "TOK-99" && $0.value == "on-the-phone" })
    }

    @Test("legacyInterop wins over the state for PIDF and msrtc.pidf")
    func legacyWins() {
        var document = categories(StateDocument(type: .aggregateState, availability: 9500))
        document.categories.append(
            CategoryElement(name: .legacyInterop, instance: 1, body: .legacyInterop(LegacyInteropDocument(availability: 3500))))
        let presence = mapper.canonical(from: document).value
        #expect(presence.availability == 9500)
        #expect(mapper.msrtcPIDF(from: presence).value.aggregateState?.availability == 3500)
        #expect(mapper.pidf(from: presence, profile: .rpidDraft).value.tuples.first?.rpid.activities.isEmpty == true)
    }

    @Test("MS-PRES 3.8.5.1.2.2 without an aggregate the greatest availability not older than the newest manual state counts")
    func computed() {
        func element(_ instance: UInt32, _ type: StateType, _ availability: UInt32, manual: Bool = false, _ time: String) -> CategoryElement
        {
            CategoryElement(
                name: .state, instance: instance, publishTime: DateTime(time),
                body: .state(StateDocument(type: type, availability: availability, manual: manual)))
        }
        let document = CategoriesDocument(
            uri: "sip:bob@contoso.com",
            categories: [
                element(1, .calendarState, 9500, "2026-05-04T07:00:00.000"),
                element(2, .userState, 6500, manual: true, "2026-05-04T08:00:00.000"),
                element(3, .phoneState, 6900, "2026-05-04T08:30:00.000"), element(4, .machineState, 15500, "2026-05-04T09:00:00.000"),
            ])
        #expect(mapper.canonical(from: document).value.availability == 6900)
    }
}
