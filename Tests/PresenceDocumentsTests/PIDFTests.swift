import PresenceDocuments
import Testing
import XMLCore

@Suite struct PIDFTests {
    static let rich = """
        <?xml version="1.0" encoding="UTF-8"?>
        <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model"
            xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" xmlns:ci="urn:ietf:params:xml:ns:pidf:cipid"
            xmlns:caps="urn:ietf:params:xml:ns:pidf:caps" xmlns:ts="urn:ietf:params:xml:ns:pidf:timed-status"
            xmlns:lt="urn:ietf:params:xml:ns:location-type" xmlns:x="urn:example:x" entity="sip:alice@example.com" x:mark="7">
          <tuple id="phone" x:kind="desk">
            <status x:s="1"><basic>open</basic><x:inner deep="1"><x:leaf/></x:inner></status>
            <rpid:class>desk</rpid:class>
            <rpid:privacy><rpid:note>open-plan office</rpid:note><rpid:audio/><rpid:video/></rpid:privacy>
            <rpid:relationship><rpid:assistant/></rpid:relationship>
            <rpid:service-class><rpid:electronic/></rpid:service-class>
            <rpid:status-icon>http://example.com/desk.png</rpid:status-icon>
            <rpid:user-input idle-threshold="600" last-input="2026-11-22T09:00:00Z">idle</rpid:user-input>
            <caps:servcaps><caps:audio>true</caps:audio><caps:video>false</caps:video></caps:servcaps>
            <ts:timed-status from="2026-11-23T08:00:00Z" until="2026-11-23T09:00:00Z"><ts:basic>closed</ts:basic><ts:note>dentist</ts:note></ts:timed-status>
            <dm:deviceID>urn:uuid:00000000-0000-0000-0000-000000000001</dm:deviceID>
            <x:unknown a="1">kept &amp; whole</x:unknown>
            <contact priority="0.85">sip:alice@desk.example.com</contact>
            <note xml:lang="en">at my desk</note>
            <timestamp>2026-11-22T10:00:00+01:00</timestamp>
          </tuple>
          <note xml:lang="de">Bin da</note>
          <dm:person id="p1">
            <rpid:activities from="2026-11-22T09:00:00Z" until="2026-11-22T11:00:00Z"><rpid:note>weekly</rpid:note><rpid:meeting/><rpid:on-the-phone/><rpid:other xml:lang="en">whittling</rpid:other><x:juggling/></rpid:activities>
            <rpid:mood><rpid:in_awe/></rpid:mood>
            <rpid:place-is><rpid:audio><rpid:noisy/></rpid:audio><rpid:text><rpid:uncomfortable/></rpid:text></rpid:place-is>
            <rpid:place-type><lt:office/></rpid:place-type>
            <rpid:sphere><rpid:work/></rpid:sphere>
            <rpid:time-offset description="CET">60</rpid:time-offset>
            <ci:display-name>Alice</ci:display-name>
            <ci:homepage>http://example.com/~alice</ci:homepage>
            <x:pet>cat</x:pet>
            <dm:note>a person</dm:note>
            <dm:timestamp>2026-11-22T10:01:00Z</dm:timestamp>
          </dm:person>
          <dm:device id="d1">
            <rpid:user-input>active</rpid:user-input>
            <caps:devcaps><caps:mobility><caps:supported><caps:fixed/></caps:supported></caps:mobility></caps:devcaps>
            <dm:deviceID>urn:uuid:00000000-0000-0000-0000-000000000001</dm:deviceID>
          </dm:device>
          <x:tail/>
        </presence>
        """
    static let minimal = "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"pres:a@example.com\"/>"

    func decode(_ text: String) throws(DocumentError) -> PIDFDocument { try PIDFDocument.decode(Array(text.utf8)) }

    func error(_ text: String) -> DocumentError? {
        do throws(DocumentError) {
            _ = try decode(text)
            return nil
        } catch { return error }
    }

