import PresenceDocuments
import PresenceRules
import SIPCore
import Testing
import XMLCore

@Suite struct PresenceGrantsTests {
    static let namespaces =
        "xmlns='urn:ietf:params:xml:ns:pidf' xmlns:dm='urn:ietf:params:xml:ns:pidf:data-model' xmlns:r='urn:ietf:params:xml:ns:pidf:rpid' "
        + "xmlns:lt='urn:ietf:params:xml:ns:location-type' xmlns:ci='urn:ietf:params:xml:ns:pidf:cipid' "
        + "xmlns:caps='urn:ietf:params:xml:ns:pidf:caps' xmlns:ts='urn:ietf:params:xml:ns:pidf:timed-status' "
        + "xmlns:op='urn:oma:xml:prs:pidf:oma-pres' xmlns:gp='urn:ietf:params:xml:ns:pidf:geopriv10' "
        + "xmlns:et='urn:ietf:params:xml:ns:pidf:rpid-tuple' xmlns:x='urn:example:extension'"

    /// Document with every element that a permission names, each with a text or id that is found nowhere else.
    static let rich = """
        <presence \(namespaces) x:mark="attribute-of-presence" entity="sip:mara@example.com">
          <tuple id="im" x:mark="attribute-of-tuple">
            <status x:mark="attribute-of-status"><basic>open</basic><gp:geopriv>location</gp:geopriv><x:in-status>in-status</x:in-status></status>
            <r:class>work</r:class><r:mood><r:other>tuple-mood</r:other></r:mood><r:privacy><r:note>privacy-note</r:note><r:text/></r:privacy>
            <r:relationship><r:self/></r:relationship><r:service-class><r:note>service-note</r:note><r:electronic/></r:service-class>
            <r:status-icon>https://www.example.com/tuple-icon.png</r:status-icon>
            <r:user-input idle-threshold="600" last-input="2026-05-04T08:31:00Z">idle</r:user-input>
            <ci:card>https://www.example.com/tuple-card.vcf</ci:card>
            <caps:servcaps><caps:audio>true</caps:audio></caps:servcaps>
            <ts:timed-status from="2026-05-04T12:00:00Z"><ts:basic>closed</ts:basic><ts:note>timed-note</ts:note><r:mood><r:other>timed-mood</r:other></r:mood><x:timed>timed-extension</x:timed></ts:timed-status>
            <dm:deviceID>urn:uuid:device-of-tuple</dm:deviceID><et:contact-type>contact-kind</et:contact-type>
            <op:willingness><op:basic>open</op:basic></op:willingness><op:session-participation><op:basic>closed</op:basic></op:session-participation>
            <op:registration-state>active</op:registration-state><op:barring-state>terminated</op:barring-state>
            <op:service-description><op:service-id>org.example.im</op:service-id></op:service-description>
            <x:in-tuple>in-tuple</x:in-tuple>
            <contact priority="0.8" x:mark="attribute-of-contact">sip:mara@example.com;transport=tcp</contact>
            <note>tuple-note</note><timestamp>2026-05-04T08:31:01Z</timestamp>
          </tuple>
          <tuple id="voice"><status><basic>closed</basic></status><r:class>home</r:class><contact>tel:+15555550142</contact></tuple>
          <tuple id="bare"><status/></tuple>
          <note>document-note</note><x:in-presence>in-presence</x:in-presence><ci:display-name>Display</ci:display-name>
          <r:mood><r:other>presence-mood</r:other></r:mood>
          <dm:person id="p" x:mark="attribute-of-person">
            <r:class>work</r:class>
            <r:activities><r:note>activities-note</r:note><r:busy/></r:activities><r:activities><r:note>only-note</r:note></r:activities>
            <r:mood><r:other>person-mood</r:other></r:mood><r:place-is><r:note>place-note</r:note><r:audio><r:noisy/></r:audio></r:place-is>
            <r:place-type><lt:office/></r:place-type><r:sphere><r:work/></r:sphere><r:time-offset description="zone">60</r:time-offset>
            <r:status-icon>https://www.example.com/person-icon.png</r:status-icon><r:user-input>active</r:user-input>
            <ci:card>https://www.example.com/person-card.vcf</ci:card><ci:homepage>https://www.example.com/home</ci:homepage>
            <op:overriding-willingness><op:basic>open</op:basic></op:overriding-willingness><x:in-person>in-person</x:in-person>
            <dm:note>person-note</dm:note><dm:timestamp>2026-05-04T08:31:02Z</dm:timestamp>
          </dm:person>
          <dm:device id="d" x:mark="attribute-of-device">
            <r:class>work</r:class><r:user-input>active</r:user-input><caps:devcaps><caps:mobility><caps:supported><caps:mobile/></caps:supported></caps:mobility></caps:devcaps>
            <op:network-availability><op:network id="IMS"><op:active/></op:network></op:network-availability><x:in-device>in-device</x:in-device>
            <dm:deviceID>urn:uuid:device</dm:deviceID><dm:note>device-note</dm:note><dm:timestamp>2026-05-04T08:31:03Z</dm:timestamp>
          </dm:device>
        </presence>
        """

