import PresenceDocuments
import Testing
import XCAP
import XMLCore

/// Application usages pres-rules (RFC 5025), org.openmobilealliance.pres-rules, and the computed ones.
@Suite struct PresenceRulesUsageTests {
    private static func ruleset(_ rules: String) -> String {
        """
        <cp:ruleset xmlns:cp="urn:ietf:params:xml:ns:common-policy" xmlns:pr="urn:ietf:params:xml:ns:pres-rules" \
        xmlns:ocp="urn:oma:xml:xdm:common-policy" xmlns:op="urn:oma:xml:prs:pres-rules" xmlns:x="urn:example:x">\(rules)</cp:ruleset>
        """
    }

    private func put(_ rules: String, to target: String = XCAPFixture.rules) -> XCAPResponse {
        var server = XCAPFixture()
        let response = server.send(.put, target, Self.ruleset(rules))
        #expect(response.status == 201 || server.documents.isEmpty)
        return response
    }

    private static let everything = """
        <cp:rule id="a"><cp:conditions><cp:validity><cp:from>2026-01-01T00:00:00Z</cp:from><cp:until>2027-01-01T00:00:00+01:00</cp:until>\
        </cp:validity><cp:sphere value="work"/><x:unknown/><cp:identity><cp:many domain="example.com"><cp:except id="sip:a@example.com"/>\
        <cp:except domain="example.net"/></cp:many><cp:one id="tel:+15550100"/><x:a/></cp:identity></cp:conditions>\
        <cp:actions><pr:sub-handling> allow </pr:sub-handling><x:a>b</x:a></cp:actions><cp:transformations>\
        <pr:provide-services><pr:service-uri-scheme>sip</pr:service-uri-scheme><op:service-id>a</op:service-id><pr:class>b</pr:class>\
        </pr:provide-services><pr:provide-persons><pr:all-persons/></pr:provide-persons><pr:provide-devices/>\
        <pr:provide-activities>true</pr:provide-activities><pr:provide-user-input>bare</pr:provide-user-input>\
        <pr:provide-unknown-attribute ns="urn:example:x" name="a">1</pr:provide-unknown-attribute><pr:provide-all-attributes/>\
        <op:provide-willingness>false</op:provide-willingness><op:provide-geopriv>full</op:provide-geopriv><op:provide-later>x</op:provide-later>\
        </cp:transformations></cp:rule>
        """

    @Test(
        "RFC 4745 13, RFC 5025 6: rules that the schema allows are taken [R570]",
        arguments: [
            "", "<cp:rule id=\"a\"/>", everything,
            "<cp:rule id=\"a\"><cp:conditions/><cp:actions/><cp:transformations/></cp:rule><cp:rule id=\"b\"/>",
            "<cp:rule id=\"a\"><cp:conditions><ocp:external-list><ocp:entry anc=\"a\"/></ocp:external-list><ocp:other-identity/></cp:conditions></cp:rule>",
        ])
    func valid(_ rules: String) {
        let response = put(rules)
        #expect(response.status == 201, "\(response.reason ?? "")")
    }

    private static func conditions(_ text: String) -> String { "<cp:rule id=\"a\"><cp:conditions>\(text)</cp:conditions></cp:rule>" }
    private static func actions(_ text: String) -> String { "<cp:rule id=\"a\"><cp:actions>\(text)</cp:actions></cp:rule>" }
    private static func grants(_ text: String) -> String { "<cp:rule id=\"a\"><cp:transformations>\(text)</cp:transformations></cp:rule>" }

