import PresenceDocuments
import SimplePresence
import Testing

@Suite struct PublicationComposerTests {
    let start = DateTime(nanosecondsSince1970: 1_795_342_380_000_000_000)
    func later(_ seconds: Int64) -> DateTime { DateTime(nanosecondsSince1970: start.nanosecondsSince1970 + seconds * 1_000_000_000) }

    func document(tuple: String, contact: String? = nil, basic: BasicStatus = .open) -> PIDFDocument {
        var document = PIDFDocument(entity: "pres:someone-else@example.com")
        var one = PIDFTuple(id: tuple, basic: basic)
        one.contact = contact.map { PIDFContact(uri: $0) }
        document.tuples = [one]
        return document
    }

    func person(_ id: String, _ change: (inout PIDFPerson) -> Void) -> PIDFDocument {
        var document = PIDFDocument(entity: "sip:alice@example.com")
        var person = PIDFPerson(id: id)
        change(&person)
        document.persons = [person]
        return document
    }

    @Test("RFC 3903 4.5 the composition carries the presentity's own URI and every tuple")
    func tuples() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com")
        try composer.publish(document(tuple: "a"), tag: "1", until: later(60), at: start)
        try composer.publish(document(tuple: "b", basic: .closed), tag: "2", until: later(90), at: start)
        #expect(composer.document.entity == "sip:alice@example.com")
        #expect(composer.document.tuples.map(\.id) == ["a", "b"])
        #expect(composer.nextExpiry == later(60))
    }

    @Test("colliding ids are renamed, and stay as they are while the publication lives")
    func collisions() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com")
        try composer.publish(document(tuple: "t", contact: "sip:one@example.com"), tag: "1", until: later(60), at: start)
        try composer.publish(document(tuple: "t", contact: "sip:two@example.com"), tag: "2", until: later(60), at: start)
        try composer.publish(person("t") { $0.notes = [PIDFNote("n")] }, tag: "3", until: later(60), at: start)
        #expect(composer.document.tuples.map(\.id) == ["t", "t-2"] && composer.document.persons.map(\.id) == ["t-3"])
        try composer.remove("1")
        #expect(composer.document.tuples.map(\.id) == ["t-2"])
        try composer.publish(document(tuple: "t", contact: "sip:two@example.com"), tag: "4", replacing: "2", until: later(60), at: start)
        #expect(composer.document.tuples.map(\.id) == ["t-2"])
    }

    @Test("two reports with one id and one contact are one service, and the newer counts")
    func sameService() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com")
        try composer.publish(document(tuple: "t", contact: "sip:one@example.com"), tag: "1", until: later(60), at: start)
        try composer.publish(
            document(tuple: "t", contact: "sip:one@example.com", basic: .closed), tag: "2", until: later(60), at: later(1))
        #expect(composer.document.tuples.map(\.basic) == [.closed])
        try composer.remove("2")
        #expect(composer.document.tuples.map(\.basic) == [.open])
    }

    @Test("RFC 4479 5 persons become one, element by element from the newest that has it")
    func persons() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com")
        let phone = person("p") {
            $0.rpid.activities = [RPIDList([.onThePhone])]
            $0.cipid.displayName = "Alice"
        }
        let calendar = person("p") {
            $0.rpid.activities = [RPIDList([.meeting])]
            $0.rpid.placeTypes = [RPIDList([.office])]
        }
        try composer.publish(phone, tag: "1", until: later(60), at: start)
        try composer.publish(calendar, tag: "2", until: later(60), at: later(1))
        let merged = try #require(composer.document.persons.first)
        #expect(composer.document.persons.count == 1)
        #expect(merged.rpid.activities == [RPIDList([.meeting])] && merged.rpid.placeTypes == [RPIDList([.office])])
        #expect(merged.cipid.displayName == "Alice")
        try composer.remove("2")
        #expect(composer.document.persons.first?.rpid.activities == [RPIDList([.onThePhone])])
        #expect(composer.document.persons.first?.rpid.placeTypes.isEmpty == true)
    }

    @Test("a person's own timestamp counts before the moment it arrived")
    func timestamps() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com")
        let fresh = person("a") {
            $0.rpid.activities = [RPIDList([.busy])]
            $0.timestamp = later(100)
        }
        let stale = person("b") {
            $0.rpid.activities = [RPIDList([.away])]
            $0.timestamp = later(50)
        }
        try composer.publish(fresh, tag: "1", until: later(600), at: later(101))
        try composer.publish(stale, tag: "2", until: later(600), at: later(102))
        #expect(composer.document.persons.first?.rpid.activities == [RPIDList([.busy])])
    }

    @Test("persons of different classes stay apart, reports on one device do not")
    func classesAndDevices() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com")
        try composer.publish(person("a") { $0.rpid.classes = [RPIDText("work")] }, tag: "1", until: later(60), at: start)
        try composer.publish(person("b") { $0.rpid.classes = [RPIDText("home")] }, tag: "2", until: later(60), at: start)
        #expect(composer.document.persons.count == 2)
        for (tag, idle) in [("3", true), ("4", false)] {
            var report = PIDFDocument(entity: "sip:alice@example.com")
            var device = PIDFDevice(id: "d\(tag)", deviceID: "urn:uuid:00000000-0000-0000-0000-000000000001")
            device.rpid.userInputs = [RPIDUserInput(isIdle: idle)]
            report.devices = [device]
            try composer.publish(report, tag: tag, until: later(60), at: start)
        }
        #expect(composer.document.devices.map(\.id) == ["d4"])
        #expect(composer.document.devices.first?.rpid.userInputs.first?.isIdle == false)
    }

    @Test("RFC 3903 4.2 a refresh changes the tag and the expiry, not the document")
    func refresh() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com")
        try composer.publish(document(tuple: "a"), tag: "1", until: later(60), at: start)
        let before = composer.document
        try composer.refresh("1", tag: "2", until: later(120))
        #expect(composer.document == before && composer.tags == ["2"] && composer.nextExpiry == later(120))
        let early = composer.expire(at: later(119))
        let due = composer.expire(at: later(120))
        #expect(!early && due)
        #expect(composer.isEmpty && composer.document.tuples.isEmpty && composer.nextExpiry == nil)
    }

    @Test("RFC 3903 6 an unknown entity-tag is refused and changes nothing")
    func unknownTag() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com", limits: CompositionLimits(publications: 1))
        try composer.publish(document(tuple: "a"), tag: "1", until: later(60), at: start)
        var copy = composer
        #expect(throws: CompositionError.self) { try copy.remove("9") }
        #expect(throws: CompositionError.self) { try copy.refresh("9", tag: "2", until: later(60)) }
        #expect(throws: CompositionError.self) {
            try copy.publish(document(tuple: "a"), tag: "2", replacing: "9", until: later(60), at: start)
        }
        #expect(throws: CompositionError.self) { try copy.publish(document(tuple: "b"), tag: "2", until: later(60), at: start) }
        #expect(throws: CompositionError.self) { try copy.publish(document(tuple: "b"), tag: "1", until: later(60), at: start) }
        #expect(copy == composer)
    }

    @Test("the composition is a document that can be written and read")
    func writable() throws {
        var composer = PublicationComposer(entity: "sip:alice@example.com")
        try composer.publish(document(tuple: "t", contact: "sip:one@example.com"), tag: "1", until: later(60), at: start)
        try composer.publish(document(tuple: "t"), tag: "2", until: later(60), at: start)
        try composer.publish(person("t") { $0.rpid.moods = [RPIDList([RPIDMood("happy")])] }, tag: "3", until: later(60), at: start)
        #expect(try PIDFDocument.decode(composer.document.encode()) == composer.document)
    }

    @Test("taking away any one publication gives what the others alone compose")
    func restore() throws {
        let parts = [
            document(tuple: "a", contact: "sip:one@example.com"), document(tuple: "b"),
            person("p") { $0.rpid.activities = [RPIDList([.busy])] }, person("q") { $0.rpid.activities = [RPIDList([.away])] },
        ]
        for gone in parts.indices {
            var all = PublicationComposer(entity: "sip:alice@example.com")
            var others = PublicationComposer(entity: "sip:alice@example.com")
            for (index, part) in parts.enumerated() {
                try all.publish(part, tag: "\(index)", until: later(60), at: later(Int64(index)))
                if index != gone { try others.publish(part, tag: "\(index)", until: later(60), at: later(Int64(index))) }
            }
            try all.remove("\(gone)")
            #expect(all.document == others.document)
        }
    }
}
