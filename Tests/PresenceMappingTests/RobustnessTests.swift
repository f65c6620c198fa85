import PresenceDocuments
import Testing

@testable import PresenceMapping

@Suite("Documents of strangers") struct RobustnessTests {
    static let pidf = """
        <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" \
        xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" xmlns:ts="urn:ietf:params:xml:ns:pidf:timed-status" entity="sip:a@example.org">\
        <tuple id="a"><status><basic>open</basic></status><ts:timed-status from="2026-05-04T10:00:00Z" until="2026-05-04T11:00:00Z">\
        <ts:basic>closed</ts:basic></ts:timed-status><contact priority="0.8">tel:+1</contact></tuple><dm:person id="p"><rpid:activities \
        from="2026-05-04T10:00:00Z"><rpid:busy/><rpid:other>x</rpid:other></rpid:activities><rpid:time-offset>-60</rpid:time-offset>\
        <rpid:user-input last-input="2026-05-04T10:00:00Z">idle</rpid:user-input></dm:person></presence>
        """
    static let categories = """
        <categories xmlns="http://schemas.microsoft.com/2006/09/sip/categories" uri="sip:b@contoso.com"><category name="state" instance="1" \
        publishTime="2026-05-04T09:00:00.000"><state xmlns="http://schemas.microsoft.com/2006/09/sip/state" \
        xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="aggregateState"><availability>6900</availability><activity \
        token="on-the-phone" minAvailability="6500" maxAvailability="8999"/></state></category><category name="calendarData" \
        instance="1073741824"><calendarData xmlns="http://schemas.microsoft.com/2006/09/sip/calendarData" mailboxID="b@contoso.com">\
        <freeBusy startTime="2026-05-04T08:00:00Z" granularity="PT15M" encodingVersion="1">AKhW/QM=</freeBusy></calendarData></category>\
        </categories>
        """

    @Test("every truncation and many mutations give a document or a refusal with a place, to every format")
    func mutations() {
        let converter = Converter()
        var seed: UInt64 = 1
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % UInt64(bound))
        }
        var refused = 0
        for (source, text) in [(PresenceFormat.pidf, Self.pidf), (.categories, Self.categories)] {
            let bytes = Array(text.utf8)
            var inputs = stride(from: 0, to: bytes.count, by: 7).map { Array(bytes[..<$0]) }
            for _ in 0..<400 {
                var copy = bytes
                // Digits and letters mostly, so that many stay well-formed.
                copy[random(copy.count)] = [0x39, 0x30, 0x2D, 0x61, 0x5A, 0x20, 0x3C, 0xFF][random(8)]
                inputs.append(copy)
            }
            for (index, input) in inputs.enumerated() {
                let target = PresenceFormat.all[index % PresenceFormat.all.count]
                do throws(ConversionError) {
                    let result = try converter.convert(
                        input, from: source, to: target, options: ConversionOptions(lossless: index % 2 == 0))
                    #expect(!result.bytes.isEmpty)
                } catch {
                    refused += 1
                    #expect(error.line >= 1 && !error.message.isEmpty)
                }
            }
        }
        #expect(refused > 100)
    }

    @Test("the numbers at the ends of what the schema allows convert")
    func extremes() throws {
        for availability in [0, 1, UInt32.max - 1, UInt32.max] {
            let mapper = PresenceMapper()
            var state = StateDocument(type: .aggregateState, availability: availability)
            state.activities = [StateActivity(token: "x", minimumAvailability: .unbounded, maximumAvailability: .value(0))]
            let document = CategoriesDocument(uri: "sip:b@contoso.com", categories: [CategoryElement(name: .state, body: .state(state))])
            let presence = mapper.canonical(from: document).value
            #expect(mapper.pidf(from: presence, lossless: true).value.exact?.availability == availability)
            #expect(mapper.categories(from: presence.withoutResidue()).value.categories.count >= 1)
        }
    }
}
