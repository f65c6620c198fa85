import PresenceDocuments
import Testing
import XMLCore

@Suite struct DraftRPIDTests {
    static let sample = """
        <?xml version="1.0"?>
        <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:ep="urn:ietf:params:xml:ns:pidf:status:rpid-status" \
        xmlns:et="urn:ietf:params:xml:ns:pidf:rpid-tuple" xmlns:ci="urn:ietf:params:xml:ns:pidf:cipid" entity="sip:bob@contoso.com">
          <tuple id="0"><status><basic>open</basic><ep:activities><ep:activity>busy</ep:activity></ep:activities></status><et:class>c</et:class><et:contact-type>presentity</et:contact-type></tuple>
          <linked-identities primary-id="sip:bob@contoso.com"><secondary-identities><secondary-identity>sip:robert@contoso.com</secondary-identity></secondary-identities></linked-identities>
          <cid>1</cid>
          <ci:display-name>Bob</ci:display-name>
        </presence>
        """

    @Test("MS-PRES 2.2.2.8 the draft form is read and written")
    func roundTrip() throws {
        let document = try PIDFDocument.decode(Array(Self.sample.utf8))
        #expect(document.form == .draft && document.cipid.displayName == "Bob" && document.cid == "1")
        #expect(document.tuples.first?.rpid.activities.first?.values == [.busy])
        #expect(document.tuples.first?.contactType == "presentity" && document.tuples.first?.rpid.classes.map(\.text) == ["c"])
        #expect(document.linkedIdentities == LinkedIdentities(primaryID: "sip:bob@contoso.com", secondary: ["sip:robert@contoso.com"]))
        #expect(XMLCanonical().difference(expected: Array(Self.sample.utf8), actual: document.encode()) == nil)
    }

    @Test("the same document can be written in the standard form")
    func standard() throws {
        let document = try PIDFDocument.decode(Array(Self.sample.utf8))
        let text = String(decoding: document.encode(as: .standard), as: UTF8.self)
        #expect(text.contains("<rpid:activities><rpid:busy/></rpid:activities>") && !text.contains("ep:"))
    }
}

@Suite struct PresenceExactTests {
    @Test("exact values survive, whatever a later version adds")
    func roundTrip() throws {
        let text = """
            <presence xmlns="urn:ietf:params:xml:ns:pidf" entity="sip:bob@contoso.com"><exact xmlns="urn:isthmus:xml:ns:presence-exact" availability="6900" later="1">\
            <activity token="urgent-interruptions-only" min="6500" max="6999"><custom lcid="1033">Urgent only</custom></activity><more/></exact></presence>
            """
        let document = try PIDFDocument.decode(Array(text.utf8))
        #expect(document.exact?.availability == 6_900)
        #expect(
            document.exact?.activities == [
                PresenceExact.Activity(
                    token: "urgent-interruptions-only", minimum: 6_500, maximum: 6_999,
                    customs: [PresenceExact.Custom(lcid: 1_033, text: "Urgent only")])
            ])
        #expect(XMLCanonical().difference(expected: Array(text.utf8), actual: document.encode()) == nil)
    }

    @Test("numbers that are none are refused", arguments: ["-1", "99999999999", "3,5", "", "0x10"])
    func refused(_ value: String) {
        let text =
            "<presence xmlns='urn:ietf:params:xml:ns:pidf' entity='sip:a@example.com'><exact xmlns='urn:isthmus:xml:ns:presence-exact' availability='\(value)'/></presence>"
        #expect(throws: DocumentError.self) { try PIDFDocument.decode(Array(text.utf8)) }
    }
}

