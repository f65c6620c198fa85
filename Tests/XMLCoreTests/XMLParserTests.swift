import Testing
import XMLCore

@Suite struct XMLParserTests {
    static let pidf = XMLNamespace("urn:ietf:params:xml:ns:pidf")

    func parse(_ text: String, _ limits: XMLLimits = .standard) throws(XMLError) -> XMLElement {
        try XMLTree.parse(Array(text.utf8), limits: limits).root
    }

    func error(_ text: String, _ limits: XMLLimits = .standard) -> XMLError? {
        do throws(XMLError) {
            _ = try parse(text, limits)
            return nil
        } catch { return error }
    }

    @Test("names are compared by namespace, never by prefix")
    func names() throws {
        let presence = XMLName("presence", in: Self.pidf)
        let one = try parse("<presence xmlns='urn:ietf:params:xml:ns:pidf'/>")
        let two = try parse("<x:presence xmlns:x='urn:ietf:params:xml:ns:pidf'/>")
        let three = try parse("<presence/>")
        #expect(one.is(presence) && two.is(presence) && !three.is(presence))
        #expect(two.localName == "presence" && two.namespace == Self.pidf.uri)
    }

    @Test("a name registered after the parse is still recognised")
    func lateName() throws {
        let root = try parse("<late xmlns='urn:example:late' when='now'/>")
        #expect(root.is(XMLName("late", in: XMLNamespace("urn:example:late"))))
        #expect(root.attribute(XMLName("when")) == "now")
    }

    @Test("XML 1.0 3.3.3 attribute values are decoded and normalised")
    func attributes() throws {
        let root = try parse("<a u='sip:x?p=1&amp;q=2' v=\"one\ttwo\r\nthree&#10;four\" w='&quot;&#x20AC;'/>")
        #expect(root.attribute("u") == "sip:x?p=1&q=2")
        #expect(root.attribute("v") == "one two three\nfour")
        #expect(root.attribute("w") == "\"€")
        #expect(root.attribute("x") == nil)
    }

    @Test("mixed content keeps text apart from child text")
    func mixed() throws {
        let root = try parse("<a>x<b k='1'>y</b>z &amp; <![CDATA[<w>]]>\r\n</a>")
        #expect(root.text == "xz & <w>\n")
        #expect(root.trimmedText == "xz & <w>")
        let b = try #require(root.first(XMLName("b")))
        #expect(b.text == "y" && b.attribute("k", equals: "1"))
    }

    @Test("white space between tags is not kept, white space beside text is")
    func whiteSpace() throws {
        #expect(try parse("<a>\n <b/>\r\n <b/> \n</a>").text == "")
        #expect(try parse("<a> \n</a>").text == " \n")
        #expect(try parse("<a> <![CDATA[x]]> <!-- c --> <b/></a>").text == " x  ")
        #expect(try parse("<a>&#32;<b/></a>").text == " ")
    }

    @Test("positions count lines and characters from one")
    func positions() throws {
        let root = try parse("<a>\n <é>ü<b/></é></a>")
        let b = try #require(root.children.first { _ in true }?.children.first { _ in true })
        #expect(b.position.line == 2 && b.position.column == 6)
        #expect(error("<a>\n  <b></a>")?.position.description == "2:6")
    }