    func tuple(_ inside: String) -> String {
        "<presence xmlns='urn:ietf:params:xml:ns:pidf' xmlns:r='urn:ietf:params:xml:ns:pidf:rpid' xmlns:p='urn:ietf:params:xml:ns:pidf' xmlns:x='urn:x' entity='sip:a@example.com'>\(inside)</presence>"
    }

    @Test("RFC 3863 4.1 a rich document is read whole")
    func read() throws {
        let document = try decode(Self.rich)
        #expect(document.entity == "sip:alice@example.com" && document.form == .standard)
        let tuple = try #require(document.tuples.first)
        #expect(tuple.basic == .open && tuple.contact == PIDFContact(uri: "sip:alice@desk.example.com", priority: 850))
        #expect(tuple.notes == [PIDFNote("at my desk", language: "en")])
        #expect(tuple.timestamp == DateTime("2026-11-22T09:00:00Z") && tuple.timestamp?.text == "2026-11-22T10:00:00+01:00")
        #expect(tuple.rpid.userInputs == [RPIDUserInput(isIdle: true, idleThreshold: 600, lastInput: DateTime("2026-11-22T09:00:00Z"))])
        #expect(tuple.timedStatuses.map(\.basic) == [.closed] && tuple.capabilities?.audio == true && tuple.capabilities?.video == false)
        #expect(tuple.extensions.map(\.localName) == ["unknown"] && tuple.statusExtensions.map(\.localName) == ["inner"])
        let person = try #require(document.persons.first)
        #expect(person.rpid.activities.first?.values == [.meeting, .onThePhone])
        #expect(person.rpid.activities.first?.others == [PIDFNote("whittling", language: "en")])
        #expect(person.rpid.activities.first?.extensions.map(\.localName) == ["juggling"])
        #expect(person.rpid.activities.first?.info.notes == [PIDFNote("weekly")])
        #expect(person.rpid.placeTypes.first?.values == [.office] && person.rpid.spheres.first?.values == [.work])
        #expect(person.rpid.timeOffsets == [RPIDTimeOffset(minutes: 60, description: "CET")])
        #expect(person.cipid.displayName == "Alice" && person.notes == [PIDFNote("a person")])
        #expect(document.devices.first?.capabilities?.mobility?.supported == ["fixed"])
        #expect(document.notes == [PIDFNote("Bin da", language: "de")])
    }

    @Test("reading and writing loses nothing, unknown elements and attributes included")
    func lossless() throws {
        let document = try decode(Self.rich)
        let written = document.encode()
        #expect(XMLCanonical().difference(expected: Array(Self.rich.utf8), actual: written) == nil)
        #expect(try PIDFDocument.decode(written) == document)
        #expect(try PIDFDocument.decode(written).encode() == written)
    }

    @Test("a document without tuples says nothing about services")
    func empty() throws {
        #expect(try decode(Self.minimal).tuples.isEmpty)
        #expect(String(decoding: try decode(Self.minimal).encode(), as: UTF8.self).hasSuffix("entity=\"pres:a@example.com\"/>"))
    }

    @Test("RFC 3863 4.1.4 a status without basic is not closed")
    func withoutBasic() throws {
        let document = try decode(tuple("<tuple id='t'><status/></tuple>"))
        #expect(document.tuples.first?.basic == nil)
    }

    @Test("children are read in any order")
    func anyOrder() throws {
        let document = try decode(
            tuple(
                "<note>n</note><tuple id='t'><timestamp>2026-01-01T00:00:00Z</timestamp><contact>tel:+1</contact><status><basic> open </basic></status></tuple>"
            ))
        #expect(document.tuples.first?.basic == .open && document.tuples.first?.contact?.uri == "tel:+1" && document.notes.count == 1)
    }

