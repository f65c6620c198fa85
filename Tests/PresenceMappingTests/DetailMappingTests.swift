import PresenceDocuments
import Testing

@testable import PresenceMapping

@Suite("Card, notes, place, time zone, languages, services") struct DetailMappingTests {
    let mapper = PresenceMapper()

    func categories(_ categories: [CategoryElement]) -> CategoriesDocument {
        CategoriesDocument(uri: "sip:bob@contoso.com", categories: categories)
    }

    func element(_ body: CategoryBody) -> CategoryElement {
        let name: CategoryName =
            switch body {
            case .note: .note
            case .contactCard: .contactCard
            case .services: .services
            case .calendarData: .calendarData
            case .state: .state
            case .legacyInterop: .legacyInterop
            default: .device
            }
        return CategoryElement(name: name, instance: 0, publishTime: DateTime("2026-05-04T09:00:00.000"), body: body)
    }

    @Test("MS-PRES 7.3 name, mail, phones, page and photo go to PIDF and come back")
    func card() throws {
        var card = ContactCardDocument()
        card.identities = [ContactIdentity(displayNames: [LocalizedText("Bob Reis")], emails: [ContactURI("bob@contoso.com")])]
        card.phones = [
            ContactPhone(type: .work, uri: ContactURI("tel:+351211234567")),
            ContactPhone(type: .mobile, uri: ContactURI("tel:+351911234567")),
            ContactPhone(type: .other, uri: ContactURI("tel:+351211234568")),
        ]
        card.webAddresses = [ContactWebAddress("https://www.contoso.com/bob", type: .other)]
        card.photos = [ContactPhoto(type: .default, uri: ContactURI("https://www.contoso.com/bob.png"))]
        let result = mapper.pidf(from: mapper.canonical(from: categories([element(.contactCard(card))])).value)
        #expect(result.losses.isEmpty)
        let document = try PIDFDocument.decode(result.value.encode())
        let back = mapper.categories(from: mapper.canonical(from: document).value).value
        #expect(back.categories.first { $0.name == .contactCard }?.body == .contactCard(card))
    }

    @Test("title, company, department, office and address are lost to PIDF by name")
    func cardLosses() {
        var card = ContactCardDocument()
        card.titles = [LocalizedText("Engineer")]
        card.companies = [LocalizedText("Contoso")]
        card.departments = [LocalizedText("Research")]
        card.offices = [LocalizedText("12/3")]
        card.addresses = [ContactAddress(type: .work, streets: [LocalizedText("Rua 1")], countryCode: "PT")]
        let result = mapper.pidf(from: mapper.canonical(from: categories([element(.contactCard(card))])).value)
        #expect(Set(result.losses.map(\.field)) == ["title", "company", "department", "office", "address"])
    }

    @Test("personal and out-of-office notes reach PIDF; their types do not")
    func notes() {
        let note = NoteDocument(bodies: [NoteBody("Deep in code"), NoteBody("Back on Monday", type: .outOfOffice)])
        let result = mapper.pidf(from: mapper.canonical(from: categories([element(.note(note))])).value)
        #expect(result.value.persons.first?.notes.map(\.text) == ["Deep in code", "Back on Monday"])
        #expect(result.losses.map(\.rowID) == ["FLD-oof"])
    }

