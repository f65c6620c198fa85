import PresenceDocuments
import Testing
import XMLCore

@Suite struct RPIDTests {
    func person(_ inside: String) throws -> PIDFPerson {
        let text = """
            <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" xmlns:r="urn:ietf:params:xml:ns:pidf:rpid" \
            xmlns:lt="urn:ietf:params:xml:ns:location-type" entity="sip:a@example.com"><dm:person id="p">\(inside)</dm:person></presence>
            """
        return try #require(try PIDFDocument.decode(Array(text.utf8)).persons.first)
    }

    /// Person that results from writing and reading one.
    func again(_ rpid: RPID) throws -> RPID {
        var document = PIDFDocument(entity: "sip:a@example.com")
        var person = PIDFPerson(id: "p")
        person.rpid = rpid
        document.persons = [person]
        return try #require(try PIDFDocument.decode(document.encode()).persons.first).rpid
    }

    @Test("RFC 4480 3.2 every activity is read and written", arguments: RPIDActivity.registered)
    func activity(_ activity: RPIDActivity) throws {
        let person = try person("<r:activities><r:\(activity.name)/></r:activities>")
        #expect(person.rpid.activities == [RPIDList([activity])])
        #expect(try again(person.rpid) == person.rpid)
    }

    @Test("RFC 4480 3.5 every mood is read and written", arguments: RPIDMood.registered)
    func mood(_ mood: RPIDMood) throws {
        let person = try person("<r:mood><r:\(mood.name)/></r:mood>")
        #expect(person.rpid.moods == [RPIDList([mood])])
        #expect(try again(person.rpid) == person.rpid)
    }

    @Test("RFC 4589 every location type is read and written", arguments: LocationType.registered)
    func placeType(_ type: LocationType) throws {
        let person = try person("<r:place-type><lt:\(type.name)/></r:place-type>")
        #expect(person.rpid.placeTypes == [RPIDList([type])])
        #expect(try again(person.rpid) == person.rpid)
    }

    @Test("the lists have the lengths of the standards")
    func lengths() {
        #expect(RPIDActivity.registered.count == 25 && RPIDMood.registered.count == 60 && LocationType.registered.count == 43)
        #expect(
            Set(RPIDActivity.registered).count == 25 && Set(RPIDMood.registered).count == 60 && Set(LocationType.registered).count == 43)
    }

    @Test("RFC 4480 3.6 place-is")
    func placeIs() throws {
        for (audio, video, text) in [
            ("noisy", "toobright", "uncomfortable"), ("ok", "ok", "inappropriate"), ("quiet", "dark", "ok"),
            ("unknown", "unknown", "unknown"),
        ] {
            let person = try person(
                "<r:place-is><r:audio><r:\(audio)/></r:audio><r:video><r:\(video)/></r:video><r:text><r:\(text)/></r:text></r:place-is>")
            #expect(person.rpid.placeIs == [RPIDPlaceIs(audio: audio, video: video, text: text)])
            #expect(try again(person.rpid) == person.rpid)
        }
    }

    @Test("RFC 4480 3.8 privacy")
    func privacy() throws {
        #expect(try person("<r:privacy><r:unknown/></r:privacy>").rpid.privacies == [RPIDPrivacy(unknown: true)])
        let person = try person("<r:privacy><r:audio/><r:text/><r:video/></r:privacy>")
        #expect(person.rpid.privacies == [RPIDPrivacy(audio: true, text: true, video: true)])
        #expect(try again(person.rpid) == person.rpid)
    }

    @Test("RFC 4480 3.9 and 3.10 relationship and service-class")
    func tupleLists() throws {
        var rpid = RPID()
        rpid.relationships = RPIDRelationship.registered.map { RPIDList([$0]) }
        rpid.serviceClasses = RPIDServiceClass.registered.map { RPIDList([$0]) }
        rpid.relationships.append(RPIDList(others: [PIDFNote("godmother", language: "en")]))
        #expect(try again(rpid) == rpid)
    }

    @Test("RFC 4480 3.11 sphere, also as the bare text of old senders")
    func sphere() throws {
        #expect(try person("<r:sphere> home </r:sphere>").rpid.spheres == [RPIDList([.home])])
        #expect(try person("<r:sphere><r:work/></r:sphere>").rpid.spheres == [RPIDList([.work])])
        #expect(try person("<r:sphere/>").rpid.spheres == [RPIDList()])
    }

    @Test("RFC 4480 3.1 several elements of one kind, each with its time, its id and its notes")
    func ranges() throws {
        let person = try person(
            """
            <r:activities id="a1" until="2026-01-01T00:00:00Z"><r:away/></r:activities>\
            <r:activities id="a2" from="2026-01-01T00:00:00Z"><r:note xml:lang="en">new</r:note><r:busy/></r:activities>
            """)
        let new = DateTime(nanosecondsSince1970: 1_767_225_600_000_000_000)
        #expect(person.rpid.activities.map { $0.info.isValid(at: new) } == [false, true])
        #expect(person.rpid.activities.map(\.info.id) == ["a1", "a2"])
        #expect(try again(person.rpid) == person.rpid)
    }

    @Test("an activity nobody registered keeps its name, and text that is no name becomes other")
    func unregistered() throws {
        let rpid = try person("<r:activities><r:gardening/></r:activities>").rpid
        #expect(rpid.activities == [RPIDList([RPIDActivity("gardening")])])
        #expect(try again(rpid) == rpid)
        var text = RPID()
        text.activities = [RPIDList([RPIDActivity("out to lunch")])]
        #expect(try again(text).activities == [RPIDList(others: [PIDFNote("out to lunch")])])
    }

    @Test("MS-PRES 2.2.2.8 draft activities are read from status, tuple and presence")
    func draftPlaces() throws {
        let activities =
            "<ep:activities xmlns:ep='urn:ietf:params:xml:ns:pidf:status:rpid-status'><ep:activity>on-the-phone</ep:activity></ep:activities>"
        func document(_ inside: String) throws -> PIDFDocument {
            try PIDFDocument.decode(
                Array("<presence xmlns='urn:ietf:params:xml:ns:pidf' entity='sip:a@example.com'>\(inside)</presence>".utf8))
        }
        let expected = [RPIDList([RPIDActivity.onThePhone])]
        #expect(try document("<tuple id='0'><status>\(activities)</status></tuple>").tuples.first?.rpid.activities == expected)
        #expect(try document("<tuple id='0'><status/>\(activities)</tuple>").tuples.first?.rpid.activities == expected)
        #expect(try document(activities).rpid.activities == expected)
    }
}
