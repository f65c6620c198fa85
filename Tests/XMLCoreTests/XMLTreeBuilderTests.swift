import Testing

@testable import XMLCore

/// Tree that is built from libxml2's events: any input yields a document or an error with a position.
@Suite struct XMLTreeBuilderTests {
    static let samples = [
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:r="urn:ietf:params:xml:ns:pidf:rpid" entity="sip:a@example.com?x=1&amp;y=2">
          <tuple id='t1'><status><basic>open</basic></status><r:x r:a="1" a="2"/><contact priority="0.8">sip:a@example.com</contact></tuple>
          <!-- comment --><?pi data?><note xml:lang="de">&#xDC;ber &lt;uns&gt; &quot;é&quot; <![CDATA[<b>]]></note>
        </presence>
        """,
        "<a x='1\n2\t3&#10;4'>t\r\nu\rv&amp;w<b/> tail <c> </c></a>",
        "<p:a xmlns:p='urn:p'><p:b xmlns:p='urn:q' p:c='d'/><b xmlns='urn:d'><c xmlns=''/></b></p:a>",
    ]

    func parse(_ text: String) throws -> XMLElement { try XMLTree.parse(Array(text.utf8)).root }
    func source(_ element: XMLElement) -> String { String(decoding: element.sourceBytes, as: UTF8.self) }

    /// Whole tree as text: names, attributes, texts.
    func describe(_ element: XMLElement) -> String {
        var result = "{\(element.namespace)}\(element.localName)"
        for attribute in element.attributes { result += " {\(attribute.namespace)}\(attribute.localName)=\(attribute.value)" }
        result += "[\(element.text)]"
        for child in element.children { result += "(" + describe(child) + ")" }
        return result
    }

    @Test("names, namespaces, values and texts come out as they are meant")
    func meaning() throws {
        let root = try parse(Self.samples[0])
        let pidf = "{urn:ietf:params:xml:ns:pidf}"
        let rpid = "{urn:ietf:params:xml:ns:pidf:rpid}"
        #expect(
            describe(root)
                == "\(pidf)presence {}entity=sip:a@example.com?x=1&y=2[](\(pidf)tuple {}id=t1[](\(pidf)status[](\(pidf)basic[open]))"
                + "(\(rpid)x \(rpid)a=1 {}a=2[])(\(pidf)contact {}priority=0.8[sip:a@example.com]))"
                + "(\(pidf)note {http://www.w3.org/XML/1998/namespace}lang=de[Über <uns> \"é\" <b>])")
        #expect(describe(try parse(Self.samples[1])) == "{}a {}x=1 2 3\n4[t\nu\nv&w tail ]({}b[])({}c[ ])")
        #expect(describe(try parse(Self.samples[2])) == "{urn:p}a[]({urn:q}b {urn:q}c=d[])({urn:d}b[]({}c[]))")
    }

    @Test("an element is its source byte for byte, whatever stands in it")
    func sources() throws {
        let children = [
            "<b/>", "<b />", "<b x='a>b/'/>", "<b\n x = \"'/>\"\n>t</b\n>", "<p:b xmlns:p='urn:p' p:x='é'><p:b>é</p:b></p:b>",
            "<b><!-- <c> --><![CDATA[<c>]]></b>", "<b>\r\n&#65;\r\n</b>", "<b><?pi <c>?><c><c/></c></b>",
        ]
        let root = try parse("\u{FEFF}<a>" + children.joined(separator: "\n") + "</a>")
        #expect(root.children.map(source) == children)
        #expect(source(root).hasPrefix("<a><b/>") && source(root).hasSuffix("</a>"))
    }

    @Test("declarations and attributes are told apart in any order, and references in both are decoded")
    func order() throws {
        let root = try parse(
            "<a p:y='1' xmlns:p='urn:p?a&amp;b' x='&amp;#38;&amp;' xmlns:xml='http://www.w3.org/XML/1998/namespace' é='ü' xmlns='urn:d' xml:lang='en'/>"
        )
        #expect(root.namespace == "urn:d")
        #expect(root.attributes.map(\.value) == ["1", "&#38;&", "ü", "en"])
        #expect(root.attributes.map(\.localName) == ["y", "x", "é", "lang"])
        #expect(root.attributes.map(\.namespace) == ["urn:p?a&b", "", "", XMLNamespace.xml.uri])
        #expect(root.language == "en")
    }

    @Test("long texts and values beyond ASCII come back whole")
    func long() throws {
        let text = String(repeating: "Grüße 😀 \r\n&", count: 2_000)
        var writer = XMLWriter()
        writer.start("a")
        writer.attribute("v", text)
        writer.text(text)
        let root = try XMLTree.parse(writer.finish()).root
        #expect(root.text == text && root.attribute("v") == text)
    }

    @Test("every truncation and a spread of mutations are a value or a placed error", arguments: samples)
    func mutations(_ text: String) {
        let parser = XMLParser()
        let second = XMLParser()
        let bytes = Array(text.utf8)
        var misplaced: [String] = []
        func judge(_ mutant: [UInt8]) {
            do throws(XMLError) {
                let tree = try parser.parse(mutant)
                // An accepted element means the same when it is parsed alone.
                let again = try second.parse(tree.root.sourceBytes)
                if describe(again.root) != describe(tree.root) { misplaced.append(String(decoding: mutant, as: UTF8.self)) }
            } catch {
                let isPlaced = (0...mutant.count).contains(error.position.offset) && error.position.line >= 1 && !error.message.isEmpty
                if !isPlaced { misplaced.append("\(error)") }
            }
        }
        for length in 0..<bytes.count { judge(Array(bytes[..<length])) }
        for index in bytes.indices {
            for replacement in Array("<>&\"'/ =:;#!?-]x1\n\u{0}\u{1}".utf8) {
                var mutant = bytes
                mutant[index] = replacement
                judge(mutant)
            }
            var shorter = bytes
            shorter.remove(at: index)
            judge(shorter)
        }
        #expect(misplaced.isEmpty, "\(misplaced.prefix(3))")
    }

    func error(_ text: String, _ parser: XMLParser = XMLParser()) -> XMLError? {
        do throws(XMLError) {
            _ = try parser.parse(Array(text.utf8))
            return nil
        } catch { return error }
    }

    @Test("hostile documents are refused")
    func hostile() {
        #expect(error("<a " + (0..<40_000).map { "x\($0)=''" }.joined(separator: " ") + "/>")?.code == .limit)
        #expect(error("<r><?1 <a " + (0..<20_000).map { "x\($0)=''" }.joined(separator: " ") + "/></r>")?.code == .limit)
        #expect(error("<a x=' <b " + (0..<20_000).map { "x\($0)=''" }.joined(separator: " ") + "/>")?.code == .limit)
        #expect(error(String(repeating: "<a>", count: 87_000))?.code == .limit)
        #expect(error("<a x='" + String(repeating: "<", count: 250_000))?.code == .notWellFormed)
        #expect(error("<a x='" + String(repeating: "y", count: 250_000) + "'/>") == nil)
        #expect(error("<a>" + String(repeating: "&x;", count: 80_000) + "</a>")?.code == .documentType)
        #expect(error("<a/>\u{0}<b")?.code == .notWellFormed)
        let scopes = (0..<5).map { level in "<a " + (0..<60).map { "xmlns:p\(level)x\($0)='u'" }.joined(separator: " ") + ">" }
        #expect(error(scopes.joined() + String(repeating: "</a>", count: 5))?.code == .limit)
    }

    @Test("a flood of names neither mixes names up nor stops the parser")
    func flood() throws {
        let parser = XMLParser()
        let known = XMLName("known", in: XMLNamespace("urn:example:known"))
        for round in 0..<20 {
            let names = (0..<600).map { "<n\(round)x\($0)/>" }.joined()
            let tree = try parser.parse(Array("<known xmlns='urn:example:known'>\(names)<known/></known>".utf8))
            #expect(tree.root.is(known) && tree.root.all(known).count == 1)
            #expect(tree.root.children.first { _ in true }?.localName == "n\(round)x0")
        }
        let late = XMLName("n0x0", in: XMLNamespace("urn:example:known"))
        #expect(try parser.parse(Array("<n0x0 xmlns='urn:example:known'/>".utf8)).root.is(late))
    }

    @Test("what is wrong is said in plain words, where it is")
    func words() {
        #expect(error("<a>\n <b></a>")?.description == "2:5: XML 1.0 3: this end tag does not close 'b'")
        #expect(error("<a>\n <p:b/></a>")?.description == "2:2: Namespaces 1.0 5: the prefix 'p' is not declared")
        #expect(error("<a x='1' x='2'/>")?.message == "XML 1.0 3.1: attribute 'x' occurs twice")
        #expect(error("<a>\n<b>")?.description == "2:4: XML 1.0 3: the document ends inside element 'b'")
        #expect(error("")?.description == "1:1: XML 1.0 2.1: there is no document element")
        #expect(error("<a>&nope;</a>")?.code == .documentType)
        #expect(error("<a xmlns='not a uri'/>") == nil)
    }

    @Test("the yardstick counts what the tree holds, and refuses what it refuses")
    func yardstick() throws {
        let bare = try #require(LibXML2())
        let counts = try #require(bare.count(Array(Self.samples[2].utf8)))
        #expect(counts.elements == 4 && counts.attributes == 1)
        #expect(bare.count(Array("<a>".utf8)) == nil)
        #expect(bare.count(Array("<!DOCTYPE a []><a/>".utf8)) == nil)
    }
}
