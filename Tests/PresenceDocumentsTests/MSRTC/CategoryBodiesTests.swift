import PresenceDocuments
import Testing
import XMLCore

@Suite struct NoteTests {
    @Test("MS-PRES 4.2 bodies with type, source and validity")
    func read() throws {
        let note = try NoteDocument(MSRTCSamples.note)
        #expect(note.bodies.map(\.type) == [.personal, .outOfOffice])
        #expect(note.bodies.first?.text == "In the lab until four")
        #expect(note.bodies.first?.uri == "")
        #expect(note.bodies.last?.endTime == DateTime("2026-03-06T00:00:00Z"))
        #expect(try note.again == note)
    }

    @Test("MS-PRES 4.4.2 an empty note is a note without bodies")
    func empty() throws {
        #expect(try NoteDocument("<note xmlns='http://schemas.microsoft.com/2006/09/sip/note'/>").bodies.isEmpty)
    }

    @Test("text that needs escaping survives")
    func escaping() throws {
        let note = NoteDocument(bodies: [NoteBody("a < b & \"c\"\r\n]]>")])
        #expect(try note.again.bodies.first?.text == "a < b & \"c\"\r\n]]>")
    }
}

@Suite struct ContactCardTests {
    @Test("MS-PRES 7.3 every part of a card is read and written again")
    func read() throws {
        let card = try ContactCardDocument(MSRTCSamples.contactCard)
        #expect(card.identities.displayName == "Bob Baker")
        #expect(card.identities.email == "bob@contoso.com")
        #expect(card.identities.first?.displayNames.first?.lcid == 1033)
        #expect(card.addresses.first?.type == .work)
        #expect(card.addresses.first?.cities.first?.text == "Springfield")
        #expect(card.addresses.first?.countryCode == "US")
        #expect(card.companies.first?.text == "Contoso")
        #expect(card.departments.first?.text == "Research")
        #expect(card.titles.first?.text == "Engineer")
        #expect(card.offices.first?.text == "7/110")
        #expect(card.webAddresses.first?.type == .sharepoint)
        #expect(card.phones.map(\.type) == [.work, .mobile])
        #expect(card.phones.first?.uri?.uri == "tel:+15550100")
        #expect(card.phones.first?.displayStrings.first?.text == "+1 (555) 0100")
        #expect(card.automaton == false)
        #expect(card.presentityType == .person)
        #expect(card.presentityDescription == "Keeps the lab running")
        #expect(card.displayADPhoto == false)
        #expect(card.photos.first?.hash == "0a1b2c")
        #expect(card.isUCEnabled == true)
        #expect(card.extensions.isEmpty)
        #expect(try card.again == card)
    }

    @Test("MS-PRES 7.1 a photo is written behind the second delimiter")
    func generations() {
        let text = ContactCardDocument(photos: [ContactPhoto(type: .other, hash: "00")]).text
        #expect(text.components("<delimiter") == 2)
        #expect(text.components("<end") == 1)
    }

    @Test("MS-PRES 7.3 a card without anything has neither name nor mail")
    func empty() throws {
        let card = try ContactCardDocument(
            "<contactCard xmlns='http://schemas.microsoft.com/2006/09/sip/contactcard'><identity/></contactCard>")
        #expect(card.identities.displayName == nil && card.identities.email == nil)
        #expect(card.identities.count == 1)
    }
}

@Suite struct ServicesTests {
    @Test("MS-PRES 7.5 capabilities, unknown ones included")
    func read() throws {
        let services = try ServicesDocument(MSRTCSamples.services)
        let list = try #require(services.services.first?.capabilities)
        #expect(list.uri == "sip:bob@contoso.com")
        #expect(list.capabilities.map(\.name) == [.text, .voice, "holograms"])
        #expect(list.capabilities.first?.render == true)
        #expect(list.capabilities.first?.deviceAvailability == 3500)
        #expect(try services.again == services)
    }

    @Test("MS-PRES 4.4.2 an empty services element is read")
    func empty() throws {
        #expect(try ServicesDocument("<services xmlns='http://schemas.microsoft.com/2006/09/sip/service'> </services>").services.isEmpty)
    }
}