    @Test("of several PIDF notes the person's is shown; language and further notes are reported")
    func pidfNotes() {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: .open)]
        document.tuples[0].notes = [PIDFNote("Chat is best")]
        document.notes = [PIDFNote("In Porto", language: "en")]
        var person = PIDFPerson(id: "p")
        person.notes = [PIDFNote("Em reunião", language: "pt"), PIDFNote("Em reunião", language: "pt")]
        document.persons = [person]
        let result = mapper.categories(from: mapper.canonical(from: document).value)
        let note = result.value.categories.first { $0.name == .note }?.body
        #expect(note == .note(NoteDocument(bodies: [NoteBody("Em reunião", uri: "")])))
        #expect(result.losses.filter { $0.rowID == "FLD-notes" }.map(\.value) == ["In Porto", "Chat is best"])
        #expect(result.losses.filter { $0.rowID == "FLD-notelang" }.map(\.value) == ["pt"])
    }

    @Test("every LCID has a tag, and the tag gives the LCID back")
    func languages() {
        var trace = MappingTrace()
        let rows = (mapper.tables.tables["languages"]?.rows ?? []).compactMap { $0.integer("lcid") }
        #expect(rows.count >= 100)
        for lcid in rows {
            let tag = mapper.compiled.languages.language(ofLCID: UInt32(lcid), &trace)
            #expect(mapper.compiled.languages.lcid(ofLanguage: tag, &trace) == UInt32(lcid), "\(lcid)")
        }
        #expect(trace.losses.isEmpty)
    }

    @Test(
        "a tag without region takes the usual locale, case does not count",
        arguments: [
            ("en", 1033), ("pt", 1046), ("de", 1031), ("es", 3082), ("zh", 2052), ("EN-gb", 2057), ("pt-AO", 1046), ("fr-XX", 1036),
        ] as [(String, UInt32)])
    func primaryLanguages(_ tag: String, _ lcid: UInt32) {
        var trace = MappingTrace()
        #expect(mapper.compiled.languages.lcid(ofLanguage: tag, &trace) == lcid)
    }

    @Test("a language that no row names is reported, its text travels")
    func unknownLanguage() {
        var trace = MappingTrace()
        #expect(mapper.compiled.languages.lcid(ofLanguage: "tlh", &trace) == nil)
        #expect(mapper.compiled.languages.language(ofLCID: 60000, &trace) == nil)
        #expect(trace.losses.map(\.value) == ["tlh", "60000"])
    }

    @Test("RFC 4480 3.6 every place of RFC 4589 has a location")
    func places() {
        for place in LocationType.registered {
            var document = PIDFDocument(entity: "sip:alice@example.org")
            document.tuples = [PIDFTuple(id: "t", basic: .open)]
            document.rpid.placeTypes = [RPIDList([place])]
            let result = mapper.canonical(from: document)
            #expect(result.value.location != nil, "\(place)")
            #expect(result.rowIDs.contains { $0.hasPrefix("PLC-") }, "\(place)")
        }
    }

    @Test(
        "locations of a state go to place-type and come back, free text included",
        arguments: ["office", "home", "mobile", "Hotel", "Porto office"])
    func locations(_ location: String) throws {
        var state = StateDocument(type: .aggregateState, availability: 3500)
        state.endpointLocation = location
        let result = mapper.pidf(from: mapper.canonical(from: categories([element(.state(state))])).value)
        let document = try PIDFDocument.decode(result.value.encode())
        #expect(mapper.canonical(from: document).value.location == location)
    }

    @Test("RFC 4480 3.11 the sphere tells the location where no place does")
    func sphere() {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: .open)]
        document.rpid.spheres = [RPIDList([.work])]
        #expect(mapper.canonical(from: document).value.location == "office")
    }

    @Test("MS-PRES 7.2 bias is UTC less local time, RPID time-offset the other way round")
    func timeZone() throws {
        var state = StateDocument(
            type: .aggregateState, availability: 3500, timeZoneBias: 420, timeZoneName: "Pacific Daylight Time", timeZoneAbbreviation: "PDT"
        )
        let result = mapper.pidf(from: mapper.canonical(from: categories([element(.state(state))])).value)
        #expect(result.losses.isEmpty)
        let offset = try #require(result.value.persons.first?.rpid.timeOffsets.first)
        #expect(offset.minutes == -420)
        #expect(offset.description == "Pacific Daylight Time")
        let document = try PIDFDocument.decode(result.value.encode())
        #expect(
            mapper.canonical(from: document).value.timeZone
                == CanonicalTimeZone(bias: 420, name: "Pacific Daylight Time", abbreviation: "PDT"))
        state.timeZoneBias = 999
        #expect(mapper.canonical(from: categories([element(.state(state))])).value.timeZone?.bias == 420)
    }

    @Test(
        "every zone of the table is named again by its own name",
        arguments: ["India Standard Time", "Nepal Standard Time", "Newfoundland Standard Time"])
    func zoneNames(_ name: String) throws {
        let row = try #require(mapper.compiled.zones.byName[name])
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: .open)]
        document.rpid.timeOffsets = [RPIDTimeOffset(minutes: -row.bias)]
        #expect(mapper.canonical(from: document).value.timeZone?.name == name)
    }

    @Test("RFC 5196 3.2 capabilities go both ways; what has no word is reported")
    func capabilities() throws {
        var list = CapabilityList(uri: "sip:bob@contoso.com")
        list.capabilities = ["text", "voice", "video", "applicationSharing", "gifInk"].map {
            Capability(CapabilityName(rawValue: $0), render: true, capture: true)
        }
        let services = ServicesDocument(services: [ServiceElement(uri: "sip:bob@contoso.com", capabilities: list)])
        let state = element(.state(StateDocument(type: .aggregateState, availability: 3500)))
        let result = mapper.pidf(from: mapper.canonical(from: categories([element(.services(services)), state])).value)
        #expect(result.losses.map(\.value) == ["gifInk"])
        let said = try #require(result.value.tuples.first?.capabilities)
        #expect([said.message, said.audio, said.video, said.application, said.text] == [true, true, true, true, nil])
        let back = mapper.canonical(from: result.value).value.capabilities?.map(\.name)
        #expect(back.map(Set.init) == ["text", "voice", "video", "applicationSharing"])
    }

    @Test("a watcher can talk to a SIMPLE user who says nothing of capabilities, and not to one who is closed")
    func services() {
        for (basic, count) in [(BasicStatus.open, 1), (.closed, 0)] {
            var document = PIDFDocument(entity: "sip:alice@example.org")
            document.tuples = [PIDFTuple(id: "t", basic: basic)]
            let categories = mapper.categories(from: mapper.canonical(from: document).value).value
            guard case .services(let services)? = categories.categories.first(where: { $0.name == .services })?.body else {
                Issue.record("no services")
                continue
            }
            #expect(services.services.count == count)
        }
    }

    @Test("a SIMPLE user's one service takes text, and its deviceAvailability is the class of the state [R304]")
    func textService() throws {
        for (activities, isIdle, availability) in [
            ([], false, 3500), ([], true, 5000), ([.busy], false, 6500), ([.away], false, 15500),
        ] as [([RPIDActivity], Bool, UInt32)] {
            var document = PIDFDocument(entity: "sip:alice@example.org")
            document.tuples = [PIDFTuple(id: "t", basic: .open)]
            var person = PIDFPerson(id: "p")
            if !activities.isEmpty { person.rpid.activities = [RPIDList(activities)] }
            if isIdle { person.rpid.userInputs = [RPIDUserInput(isIdle: true)] }
            document.persons = [person]
            let categories = mapper.categories(from: mapper.canonical(from: document).value).value
            guard case .services(let services)? = categories.categories.first(where: { $0.name == .services })?.body else {
                Issue.record("no services")
                continue
            }
            let service = try #require(services.services.first)
            #expect(services.services.count == 1 && service.uri == "sip:alice@example.org")
            #expect(
                service.capabilities?.capabilities == [
                    Capability(.text, render: true, capture: true, deviceAvailability: availability)
                ])
        }
    }

    @Test("a SIMPLE user's contact card is instance 0 and has the name and the mail address that its document has [R328]")
    func contactCard() throws {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: .open), PIDFTuple(id: "m", basic: nil)]
        document.tuples[1].contact = PIDFContact(uri: "mailto:alice@example.org")
        document.cipid.displayName = "Alice Adams"
        let categories = mapper.categories(from: mapper.canonical(from: document).value).value
        let card = try #require(categories.categories.first { $0.name == .contactCard })
        #expect(card.instance == 0)
        guard case .contactCard(let shown)? = card.body else {
            Issue.record("no contact card")
            return
        }
        #expect(shown.identities.first?.displayNames.map(\.text) == ["Alice Adams"])
        #expect(shown.identities.first?.emails.map(\.uri) == ["alice@example.org"])
    }

    @Test("MS-PRES 3.2.5.3 each category asked for has its instance or the empty marker")
    func requested() {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: .open)]
        let result = mapper.categories(
            from: mapper.canonical(from: document).value, requested: [.note, .state, "unheard-of"], at: DateTime("2026-05-04T09:00:00Z"))
        #expect(result.value.categories.map(\.name) == [.note, .state, "unheard-of"])
        #expect(result.value.categories.map(\.isEmptyMarker) == [true, false, true])
    }

    @Test("meeting subject and place go to the notes of activities and place, and come back")
    func meeting() throws {
        var state = StateDocument(type: .aggregateState, availability: 6500)
        state.activities = [StateActivity(token: .inAMeeting)]
        state.meetingSubject = LocalizedText("Planning")
        state.meetingLocation = LocalizedText("Room 5")
        let result = mapper.pidf(from: mapper.canonical(from: categories([element(.state(state))])).value)
        #expect(result.losses.isEmpty)
        let document = try PIDFDocument.decode(result.value.encode())
        let meeting = try #require(mapper.canonical(from: document).value.meeting)
        #expect(meeting.subject?.text == "Planning")
        #expect(meeting.location?.text == "Room 5")
    }

    @Test("lastActive and idle become user-input")
    func lastActive() {
        let state = StateDocument(type: .aggregateState, availability: 5000, lastActive: DateTime("2026-05-04T08:30:00"))
        let document = mapper.pidf(from: mapper.canonical(from: categories([element(.state(state))])).value).value
        let input = document.persons.first?.rpid.userInputs.first
        #expect(input?.isIdle == true)
        #expect(input?.lastInput?.text == "2026-05-04T08:30:00Z")
    }

    @Test("OMA willingness is closed for a user who is not to be disturbed")
    func willingness() {
        for (availability, expected) in [(3500, "open"), (6500, "open"), (9500, "closed"), (18500, "closed")] as [(UInt32, String)] {
            let presence = mapper.canonical(
                from: categories([element(.state(StateDocument(type: .aggregateState, availability: availability)))])
            ).value
            let text = mapper.pidf(from: presence, profile: .oma).value.encode()
            #expect(String(decoding: text, as: UTF8.self).contains("<op:basic>\(expected)</op:basic>"), "\(availability)")
        }
    }

    @Test("what only PIDF can say is reported field by field")
    func unmapped() {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: .open)]
        var person = PIDFPerson(id: "p")
        person.rpid.moods = [RPIDList([RPIDMood("happy")])]
        person.rpid.placeIs = [RPIDPlaceIs(audio: "noisy")]
        person.rpid.privacies = [RPIDPrivacy(audio: true)]
        person.rpid.statusIcons = [RPIDText("https://www.example.org/i.png")]
        person.rpid.classes = [RPIDText("work")]
        person.cipid.card = "https://www.example.org/card.vcf"
        document.persons = [person]
        let result = mapper.categories(from: mapper.canonical(from: document).value)
        #expect(Set(result.losses.map(\.field)) == ["mood", "place-is", "privacy", "status-icon", "class", "card"])
    }
}