@Suite struct CapabilitiesTests {
    @Test("RFC 5196 3.2 every capability is read, and written in the order of the schema")
    func roundTrip() throws {
        func set(_ name: String, _ yes: [String], _ no: [String] = [], wrap: String? = nil) -> String {
            func items(_ values: [String]) -> String {
                values.map { value in wrap.map { "<c:\($0)>\(value)</c:\($0)>" } ?? "<c:\(value)/>" }.joined()
            }
            return "<c:\(name)><c:supported>\(items(yes))</c:supported>"
                + (no.isEmpty ? "" : "<c:notsupported>\(items(no))</c:notsupported>") + "</c:\(name)>"
        }
        let parts: [String] = [
            set("actor", ["attendant", "information", "msg-taker", "principal"]), "<c:application>true</c:application>",
            "<c:audio>true</c:audio>",
            "<c:automata>false</c:automata>", set("class", ["business"], ["personal"]), "<c:control>true</c:control>",
            "<c:data>false</c:data>",
            "<c:description xml:lang='en'>a service</c:description>", set("duplex", ["full"], ["half", "receive-only", "send-only"]),
            set("event-packages", ["presence", "winfo", "Siemens-RTP-Stats"], ["dialog"]), set("extensions", ["rel100", "gruu"], ["join"]),
            "<c:isfocus>false</c:isfocus>", "<c:message>true</c:message>", set("methods", ["INVITE", "ACK", "BYE"], ["PRACK"]),
            set("languages", ["en", "de-CH"], wrap: "l"),
            "<c:priority><c:supported><c:equals value='10'/><c:higherhan minvalue='20'/></c:supported><c:notsupported><c:lowerthan maxvalue='5'/><c:range minvalue='6' maxvalue='9'/></c:notsupported></c:priority>",
            set("schemes", ["sip", "tel"], ["mailto"], wrap: "s"), "<c:text>true</c:text>", "<c:type>audio/pcmu</c:type>",
            "<c:video>false</c:video>",
            "<x:more xmlns:x='urn:x'/>",
        ]
        func document(_ parts: [String]) -> [UInt8] {
            Array(
                "<presence xmlns='urn:ietf:params:xml:ns:pidf' xmlns:c='urn:ietf:params:xml:ns:pidf:caps' entity='sip:a@example.com'><tuple id='t'><status/><c:servcaps>\(parts.joined())</c:servcaps></tuple></presence>"
                    .utf8)
        }
        let read = try PIDFDocument.decode(document(parts.reversed()))
        #expect(read.tuples.first?.capabilities?.priority?.supported == [.equals(10), .higherThan(20)])
        #expect(XMLCanonical().difference(expected: document(parts), actual: read.encode()) == nil)
        #expect(throws: DocumentError.self) { try PIDFDocument.decode(document(["<c:audio>maybe</c:audio>"])) }
        #expect(throws: DocumentError.self) {
            try PIDFDocument.decode(document(["<c:priority><c:supported><c:equals/></c:supported></c:priority>"]))
        }
    }
}

@Suite struct CIPIDTests {
    @Test("RFC 4482 3 every element is read and written")
    func roundTrip() throws {
        var document = PIDFDocument(entity: "sip:a@example.com")
        var person = PIDFPerson(id: "p")
        person.cipid = CIPID(displayName: "A & B")
        person.cipid.card = "http://example.com/card.vcf"
        person.cipid.homepage = "http://example.com/"
        person.cipid.icon = "http://example.com/i.png"
        person.cipid.map = "http://example.com/map"
        person.cipid.sound = "http://example.com/s.wav"
        document.persons = [person]
        #expect(try PIDFDocument.decode(document.encode()) == document)
    }
}

@Suite struct TimedStatusTests {
    @Test("RFC 4481 2 from is required, until is not")
    func bounds() throws {
        func document(_ attributes: String) -> [UInt8] {
            Array(
                "<presence xmlns='urn:ietf:params:xml:ns:pidf' entity='sip:a@example.com'><tuple id='t'><status/><ts:timed-status xmlns:ts='urn:ietf:params:xml:ns:pidf:timed-status' \(attributes)><ts:basic>open</ts:basic></ts:timed-status></tuple></presence>"
                    .utf8)
        }
        #expect(throws: DocumentError.self) { try PIDFDocument.decode(document("")) }
        let read = try PIDFDocument.decode(document("from='2026-11-22T10:00:00Z'"))
        #expect(read.tuples.first?.timedStatuses.first?.until == nil && read.tuples.first?.basic == nil)
        #expect(try PIDFDocument.decode(read.encode()) == read)
    }
}

@Suite struct XPIDFTests {
    static let sample = """
        <?xml version="1.0"?>
        <!DOCTYPE presence PUBLIC "-//IETF//DTD RFCxxxx XPIDF 1.0//EN" "xpidf.dtd">
        <presence>
          <presentity uri="sip:alice@example.com;method=SUBSCRIBE"/>
          <display name="Alice"/>
          <atom id="1000">
            <address uri="sip:alice@192.0.2.1:5060;user=ip" priority="0.8">
              <status status="inuse"/>
              <msnsubstatus substatus="onthephone"/>
              <note>on the line</note>
            </address>
          </atom>
        </presence>
        """

