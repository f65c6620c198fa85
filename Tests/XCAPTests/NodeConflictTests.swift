import Testing
import XCAP
import XMLCore

/// Refused changes of nodes: each reason of RFC 4825 11.1, and that nothing changes.
@Suite struct NodeConflictTests {
    private static let document = """
        <resource-lists xmlns="urn:ietf:params:xml:ns:resource-lists" xmlns:x="urn:example:x">
          <list name="friends">
            <entry uri="sip:kai@example.com"/><entry uri="sip:otto@example.net"/>
          </list>
          <list name="family"><list/><list/></list>
        </resource-lists>
        """
    private let lists = XCAPFixture.lists + "/~~/"
    private static let entry = "<entry uri=\"sip:a@example.com\"/>"

    /// Sends a request to a server with the document and checks that a refusal changes nothing.
    private func send(
        _ method: XCAPMethod, _ selector: String, _ body: String = "", query: String = "", type: String? = nil,
        limits: XCAPLimits = XCAPLimits()
    ) -> XCAPResponse {
        send(method, selector, octets: Array(body.utf8), query: query, type: type, limits: limits)
    }

    private func send(
        _ method: XCAPMethod, _ selector: String, octets: [UInt8], query: String = "", type: String? = nil,
        limits: XCAPLimits = XCAPLimits()
    ) -> XCAPResponse {
        var server = XCAPFixture(XCAPFixture.lists, Self.document, limits: limits)
        let before = server.documents
        let response = server.send(method, lists + escaped(selector) + query, octets: octets, type: type)
        #expect(response.status == 200 || response.status == 201 || server.documents == before)
        return response
    }

    @Test(
        "RFC 4825 8.2.1: a node PUT below nothing is 409 no-parent with the closest ancestor that exists [R550]",
        arguments: [
            ("resource-lists/list[3]/entry", "/~~/resource-lists"), ("resource-lists/list/entry", "/~~/resource-lists"),
            ("other/list", ""), ("resource-lists/list[@name=\"x\"]/@name", "/~~/resource-lists"),
            ("resource-lists/list[@name=\"friends\"]/entry[3]/@uri", "/~~/resource-lists/list%5B@name=%22friends%22%5D"),
            ("resource-lists/list[2]/list/entry", "/~~/resource-lists/list%5B2%5D"),
        ])
    func noParent(_ selector: String, _ ancestor: String) {
        let body = selector.contains("/@") ? "a" : Self.entry
        let response = send(.put, selector, body)
        #expect(response.conflict == "no-parent")
        let document = "https://xcap.example.com/xcap-root/resource-lists/users/sip:mara@example.com/index"
        #expect(response.conflictPart("ancestor")?.text == document + ancestor)
    }

    @Test("RFC 4825 8.2.1: the ancestor has the query that its prefixes need [R550]")
    func ancestorQuery() {
        let query = "?xmlns(r=urn:ietf:params:xml:ns:resource-lists)"
        let response = send(.put, "r:resource-lists/r:list[7]/r:entry", Self.entry, query: query)
        #expect(response.conflictPart("ancestor")?.text.hasSuffix("/~~/r:resource-lists" + query) == true)
    }

    @Test("RFC 4825 8.2.1: a node PUT into a document that does not exist is 409 no-parent with the home directory [R550]")
    func noDocument() {
        var server = XCAPFixture()
        let response = server.send(.put, lists + "resource-lists/list", Self.entry)
        #expect(response.conflict == "no-parent")
        #expect(response.conflictPart("ancestor")?.text == "https://xcap.example.com/xcap-root/resource-lists/users/sip:mara@example.com")
        #expect(server.documents.isEmpty)
    }