@Suite struct DeviceTests {
    @Test("MS-PRES 7.4 a device is read and written again")
    func read() throws {
        let device = try DeviceDocument(MSRTCSamples.device)
        #expect(device.endpointID == "6B29FC40-CA47-1067-B31D-00DD010662DA")
        #expect(device.machineName == "BOB-LAB")
        #expect(device.capabilities.first?.capabilities.map(\.name) == [.text])
        #expect(try device.again == device)
    }

    @Test("MS-PRES 7.4 endpointId is required")
    func required() {
        #expect(refusal(DeviceDocument.self, "<device xmlns='http://schemas.microsoft.com/2006/09/sip/device'/>")?.code == .missing)
    }
}

@Suite struct CalendarDataTests {
    @Test("MS-PRES 7.8 free/busy slots are decoded from base64 [R375]")
    func freeBusy() throws {
        let data = try CalendarDataDocument(MSRTCSamples.freeBusy)
        #expect(data.mailboxID == "bob@contoso.com")
        #expect(data.freeBusy?.startTime == DateTime("2026-03-02T00:00:00Z"))
        #expect(data.freeBusy?.granularity == "PT15M")
        #expect(data.freeBusy?.slots == [0x00, 0xA8, 0x56, 0xFD, 0x03])
        #expect(data.text == MSRTCSamples.freeBusy)
    }

    @Test("RFC 4648 4 every length of slots survives", arguments: 0..<8)
    func base64(_ count: Int) throws {
        let slots = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 91 + 7) }
        let data = CalendarDataDocument(
            mailboxID: "bob@contoso.com", content: .freeBusy(FreeBusy(startTime: DateTime(nanosecondsSince1970: 0), slots: slots)))
        #expect(try data.again.freeBusy?.slots == slots)
    }

    @Test("MS-PRES 7.8 what is not base64 is refused", arguments: ["A", "AA=A", "A*==", "äääö"])
    func notBase64(_ text: String) {
        let error = refusal(
            CalendarDataDocument.self,
            "<calendarData xmlns='http://schemas.microsoft.com/2006/09/sip/calendarData'><freeBusy startTime='2026-03-02T00:00:00Z' granularity='PT15M' encodingVersion='1'>\(text)</freeBusy></calendarData>"
        )
        #expect(error?.message == "MS-PRES 7.8: freeBusy is '\(text)', not base64")
    }

    @Test("MS-PRES 7.8 working hours are read and written again")
    func workingHours() throws {
        let data = try CalendarDataDocument(MSRTCSamples.workingHours)
        let hours = try #require(data.workingHours)
        #expect(hours.bias == -60)
        #expect(hours.standardTime?.month == 10)
        #expect(hours.daylightTime?.bias == -60)
        #expect(hours.periods.first?.daysOfWeek == ["Monday", "Tuesday", "Friday"])
        #expect(hours.periods.first?.endTimeInMinutes == 1020)
        #expect(try data.again == data)
    }

    @Test("MS-PRES 2.2.2.7.8 a document has working hours or free/busy, the first of them; neither they nor mailboxID must be there [R370]")
    func oneContent() throws {
        let freeBusy =
            "<freeBusy xmlns='http://schemas.microsoft.com/2006/09/sip/calendarData' startTime='2026-03-02T00:00:00Z' granularity='PT15M' encodingVersion='1'>AKhW</freeBusy>"
        let both = try CalendarDataDocument(MSRTCSamples.workingHours.replacing("</calendarData>", with: freeBusy + "</calendarData>"))
        #expect(both.workingHours != nil && both.freeBusy == nil)
        let one = try CalendarDataDocument(
            "<calendarData xmlns='http://schemas.microsoft.com/2006/09/sip/calendarData'>\(freeBusy)</calendarData>")
        #expect(one.workingHours == nil && one.freeBusy?.slots == [0x00, 0xA8, 0x56] && one.mailboxID == nil)
        let none = try CalendarDataDocument("<calendarData xmlns='http://schemas.microsoft.com/2006/09/sip/calendarData'/>")
        #expect(none.content == nil)
    }

    @Test("MS-PRES 7.8 a number out of range is refused")
    func range() {
        let error = refusal(
            CalendarDataDocument.self, MSRTCSamples.workingHours.replacing("<Month>10</Month>", with: "<Month>70000</Month>"))
        #expect(error?.code == .invalidValue)
    }
}