    @Test("xpidf is read past its DOCTYPE and written without one")
    func roundTrip() throws {
        let document = try XPIDFDocument.decode(Array(Self.sample.utf8))
        #expect(document.entity == "sip:alice@example.com" && document.displayName == "Alice")
        let address = try #require(document.atoms.first?.addresses.first)
        #expect(address.status == .inUse && address.substatus == .onThePhone && address.priority == 800 && address.note == "on the line")
        #expect(XMLCanonical().difference(expected: Array(Self.sample.utf8), actual: document.encode()) == nil)
        #expect(try XPIDFDocument.decode(document.encode()) == document)
    }

    @Test("xpidf without presentity is refused")
    func refused() {
        #expect(throws: DocumentError.self) { try XPIDFDocument.decode(Array("<presence/>".utf8)) }
        #expect(throws: DocumentError.self) { try XPIDFDocument.decode(Array("<presence><presentity/></presence>".utf8)) }
        #expect(throws: DocumentError.self) {
            try XPIDFDocument.decode(Array("<!DOCTYPE presence [<!ENTITY a 'b'>]><presence><presentity uri='&a;'/></presence>".utf8))
        }
    }
}

@Suite struct RLMITests {
    static let sample = """
        <?xml version="1.0" encoding="UTF-8"?>
        <list xmlns="urn:ietf:params:xml:ns:rlmi" uri="sip:friends@example.com" version="7" fullState="true" cid="list@example.com">
          <name xml:lang="en">Friends</name>
          <resource uri="sip:bob@example.com"><name>Bob</name><instance id="i1" state="active" cid="bob@example.com"/></resource>
          <resource uri="sip:carol@contoso.com"><instance id="0" state="resubscribe" poolFqdn="sip:pool.contoso.com;gruu" cid="sip:carol@contoso.com"/></resource>
          <resource uri="sip:dave@contoso.com"><instance id="0" state="terminated" reason="rejected" statusCode="403"/></resource>
        </list>
        """

    @Test("RFC 4662 5 and MS-PRES 2.2.2.4 are read and written")
    func roundTrip() throws {
        let document = try RLMIDocument.decode(Array(Self.sample.utf8))
        #expect(document.version == 7 && document.fullState && document.names == [PIDFNote("Friends", language: "en")])
        #expect(document.resources.map { $0.instances.first?.state } == [.active, .resubscribe, .terminated])
        #expect(document.resources[1].instances.first?.poolFqdn == "sip:pool.contoso.com;gruu")
        #expect(document.resources[2].instances.first?.statusCode == 403)
        #expect(XMLCanonical().difference(expected: Array(Self.sample.utf8), actual: document.encode()) == nil)
    }

    @Test("RFC 4662 5.2 what is required is required")
    func refused() {
        for attributes in [
            "version='1' fullState='true'", "uri='sip:a' fullState='true'", "uri='sip:a' version='1'",
            "uri='sip:a' version='-1' fullState='true'", "uri='sip:a' version='4294967296' fullState='true'",
            "uri='sip:a' version='1' fullState='maybe'",
        ] {
            #expect(throws: DocumentError.self) {
                try RLMIDocument.decode(Array("<list xmlns='urn:ietf:params:xml:ns:rlmi' \(attributes)/>".utf8))
            }
        }
    }

    @Test("every truncation and every changed byte of the small documents gives a document or a refusal")
    func mutations() {
        let parser = XMLParser(limits: .skippingDoctype)
        var outcomes = (read: 0, refused: 0)
        func feed(_ attempt: () throws -> [UInt8]) {
            do {
                _ = try attempt()
                outcomes.read += 1
            } catch {
                #expect(error is DocumentError)
                outcomes.refused += 1
            }
        }
        func feedAll(_ bytes: [UInt8]) {
            feed { try RLMIDocument.decode(bytes, using: parser).encode() }
            feed { try XPIDFDocument.decode(bytes, using: parser).encode() }
            feed { try PIDFDocument.decode(bytes, using: parser).encode() }
        }
        for sample in [Self.sample, XPIDFTests.sample, DraftRPIDTests.sample] {
            let bytes = Array(sample.utf8)
            for length in stride(from: 0, to: bytes.count, by: 5) { feedAll(Array(bytes[..<length])) }
            for index in bytes.indices {
                var mutant = bytes
                mutant[index] = UInt8(truncatingIfNeeded: index * 131 + 7)
                feedAll(mutant)
            }
        }
        #expect(outcomes.read > 0 && outcomes.refused > 0)
    }
}
