import PresenceDocuments
import Testing
import XMLCore

@Suite struct StateTests {
    @Test("MS-PRES 7.2 every part of an aggregateState is read")
    func aggregate() throws {
        let state = try StateDocument(MSRTCSamples.aggregateState)
        #expect(state.type == .aggregateState)
        #expect(state.manual == false)
        #expect(state.lastActive == DateTime("2026-03-02T08:15:30Z"))
        #expect(state.availability == 8400)
        #expect(state.activities.count == 2)
        #expect(state.activities.first?.token == .inAMeeting)
        #expect(state.activities.first?.minimumAvailability == .value(6500))
        #expect(state.activities.last?.maximumAvailability == .unbounded)
        #expect(state.activities.last?.custom.map(\.lcid) == [1031, 1033])
        #expect(state.endpointLocation == "office")
        #expect(state.meetingSubject?.text == "Budget & plans")
        #expect(state.meetingLocation?.text == "Room 7")
        #expect(state.timeZoneBias == -60)
        #expect(state.timeZoneAbbreviation == "CET")
        #expect(state.device == .computer)
        #expect(state.extensions.isEmpty)
        #expect(try state.again == state)
    }

    @Test("an xsi:type with several colons, which is no QName, is written as it was read")
    func typeWithColons() throws {
        let state = try StateDocument(MSRTCSamples.aggregateState.replacing("\"aggregateState\"", with: "\"a:09:00:00\""))
        #expect(state.type?.rawValue == "00")
        #expect(try state.again == state)
    }

    @Test(
        "MS-PRES 2.2.2.7.1 every xsi:type is read, with any prefix",
        arguments: [
            "userState", "machineState", "calendarState", "phoneState", "presentingState", "aggregateState", "aggregateMachineState",
            "futureState",
        ])
    func types(_ type: String) throws {
        let plain = try StateDocument(
            "<state xmlns='http://schemas.microsoft.com/2006/09/sip/state' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:type='\(type)'/>"
        )
        let prefixed = try StateDocument(
            "<s:state xmlns:s='http://schemas.microsoft.com/2006/09/sip/state' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='s:\(type)'><s:availability>3500</s:availability></s:state>"
        )
        #expect(plain.type?.rawValue == type)
        #expect(prefixed.type?.rawValue == type)
        #expect(prefixed.availability == 3500)
    }

    @Test(
        "MS-PRES 7.2 availability is an unsignedInt",
        arguments: ["-1", "99999999999", "3,5", "3.5", "", "0x10", "+5", "4294967296", "12 000"])
    func availability(_ value: String) {
        let error = refusal(
            StateDocument.self,
            "<state xmlns='http://schemas.microsoft.com/2006/09/sip/state'>\n <availability>\(value)</availability></state>")
        #expect(error?.code == .invalidValue)
        #expect(error?.message == "MS-PRES 7.2: availability is '\(value)', not a whole number from 0 to 4294967295")
        #expect(error?.position?.line == 2)
    }

    @Test("MS-PRES 7.2 white space around a number means nothing")
    func whitespace() throws {
        let state = try StateDocument(
            "<state xmlns='http://schemas.microsoft.com/2006/09/sip/state'><availability>\n 4294967295\t</availability></state>")
        #expect(state.availability == 4_294_967_295)
    }

    @Test(
        "MS-PRES 7.2 other wrong values are refused with their name",
        arguments: [
            ("manual='maybe'", "manual"), ("startTime='today'", "startTime"), ("lastActive='2026-13-01T00:00:00'", "lastActive"),
            ("majorVersion='-2'", "majorVersion"),
        ])
    func attributes(_ attribute: String, _ name: String) {
        let error = refusal(StateDocument.self, "<state xmlns='http://schemas.microsoft.com/2006/09/sip/state' \(attribute)/>")
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains("\(name) in 'state'") == true)
    }

    @Test("MS-PRES 7.1 elements of unknown generations come back in theirs")
    func generations() throws {
        let text = """
            <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
            xmlns:x="urn:example:x" xsi:type="machineState" x:mark="7"><availability>3500</availability>\
            <extension><mood>calm</mood></extension>\
            <delimiter xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/><device>mobile</device><shoe>left</shoe>\
            <delimiter xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/><treatLocationAsProximate>true</treatLocationAsProximate>\
            <delimiter xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/><hat>green</hat>\
            <end xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"/>\
            <extension xmlns="http://schemas.microsoft.com/2006/09/sip/commontypes"><x:any/></extension></state>
            """
        let state = try StateDocument(text)
        #expect(state.device == .mobile)
        #expect(state.treatLocationAsProximate == "true")
        #expect(state.stateExtension?.localName == "extension")
        #expect(state.extensions.generations.map { $0.map(\.localName) } == [["shoe"], [], ["hat"]])
        #expect(state.extensions.extension != nil)
        #expect(state.attributes.map(\.localName) == ["mark"])
        let written = state.text
        #expect(written.components("<delimiter") == 3)
        #expect(written.components("<end") == 1)
        let again = try StateDocument(written)
        #expect(again.extensions.generations.map { $0.map(\.localName) } == [["shoe"], [], ["hat"]])
        #expect(again.text == written)
    }

    @Test("MS-PRES 7.1 without later elements there is neither delimiter nor end")
    func noBlock() {
        let text = StateDocument(type: .userState, availability: 9500, manual: true).text
        #expect(
            text == """
                <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
                xsi:type="userState" manual="true"><availability>9500</availability></state>
                """)
    }

    @Test("MS-PRES 2.2.2.7.1 lastActive is written in whole seconds without zone, startTime as xs:dateTime")
    func times() {
        let moment = DateTime(nanosecondsSince1970: 1_772_439_330_117_000_000)
        let text = StateDocument(type: .aggregateState, startTime: moment, lastActive: moment).text
        #expect(text.contains("lastActive=\"2026-03-02T08:15:30\""))
        #expect(text.contains("startTime=\"2026-03-02T08:15:30.117Z\""))
    }

    @Test("MS-PRES 3.8.5.1.2.3 an activity holds within its bounds, 0 and unbounded by default")
    func bounds() {
        #expect(StateActivity(token: .offWork).isValid(at: 0))
        #expect(StateActivity(token: .offWork).isValid(at: 4_294_967_295))
        let activity = StateActivity(token: .inAMeeting, minimumAvailability: .value(6500), maximumAvailability: .value(8999))
        #expect(!activity.isValid(at: 6499))
        #expect(activity.isValid(at: 6500))
        #expect(activity.isValid(at: 8999))
        #expect(!activity.isValid(at: 9000))
        #expect(!StateActivity(minimumAvailability: .unbounded).isValid(at: 4_294_967_295))
    }
}

extension String {
    /// Number of occurrences of `part`.
    func components(_ part: String) -> Int {
        let text = Array(utf8)
        let wanted = Array(part.utf8)
        guard !wanted.isEmpty, text.count >= wanted.count else { return 0 }
        return (0...text.count - wanted.count).count { text[$0] == wanted[0] && text[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }
}
