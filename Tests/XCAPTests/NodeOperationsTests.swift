import Testing
import XCAP
import XMLCore

/// GET, PUT and DELETE of elements, attributes and namespace bindings (RFC 4825 7.4 to 7.10, 8.2.3).
@Suite struct NodeOperationsTests {
    static let document = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- friends > family -->
        <rl:resource-lists xmlns:rl="urn:ietf:params:xml:ns:resource-lists" xmlns:x='urn:example:x'>
          <rl:list name="friends"  x:mark = 'a"b' >
            <rl:display-name>Frie&#x6E;ds</rl:display-name><!-- <rl:entry/> -->
            <rl:entry uri="sip:kai@example.com"/>
            <rl:entry uri='sip:otto@example.net'><rl:display-name xml:lang="de">Otto &amp; Uma</rl:display-name></rl:entry >
            <x:note> <![CDATA[<x>]]> </x:note>
          </rl:list>
          <rl:list name="empty" />
        </rl:resource-lists>
        """
    private let lists = XCAPFixture.lists + "/~~/"

    private func fixture() -> XCAPFixture { XCAPFixture(XCAPFixture.lists, Self.document) }

    private func path(_ selector: String, query: String = "") -> String { lists + escaped(selector) + query }

    private var current: (inout XCAPFixture) -> String {
        { server in server.get(XCAPFixture.lists) ?? "" }
    }

    @Test(
        "RFC 4825 7.4: GET of an element gives its octets, without added declarations [R530]",
        arguments: [
            ("resource-lists/list[2]", "<rl:list name=\"empty\" />"),
            ("resource-lists/list[@name=\"friends\"]/display-name", "<rl:display-name>Frie&#x6E;ds</rl:display-name>"),
            ("resource-lists/list[1]/entry[1]", "<rl:entry uri=\"sip:kai@example.com\"/>"),
            ("resource-lists/list[1]/entry[@uri='sip:kai@example.com']", "<rl:entry uri=\"sip:kai@example.com\"/>"),
            ("*/list[1][@name=\"friends\"]/*[2]", "<rl:entry uri=\"sip:kai@example.com\"/>"),
            ("*/*[@name=\"empty\"]", "<rl:list name=\"empty\" />"),
            ("*/list[1]/*[3]/*", "<rl:display-name xml:lang=\"de\">Otto &amp; Uma</rl:display-name>"),
        ])
    func elements(_ selector: String, _ expected: String) {
        var server = fixture()
        let response = server.send(.get, path(selector))
        #expect(response.status == 200 && response.text == expected && response.contentType == "application/xcap-el+xml")
        #expect(response.entityTag == server.send(.get, XCAPFixture.lists).entityTag)
    }

    @Test("RFC 4825 6.4: prefixes of the query find elements and attributes, whatever the prefixes of the document [R531]")
    func namespaces() {
        var server = fixture()
        let query = "?xmlns(a=urn:ietf:params:xml:ns:resource-lists)xmlns(b=urn:example:x)"
        #expect(server.get(path("a:resource-lists/list[1]/b:note", query: query)) == "<x:note> <![CDATA[<x>]]> </x:note>")
        #expect(server.get(path("a:resource-lists/a:list[@b:mark='a&quot;b']/@b:mark", query: query)) == "a\"b")
        #expect(server.get(path("resource-lists/list[1]/note")) == nil)
        #expect(server.get(path("resource-lists/list[1]/@mark")) == nil)
        #expect(server.get(path("resource-lists/list[1]/entry[2]/display-name/@xml:lang")) == "de")
    }

    @Test("RFC 4825 7.7: GET of an attribute gives its value as it is written [R532]")
    func attributes() {
        var server = fixture()
        let response = server.send(.get, path("resource-lists/list[1]/@name"))
        #expect(response.status == 200 && response.text == "friends" && response.contentType == "application/xcap-att+xml")
        #expect(server.get(path("resource-lists/list[1]/@none")) == nil)
    }

    @Test("RFC 4825 7.10: GET of namespace::* gives an empty element with the bindings in scope; PUT and DELETE are 405 [R533]")
    func namespaceBindings() throws {
        var server = fixture()
        let target = path("resource-lists/list[1]/namespace::*")
        let response = server.send(.get, target)
        #expect(response.status == 200 && response.contentType == "application/xcap-ns+xml")
        #expect(response.text == "<rl:list xmlns:rl=\"urn:ietf:params:xml:ns:resource-lists\" xmlns:x=\"urn:example:x\"/>")
        for method in [XCAPMethod.put, .delete] {
            let refused = server.send(method, target, "<a/>")
            #expect(refused.status == 405 && refused.allow == [.get, .head] && refused.change == .none)
        }
    }

    @Test(
        "RFC 4825 6.3: a selector with a step that selects nothing, or several, selects nothing: 404 [R534]",
        arguments: [
            "resource-lists/list", "resource-lists/list[3]", "resource-lists/list[@name=\"x\"]", "resource-lists/list[1]/entry",
            "resource-lists/list[2][@name=\"friends\"]", "list", "resource-lists/list[1]/*", "resource-lists/list[1]/entry[1]/@name",
            "resource-lists/resource-lists", "resource-lists/list[@name=\"Friends\"]",
        ])
    func nothing(_ selector: String) {
        var server = fixture()
        #expect(server.send(.get, path(selector)).status == 404)
        #expect(server.send(.delete, path(selector)).status == 404)
        #expect(current(&server) == Self.document)
    }

    @Test("RFC 4825 7.5: PUT replaces an element and leaves every other octet as it is [R535]")
    func replacing() {
        var server = fixture()
        let before = server.send(.get, XCAPFixture.lists).entityTag
        let entry = "<rl:entry\n uri='sip:kai@example.com'><!-- new --><x:y/></rl:entry>"
        let target = path("resource-lists/list[1]/entry[1]")
        let response = server.send(.put, target, entry)
        #expect(response.status == 200 && response.entityTag != nil && response.entityTag != before)
        #expect(current(&server) == Self.document.replacing("<rl:entry uri=\"sip:kai@example.com\"/>", with: entry))
        #expect(server.get(target) == entry)
        #expect(server.send(.put, target, "\n \(entry)\r\n").change == .none)
    }

    @Test(
        "RFC 4825 8.2.3: a new element comes after the last sibling of its name, or as the last child [R536]",
        arguments: [
            // After the last sibling of the name.
            ("resource-lists/list[1]/entry[@uri=\"sip:a@example.com\"]", "<rl:entry uri=\"sip:a@example.com\"/>", "</rl:entry >"),
            ("resource-lists/list[1]/entry[3]", "<rl:entry uri=\"sip:a@example.com\"/>", "</rl:entry >"),
            ("resource-lists/list[3]", "<rl:list/>", "<rl:list name=\"empty\" />"),
            ("*/*[@name=\"c\"]", "<rl:list name=\"c\"/>", "<rl:list name=\"empty\" />"),
            // No sibling of the name.
            ("resource-lists/list[1]/x:other", "<x:other/>", "</x:note>\n  "),
            ("resource-lists/list[1]/x:other[1]", "<x:other/>", "</x:note>\n  "),
        ])
    func inserting(_ selector: String, _ element: String, _ before: String) {
        var server = fixture()
        let target = path(selector, query: "?xmlns(x=urn:example:x)")
        let response = server.send(.put, target, element)
        #expect(response.status == 201, "\(response.reason ?? "")")
        let expected = Self.document.replacing(before, with: before + element)
        #expect(current(&server) == expected)
        #expect(server.get(target) == element)
        #expect(server.send(.delete, target).status == 200)
        #expect(current(&server) == Self.document)
    }

    @Test("RFC 4825 8.2.3: with position and attribute a new element comes before the one that is there [R537]")
    func insertingBefore() {
        var server = fixture()
        let first = "<rl:entry uri=\"sip:a@example.com\"/>"
        #expect(server.send(.put, path("resource-lists/list[1]/entry[1][@uri=\"sip:a@example.com\"]"), first).status == 201)
        let kai = "<rl:entry uri=\"sip:kai@example.com\"/>"
        #expect(current(&server) == Self.document.replacing(kai, with: first + kai))
        let any = "<rl:list name=\"first\"/>"
        #expect(server.send(.put, path("*/*[1][@name=\"first\"]"), any).status == 201)
        #expect(server.get(path("*/list[1]")) == any)
    }

    @Test("RFC 4825 8.2.3: the first child of an empty-element tag opens it [R538]")
    func insertingIntoEmptyElement() {
        var server = fixture()
        let entry = "<rl:entry uri=\"sip:a@example.com\"/>"
        #expect(server.send(.put, path("resource-lists/list[2]/entry[1]"), entry).status == 201)
        #expect(current(&server) == Self.document.replacing("\"empty\" />", with: "\"empty\" >\(entry)</rl:list>"))
        #expect(server.send(.delete, path("resource-lists/list[2]/entry[1]")).status == 200)
        #expect(current(&server) == Self.document.replacing("\"empty\" />", with: "\"empty\" ></rl:list>"))
    }

    @Test("RFC 4825 7.8: PUT creates and replaces attributes, DELETE removes them with the space before [R539]")
    func attributeChanges() {
        var server = fixture()
        let name = path("resource-lists/list[2]/@name")
        #expect(server.send(.put, name, "full").status == 200 && server.get(name) == "full")
        #expect(current(&server) == Self.document.replacing("\"empty\"", with: "\"full\""))
        #expect(server.send(.delete, name).status == 200)
        #expect(current(&server) == Self.document.replacing(" name=\"empty\"", with: ""))
        #expect(server.send(.delete, name).status == 404)
        #expect(server.send(.put, name, "empty").status == 201)
        #expect(current(&server) == Self.document)
        // The quotes change where the value holds them.
        #expect(server.send(.put, name, "say \"hi\" &#38; go").status == 200 && server.get(name) == "say \"hi\" &#38; go")
        #expect(current(&server) == Self.document.replacing("\"empty\"", with: "'say \"hi\" &#38; go'"))
    }

    @Test("Namespaces 1.0 6: a put attribute has the prefix of the document, or one that is declared with it [R540]")
    func qualifiedAttributes() {
        var server = fixture()
        let known = path("resource-lists/list[2]/@p:mark", query: "?xmlns(p=urn:example:x)")
        #expect(server.send(.put, known, "b").status == 201)
        #expect(current(&server) == Self.document.replacing("\"empty\"", with: "\"empty\" x:mark=\"b\""))
        let new = path("resource-lists/list[2]/@x:mark", query: "?xmlns(x=urn:example:%22y%26)")
        #expect(server.send(.put, new, "c").status == 201 && server.get(new) == "c" && server.get(known) == "b")
        #expect(current(&server).contains(" xmlns:x_=\"urn:example:&quot;y&amp;\" x_:mark=\"c\" />"))
        let language = path("resource-lists/list[1]/display-name/@xml:lang")
        #expect(server.send(.put, language, "en").status == 201 && server.get(language) == "en")
    }

    @Test("RFC 4825 7.6: DELETE removes an element and no other octet [R541]")
    func deleting() {
        var server = fixture()
        let response = server.send(.delete, path("resource-lists/list[1]/entry[@uri=\"sip:kai@example.com\"]"))
        #expect(response.status == 200 && response.entityTag != nil)
        #expect(current(&server) == Self.document.replacing("<rl:entry uri=\"sip:kai@example.com\"/>", with: ""))
    }

    @Test("RFC 4825 8.2: a byte order mark, line ends of two octets and other scripts before a node do not move the edit [R535]")
    func offsets() {
        let start = "\u{FEFF}<?xml version='1.0'?>\r\n<!-- \u{65E5}\u{672C} -->\r\n"
        let lists =
            "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'>\r\n<list name='\u{1F600}'>\r\n</list></resource-lists>\r\n"
        var server = XCAPFixture(XCAPFixture.lists, start + lists)
        let entry = "<entry uri=\"\u{E9}\">\r\n</entry>"
        let target = path("resource-lists/list[@name='%F0%9F%98%80']/entry[1]")
        #expect(server.send(.put, target, entry).status == 201 && server.get(target) == entry)
        #expect(current(&server) == start + lists.replacing("</list>", with: entry + "</list>"))
        #expect(server.send(.put, path("resource-lists/list/@name"), "\u{65E5}").status == 200)
        #expect(current(&server) == start + lists.replacing("\u{1F600}", with: "\u{65E5}").replacing("</list>", with: entry + "</list>"))
    }

    @Test("RFC 4825 8.2: PUT of the document element replaces it and keeps what is around it [R542]")
    func documentElement() {
        var server = fixture()
        let root = "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"/>"
        #expect(server.send(.put, path("resource-lists"), root).status == 200)
        #expect(current(&server) == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- friends > family -->\n" + root)
    }

    @Test("RFC 4825 7.11: conditions of node requests are on the tag of the document, * on the node [R543]")
    func conditions() throws {
        var server = fixture()
        let there = path("resource-lists/list[1]/entry[1]")
        let new = path("resource-lists/list[1]/entry[@uri=\"sip:a@example.com\"]")
        let attribute = path("resource-lists/list[2]/@name")
        let tag = try #require(server.send(.get, there).entityTag).description
        #expect(server.send(.get, there, ifNoneMatch: tag).status == 304)
        #expect(server.send(.get, there, ifNoneMatch: "*").status == 304)
        #expect(server.send(.put, there, "<rl:entry uri=\"b\"/>", ifNoneMatch: "*").status == 412)
        #expect(server.send(.put, new, "<rl:entry uri=\"b\"/>", ifMatch: "*").status == 412)
        #expect(server.send(.put, new, "<rl:entry uri=\"b\"/>", ifMatch: "\"b\"").status == 412)
        #expect(server.send(.put, attribute, "b", ifNoneMatch: "*").status == 412)
        #expect(server.send(.delete, there, ifMatch: "\"b\"").status == 412)
        #expect(current(&server) == Self.document)
        #expect(server.send(.put, new, "<rl:entry uri=\"sip:a@example.com\"/>", ifMatch: tag, ifNoneMatch: "*").status == 201)
        #expect(server.send(.delete, new, ifMatch: tag).status == 412)
        #expect(server.send(.put, attribute, "b", ifMatch: "*").status == 200)
    }
}
