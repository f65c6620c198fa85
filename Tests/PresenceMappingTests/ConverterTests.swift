import PresenceDocuments
import Testing

@testable import PresenceMapping

@Suite("Converter") struct ConverterTests {
    static let entity = "sip:bob@contoso.com"

    func legacy(_ availability: Int, _ token: String?) -> [UInt8] {
        let attribute = token.map { " token=\"\($0)\"" } ?? ""
        return Array(
            "<legacyInterop xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" availability=\"\(availability)\"\(attribute)/>"
                .utf8)
    }

    @Test("MS-PRES 3.7.5.4 every availability with every token becomes PIDF by the table", arguments: NormativeTableTests.tokens)
    func everyAvailability(_ token: String?) throws {
        let mapper = PresenceMapper()
        for availability in 0...20000 {
            let legacy = LegacyInteropDocument(availability: UInt32(availability), token: token.map { ActivityToken(rawValue: $0) })
            let document = mapper.pidf(from: mapper.canonical(from: legacy, entity: Self.entity).value).value
            check(document, availability, token)
        }
    }

    @Test("MS-PRES 3.7.5.5 every availability with every token becomes msrtc.pidf by the table", arguments: NormativeTableTests.tokens)
    func everyAvailabilityToMSRTC(_ token: String?) throws {
        let mapper = PresenceMapper()
        for availability in 0...20000 {
            let legacy = LegacyInteropDocument(availability: UInt32(availability), token: token.map { ActivityToken(rawValue: $0) })
            let document = mapper.msrtcPIDF(from: mapper.canonical(from: legacy, entity: Self.entity).value).value
            check(document, availability, token)
        }
    }

    static let edges = [
        0, 1, 2999, 3000, 3001, 4499, 4500, 5999, 6000, 7499, 7500, 8999, 9000, 11999, 12000, 14999, 15000, 17999, 18000, 20000,
        4_294_967_295,
    ]

    @Test("both tables hold from bytes to bytes at every edge", arguments: NormativeTableTests.tokens)
    func edges(_ token: String?) throws {
        let converter = Converter()
        let options = ConversionOptions(entity: Self.entity)
        for availability in Self.edges {
            let pidf = try converter.convert(legacy(availability, token), from: .legacyInterop, to: .pidf, options: options)
            check(try PIDFDocument.decode(pidf.bytes), availability, token)
            let msrtc = try converter.convert(legacy(availability, token), from: .legacyInterop, to: .msrtc, options: options)
            check(try MSRTCPIDFDocument(parsing: msrtc.bytes), availability, token)
        }
    }

    private func check(_ document: PIDFDocument, _ availability: Int, _ token: String?) {
        let expected = NormativeTableTests.pidf(availability, token)
        let activities = document.persons.flatMap(\.rpid.activities)
        // Before the one of the table another, for clients that do not know it (profile rpid).
        let written = expected.activity.map { $0 == "on-the-phone" ? ["busy", $0] : [$0] } ?? []
        if document.tuples.map(\.basic) != [expected.isOpen ? .open : .closed]
            || activities.flatMap(\.values).map(\.name) != written
            || !activities.flatMap(\.others).isEmpty
        {
            Issue.record("\(availability) \(token ?? "-"): \(document)")
        }
    }

    private func check(_ document: MSRTCPIDFDocument, _ availability: Int, _ token: String?) {
        let numbers = [document.aggregateState?.availability, document.availability?.aggregate, document.activity?.aggregate]
        if numbers.map({ $0.map(Int.init) }) != NormativeTableTests.msrtc(availability, token)
            || (token != nil && document.aggregateState?.token != token)
        {
            Issue.record("\(availability) \(token ?? "-"): \(document)")
        }
    }

    @Test("MS-PRES 3.7.5.5 without a token the state names its class")
    func stateText() throws {
        let converter = Converter()
        let expected = [
            (0, "offline"), (3500, "online"), (5000, "away"), (6500, "busy"), (8000, "away"), (9500, "do-not-disturb"),
            (12500, "be-right-back"), (15500, "away"), (18500, "offline"),
        ]
        for (availability, text) in expected {
            let result = try converter.convert(
                legacy(availability, nil), from: .legacyInterop, to: .msrtc, options: ConversionOptions(entity: Self.entity))
            #expect(try MSRTCPIDFDocument(parsing: result.bytes).aggregateState?.token == text)
        }
    }

    @Test("a loss names row, field, value and reason")
    func loss() throws {
        let result = try Converter().convert(
            legacy(8000, nil), from: .legacyInterop, to: .pidf, options: ConversionOptions(entity: Self.entity))
        #expect(
            result.report.losses == [
                MappingLoss(rowID: "A2P-06", field: "availability", value: "8000", reason: "busy while idle is written away")
            ])
        #expect(result.report.text.contains("lost availability \"8000\": busy while idle is written away [A2P-06]"))
        #expect(result.report.json.hasPrefix("{\"from\":\"legacy-interop\",\"to\":\"pidf\",\"losses\":[{\"row\":\"A2P-06\""))
    }

    @Test("a legacyInterop without an entity is refused with the rule")
    func entityMissing() {
        let error = #expect(throws: ConversionError.self) {
            try Converter().convert(legacy(3500, nil), from: .legacyInterop, to: .pidf)
        }
        #expect(error?.code == "missing-option")
        #expect(error?.message.contains("MS-PRES 2.2.2.7.6") == true)
    }

    @Test("numbers that are no availability are refused", arguments: ["-1", "99999999999", "3,5", "", "0x1", "NaN"])
    func badAvailability(_ text: String) {
        let document =
            "<legacyInterop xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\"\n availability=\"\(text)\"/>"
        let error = #expect(throws: ConversionError.self) {
            try Converter().convert(
                Array(document.utf8), from: .legacyInterop, to: .pidf, options: ConversionOptions(entity: Self.entity))
        }
        #expect(error?.message.contains("availability") == true)
        #expect((error?.line ?? 0) >= 1)
    }
}
