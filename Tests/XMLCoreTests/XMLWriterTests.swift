import Testing
import XMLCore

@Suite struct XMLWriterTests {
    @Test("XML 1.0 2.4 text and attribute values come back as they were")
    func roundTrip() throws {
        let awkward = "a<b>&\"'\t\n\r]]> é😀"
        var writer = XMLWriter()
        writer.start("r")
        writer.attribute("v", awkward)
        writer.text(awkward)
        let root = try XMLTree.parse(writer.finish()).root
        #expect(root.text == awkward)
        #expect(root.attribute("v") == awkward)
    }

    @Test("XML 1.0 2.2 characters that XML cannot say become U+FFFD")
    func illegal() throws {
        var writer = XMLWriter(declaration: false)
        writer.element("r", "a\u{0}b\u{1F}c\u{FFFE}d\u{FFFF}\u{FEFF}")
        let bytes = writer.finish()
        #expect(try XMLTree.parse(bytes).root.text == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}\u{FEFF}")
    }

    @Test("elements without content are empty tags, and finish closes what is open")
    func shape() {
        var writer = XMLWriter(declaration: false)
        writer.start("a")
        writer.element("b")
        writer.element("c", "")
        writer.element("d", "x")
        let bytes = writer.finish()
        #expect(String(decoding: bytes, as: UTF8.self) == "<a><b/><c/><d>x</d></a>")
    }

    @Test("foreign attributes declare their namespace once")
    func foreign() throws {
        var writer = XMLWriter(declaration: false)
        writer.start("a")
        writer.attribute(XMLAttribute(namespace: "urn:x", prefix: "x", localName: "one", value: "1"))
        writer.start("b")
        writer.attribute(XMLAttribute(namespace: "urn:x", prefix: "y", localName: "two", value: "2"))
        writer.attribute(XMLAttribute(namespace: XMLNamespace.xml.uri, prefix: "xml", localName: "lang", value: "en"))
        let bytes = writer.finish()
        #expect(String(decoding: bytes, as: UTF8.self) == #"<a xmlns:x="urn:x" x:one="1"><b x:two="2" xml:lang="en"/></a>"#)
    }
}