    @Test(
        "RFC 4745 13, RFC 5025 6: what breaks the schema is 409 schema-validation-error [R570]",
        arguments: [
            "<cp:rule/>", "<cp:rule id=\"1\"/>", "<cp:rule id=\"a:b\"/>", "<cp:rule id=\"\"/>", "<cp:rule id=\"a\"/><cp:rule id=\" a \"/>",
            "<x:a/>",
            "<cp:rule id=\"a\"><cp:actions/><cp:conditions/></cp:rule>", "<cp:rule id=\"a\"><cp:actions/><cp:actions/></cp:rule>",
            "<cp:rule id=\"a\"><x:a/></cp:rule>", "<cp:rule id=\"a\" x:b=\"c\"/>", conditions("<cp:identity/>"),
            conditions("<cp:unknown/>"),
            conditions("<cp:identity><cp:one/></cp:identity>"),
            conditions("<cp:identity><cp:one id=\"a\"><x:a/><x:a/></cp:one></cp:identity>"),
            conditions("<cp:identity><cp:many><cp:one id=\"a\"/></cp:many></cp:identity>"), conditions("<cp:sphere/>"),
            conditions("<cp:sphere value=\"a\">b</cp:sphere>"), conditions("<cp:validity/>"),
            conditions("<cp:validity><cp:from>2026-01-01T00:00:00Z</cp:from></cp:validity>"),
            conditions("<cp:validity><cp:from>today</cp:from><cp:until>2026-01-01T00:00:00Z</cp:until></cp:validity>"),
            conditions("<ocp:external-list><x:a/></ocp:external-list>"), conditions("<ocp:anonymous-request>a</ocp:anonymous-request>"),
            actions("<pr:sub-handling>maybe</pr:sub-handling>"), actions("<pr:sub-handling/>"),
            actions("<pr:sub-handlng>allow</pr:sub-handlng>"),
            actions("<cp:rule id=\"b\"/>"), actions("text"), grants("<pr:provide-activities>yes</pr:provide-activities>"),
            grants("<pr:provide-services><pr:all-services/><pr:class>a</pr:class></pr:provide-services>"),
            grants("<pr:provide-persons><pr:service-uri>a</pr:service-uri></pr:provide-persons>"),
            grants("<pr:provide-unknown-attribute name=\"a\">true</pr:provide-unknown-attribute>"),
            grants("<pr:provide-all-attributes><x:a/></pr:provide-all-attributes>"),
            grants("<op:provide-willingness>full</op:provide-willingness>"),
            grants("<pr:provide-user-input>true</pr:provide-user-input>"), grants("<a xmlns=\"\"/>"),
        ])
    func invalid(_ rules: String) {
        for target in [XCAPFixture.rules, XCAPFixture.omaRules] {
            let response = put(rules, to: target)
            #expect(response.conflict == "schema-validation-error", "\(response.reason ?? "\(response.status)")")
        }
    }

    @Test("OMA PRS XDM 5.1: one condition about the watcher, transformations only with allow, else 409 constraint-failure [R571]")
    func omaConstraints() {
        let identity = "<cp:identity><cp:one id=\"sip:a@example.com\"/></cp:identity>"
        let refused = [
            Self.conditions(identity + "<ocp:other-identity/>"), Self.conditions("<ocp:external-list/><ocp:anonymous-request/>"),
            Self.grants("<pr:provide-all-attributes/>"),
            """
            <cp:rule id="a"><cp:actions><pr:sub-handling>block</pr:sub-handling></cp:actions><cp:transformations><pr:provide-all-attributes/>\
            </cp:transformations></cp:rule>
            """,
        ]
        for rules in refused {
            #expect(put(rules, to: XCAPFixture.omaRules).conflict == "constraint-failure", "\(rules)")
            #expect(put(rules).status == 201, "\(rules)")
        }
        for rules in [Self.conditions(identity + "<cp:sphere value=\"a\"/>"), Self.grants(""), Self.everything] {
            #expect(put(rules, to: XCAPFixture.omaRules).status == 201, "\(rules)")
        }
    }