    @Test(
        "RFC 4825 8.2.2: content that is not exactly one element is 409 not-xml-frag [R551]",
        arguments: [
            "", " ", "text", "<", "<a", "<entry uri='a'/>text", "text<entry uri='a'/>", "<entry uri='a'/><entry uri='b'/>",
            "<?xml version='1.0'?><entry uri='a'/>", "<!-- c --><entry uri='a'/>", "<entry uri='a'/><!-- c -->", "<entry uri='a'>",
            "</entry>",
            "<entry uri='a'/></list><list>", "</list><list name='c'>", "<p:entry uri='a'/>", "<entry uri='a'>&b;</entry>",
            "<![CDATA[<entry/>]]>",
            "<entry uri='a'/><!--", "<entry uri=a/>", "<entry uri='a'></list></entry>", "<!DOCTYPE a><entry uri='a'/>",
            "<entry uri='a' uri='b'/>",
            "\u{FEFF}<entry uri='a'/>", "<entry uri='\u{1}'/>",
        ])
    func notXMLFragment(_ body: String) {
        for selector in ["resource-lists/list[1]/entry[1]", "resource-lists/list[1]/entry[3]", "resource-lists/list[2]/entry"] {
            let response = send(.put, selector, body)
            #expect(response.conflict == "not-xml-frag", "\(selector) \(body): \(response.reason ?? "\(response.status)")")
        }
    }

    @Test("RFC 4825 8.2.2: the phrase names the octet of the content [R551]")
    func fragmentPosition() {
        let response = send(.put, "resource-lists/list[1]/entry[1]", "<entry uri='a'><b></c></entry>")
        #expect(response.reason?.contains("at octet ") == true)
    }

    @Test("RFC 4825 8.2.5: content that is not UTF-8 is 409 not-utf-8 [R521]")
    func notUTF8() {
        #expect(send(.put, "resource-lists/list[1]/entry[1]", octets: [0xFE, 0xFF, 0, 0x3C]).conflict == "not-utf-8")
        #expect(send(.put, "resource-lists/list[1]/@name", octets: [0x61, 0xC3]).conflict == "not-utf-8")
        let type = "application/xcap-el+xml; charset=UTF-16"
        #expect(send(.put, "resource-lists/list[1]/entry[1]", Self.entry, type: type).conflict == "not-utf-8")
    }

    @Test(
        "RFC 4825 8.2.2: content that is no attribute value is 409 not-xml-att-value [R552]",
        arguments: ["<", "a<b", "&", "a&b;", "&#x;", "\"'", "\u{0}", "\u{FFFE}", "&amp"])
    func notAttributeValue(_ value: String) {
        for name in ["name", "new"] {
            let response = send(.put, "resource-lists/list[1]/@\(name)", value)
            #expect(response.conflict == "not-xml-att-value" || response.conflict == "not-utf-8", "\(value)")
        }
    }

    @Test(
        "RFC 4825 8.2.3: what a GET of the same URI would not give back is 409 cannot-insert [R553]",
        arguments: [
            // Another name, or another attribute, than the URI has.
            ("resource-lists/list[1]/entry[1]", "<list/>"), ("resource-lists/list[1]/entry[3]", "<list/>"),
            ("resource-lists/list[1]/entry[@uri=\"b\"]", "<entry uri=\"c\"/>"), ("resource-lists/list[1]/entry[@uri=\"b\"]", "<list/>"),
            ("resource-lists/list[1]/entry[@uri=\"sip:kai@example.com\"]", "<entry uri=\"c\"/>"),
            ("resource-lists/list[1]/entry[1]", "<entry xmlns=\"urn:example:y\"/>"), ("resource-lists", "<other/>"),
            ("resource-lists/list[1]/entry[1][@uri=\"b\"]", "<entry uri=\"c\"/>"),
            // A position that leaves a gap.
            ("resource-lists/list[1]/entry[4]", entry), ("resource-lists/list[1]/entry[4][@uri=\"sip:a@example.com\"]", entry),
            // A step that selects several.
            ("resource-lists/list[1]/entry", entry), ("resource-lists/list[1]/*", entry),
            // A second document element.
            ("other", "<other/>"),
        ])
    func cannotInsert(_ selector: String, _ body: String) {
        let response = send(.put, selector, body)
        #expect(response.conflict == "cannot-insert", "\(response.reason ?? "\(response.status)")")
    }

    @Test("RFC 4825 8.2.3: an attribute that the predicate of its own URI compares keeps its value, else 409 cannot-insert [R553]")
    func cannotInsertAttribute() {
        let selector = "resource-lists/list[@name=\"friends\"]/@name"
        #expect(send(.put, selector, "others").conflict == "cannot-insert")
        #expect(send(.put, selector, "friends").status == 200)
        #expect(send(.put, selector, "frie&#110;ds").status == 200)
    }