    static func grants(_ transformations: String) throws -> PresenceGrants {
        PresenceGrants(try Samples.document(Samples.rule("r", "", "allow", transformations)).rules[0].transformations)
    }

    static let components =
        "<pr:provide-services><pr:all-services/></pr:provide-services><pr:provide-persons><pr:all-persons/></pr:provide-persons>"
        + "<pr:provide-devices><pr:all-devices/></pr:provide-devices>"

    private func document() throws -> PIDFDocument { try PIDFDocument.decode(Array(Self.rich.utf8)) }

    /// View as it is written; reads it back, so that every view is shown to be PIDF (RFC 3863 4.4).
    private func view(_ transformations: String) throws -> (document: PIDFDocument, text: String) {
        let view = try Self.grants(transformations).apply(to: document())
        let written = view.encode()
        let read = try PIDFDocument.decode(written)
        #expect(read.encode() == written)
        return (view, String(decoding: written, as: UTF8.self))
    }

    @Test("RFC 5025 3.3: without permissions the view has the entity and nothing else, in a document that can be read [R635, R637]")
    func nothing() throws {
        let (view, text) = try view("<x:provide-all/>")
        #expect(view == PIDFDocument(entity: "sip:mara@example.com"))
        #expect(text.hasSuffix("<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"sip:mara@example.com\"/>"))
    }

    @Test(
        "RFC 5025 3.3.1: components are selected by kind, class, occurrence, device, contact, scheme and service id [R630]",
        arguments: [
            ("<pr:provide-services><pr:all-services/></pr:provide-services>", ["im", "voice", "bare"]),
            ("<pr:provide-persons><pr:all-persons/></pr:provide-persons>", ["p"]),
            ("<pr:provide-devices><pr:all-devices/></pr:provide-devices>", ["d"]),
            ("<pr:provide-services><pr:class>work</pr:class></pr:provide-services>", ["im"]),
            ("<pr:provide-services><pr:class>Work</pr:class></pr:provide-services>", []),
            (
                "<pr:provide-services><pr:class> work </pr:class><pr:occurrence-id>bare</pr:occurrence-id></pr:provide-services>",
                ["im", "bare"]
            ),
            ("<pr:provide-services><pr:service-uri>sip:mara@EXAMPLE.com;transport=TCP</pr:service-uri></pr:provide-services>", ["im"]),
            ("<pr:provide-services><pr:service-uri>sip:mara@example.com</pr:service-uri></pr:provide-services>", []),
            ("<pr:provide-services><pr:service-uri>tel:+15555550142</pr:service-uri></pr:provide-services>", ["voice"]),
            ("<pr:provide-services><pr:service-uri-scheme>tel</pr:service-uri-scheme></pr:provide-services>", ["voice"]),
            ("<pr:provide-services><pr:service-uri-scheme>te</pr:service-uri-scheme></pr:provide-services>", []),
            ("<pr:provide-services><op:service-id>org.example.im</op:service-id></pr:provide-services>", ["im"]),
            ("<pr:provide-services><op:service-id>org.example</op:service-id></pr:provide-services>", []),
            ("<pr:provide-services><x:all-services/><pr:all-persons/><pr:deviceID>im</pr:deviceID></pr:provide-services>", []),
            ("<pr:provide-persons><pr:class>work</pr:class></pr:provide-persons>", ["p"]),
            ("<pr:provide-persons><pr:occurrence-id>q</pr:occurrence-id></pr:provide-persons>", []),
            ("<pr:provide-devices><pr:deviceID>urn:uuid:device</pr:deviceID></pr:provide-devices>", ["d"]),
            ("<pr:provide-devices><pr:occurrence-id>d</pr:occurrence-id></pr:provide-devices>", ["d"]),
            ("<pr:provide-devices><pr:class>home</pr:class><pr:deviceID>urn:uuid:DEVICE</pr:deviceID></pr:provide-devices>", []),
            ("<pr:provide-services/><pr:provide-persons/><pr:provide-devices/>", []),
        ])
    func selection(_ transformations: String, _ expected: [String]) throws {
        let view = try view(transformations).document
        #expect(view.tuples.map(\.id) + view.persons.map(\.id) + view.devices.map(\.id) == expected)
    }