    @Test("OMA PRS XDM 5.1.1.3: steps without prefix are in common-policy or pres-rules, whichever has such an element [R572]")
    func defaultNamespaces() {
        for target in [XCAPFixture.rules, XCAPFixture.omaRules] {
            var server = XCAPFixture(target, Self.ruleset(Self.everything))
            #expect(
                server.get(target + "/~~/ruleset/rule%5B@id=%22a%22%5D/actions/sub-handling")
                    == "<pr:sub-handling> allow </pr:sub-handling>")
            #expect(server.get(target + "/~~/c:ruleset/c:rule/@id?xmlns(c=urn:ietf:params:xml:ns:common-policy)") == "a")
            let rule = "<cp:rule id=\"b\"><cp:actions/></cp:rule>"
            #expect(server.send(.put, target + "/~~/ruleset/rule%5B@id=%22b%22%5D", rule).status == 201)
            #expect(
                server.send(.put, target + "/~~/ruleset/rule%5B2%5D/conditions", "<cp:conditions/>").conflict == "schema-validation-error")
            let handling = "<pr:sub-handling>block</pr:sub-handling>"
            #expect(server.send(.put, target + "/~~/ruleset/rule%5B2%5D/actions/sub-handling", handling).status == 201)
            #expect(server.get(target + "/~~/ruleset/rule%5B2%5D") == "<cp:rule id=\"b\"><cp:actions>\(handling)</cp:actions></cp:rule>")
        }
    }

    @Test("RFC 4825 12: xcap-caps names every usage and namespace, and validates as it is written [R573]")
    func capabilities() throws {
        let octets = XCAPCapabilities.document(extensions: ["a"])
        let root = try XMLTree.parse(octets).root
        #expect(root.isNamed("xcap-caps", in: "urn:ietf:params:xml:ns:xcap-caps"))
        let lists = Array(root.children)
        #expect(lists.map(\.localName) == ["auids", "extensions", "namespaces"])
        #expect(lists[0].children.map(\.text) == ApplicationUsage.all.map(\.auid))
        #expect(lists[1].children.map(\.text) == ["a"])
        #expect(
            Set(lists[2].children.map(\.text)).isSuperset(of: ["urn:ietf:params:xml:ns:common-policy", "urn:oma:xml:xdm:xcap-directory"]))
        var server = XCAPFixture("/xcap-root/xcap-caps/global/index", String(decoding: octets, as: UTF8.self))
        let response = server.send(.get, "/xcap-root/xcap-caps/global/index/~~/xcap-caps/auids/auid%5B1%5D")
        #expect(response.text == "<auid>xcap-caps</auid>")
        #expect(server.send(.get, "/xcap-root/xcap-caps/users/sip:mara@example.com/index").status == 404)
    }

    @Test("OMA xcap-directory: one folder for each AUID with URI, ETag, moment and size of each document [R574]")
    func directory() throws {
        let mara = try #require(XUI("sip:mara@example.com"))
        let entries = [("resource-lists", "index"), ("pres-rules", "index"), ("resource-lists", "a b")].map { auid, name in
            XCAPDirectory.Entry(
                document: DocumentSelector(auid: auid, tree: .users(mara), path: [name]), tag: EntityTag(value: "t"),
                lastModified: DateTime("2026-01-02T03:04:05Z"), size: 7)
        }
        let root = try XMLTree.parse(XCAPDirectory.document(of: entries, root: XCAPFixture.root)).root
        #expect(root.isNamed("xcap-directory", in: "urn:oma:xml:xdm:xcap-directory"))
        let folders = Array(root.children)
        #expect(folders.map { $0.attribute("auid") } == ["resource-lists", "pres-rules"])
        let first = Array(folders[0].children)
        #expect(
            first.map { $0.attribute("uri") } == [
                "https://xcap.example.com/xcap-root/resource-lists/users/sip:mara@example.com/index",
                "https://xcap.example.com/xcap-root/resource-lists/users/sip:mara@example.com/a%20b",
            ])
        #expect(first[0].attribute("etag") == "t" && first[0].attribute("size") == "7")
        #expect(first[0].attribute("last-modified") == "2026-01-02T03:04:05Z")
        let directory = ApplicationUsage.named("org.openmobilealliance.xcap-directory")
        #expect(directory?.isReadOnly == true && directory?.userDocuments == .only("directory.xml"))
    }
}