    @Test(
        "RFC 4825 8.4: a DELETE after which the URI selects another node is 409 cannot-delete [R554]",
        arguments: [
            "resource-lists/list[1]/entry[1]", "resource-lists/*[1]", "resource-lists/list[2]/list[1]",
            "resource-lists/list[1]/*[1][@uri=\"sip:kai@example.com\"]",
        ])
    func cannotDelete(_ selector: String) {
        let response = send(.delete, selector)
        let isFree = selector.contains("@uri")
        #expect(isFree ? response.status == 200 : response.conflict == "cannot-delete", "\(response.reason ?? "")")
    }

    @Test("RFC 4825 8.4: a DELETE that would break the schema is 409 schema-validation-error [R555]")
    func schemaOfDelete() {
        #expect(send(.delete, "resource-lists").conflict == "schema-validation-error")
        #expect(send(.delete, "resource-lists/list[1]/entry[1]/@uri").conflict == "schema-validation-error")
    }

    @Test("RFC 4825 8.2: a node PUT of another media type than its level is 415 [R517]")
    func mediaTypes() {
        let element = send(.put, "resource-lists/list[1]/entry[1]", Self.entry, type: "application/resource-lists+xml")
        #expect(element.status == 415 && element.accept == "application/xcap-el+xml")
        let attribute = send(.put, "resource-lists/list[1]/@name", "a", type: "application/xcap-el+xml")
        #expect(attribute.status == 415 && attribute.accept == "application/xcap-att+xml")
    }

    @Test("limits: a node PUT that makes the document too large or too deep is 413 [R526]")
    func limits() {
        let limits = XCAPLimits(document: XMLLimits(bytes: Self.document.utf8.count + 40, depth: 4, nodes: 9, attributes: 3))
        let target = "resource-lists/list[1]/entry[3]"
        #expect(send(.put, target, "<entry uri=\"\(String(repeating: "a", count: 40))\"/>", limits: limits).status == 413)
        #expect(send(.put, "resource-lists/list[1]/@name", String(repeating: "a", count: 80), limits: limits).status == 413)
        #expect(send(.put, target, "<entry uri='a'><x:a><x:b/></x:a></entry>", limits: limits).status == 413)
        #expect(send(.put, target, "<entry uri='a' b='' c='' d=''/>", limits: limits).status == 413)
        #expect(send(.put, target, "<entry uri='a'><x:a/><x:a/></entry>", limits: limits).status == 413)
        #expect(send(.put, target, "<entry uri='a'/>", limits: limits).status == 201)
    }

    @Test("a stored document that is not read is 500 for its nodes, and can be fetched and replaced")
    func brokenDocument() {
        var server = XCAPFixture(XCAPFixture.lists, "<a>")
        #expect(server.send(.get, lists + "a").status == 500)
        #expect(server.send(.put, lists + "a", "<a/>").status == 500)
        #expect(server.get(XCAPFixture.lists) == "<a>")
        #expect(server.send(.put, XCAPFixture.lists, Self.document).status == 200)
    }

    @Test("RFC 4825 11.2: the error document has one element with a phrase, and any text in it is escaped")
    func errorDocuments() throws {
        let all: [XCAPConflict] = [
            .notWellFormed("<&>"), .notXMLFragment("\""), .noParent(ancestor: "https://xcap.example.com/?a&b", phrase: "p"),
            .schemaValidation("a"), .notXMLAttributeValue("a"), .cannotInsert("a"), .cannotDelete("a"),
            .uniqueness([.init(field: "a/@b", alternatives: ["c", "<d>"]), .init(field: "e")], phrase: "a"), .constraint("a"),
            .extension([try XMLFragment(parsing: Array("<r xmlns=\"urn:example:r\">a</r>".utf8))], phrase: "a"), .notUTF8("a"),
        ]
        for conflict in all {
            let response = XCAPResponse(conflict)
            #expect(response.status == 409 && response.conflict == conflict.name)
            let error = try XMLTree.parse(response.body).root.children.first { _ in true }
            if case .extension = conflict {
                #expect(error?.children.first { _ in true }?.isNamed("r", in: "urn:example:r") == true)
            } else {
                #expect(error?.attribute("phrase") == conflict.phrase)
            }
        }
        let fields = XCAPResponse(all[7])
        #expect(fields.conflictPart("exists")?.children.map(\.text) == ["c", "<d>"])
        #expect(XCAPResponse(all[2]).conflictPart("ancestor")?.text == "https://xcap.example.com/?a&b")
    }
}
