import Testing
import XCAP
import XMLCore

/// Application usages resource-lists and rls-services (RFC 4826).
@Suite struct ResourceListsUsageTests {
    private static let reference = "resource-lists/users/sip:mara@example.com/index/~~/resource-lists/list%5b@name=%22a%22%5d"
    private static let anchor = "https://xcap.example.com/xcap-root/" + reference

    private func put(_ content: String, facts: UsageFacts = UsageFacts()) -> XCAPResponse {
        var server = XCAPFixture()
        server.facts = facts
        let document =
            "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\" xmlns:x=\"urn:example:x\">\(content)</resource-lists>"
        let response = server.send(.put, XCAPFixture.lists, document)
        #expect(response.status == 201 || server.documents.isEmpty)
        return response
    }

    @Test(
        "RFC 4826 3.2: documents that the schema allows are taken [R560]",
        arguments: [
            "", "<list/>",
            "<list name=\"a\" x:b=\"c\"><display-name xml:lang=\"en\">A</display-name><entry uri=\"sip:a@example.com\"/></list>",
            "<list><list/><entry uri=\"a\"/><list/><external/><x:a/><x:b/></list>",
            "<list><entry uri=\"a\" x:b=\"c\"><display-name/><x:a/></entry></list>",
            "<list><external anchor=\"\(anchor)\"><display-name>A</display-name></external></list>",
            "<list><entry-ref ref=\"\(reference)/entry%5b1%5d\"/></list>",
            "<list xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"0\"/>",
        ])
    func valid(_ content: String) {
        let response = put(content)
        #expect(response.status == 201, "\(response.reason ?? "")")
    }

    @Test(
        "RFC 4826 3.2: what breaks the schema is 409 schema-validation-error [R560]",
        arguments: [
            "text", "<entry uri=\"a\"/>", "<x:a/>", "<list uri=\"a\"/>", "<list><entry/></list>", "<list><entry-ref/></list>",
            "<list>text</list>",
            "<list><entry uri=\"a\"/><display-name/></list>", "<list><x:a/><entry uri=\"a\"/></list>", "<list><unknown/></list>",
            "<list><display-name/><display-name/></list>", "<list><display-name><x:a/></display-name></list>", "<list xmlns=\"\"/>",
            "<list><entry uri=\"a\">text</entry></list>", "<list><entry uri=\"a\"><list/></entry></list>", "<list><a xmlns=\"\"/></list>",
            "<list><display-name x:a=\"b\"/></list>", "<list><entry uri=\"a\" name=\"b\"/></list>",
        ])
    func invalid(_ content: String) {
        let response = put(content)
        #expect(response.conflict == "schema-validation-error", "\(response.reason ?? "\(response.status)")")
    }