    @Test("RFC 5025 3.3.2: a provided component keeps contact, service class, basic and timestamp, and nothing else [R635]")
    func always() throws {
        let view = try view(Self.components).document
        var tuple = PIDFTuple(id: "im", basic: .open)
        tuple.contact = PIDFContact(uri: "sip:mara@example.com;transport=tcp", priority: 800)
        tuple.rpid.serviceClasses = [RPIDList([RPIDServiceClass("electronic")])]
        tuple.timestamp = DateTime("2026-05-04T08:31:01Z")
        var person = PIDFPerson(id: "p")
        person.timestamp = DateTime("2026-05-04T08:31:02Z")
        var device = PIDFDevice(id: "d", deviceID: "urn:uuid:device")
        device.timestamp = DateTime("2026-05-04T08:31:03Z")
        #expect(view.tuples.first == tuple && view.tuples.last == PIDFTuple(id: "bare"))
        #expect(view.persons == [person] && view.devices == [device] && view.notes.isEmpty && view.extensions.isEmpty)
    }

    /// Words of the document that appear in a view, and that a permission decides about.
    private static let words = [
        "attribute-of-presence", "attribute-of-tuple", "attribute-of-status", "attribute-of-contact", "attribute-of-person",
        "attribute-of-device", ">location<", "in-status", ">work<", ">home<", "tuple-mood", "person-mood", "presence-mood", "timed-mood",
        "<rpid:privacy", "privacy-note", "<rpid:relationship", "service-note", "tuple-icon", "person-icon", "user-input", "idle-threshold",
        "last-input", "tuple-card", "person-card", "/home<", "servcaps", "devcaps", "timed-status", "timed-note", "timed-extension",
        "device-of-tuple", "contact-kind", ":willingness", "overriding-willingness", "session-participation", "registration-state",
        "barring-state", "service-description", "network-availability", "in-tuple", "in-presence", "in-person", "in-device", "tuple-note",
        "document-note", "person-note", "device-note", "Display", "<rpid:activities", "activities-note", "only-note", "place-is",
        "place-note",
        "place-type", "<rpid:sphere", "time-offset",
    ]

    @Test(
        "RFC 5025 3.3.2: each permission provides its own elements and no others [R631, R632, R633, R636]",
        arguments: [
            ("<pr:provide-activities>true</pr:provide-activities>", ["<rpid:activities"]),
            ("<pr:provide-class>1</pr:provide-class>", [">work<", ">home<"]),
            ("<pr:provide-deviceID>true</pr:provide-deviceID>", ["device-of-tuple"]),
            ("<pr:provide-mood>true</pr:provide-mood>", ["tuple-mood", "person-mood", "presence-mood"]),
            ("<pr:provide-place-is>true</pr:provide-place-is>", ["place-is"]),
            ("<pr:provide-place-type>true</pr:provide-place-type>", ["place-type"]),
            ("<pr:provide-privacy>true</pr:provide-privacy>", ["<rpid:privacy"]),
            ("<pr:provide-relationship>true</pr:provide-relationship>", ["<rpid:relationship"]),
            ("<pr:provide-sphere>true</pr:provide-sphere>", ["<rpid:sphere"]),
            ("<pr:provide-status-icon>true</pr:provide-status-icon>", ["tuple-icon", "person-icon"]),
            ("<pr:provide-time-offset>true</pr:provide-time-offset>", ["time-offset"]),
            ("<pr:provide-note>true</pr:provide-note>", ["service-note", "tuple-note", "document-note", "person-note", "device-note"]),
            (
                "<pr:provide-note>true</pr:provide-note><pr:provide-activities>true</pr:provide-activities>",
                [
                    "service-note", "tuple-note", "document-note", "person-note", "device-note", "<rpid:activities", "activities-note",
                    "only-note",
                ]
            ),
            ("<pr:provide-mood>false</pr:provide-mood><pr:provide-note>0</pr:provide-note>", []),
            ("<pr:provide-user-input>false</pr:provide-user-input>", []),
            ("<pr:provide-user-input>bare</pr:provide-user-input>", ["user-input"]),
            ("<pr:provide-user-input>thresholds</pr:provide-user-input>", ["user-input", "idle-threshold"]),
            ("<pr:provide-user-input>full</pr:provide-user-input>", ["user-input", "idle-threshold", "last-input"]),
            ("<op:provide-willingness>true</op:provide-willingness>", [":willingness", "overriding-willingness"]),
            ("<op:provide-session-participation>true</op:provide-session-participation>", ["session-participation"]),
            ("<op:provide-registration-state>true</op:provide-registration-state>", ["registration-state"]),
            ("<op:provide-barring-state>true</op:provide-barring-state>", ["barring-state"]),
            ("<op:provide-network-availability>true</op:provide-network-availability>", ["network-availability"]),
            ("<op:provide-geopriv>full</op:provide-geopriv>", [">location<"]), ("<op:provide-geopriv>false</op:provide-geopriv>", []),
            ("<pr:provide-willingness>true</pr:provide-willingness><op:provide-mood>true</op:provide-mood>", []),
        ])
    func permissions(_ transformation: String, _ expected: [String]) throws {
        let text = try view(Self.components + transformation).text
        #expect(Self.words.filter { text.contains($0) } == Self.words.filter { expected.contains($0) })
    }

