import PresenceDocuments
import Testing
import XMLCore

@Suite struct CategoriesTests {
    @Test("MS-PRES 6.2 known bodies are read, others kept")
    func read() throws {
        let document = try CategoriesDocument(MSRTCSamples.categories)
        #expect(document.uri == "sip:bob@contoso.com")
        #expect(
            document.categories.map(\.name) == [
                .state, .note, .contactCard, .services, .calendarData, .legacyInterop, "weather", .routing,
            ])
        guard case .state(let state) = document.categories[0].body, case .note(let note) = document.categories[1].body,
            case .contactCard = document.categories[2].body, case .services = document.categories[3].body,
            case .calendarData = document.categories[4].body, case .legacyInterop(let interop) = document.categories[5].body,
            case .raw(let weather) = document.categories[6].body
        else {
            Issue.record("a body was read as something else")
            return
        }
        #expect(state.availability == 8400)
        #expect(note.bodies.count == 2)
        #expect(interop.availability == 8400)
        #expect(weather.namespace == "urn:example:weather")
        #expect(try document.again == document)
    }

    @Test("MS-PRES 2.2.2.7 the body of an unknown category passes byte for byte")
    func passThrough() throws {
        let written = try CategoriesDocument(MSRTCSamples.categories).text
        #expect(written.contains(#"<w:sky  xmlns:w='urn:example:weather' w:kind = "clear"><!-- sunny --> &#x41;</w:sky>"#))
    }

    @Test("MS-PRES 2.2.2.7 in raw reading every body passes byte for byte")
    func raw() throws {
        let tree = try XMLTree.parse(Array(MSRTCSamples.categories.utf8))
        let document = try CategoriesDocument(reading: tree.root, bodies: .raw)
        #expect(document.text.contains(MSRTCSamples.aggregateState))
        #expect(document.text.contains(MSRTCSamples.contactCard))
        let body = try #require(document.categories.first?.body)
        #expect(try body.read(as: .state) == .state(StateDocument(MSRTCSamples.aggregateState)))
    }

    @Test("MS-PRES 2.2.2.1 publishTime is written with three digits and no zone, and read with any [R169]")
    func publishTime() throws {
        for (text, written) in [
            ("2026-03-02T08:15:30.117", "2026-03-02T08:15:30.117"), ("2026-03-02T08:15:30Z", "2026-03-02T08:15:30.000"),
            ("2026-03-02T08:15:30.1234567", "2026-03-02T08:15:30.123"), ("2026-03-02T09:15:30.5+01:00", "2026-03-02T08:15:30.500"),
        ] {
            let document = try CategoriesDocument(
                "<categories xmlns='http://schemas.microsoft.com/2006/09/sip/categories' uri='sip:bob@contoso.com'><category name='note' instance='0' publishTime='\(text)'/></categories>"
            )
            #expect(document.text.contains("publishTime=\"\(written)\""))
        }
    }

    @Test("MS-PRES 4.2.2 a name alone, or with a container, is an empty marker")
    func marker() throws {
        let document = try CategoriesDocument(
            "<categories xmlns='http://schemas.microsoft.com/2006/09/sip/categories' uri='sip:bob@contoso.com'><category name='note'/><category name='note' container='200'/><category name='note' instance='0' publishTime='2026-03-02T08:15:30.117'/></categories>"
        )
        #expect(document.categories.map(\.isEmptyMarker) == [true, true, false])
        #expect(document.text.contains(#"<category name="note"/>"#))
        #expect(document.text.contains(#"<category name="note" container="200"/>"#))
    }

    @Test(
        "MS-PRES 6.2 missing and wrong attributes are refused",
        arguments: [
            ("<categories xmlns='N'/>", "MS-PRES 6.2: categories without uri"),
            ("<categories xmlns='N' uri='sip:b@contoso.com'><category/></categories>", "MS-PRES 6.2: category without name"),
            (
                "<categories xmlns='N' uri='sip:b@contoso.com'><category name='note' container='32768'/></categories>",
                "MS-PRES 6.2: container in 'category' is '32768', not a container number from 0 to 32767"
            ),
            (
                "<categories xmlns='N' uri='sip:b@contoso.com'><category name='note' instance='-1'/></categories>",
                "MS-PRES 6.2: instance in 'category' is '-1', not a whole number from 0 to 4294967295"
            ),
        ])
    func refused(_ text: String, _ message: String) {
        let text = text.replacing("'N'", with: "'http://schemas.microsoft.com/2006/09/sip/categories'")
        #expect(refusal(CategoriesDocument.self, text)?.message == message)
    }

    @Test("MS-PRES 2.2.2.7 a broken body refuses the document when read strictly, and is kept when read tolerantly")
    func tolerance() throws {
        let text = """
            <categories xmlns="http://schemas.microsoft.com/2006/09/sip/categories" uri="sip:bob@contoso.com"><category name="state" \
            instance="0"><state xmlns="http://schemas.microsoft.com/2006/09/sip/state"><availability>-1</availability></state></category></categories>
            """
        #expect(refusal(CategoriesDocument.self, text)?.code == .invalidValue)
        let tree = try XMLTree.parse(Array(text.utf8))
        let document = try CategoriesDocument(reading: tree.root, bodies: .tolerant)
        guard case .raw(let fragment) = document.categories.first?.body else {
            Issue.record("the body was not kept")
            return
        }
        #expect(fragment.localName == "state")
    }

    @Test("MS-PRES 7.2 a state body in another namespace is refused")
    func wrongNamespace() {
        let error = refusal(
            CategoriesDocument.self,
            "<categories xmlns='http://schemas.microsoft.com/2006/09/sip/categories' uri='sip:bob@contoso.com'><category name='state'><state/></category></categories>"
        )
        #expect(error?.code == .wrongDocument)
    }

    @Test("unknown attributes, elements and second bodies come back")
    func extensions() throws {
        let document = try CategoriesDocument(
            "<categories xmlns='http://schemas.microsoft.com/2006/09/sip/categories' xmlns:x='urn:example:x' uri='sip:bob@contoso.com' x:a='1'><category name='note' x:b='2'><note xmlns='http://schemas.microsoft.com/2006/09/sip/note'/><x:more/></category><x:tail/></categories>"
        )
        let again = try document.again
        #expect(again.attributes.first?.value == "1")
        #expect(again.categories.first?.attributes.first?.value == "2")
        #expect(again.categories.first?.additionalContent.map(\.localName) == ["more"])
        #expect(again.extensions.map(\.localName) == ["tail"])
    }
}

@Suite struct CategoryNameTests {
    @Test("MS-PRES 2.2.2.7 private names are known, and names compare with case [R010, R092]")
    func names() {
        #expect(CategoryName.legacyInterop.isPrivate && CategoryName.routing.isPrivate && CategoryName.workingHours.isPrivate)
        #expect(CategoryName.dndState.isPrivate && CategoryName.linkedPICContacts.isPrivate)
        #expect(!CategoryName.state.isPrivate && !CategoryName.mwi.isPrivate)
        #expect(CategoryName("State") != .state)
        #expect(!CategoryName("State").isRegistered)
        #expect(CategoryName.registered.count == 22)
    }
}