    @Test("RFC 3863 4.2.4 what must be understood and is not takes its tuple out")
    func mustUnderstand() throws {
        let document = try decode(
            tuple(
                "<tuple id='a'><status><basic>open</basic><x:y p:mustUnderstand='1'/></status></tuple>"
                    + "<tuple id='b'><status/><x:y p:mustUnderstand='true'/></tuple><tuple id='c'><status/><x:y p:mustUnderstand='0'/></tuple>"
            ))
        #expect(document.tuples.map(\.id) == ["c"] && document.notUnderstood == ["a", "b"])
        #expect(error(tuple("<x:y p:mustUnderstand='1'/>"))?.code == .notUnderstood)
    }

    @Test("refusals name the element, the value and the rule")
    func refusals() {
        #expect(error("<presence xmlns='urn:ietf:params:xml:ns:pidf'/>")?.message == "RFC 3863 4.1.1: presence without entity")
        #expect(error("<presence xmlns='urn:ietf:params:xml:ns:pidf' entity=' '/>")?.code == .invalidValue)
        #expect(error("<presence entity='sip:a@example.com'/>")?.code == .wrongDocument)
        #expect(error("<categories xmlns='urn:ietf:params:xml:ns:pidf'/>")?.code == .wrongDocument)
        #expect(error("<presence")?.code == .notWellFormed)
        let basic = error(tuple("<tuple id='t'><status><basic>maybe</basic></status></tuple>"))
        #expect(basic?.message == "RFC 3863 4.1.4: the status in 'basic' has the invalid value 'maybe'" && basic?.position?.line == 1)
        #expect(error(tuple("<tuple><status/></tuple>"))?.message == "RFC 3863 4.1.2: tuple without id")
        #expect(error(tuple("<tuple id='t'/>"))?.message == "RFC 3863 4.1.2: tuple without status")
        for priority in ["1.1", "-0.1", "0.1234", "a", "", "2", ".5", "1.001"] {
            #expect(error(tuple("<tuple id='t'><status/><contact priority='\(priority)'>x</contact></tuple>"))?.code == .invalidValue)
        }
        #expect(error(tuple("<tuple id='t'><status/><timestamp>yesterday</timestamp></tuple>"))?.code == .invalidValue)
        #expect(error(tuple("<tuple id='t'><status/><r:user-input>asleep</r:user-input></tuple>"))?.code == .invalidValue)
        #expect(error(tuple("<tuple id='t'><status/><r:time-offset>3,5</r:time-offset></tuple>"))?.code == .invalidValue)
        #expect(
            error(tuple("<tuple id='t'><status/><r:user-input idle-threshold='99999999999'>idle</r:user-input></tuple>"))?.code
                == .invalidValue)
    }

    @Test("priorities are written shortest", arguments: [(0, "0"), (1_000, "1"), (500, "0.5"), (50, "0.05"), (123, "0.123"), (100, "0.1")])
    func priority(_ thousandths: Int, _ text: String) throws {
        var document = PIDFDocument(entity: "sip:a@example.com")
        var tuple = PIDFTuple(id: "t")
        tuple.contact = PIDFContact(uri: "sip:a@example.com", priority: thousandths)
        document.tuples = [tuple]
        let written = document.encode()
        #expect(String(decoding: written, as: UTF8.self).contains("priority=\"\(text)\""))
        #expect(try PIDFDocument.decode(written) == document)
    }

    @Test("every truncation and every changed byte gives a document or a refusal")
    func mutations() {
        let parser = XMLParser()
        let bytes = Array(Self.rich.utf8)
        var read = 0
        var refused = 0
        func feed(_ mutant: [UInt8]) {
            do throws(DocumentError) {
                let document = try PIDFDocument.decode(mutant, using: parser)
                _ = document.encode()
                read += 1
            } catch {
                #expect(!error.message.isEmpty)
                refused += 1
            }
        }
        for length in stride(from: 0, to: bytes.count, by: 3) { feed(Array(bytes[..<length])) }
        for index in bytes.indices {
            var mutant = bytes
            mutant[index] = mutant[index] &+ UInt8(truncatingIfNeeded: index * 37 + 1)
            feed(mutant)
        }
        #expect(read > 0 && refused > 0)
    }
}
