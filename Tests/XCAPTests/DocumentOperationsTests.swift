import Testing
import XCAP
import XMLCore

/// GET, PUT and DELETE of whole documents (RFC 4825 7.1 to 7.3, 8.1 to 8.5).
@Suite struct DocumentOperationsTests {
    private static let document = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- friends -->
        <resource-lists xmlns="urn:ietf:params:xml:ns:resource-lists"><list name="friends"/></resource-lists>

        """
    private let lists = XCAPFixture.lists

    @Test("RFC 4825 8.2: PUT of a new document is 201, of another one 200, each with a new ETag; GET gives the put octets [R510]")
    func creating() {
        var server = XCAPFixture()
        #expect(server.send(.get, lists).status == 404)
        let created = server.send(.put, lists, Self.document)
        #expect(created.status == 201 && created.body.isEmpty && created.contentType == nil)
        let first = server.send(.get, lists)
        #expect(first.status == 200 && first.text == Self.document && first.entityTag == created.entityTag)
        #expect(first.contentType == "application/resource-lists+xml")
        let changed = Self.document.replacing("friends", with: "family")
        let replaced = server.send(.put, lists, changed)
        #expect(replaced.status == 200 && replaced.entityTag != nil && replaced.entityTag != created.entityTag)
        #expect(server.get(lists) == changed)
    }

    @Test("RFC 4825 7.11: each change has an ETag of its own, although the octets return [R511]")
    func tags() {
        var server = XCAPFixture()
        let other = Self.document.replacing("friends", with: "family")
        let tags = [Self.document, other, Self.document, other].map { server.send(.put, lists, $0).entityTag }
        #expect(!tags.contains(nil) && Set(tags).count == 4)
        // The same octets elsewhere have another tag.
        let elsewhere = server.send(.put, lists.replacing("mara", with: "kai"), Self.document)
        #expect(elsewhere.status == 201 && !tags.contains(elsewhere.entityTag))
    }

    @Test("RFC 4825 8.2: a PUT of the octets that are there is 200 and changes nothing [R512]")
    func unchanged() {
        var server = XCAPFixture()
        let tag = server.send(.put, lists, Self.document).entityTag
        let again = server.send(.put, lists, Self.document)
        #expect(again.status == 200 && again.entityTag == tag && again.change == .none)
    }

    @Test("RFC 4825 8.4: DELETE removes the document and answers 200 without ETag; of nothing it is 404 [R513]")
    func deleting() {
        var server = XCAPFixture(lists, Self.document)
        let gone = server.send(.delete, lists)
        #expect(gone.status == 200 && gone.entityTag == nil && gone.change == .remove)
        #expect(server.send(.get, lists).status == 404 && server.send(.delete, lists).status == 404)
    }

    @Test("RFC 7231 4.3.2: HEAD answers as GET, and only the length of the content is sent [R514]")
    func head() {
        var server = XCAPFixture(lists, Self.document)
        let head = server.send(.head, lists)
        var get = server.send(.get, lists)
        #expect(head.omitsBody && !get.omitsBody)
        get.omitsBody = true
        #expect(head == get)
    }

    @Test("RFC 4825 7.11: conditions of a PUT: If-Match and If-None-Match, 412 changes nothing [R515]")
    func conditionalPut() throws {
        var server = XCAPFixture()
        #expect(server.send(.put, lists, Self.document, ifMatch: "*").status == 412)
        #expect(server.send(.put, lists, Self.document, ifMatch: "\"a\"").status == 412)
        #expect(server.documents.isEmpty)
        let created = server.send(.put, lists, Self.document, ifNoneMatch: "*")
        #expect(created.status == 201)
        let tag = try #require(created.entityTag).description
        let other = Self.document.replacing("friends", with: "family")
        for (match, none) in [(nil, "*"), ("\"other\"", nil), (nil, tag), ("W/\(tag)", nil), (tag, "*"), ("*", "\"x\", \(tag)")] {
            let refused = server.send(.put, lists, other, ifMatch: match, ifNoneMatch: none)
            #expect(refused.status == 412 && refused.change == .none, "\(match ?? "-") \(none ?? "-")")
        }
        #expect(server.get(lists) == Self.document)
        #expect(server.send(.put, lists, other, ifMatch: "\"x\", \(tag)", ifNoneMatch: "\"y\"").status == 200)
        #expect(server.send(.delete, lists, ifMatch: tag).status == 412)
        #expect(server.send(.delete, lists, ifMatch: "*").status == 200)
    }

    @Test("RFC 4825 7.11: GET with If-None-Match of the current tag is 304 with the ETag; If-Match of another one is 412 [R516]")
    func conditionalGet() throws {
        var server = XCAPFixture(lists, Self.document)
        let tag = try #require(server.send(.get, lists).entityTag)
        for condition in ["\(tag)", "*", "\"a\", \(tag)", "W/\(tag)", "\"a\",,\(tag) ,"] {
            let response = server.send(.get, lists, ifNoneMatch: condition)
            #expect(response.status == 304 && response.entityTag == tag && response.body.isEmpty, "\(condition)")
        }
        #expect(server.send(.get, lists, ifNoneMatch: "\"a\"").status == 200)
        #expect(server.send(.get, lists, ifMatch: "\"a\"").status == 412)
        #expect(server.send(.get, lists.replacing("mara", with: "kai"), ifNoneMatch: "*").status == 404)
    }

    @Test(
        "RFC 7232 2.3: a malformed condition, or one of too many tags, is 400",
        arguments: [
            "", "a", "\"a", "\"a\" \"b\"", "*, \"a\"", "\"a b\"", ",", "w/\"a\"",
            Array(repeating: "\"a\"", count: 65).joined(separator: ","),
        ])
    func malformedConditions(_ condition: String) {
        var server = XCAPFixture(lists, Self.document)
        #expect(server.send(.get, lists, ifMatch: condition).status == 400)
        #expect(server.send(.get, lists, ifNoneMatch: condition).status == 400)
    }

    @Test("RFC 4825 8.2: another Content-Type than that of the usage is 415 and names the right one [R517]")
    func mediaTypes() {
        var server = XCAPFixture()
        for type in ["application/xml", "application/xcap-el+xml", "application/auth-policy+xml", "", "text/plain; charset=utf-8"] {
            let response = server.send(.put, lists, Self.document, type: type)
            #expect(response.status == 415 && response.accept == "application/resource-lists+xml" && response.change == .none)
        }
        let type = "Application/Resource-Lists+XML ; charset=\"UTF-8\""
        #expect(server.send(.put, lists, Self.document, type: type).status == 201)
    }

    @Test("RFC 4825 8.2.2: a document that is not well-formed is 409 not-well-formed with line and column [R520]")
    func notWellFormed() {
        var server = XCAPFixture()
        for document in [
            "", "text", "<resource-lists", Self.document + "<a/>", Self.document.replacing("<list", with: "<p:list"),
            Self.document.replacing("/></", with: "></"), Self.document.replacing("friends", with: "&friends;"),
            "<!DOCTYPE a [<!ENTITY b \"c\">]>" + Self.document, Self.document + "\u{1}",
        ] {
            let response = server.send(.put, lists, document)
            #expect(response.conflict == "not-well-formed" && response.change == .none, "\(document)")
        }
        #expect(server.send(.put, lists, "<a>\n<b>").reason?.contains("2:4") == true)
    }

    @Test("RFC 4825 8.2.5: UTF-16, another declared charset and invalid octets are 409 not-utf-8 [R521]")
    func notUTF8() {
        var server = XCAPFixture()
        let marked: [UInt8] = [0xFF, 0xFE] + Self.document.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(server.send(.put, lists, octets: marked).conflict == "not-utf-8")
        #expect(server.send(.put, lists, octets: Array(Self.document.utf8) + [0xFF]).conflict == "not-utf-8")
        for name in ["ISO-8859-1", "US-ASCII", "UTF-16", "koi8-r"] {
            #expect(server.send(.put, lists, Self.document.replacing("UTF-8", with: name)).conflict == "not-utf-8")
        }
        let type = "application/resource-lists+xml;charset=iso-8859-1"
        #expect(server.send(.put, lists, Self.document, type: type).conflict == "not-utf-8")
        #expect(server.documents.isEmpty)
        let withMark = "\u{FEFF}" + Self.document
        #expect(server.send(.put, lists, withMark).status == 201 && server.get(lists) == withMark)
    }

    @Test("RFC 4825 8.2.1: documents are directly below the home directory; deeper is 409 no-parent with the ancestor [R522]")
    func noParent() {
        var server = XCAPFixture()
        let deep = server.send(.put, lists + "/deeper", Self.document)
        #expect(deep.conflict == "no-parent")
        #expect(
            deep.conflictPart("ancestor")?.text == "https://xcap.example.com/xcap-root/resource-lists/users/sip:mara@example.com")
        #expect(server.send(.get, lists + "/deeper").status == 404 && server.send(.delete, lists + "/deeper").status == 404)
        let outside = server.send(.put, "/xcap-root/resource-lists", Self.document)
        #expect(outside.conflict == "no-parent" && outside.conflictPart("ancestor")?.text == "https://xcap.example.com/xcap-root")
    }

    @Test("RFC 4825 5.8: a document with a name that the usage does not have is 404, for a PUT 409 constraint-failure [R523]")
    func names() {
        var server = XCAPFixture()
        let rules = XCAPFixture.rules.replacing("index", with: "other")
        #expect(server.send(.get, rules).status == 404)
        #expect(server.send(.put, rules, "<a/>").conflict == "constraint-failure")
        #expect(server.send(.put, lists.replacing("index", with: "other"), Self.document).status == 201)
    }

    @Test("RFC 4825 5.1: an AUID that is not supported is 404 for every method [R524]")
    func unknownUsages() {
        var server = XCAPFixture()
        for method in [XCAPMethod.get, .head, .put, .delete] {
            #expect(server.send(method, "/xcap-root/unknown/users/sip:mara@example.com/index").status == 404)
        }
    }

    @Test("RFC 4825 8: POST and other methods are 405 with Allow; global and computed documents allow GET and HEAD [R525]")
    func methods() {
        var server = XCAPFixture(lists, Self.document)
        for method in ["POST", "PATCH", "OPTIONS", "get"] {
            let response = server.send(XCAPMethod(rawValue: method), lists)
            #expect(response.status == 405 && response.allow == [.get, .head, .put, .delete])
        }
        for target in [
            "/xcap-root/xcap-caps/global/index", "/xcap-root/rls-services/global/index", "/xcap-root/resource-lists/global/index",
            "/xcap-root/org.openmobilealliance.xcap-directory/users/sip:mara@example.com/directory.xml",
        ] {
            for method in [XCAPMethod.put, .delete, XCAPMethod(rawValue: "POST")] {
                let response = server.send(method, target, "<a/>")
                #expect(response.status == 405 && response.allow == [.get, .head] && response.change == .none)
            }
        }
    }

    @Test("limits: a document of too many octets, levels, nodes or attributes is 413 and changes nothing [R526]")
    func limits() {
        let limits = XCAPLimits(document: XMLLimits(bytes: 2_000, depth: 5, nodes: 20, attributes: 4))
        var server = XCAPFixture(limits: limits)
        func document(_ content: String, _ attributes: String = "") -> String {
            "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"\(attributes)>\(content)</resource-lists>"
        }
        for body in [
            document(String(repeating: " ", count: 2_000)), document("<list><list><list><list><list/></list></list></list></list>"),
            document(String(repeating: "<list/>", count: 30)), document("", " a=\"1\" b=\"2\" c=\"3\" d=\"4\""),
        ] {
            let response = server.send(.put, lists, body)
            #expect(response.status == 413 && response.change == .none)
        }
        // The length is compared before anything is read.
        #expect(server.send(.put, lists, octets: [UInt8](repeating: 0xFF, count: 100_000_000)).status == 413)
        #expect(server.send(.put, lists, document("<list/>")).status == 201)
    }

    @Test("limits: an entity bomb is refused without expansion [R527]")
    func entityBomb() {
        var server = XCAPFixture()
        var bomb = "<!DOCTYPE a [<!ENTITY a0 \"aaaaaaaaaa\">"
        for level in 1..<30 { bomb += "<!ENTITY a\(level) \"" + String(repeating: "&a\(level - 1);", count: 10) + "\">" }
        bomb += "]><resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"><list name=\"&a29;\"/></resource-lists>"
        #expect(server.send(.put, lists, bomb).conflict == "not-well-formed")
        #expect(server.documents.isEmpty)
    }
}