    @Test(
        "what is not well-formed is refused",
        arguments: [
            "", " ", "text", "<a", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a x=1/>", "<a x='1' x='2'/>", "<a x='<'/>", "<a>&nope;</a>",
            "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&amp</a>", "<a>]]></a>", "<a><!-- -- --></a>", "<p:a/>", "<a p:x=''/>", "<a:b:c/>",
            "<a xmlns:p=''/>", "<a xmlns:xmlns='u'/>", "<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>", "<a><?xml version='1.0'?></a>",
            " <?xml version='1.0'?><a/>", "<?xml version='2.0'?><a/>", "<?xml?><a/>", "<1/>", "<a>\u{1}</a>", "<a x='\u{1}'/>", "<a\u{0}/>",
            "<a xmlns='u' xmlns='v'/>", "<a xmlns:xml='urn:other'/>", "<a/ >", "<a x='1'y='2'/>", "<a><!ELEMENT b ANY></a>",
        ])
    func refused(_ text: String) { #expect(error(text) != nil) }

    @Test("a DOCTYPE and every trick that needs one is refused")
    func doctype() {
        let laughs = "<!DOCTYPE l [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><l>&b;</l>"
        #expect(error(laughs)?.code == .documentType)
        #expect(error("<!DOCTYPE x SYSTEM 'file:///etc/passwd'><x/>")?.code == .documentType)
        #expect(error(laughs, .skippingDoctype)?.code == .documentType)
        #expect(error("<!DOCTYPE presence PUBLIC '-//IETF//DTD' 'xpidf.dtd'><presence/>", .skippingDoctype) == nil)
    }

    @Test("limits on bytes, depth, nodes and attributes are refusals")
    func limits() {
        #expect(error("<a>" + String(repeating: " ", count: 300_000) + "</a>")?.code == .limit)
        #expect(error(String(repeating: "<a>", count: 80_000))?.code == .limit)
        #expect(error(String(repeating: "<a>", count: 65) + String(repeating: "</a>", count: 65))?.code == .limit)
        #expect(error(String(repeating: "<a>", count: 64) + String(repeating: "</a>", count: 64)) == nil)
        #expect(error("<a>" + String(repeating: "<b/>", count: 20_000) + "</a>")?.code == .limit)
        #expect(error("<a " + (0..<65).map { "x\($0)=''" }.joined(separator: " ") + "/>")?.code == .limit)
        #expect(error("<" + String(repeating: "n", count: 2_000) + "/>")?.code == .limit)
    }

    @Test("XML 1.0 4.3.3 encodings: UTF-8, ASCII and marked UTF-16, nothing else")
    func encodings() throws {
        #expect(try parse("<?xml version=\"1.0\" encoding='utf-8' standalone='yes'?>\n<a/>").localName == "a")
        #expect(error("<?xml version='1.0' encoding='ISO-8859-1'?><a/>")?.code == .encoding)
        var utf16: [UInt8] = [0xFF, 0xFE]
        for unit in "<?xml version='1.0' encoding='UTF-16'?><a>é😀</a>".utf16 { utf16 += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        #expect(try XMLTree.parse(utf16).root.text == "é😀")
        #expect(throws: XMLError.self) { try XMLTree.parse(Array(utf16.dropFirst(2))) }
        for bad: [UInt8] in [[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xFF], [0xE2, 0x82], [0xEF, 0xBF, 0xBF], [0xF5, 0x80, 0x80, 0x80]] {
            #expect(throws: XMLError.self) { try XMLTree.parse(Array("<a>".utf8) + bad + Array("</a>".utf8)) }
        }
    }

    @Test("a parser gives a new tree while the old one is held, and goes on after errors")
    func reuse() throws {
        let parser = XMLParser()
        let first = try parser.parse(Array("<a>one</a>".utf8)).root
        let second = try parser.parse(Array("<b>two</b>".utf8)).root
        #expect(first.text == "one" && second.text == "two")
        for round in 0..<200 {
            _ = try? parser.parse(Array("<a n\(round)='' <".utf8))
            #expect(try parser.parse(Array("<n\(round)>\(round)</n\(round)>".utf8)).root.text == "\(round)")
        }
    }

    @Test("xml:lang is inherited")
    func language() throws {
        let root = try parse("<a xml:lang='de'><b/><c xml:lang='fr'/></a>")
        #expect(root.children.map(\.language) == ["de", "fr"])
    }

    @Test("a namespace name longer than 1024 bytes is refused: every kept element that relies on it would carry a copy")
    func longNamespaceName() throws {
        func document(_ length: Int) -> [UInt8] {
            Array("<p:a xmlns:p=\"\(String(repeating: "u", count: length))\"><p:b/></p:a>".utf8)
        }
        #expect(try XMLTree.parse(document(1_024)).root.namespace.utf8.count == 1_024)
        let error = try #require(throws: XMLError.self) { try XMLTree.parse(document(1_025)) }
        #expect(error.code == .limit && error.message.contains("a namespace name is longer than 1024 bytes"))
    }

    @Test("RFC 5646 4.4.1 xml:lang longer than 255 bytes is no language, and an inner one counts before it")
    func longLanguage() throws {
        func language(_ length: Int) throws -> String? {
            let text = "<a xml:lang=\"\(String(repeating: "e", count: length))\"><b/><c xml:lang=\"en\"/></a>"
            let children = Array(try XMLTree.parse(Array(text.utf8)).root.children)
            #expect(children[1].language == "en")
            return children[0].language
        }
        #expect(try language(255)?.utf8.count == 255)
        #expect(try language(256) == nil)
    }
}
