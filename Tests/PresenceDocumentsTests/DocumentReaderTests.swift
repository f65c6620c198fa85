import PresenceDocuments
import Testing
import XMLCore

/// Documents as deployed programs write them: read liberally from partners, strictly from users.
@Suite struct DocumentReaderTests {
    static func pidf(_ tuple: String, root: String = "presence", attributes: String = "") -> [UInt8] {
        Array(
            ("<\(root) xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:p=\"urn:ietf:params:xml:ns:pidf-diff\" "
                + "xmlns:dm=\"urn:ietf:params:xml:ns:pidf:data-model\" xmlns:r=\"urn:ietf:params:xml:ns:pidf:rpid\" "
                + "entity=\"sip:alice@example.org\"\(attributes)><tuple id=\"t1\"><status><basic>open</basic></status>\(tuple)</tuple>"
                + "</\(root)>").utf8)
    }

    func read(_ bytes: [UInt8], _ policy: ReadingPolicy = .liberal) throws -> (document: PIDFDocument, flaws: [DocumentFlaw]) {
        var reader = DocumentReader(policy)
        let document = try reader.readPIDF(bytes, using: XMLParser())
        return (document, reader.flaws)
    }

    @Test(
        "RFC 3863 4.1 a flawed optional part is left out, or read as it was meant, and the rest stays; strictly the document is refused",
        arguments: [
            ("<contact priority=\"0.800000\">sip:a@example.org</contact>", DocumentFlaw.Treatment.repaired),
            ("<contact priority=\"high\">sip:a@example.org</contact>", .dropped), ("<timestamp/>", .dropped),
            ("<timestamp>yesterday</timestamp>", .dropped), ("<timestamp>2026-11-22 10:13:00Z</timestamp>", .repaired),
            ("<r:activities from=\"soon\"><r:busy/></r:activities>", .dropped),
        ])
    func optionalParts(part: String, treatment: DocumentFlaw.Treatment) throws {
        let bytes = Self.pidf(part + "<note>here</note>")
        #expect(throws: DocumentError.self) { try read(bytes, .strict) }
        let (document, flaws) = try read(bytes)
        #expect(flaws.map(\.treatment) == [treatment])
        #expect(document.tuples.first?.basic == .open && document.tuples.first?.notes.first?.text == "here")
        #expect(document.tuples.first?.contact?.uri == (part.contains("contact") ? "sip:a@example.org" : nil))
        if treatment == .repaired, part.contains("priority") { #expect(document.tuples.first?.contact?.priority == 800) }
        if treatment == .repaired, part.contains("timestamp") {
            #expect(document.tuples.first?.timestamp == DateTime("2026-11-22T10:13:00Z"))
        }
        if part.contains("busy") { #expect(document.tuples.first?.rpid.activities.first?.values.map(\.name) == ["busy"]) }
    }

    @Test("a document whose root is flawed, that is no XML, or that must be understood and is not, is refused whatever the policy")
    func unreadable() throws {
        let other = "<x:y xmlns:x=\"urn:example:x\" p:mustUnderstand=\"1\" xmlns:p=\"urn:ietf:params:xml:ns:pidf\"/>"
        let bytes = String(decoding: Self.pidf(""), as: UTF8.self)
        for text in [
            bytes.replacing(" entity=\"sip:alice@example.org\"", with: ""), String(bytes.dropLast(4)), "<other/>",
            bytes.replacing("</presence>", with: other + "</presence>"),
        ] {
            #expect(throws: DocumentError.self, "\(text)") { try read(Array(text.utf8)) }
        }
    }

    @Test("a document with more flaws than are passed over is refused")
    func limit() throws {
        let few = String(repeating: "<timestamp/>", count: DocumentReader.flawLimit)
        #expect(try read(Self.pidf(few)).flaws.count == DocumentReader.flawLimit)
        #expect(throws: DocumentError.self) { try read(Self.pidf(few + "<timestamp/>")) }
    }

    @Test("RFC 5262 3 a pidf-full root under the type of PIDF is read as the document that it holds")
    func wholeState() throws {
        let bytes = Self.pidf("<note>here</note>", root: "p:pidf-full", attributes: " version=\"1\"")
        #expect(throws: DocumentError.self) { try read(bytes, .strict) }
        let (document, flaws) = try read(bytes)
        #expect(document.entity == "sip:alice@example.org" && document.tuples.first?.notes.first?.text == "here" && flaws.count == 1)
    }

    @Test("XML 1.0 4.3.3, F: declared ISO-8859-1 and Windows-1252, UTF-16 without a mark, and UTF-8 that is declared as UTF-16 are read")
    func encodings() throws {
        let text = String(decoding: Self.pidf("<note>Grüße</note>"), as: UTF8.self)
        func declared(_ name: String) -> String { "<?xml version=\"1.0\" encoding=\"\(name)\"?>" + text }
        var documents = ["ISO-8859-1", "windows-1252"].map { declared($0).unicodeScalars.map { UInt8($0.value) } }
        documents.append(Array(declared("UTF-16").utf8))
        for isBigEndian in [false, true] {
            documents.append(
                declared("UTF-16").utf16.flatMap { unit in
                    isBigEndian ? [UInt8(unit >> 8), UInt8(unit & 0xFF)] : [UInt8(unit & 0xFF), UInt8(unit >> 8)]
                })
        }
        for bytes in documents {
            #expect(throws: DocumentError.self) { try read(bytes, .strict) }
            #expect(try read(bytes).document.tuples.first?.notes.first?.text == "Grüße")
        }
    }

    @Test("xpidf with the priority that Asterisk and Messenger write is read")
    func xpidf() throws {
        let text = """
            <presence><presentity uri="sip:otto@example.net;method=SUBSCRIBE"/><atom id="7001">\
            <address uri="sip:otto@example.net;user=ip" priority="0.800000"><status status="open"/></address></atom></presence>
            """
        var reader = DocumentReader(.liberal)
        let document: XPIDFDocument = try reader.read(Array(text.utf8), using: XMLParser(limits: XPIDFDocument.limits))
        #expect(document.atoms.first?.addresses.first?.priority == 800 && document.atoms.first?.addresses.first?.status == .open)
        #expect(throws: DocumentError.self) { try XPIDFDocument.decode(Array(text.utf8)) }
    }

    @Test(
        "MS-PRES 2.2.2.1 an odd publishTime and an empty lastActive are left out; a body that is no document of its category stays as it is"
    )
    func categories() throws {
        let text = """
            <categories xmlns="http://schemas.microsoft.com/2006/09/sip/categories" uri="sip:bob@contoso.com">\
            <category name="shiftPlan" instance="0" publishTime="noon"/><category name="note" instance="0"><odd/></category>\
            <category name="state" instance="1" publishTime="2026-11-22T10:13:00.000"><state \
            xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
            xsi:type="aggregateState" lastActive=""><availability>15500</availability></state></category></categories>
            """
        var reader = DocumentReader(.liberal)
        let document = try reader.read(Array(text.utf8), using: XMLParser()) { root throws(DocumentError) in
            try CategoriesDocument(reading: root, bodies: .liberal)
        }
        #expect(reader.flaws.map(\.treatment) == [.dropped, .dropped])
        #expect(document.categories.map(\.name) == ["shiftPlan", "note", "state"])
        guard case .raw(let odd) = document.categories[1].body, case .state(let state) = document.categories[2].body else {
            Issue.record("bodies \(document.categories.map(\.body))")
            return
        }
        #expect(odd.localName == "odd" && state.availability == 15_500)
    }
}
