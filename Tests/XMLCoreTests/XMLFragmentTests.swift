import Testing
import XMLCore

@Suite struct XMLFragmentTests {
    func child(_ text: String) throws -> XMLElement {
        try #require(try XMLTree.parse(Array(text.utf8)).root.children.first { _ in true })
    }
    func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("a self-contained element is its source byte for byte")
    func verbatim() throws {
        let source = "<x:y xmlns:x='urn:x'  a = \"1\">\r\n<!-- c --><x:z/>&#65;</x:y >"
        let fragment = try child("<r xmlns:q='urn:q'>\(source)</r>").fragment()
        #expect(string(fragment.bytes) == source && fragment.inherited.isEmpty)
        #expect(fragment.namespace == "urn:x" && fragment.localName == "y")
    }

    @Test("declarations of outer elements are added only when needed")
    func inherited() throws {
        let fragment = try child("<r xmlns='urn:d' xmlns:q='urn:q' xmlns:u='urn:u'><s q:t='v'/></r>").fragment()
        #expect(string(fragment.bytes) == #"<s xmlns="urn:d" xmlns:q="urn:q" q:t='v'/>"#)
        let prefixed = try child("<r xmlns='urn:d' xmlns:q='urn:q'><q:s><t/></q:s></r>").fragment()
        #expect(string(prefixed.bytes) == #"<q:s xmlns="urn:d" xmlns:q="urn:q"><t/></q:s>"#)
        let value = try child("<r xmlns:t='urn:t' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><s xsi:type='t:k' xmlns='u'/></r>")
        #expect(value.fragment().inherited.map(\.prefix) == ["t", "xsi"])
    }

    @Test("a fragment put back where its declarations hold is its source again")
    func putBack() throws {
        let fragment = try child("<r xmlns='urn:d'><s/></r>").fragment()
        var writer = XMLWriter(declaration: false)
        writer.start("r")
        writer.namespace("", "urn:d")
        writer.fragment(fragment)
        writer.start("p:n")
        writer.namespace("", "urn:other")
        writer.namespace("p", "urn:p")
        writer.fragment(fragment)
        let bytes = writer.finish()
        #expect(string(bytes) == #"<r xmlns="urn:d"><s/><p:n xmlns="urn:other" xmlns:p="urn:p"><s xmlns="urn:d"/></p:n></r>"#)
    }

    @Test("a QName in a value is resolved with the prefixes in scope")
    func qualifiedName() throws {
        let element = try child("<r xmlns='urn:d' xmlns:q='urn:q'><s/></r>")
        #expect(try #require(element.resolve(qualifiedName: "q:k")) == ("urn:q", "k"))
        #expect(try #require(element.resolve(qualifiedName: "k")) == ("urn:d", "k"))
        #expect(element.resolve(qualifiedName: "z:k") == nil)
    }
}