    @Test("RFC 4826 3.2: the phrase names element, position and rule [R560]")
    func phrase() {
        let reason = put("<list/>\n<list><entry uri=\"a\"/><entry/></list>").reason ?? ""
        #expect(reason.contains("RFC 4826 3.2") && reason.contains("resource-lists/list[2]/entry[2] at 2:23") && reason.contains("uri"))
        let other = put("").reason
        #expect(other == nil)
        var server = XCAPFixture()
        let wrong = server.send(.put, XCAPFixture.lists, "<lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"/>")
        #expect(wrong.conflict == "schema-validation-error")
    }

    @Test(
        "RFC 4826 3.4.5: names, entries, references and anchors are unique among siblings, else 409 uniqueness-failure [R561]",
        arguments: [
            ("<list name=\"a\"/><list name=\"a\"/>", "resource-lists/list[2]/@name", ["a-2", "a-3"]),
            ("<list name=\"a\"/><list name=\"a-2\"/><list name=\"a\"/>", "resource-lists/list[3]/@name", ["a-3", "a-4"]),
            ("<list><list name=\"a\"/><list name=\"a\"/></list>", "resource-lists/list/list[2]/@name", ["a-2", "a-3"]),
            ("<list><entry uri=\"a\"/><entry uri=\"b\"/><entry uri=\"a\"/></list>", "resource-lists/list/entry[3]/@uri", []),
            (
                "<list><entry-ref ref=\"\(reference)/entry\"/><entry-ref ref=\"\(reference)/entry\"/></list>",
                "resource-lists/list/entry-ref[2]/@ref", []
            ),
            (
                "<list><external anchor=\"\(anchor)\"/><external anchor=\"\(anchor)\"/></list>", "resource-lists/list/external[2]/@anchor",
                []
            ),
        ])
    func uniqueness(_ content: String, _ field: String, _ alternatives: [String]) {
        let response = put(content)
        #expect(response.conflict == "uniqueness-failure", "\(response.reason ?? "")")
        let exists = response.conflictPart("exists")
        #expect(exists?.attribute("field") == field && exists?.children.map(\.text) == alternatives)
    }

    @Test(
        "RFC 4826 3.4.5: the same value is allowed in other lists, in other case, and on other elements [R561]",
        arguments: [
            "<list name=\"a\"><list name=\"a\"/></list>", "<list name=\"a\"/><list name=\"A\"/>", "<list/><list/>",
            "<list name=\"a\"><entry uri=\"b\"/></list><list name=\"b\"><entry uri=\"b\"/></list>",
        ])
    func noClash(_ content: String) {
        #expect(put(content).status == 201)
    }

    @Test(
        "RFC 4826 3.4.5: a reference leads to an entry, an anchor to a list, of the same user and root; else 409 constraint-failure [R562]",
        arguments: [
            "<entry-ref ref=\"\(reference)\"/>", "<entry-ref ref=\"\(anchor)/entry\"/>", "<entry-ref ref=\"a\"/>", "<entry-ref ref=\"\"/>",
            "<entry-ref ref=\"\(reference)/entry/@uri\"/>", "<entry-ref ref=\"\(reference.replacing("mara", with: "kai"))/entry\"/>",
            "<entry-ref ref=\"resource-lists/users/sip:mara@example.com/index\"/>", "<external anchor=\"\(reference)\"/>",
            "<external anchor=\"\"/>",
            "<external anchor=\"\(anchor)/entry\"/>", "<external anchor=\"\(anchor.replacing(".com/", with: ".net/"))\"/>",
            "<external anchor=\"\(anchor.replacing("mara", with: "kai"))\"/>",
            "<external anchor=\"\(anchor.replacing("lists/users", with: "x/users"))\"/>",
            "<external anchor=\"ftp://xcap.example.com/\"/>", "<external anchor=\"\(anchor)?x\"/>",
        ])
    func references(_ element: String) {
        let response = put("<list>\(element)</list>")
        #expect(response.conflict == "constraint-failure", "\(response.reason ?? "\(response.status)")")
    }

    @Test("RFC 4826 3.4.5: lists of other users are referred to only where the operator allows it [R562]")
    func foreignLists() {
        let element = "<external anchor=\"\(Self.anchor.replacing("mara", with: "kai"))\"/>"
        #expect(put("<list>\(element)</list>", facts: UsageFacts(allowsForeignLists: true)).status == 201)
    }

    // MARK: rls-services

    private func putServices(_ content: String, facts: UsageFacts = UsageFacts()) -> XCAPResponse {
        var server = XCAPFixture()
        server.facts = facts
        let document = """
            <rls-services xmlns="urn:ietf:params:xml:ns:rls-services" xmlns:rl="urn:ietf:params:xml:ns:resource-lists" xmlns:x="urn:example:x">\
            \(content)</rls-services>
            """
        let response = server.send(.put, XCAPFixture.services, document)
        #expect(response.status == 201 || server.documents.isEmpty)
        return response
    }

    private static let list = "<list><rl:entry uri=\"sip:a@example.com\"/></list>"

    @Test(
        "RFC 4826 4.2: services that the schema allows are taken [R563]",
        arguments: [
            "", "<service uri=\"sip:a@example.com\">\(list)</service>",
            "<service uri=\"sip:a@example.com\"><resource-list> \(anchor) </resource-list><packages><package>presence</package><x:a/></packages><x:a/></service>",
            "<service uri=\"sips:a@example.com\" x:b=\"c\"><list name=\"n\"><rl:list/><x:a/></list><packages/></service>",
        ])
    func validServices(_ content: String) {
        let response = putServices(content)
        #expect(response.status == 201, "\(response.reason ?? "")")
    }

    @Test(
        "RFC 4826 4.2: services that break the schema are 409 schema-validation-error [R563]",
        arguments: [
            "<service uri=\"sip:a@example.com\"/>", "<service>\(list)</service>",
            "<service uri=\"sip:a@example.com\"><packages/></service>",
            "<service uri=\"sip:a@example.com\">\(list)\(list)</service>",
            "<service uri=\"sip:a@example.com\"><list><entry uri=\"a\"/></list></service>",
            "<service uri=\"sip:a@example.com\"><rl:list/></service>",
            "<service uri=\"sip:a@example.com\"><list><rl:unknown/></list></service>",
            "<service uri=\"sip:a@example.com\">\(list)<packages><x:a/></packages></service>", "<list/>",
            "<service uri=\"sip:a@example.com\"><list><x:a/><rl:entry uri=\"a\"/></list></service>",
        ])
    func invalidServices(_ content: String) {
        let response = putServices(content)
        #expect(response.conflict == "schema-validation-error", "\(response.reason ?? "\(response.status)")")
    }

    @Test("RFC 4826 4.4.5: the URI of a service is unique in the document and on the server; free ones are offered [R564]")
    func serviceURIs() {
        let twice = putServices(
            "<service uri=\"sip:a@example.com\">\(Self.list)</service><service uri=\"sip:a@EXAMPLE.com\">\(Self.list)</service>")
        #expect(twice.conflict == "uniqueness-failure")
        #expect(twice.conflictPart("exists")?.attribute("field") == "rls-services/service[2]/@uri")
        let facts = UsageFacts(isServiceURITaken: { ["sip:a@example.com", "sip:a-2@example.com"].contains($0) })
        let taken = putServices("<service uri=\"sip:a@example.com;x=y\">\(Self.list)</service>", facts: facts)
        #expect(taken.conflict == "uniqueness-failure")
        #expect(taken.conflictPart("exists")?.children.map(\.text) == ["sip:a-3@example.com", "sip:a-4@example.com"])
        #expect(putServices("<service uri=\"sip:b@example.com\">\(Self.list)</service>", facts: facts).status == 201)
    }

    @Test(
        "RFC 4826 4.4.5: a service has a SIP URI of a hosted domain, and a list of its own user, else 409 constraint-failure [R565]",
        arguments: [
            "<service uri=\"tel:+15550100\">\(list)</service>", "<service uri=\"a\">\(list)</service>",
            "<service uri=\"sip:a@example.org\">\(list)</service>",
            "<service uri=\"sip:a@example.com\"><resource-list>\(reference)</resource-list></service>",
            "<service uri=\"sip:a@example.com\"><resource-list/></service>",
            "<service uri=\"sip:a@example.com\"><resource-list>\(anchor)/entry</resource-list></service>",
            "<service uri=\"sip:a@example.com\"><resource-list>\(anchor.replacing("mara", with: "kai"))</resource-list></service>",
            "<service uri=\"sip:a@example.com\"><list><rl:external anchor=\"a\"/></list></service>",
        ])
    func serviceConstraints(_ content: String) {
        let facts = UsageFacts(isHosted: { $0 == "example.com" }, allowsForeignLists: true)
        let response = putServices(content, facts: facts)
        #expect(response.conflict == "constraint-failure", "\(response.reason ?? "\(response.status)")")
    }

    @Test("RFC 4826 4.4.5: members of the list of a service are unique as in resource-lists [R564]")
    func uniqueMembers() {
        let twice = "<list><rl:entry uri=\"a\"/><rl:entry uri=\"a\"/></list>"
        #expect(putServices("<service uri=\"sip:a@example.com\">\(twice)</service>").conflict == "uniqueness-failure")
    }

    @Test("RFC 4826 4.4.7: the global document has the services of all users, each with its namespaces [R566]")
    func globalDocument() throws {
        let documents = [
            "<rls-services xmlns=\"urn:ietf:params:xml:ns:rls-services\"><service uri=\"sip:a@example.com\">a</service></rls-services>",
            """
            <r:rls-services xmlns:r="urn:ietf:params:xml:ns:rls-services" xmlns:l="urn:ietf:params:xml:ns:resource-lists"><r:service \
            uri="sip:b@example.com"><r:list><l:entry uri="c"/></r:list></r:service></r:rls-services>
            """,
            "<rls-services", "<other/>",
        ]
        let index = RLSServicesIndex.document(of: documents.map { Array($0.utf8) })
        let root = try XMLTree.parse(index).root
        #expect(root.isNamed("rls-services", in: "urn:ietf:params:xml:ns:rls-services"))
        let services = Array(root.children)
        #expect(services.map { $0.attribute("uri") } == ["sip:a@example.com", "sip:b@example.com"])
        let services2 = services.map { $0.isNamed("service", in: "urn:ietf:params:xml:ns:rls-services") }
        #expect(services2 == [true, true])
        let list = try #require(services[1].children.first { _ in true })
        #expect(list.children.map { $0.isNamed("entry", in: "urn:ietf:params:xml:ns:resource-lists") } == [true])
        #expect("\(RLSServicesIndex.selector)" == "rls-services/global/index")
        var server = XCAPFixture()
        server.documents[RLSServicesIndex.selector] = StoredDocument(octets: index, tag: EntityTag(value: "1"))
        let response = server.send(.get, "/xcap-root/rls-services/global/index/~~/rls-services/service%5B2%5D/@uri")
        #expect(response.text == "sip:b@example.com")
    }
}