    @Test(
        "RFC 5025 3.3.2.14: other elements are provided by namespace and name, and their own content by its permissions [R633]",
        arguments: [
            ("urn:example:extension", "in-tuple", ["in-tuple"]), ("urn:example:extension", "in-person", ["in-person"]),
            ("urn:example:extension", "in-status", ["in-status"]), ("urn:example:extension", "in-presence", ["in-presence"]),
            ("urn:example:extension", "in-device", ["in-device"]), ("urn:example:other", "in-tuple", []),
            ("urn:ietf:params:xml:ns:pidf:cipid", "card", ["tuple-card", "person-card"]),
            ("urn:ietf:params:xml:ns:pidf:cipid", "display-name", ["Display"]),
            ("urn:ietf:params:xml:ns:pidf:cipid", "homepage", ["/home<"]),
            ("urn:ietf:params:xml:ns:pidf:caps", "servcaps", ["servcaps"]), ("urn:ietf:params:xml:ns:pidf:caps", "devcaps", ["devcaps"]),
            ("urn:ietf:params:xml:ns:pidf:timed-status", "timed-status", ["timed-status"]),
            ("urn:ietf:params:xml:ns:pidf:rpid-tuple", "contact-type", ["contact-kind"]),
            ("urn:oma:xml:prs:pidf:oma-pres", "service-description", ["service-description"]),
            ("urn:ietf:params:xml:ns:pidf:geopriv10", "geopriv", [">location<"]), ("urn:ietf:params:xml:ns:pidf:rpid", "mood", []),
        ])
    func unknown(_ namespace: String, _ name: String, _ expected: [String]) throws {
        func permission(_ value: String) -> String {
            "<pr:provide-unknown-attribute ns='\(namespace)' name='\(name)'>\(value)</pr:provide-unknown-attribute>"
        }
        let text = try view(Self.components + permission("true")).text
        #expect(Self.words.filter { text.contains($0) } == Self.words.filter { expected.contains($0) })
        #expect(try view(Self.components + permission("false")).text == view(Self.components).text)
    }

    @Test("RFC 5025 3.3.2.15: all attributes of all components are the document itself, of some components those alone [R634]")
    func everything() throws {
        let all = try Self.grants(Self.components + "<pr:provide-all-attributes/>")
        #expect(all == .everything)
        let document = try document()
        #expect(all.apply(to: document) == document)
        let some = try view("<pr:provide-services><pr:class>work</pr:class></pr:provide-services><pr:provide-all-attributes/>").document
        #expect(some.tuples == [document.tuples[0]] && some.persons.isEmpty && some.devices.isEmpty)
        // Elements directly under `presence` describe the person, which is not provided.
        #expect(some.rpid.isEmpty && some.cipid.isEmpty && some.extensions.isEmpty && some.attributes.isEmpty)
        #expect(try Self.grants("<pr:provide-all-attributes/>").apply(to: document).tuples.isEmpty)
    }

    @Test("the draft form of MS-PRES and exact values of the enhanced model are filtered as the standard form is [R637]")
    func draft() throws {
        let text = """
            <presence \(Self.namespaces) xmlns:ep="urn:ietf:params:xml:ns:pidf:status:rpid-status" entity="sip:mara@example.com">
              <tuple id="t"><status><basic>open</basic><ep:activities><ep:activity>busy</ep:activity></ep:activities></status></tuple>
              <cid>content-id</cid><exact xmlns="urn:isthmus:xml:ns:presence-exact" availability="6500"/>
            </presence>
            """
        let document = try PIDFDocument.decode(Array(text.utf8))
        let bare = try Self.grants(Self.components).apply(to: document)
        #expect(bare.form == .draft && bare.tuples[0].rpid.isEmpty && bare.cid == nil && bare.exact == nil)
        let busy = try Self.grants(Self.components + "<pr:provide-activities>true</pr:provide-activities>").apply(to: document)
        #expect(busy.tuples[0].rpid.activities == document.tuples[0].rpid.activities && busy.exact == nil)
        #expect(PresenceGrants.everything.apply(to: document) == document)
    }
}