@Suite struct LegacyInteropTests {
    @Test("MS-PRES 7.7 number, token and dndState")
    func read() throws {
        let interop = try LegacyInteropDocument(MSRTCSamples.legacyInterop)
        #expect(interop == LegacyInteropDocument(availability: 6500, token: .onThePhone, dndState: false))
        #expect(interop.text == MSRTCSamples.legacyInterop)
    }

    @Test("MS-PRES 7.7 availability is an unsignedInt", arguments: ["-1", "99999999999", "3,5"])
    func refused(_ value: String) {
        let error = refusal(
            LegacyInteropDocument.self,
            "<legacyInterop xmlns='http://schemas.microsoft.com/2006/09/sip/categories' availability='\(value)'/>")
        #expect(error?.message == "MS-PRES 7.7: availability in 'legacyInterop' is '\(value)', not a whole number from 0 to 4294967295")
    }
}

@Suite struct MSRTCPIDFTests {
    @Test("MS-PRES 2.2.2.9 every part of a presentity document is read")
    func read() throws {
        let document = try MSRTCPIDFDocument(MSRTCSamples.presentity)
        #expect(document.uri == "bob@contoso.com")
        #expect(document.availability == AggregateNumber(300, description: "online", epid: "01f0a3"))
        #expect(document.activity?.note == "busy with tests")
        #expect(document.displayName == "Bob Baker")
        #expect(document.email == "bob@contoso.com")
        #expect(document.phoneNumber == PresentityPhoneNumber("+1 (555) 0100", label: "work"))
        #expect(document.userInfo?.localName == "userInfo")
        #expect(document.devices.first?.ageOfPresence == 12)
        #expect(document.devices.first?.deviceName == "BOB-LAB")
        #expect(document.devices.first?.extensions.map(\.localName) == ["devicedata"])
        #expect(document.aggregateState == AggregateUserState(availability: 6500, token: "busy"))
        let again = try document.again
        #expect(again.text == document.text)
        #expect(again.aggregateState == document.aggregateState && again.devices.count == 1)
    }

    @Test("MS-PRES 9 the elements are written in their order, aggregate last")
    func order() {
        let text = MSRTCPIDFDocument(
            uri: "bob@contoso.com", availability: AggregateNumber(300), activity: AggregateNumber(400), displayName: "Bob",
            email: "bob@contoso.com", phoneNumber: PresentityPhoneNumber("+15550100"),
            aggregateState: AggregateUserState(availability: 3500, token: "online")
        ).text
        #expect(
            text == """
                <presentity xmlns="http://schemas.microsoft.com/2002/09/sip/presence" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
                uri="bob@contoso.com"><availability aggregate="300"/><activity aggregate="400"/><displayName displayName="Bob"/>\
                <email email="bob@contoso.com"/><phoneNumber number="+15550100"/><aggregate><states>\
                <state avail="3500" xsi:type="userState">online</state></states></aggregate></presentity>
                """)
    }

    @Test("MS-PRES 2.2.2.9 readers do not depend on order")
    func anyOrder() throws {
        let document = try MSRTCPIDFDocument(
            "<presentity xmlns='http://schemas.microsoft.com/2002/09/sip/presence' uri='bob@contoso.com'><aggregate><states><state avail='18500'>offline</state></states></aggregate><activity aggregate='100'/><availability aggregate='0'/></presentity>"
        )
        #expect(document.availability?.aggregate == 0 && document.activity?.aggregate == 100)
        #expect(document.aggregateState?.token == "offline")
    }

    @Test("MS-PRES 2.2.2.9 a presentity without uri is refused")
    func uri() {
        #expect(
            refusal(MSRTCPIDFDocument.self, "<presentity xmlns='http://schemas.microsoft.com/2002/09/sip/presence'/>")?.message
                == "MS-PRES 2.2.2.9: presentity without uri")
    }
}
