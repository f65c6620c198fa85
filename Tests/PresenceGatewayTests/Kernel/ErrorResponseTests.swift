import PresenceGateway
import SIPCore
import Testing

/// What is wrong with a request, over the wire: its status and ms-diagnostics, and that nothing changed and nobody was told.
@Suite struct ErrorResponseTests {
    /// One thing that is wrong.
    struct Row {
        var rule: String
        var status: Int
        var diagnostics: UInt32?
        var type = "application/msrtc-category-publish+xml"
        var body: String
        var from: String?
        var epid: String?

        init(
            _ rule: String, _ status: Int, id diagnostics: UInt32? = nil, type: String = "application/msrtc-category-publish+xml",
            _ body: String, from: String? = nil, epid: String? = nil
        ) {
            self.rule = rule
            self.status = status
            self.diagnostics = diagnostics
            self.type = type
            self.body = body
            self.from = from
            self.epid = epid
        }
    }

    static let user = "rob@fabrikam.com"
    let bench = Bench {
        $0.domains["fabrikam.com"]?.requiresRegistration = true
        $0.limits.categoryBytes = 100_000
    }

    /// A user who shows a note to everybody, with a watcher of it and members in container 300.
    func user() throws -> SignedInEndpoint {
        let rob = SignedInEndpoint(bench, Self.user, connection: 1)
        rob.register()
        _ = try rob.response(200)
        rob.publish(SignedInEndpoint.note("here", expire: "static"))
        _ = try rob.response(200)
        rob.setMembers("<container id=\"300\" version=\"0\"><member action=\"add\" type=\"federated\"/></container>")
        _ = try rob.response(200)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: Self.user), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        return rob
    }

    /// Everything that the user's own endpoints can know.
    func selfDocument(_ rob: SignedInEndpoint) throws -> String {
        rob.subscribeSelf(["categories", "containers", "subscribers", "delegates"], expires: 0)
        return try rob.response(200).text
    }

    func check(_ rows: [Row]) throws {
        let rob = try user()
        let before = try selfDocument(rob)
        #expect(before.contains("here") && before.contains("federated"))
        for row in rows {
            rob.send(
                "SERVICE", "sip:\(Self.user)", to: Self.user, from: row.from, epid: row.epid, type: row.type, body: row.body)
            guard case .response(let response) = try bench.next(at: rob.place) else { throw Bench.Unexpected() }
            #expect(response.status.rawValue == row.status, "\(row.rule): \(row.body.prefix(300))")
            let diagnostics = try #require(response.headers.msDiagnostics, "\(row.rule)")
            #expect(diagnostics.source == "edge1.example.net" && diagnostics.reason?.isEmpty == false, "\(row.rule)")
            if let expected = row.diagnostics { #expect(diagnostics.errorID == expected, "\(row.rule)") }
            if row.status == 409 { #expect(response.headers.contentType?.essence == "application/msrtc-fault+xml", "\(row.rule)") }
            #expect(try selfDocument(rob) == before, "\(row.rule) changed something")
            #expect(bench.isQuiet(at: Bench.enterprise), "\(row.rule) was told to a watcher")
        }
    }

    static func publish(_ publications: String, uri: String = user) -> String {
        "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:\(uri)\">\(publications)"
            + "</publications></publish>"
    }

    static func note(
        name: String = "note", instance: String = "0", container: String = "0", version: String = "1", expireType: String = "static",
        more: String = "", body: String = ""
    ) -> String {
        "<publication categoryName=\"\(name)\" instance=\"\(instance)\" container=\"\(container)\" version=\"\(version)\" "
            + "expireType=\"\(expireType)\" \(more)>\(body)</publication>"
    }

    static func long(_ count: Int) -> String {
        "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body>\(String(repeating: "x", count: count))</body></note>"
    }

    @Test("MS-PRES 3.2.5.4: a malformed publish is refused, and nothing changes [R002, R003, R004, R005, R006, R007, R008, R009, R015]")
    func publishForm() throws {
        let attributes = ["categoryName", "instance", "container", "version", "expireType"]
        let incomplete = attributes.map { name in
            Row("R006", 400, Self.publish(Self.note().replacingOccurrences(of: " \(name)=", with: " x-\(name)=")))
        }
        try check(
            incomplete + [
                Row("R002", 400, ""), Row("R002", 400, type: "", ""), Row("R003", 400, "<publish"), Row("R003", 400, "<publish/>"),
                Row("R003", 400, Self.publish("")),
                Row("R003", 400, Self.publish(Self.note()).replacingOccurrences(of: "rich-presence", with: "poor-presence")),
                Row("R004", 403, Self.publish(Self.note()), from: "eve@fabrikam.com"),
                Row("R005", 400, Self.publish(Self.note(), uri: "sue@fabrikam.com")),
                Row("R007", 400, Self.publish(Self.note(expireType: "time"))),
                Row("R008", 400, Self.publish(Self.note(more: "expires=\"60\""))),
                Row("R009", 400, Self.publish(Self.note() + Self.note())),
                Row("R015", 400, Self.publish(Self.note(container: "32768", version: "0"))),
                Row("R015", 400, Self.publish(Self.note(container: "-1", version: "0"))),
            ])
    }

    @Test("MS-PRES 3.2.5.4: what may not be published is refused, and nothing changes [R010, R011, R012, R013, R014, R029]")
    func publishPolicy() throws {
        let properties = "userProperties"
        try check([
            Row("R010", 403, Self.publish(Self.note(name: "Note", version: "0"))),
            Row("R011", 403, id: 2_003, Self.publish(Self.note(name: properties, container: "1", version: "0"))),
            Row("R011", 403, id: 2_003, Self.publish(Self.note(name: properties, container: "1", version: "0", more: "expires=\"0\""))),
            Row("R012", 488, Self.publish(Self.note(instance: "1", version: "0", expireType: "endpoint")), epid: "ffffffffff"),
            Row("R013", 413, Self.publish(Self.note(body: Self.long(70_000)))),
            Row("R014", 413, Self.publish((1...2).map { Self.note(instance: "\($0)", version: "0", body: Self.long(60_000)) }.joined())),
            Row("R029", 403, Self.publish(Self.note() + Self.note(name: "nonsense", version: "0"))),
        ])
    }

    @Test(
        "MS-PRES 1.3.1.6: a wrong version is 409 with the fault, changes nothing and is told to nobody [R021, R022, R024, R026, R030, R032]"
    )
    func publishVersions() throws {
        try check([
            Row("R021", 409, id: 2_044, Self.publish(Self.note(instance: "9", version: "4"))),
            Row("R022", 409, id: 2_044, Self.publish(Self.note(version: "0"))),
            Row("R024", 409, id: 2_044, Self.publish(Self.note(version: "2"))),
            Row("R026", 409, id: 2_044, Self.publish(Self.note(version: "2", more: "expires=\"0\""))),
            Row("R030", 409, id: 2_044, Self.publish(Self.note() + Self.note(instance: "1", version: "5"))),
        ])
    }

    @Test("MS-PRES 3.5.5.5: every refusal of setContainerMembers, and nothing changes [R101, R102, R103, R105, R106, R110, R111]")
    func members() throws {
        func row(_ rule: String, _ status: Int, id diagnostics: UInt32? = nil, _ containers: String, from: String? = nil) -> Row {
            Row(
                rule, status, id: diagnostics, type: "application/msrtc-setcontainermembers+xml",
                "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\">\(containers)"
                    + "</setContainerMembers>", from: from)
        }
        func container(_ members: String, id: String = "300", version: String = "1") -> String {
            "<container id=\"\(id)\" version=\"\(version)\">\(members)</container>"
        }
        func member(_ type: String, _ value: String? = nil) -> String {
            "<member action=\"add\" type=\"\(type)\"" + (value.map { " value=\"\($0)\"" } ?? "") + "/>"
        }
        let ok = member("publicCloud")
        let type = "application/msrtc-setcontainermembers+xml"
        try check([
            Row("R101", 400, type: type, ""), Row("R101", 400, type: type, "<setContainerMembers"),
            Row("R101", 400, type: type, "<setContainerMembers xmlns=\"urn:example\"/>"),
            row("R101", 400, container(ok) + container(ok)), row("R101", 400, container(ok, id: "0", version: "0")),
            row("R015", 400, container(ok, id: "32768", version: "0")),
            row("R102", 403, container(ok), from: "eve@fabrikam.com"), row("R103", 409, container(ok, version: "0")),
            row("R103", 409, container(ok, version: "2")), row("R103", 409, container(ok, id: "200", version: "1")),
            row("R105", 400, container(member("friends"))), row("R106", 400, container(member("user"))),
            row("R106", 400, container(member("domain", ""))), row("R106", 400, container(member("federated", "fabrikam.com"))),
            row("R110", 409, container(ok) + container(ok, id: "200", version: "3")),
            row("R111", 413, id: 2_006, container((0...1_000).map { member("user", "sip:u\($0)@contoso.com") }.joined())),
        ])
    }

    @Test(
        "MS-PRES 3.4.5.3: every refusal of a category SUBSCRIBE, and no dialog comes of it [R144, R145, R147, R155, R171]")
    func subscribing() throws {
        let bench = Bench {
            $0.limits.resourcesPerBatch = 3
            $0.limits.categoriesPerSubscription = 3
        }
        let good = Bench.Action.subscribe("rob@fabrikam.com")
        func names(_ count: Int) -> [String] { (0..<count).map { "c\($0)" } }
        func single(_ body: String) -> String {
            bench.subscribe(
                "ulla@contoso.com", to: "rob@fabrikam.com", accept: Bench.categoryTypes, extra: "Supported: eventlist\r\n", body: body,
                contentType: "application/msrtc-adrl-categorylist+xml", via: Bench.enterprise)
        }
        let batch = { (body: String) in bench.batch("ulla@contoso.com", body: body) }
        let unknown = "<batchSub xmlns=\"http://schemas.microsoft.com/2006/01/sip/batch-subscribe\"/>"
        let rows: [(String, Int, String)] = [
            ("R144", 400, single("")), ("R144", 400, batch("")), ("R144", 400, batch("<batchSub")), ("R144", 400, batch("<x/>")),
            ("R144", 400, batch(unknown)), ("R144", 400, single(unknown)),
            ("R144", 400, batch(Bench.batchBody([.subscribe("not a uri")]))),
            ("R145", 403, bench.batch("ulla@contoso.com", good, to: "rob@fabrikam.com")),
            ("R147", 400, single(Bench.batchBody([.subscribe("rob@fabrikam.com", "sue@fabrikam.com")]))),
            ("R147", 400, single(Bench.batchBody([good, good]))),
            ("R147", 400, single(Bench.batchBody([.unsubscribe("rob@fabrikam.com")]))),
            ("R147", 400, single(Bench.batchBody([.subscribe("sue@fabrikam.com")]))),
            ("R155", 413, batch(Bench.batchBody([.subscribe("a@fabrikam.com", "b@fabrikam.com", "c@fabrikam.com", "d@fabrikam.com")]))),
            ("R155", 413, batch(Bench.batchBody([.subscribe("rob@fabrikam.com", to: names(4))]))),
            ("R155", 413, batch(Bench.batchBody([.subscribe("rob@fabrikam.com", to: names(100))]))),
            ("R155", 413, batch(Bench.batchBody((0..<20).map { _ in good }))),
            (
                "R171", 481,
                single(Bench.batchBody([good])).replacingOccurrences(
                    of: "To: <sip:rob@fabrikam.com>", with: "To: <sip:rob@fabrikam.com>;tag=x")
            ),
        ]
        for (rule, status, text) in rows {
            bench.send(text, from: Bench.enterprise)
            guard case .response(let response) = try bench.next(at: Bench.enterprise) else { throw Bench.Unexpected() }
            #expect(response.status.rawValue == status, "\(rule): \(text)")
            #expect(response.headers.msDiagnostics?.source == "edge1.example.net", "\(rule)")
            #expect(bench.isQuiet(at: Bench.enterprise) && bench.gateway.counts.watcherDialogs == 0, "\(rule)")
        }
    }

    @Test("MS-PRES 3.4.5.3: a refused change leaves the dialog as it was [R144, R155]")
    func changing() throws {
        let bench = Bench {
            $0.limits.resourcesPerBatch = 3
            $0.limits.categoriesPerSubscription = 3
        }
        bench.send(bench.batch("ulla@contoso.com", .subscribe("rob@fabrikam.com")), from: Bench.enterprise)
        let first = try bench.nextResponse(200, at: Bench.enterprise)
        let changes: [(Int, String)] = [
            (
                413,
                bench.change(
                    first, cSeq: 2, .unsubscribe("rob@fabrikam.com"),
                    .subscribe("a@fabrikam.com", "b@fabrikam.com", "c@fabrikam.com", "d@fabrikam.com"))
            ),
            (413, bench.change(first, cSeq: 3, .subscribe("rob@fabrikam.com", to: ["x", "y", "z"]))),
            (400, bench.change(first, cSeq: 4, .unsubscribe("rob@fabrikam.com"), .subscribe("not a uri"))),
            (423, bench.change(first, cSeq: 5, .unsubscribe("rob@fabrikam.com"), expires: 5)),
        ]
        for (status, text) in changes {
            bench.send(text, from: Bench.enterprise)
            _ = try bench.nextResponse(status, at: Bench.enterprise)
        }
        try bench.publish("a@fabrikam.com", .note("a"))
        try bench.publish("rob@fabrikam.com", .note("here"), .state(6_500))
        let notifies = try bench.takeNotifies()
        #expect(notifies.count == 1 && notifies.first?.text.contains("here") == true && notifies.first?.text.contains("6500") == true)
    }

    @Test("a body as long as `body-bytes` allows is read, a longer one is 413, and so is a document beyond the parser's limits")
    func largeBodies() throws {
        let bench = Bench {
            $0.limits.bodyBytes = 600_000
            $0.limits.publicationBytes = 550_000
            $0.limits.categoryBytes = 600_000
        }
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.register()
        _ = try rob.response(200)
        rob.publish(SignedInEndpoint.note(String(repeating: "x", count: 500_000), expire: "static"))
        _ = try rob.response(200)
        rob.publish(SignedInEndpoint.note(String(repeating: "x", count: 600_000), expire: "static", version: 1))
        #expect(try rob.response(413).headers.msDiagnostics?.errorID == 2010)
        rob.publish(
            SignedInEndpoint.note(String(repeating: "<b>", count: 80) + String(repeating: "</b>", count: 80), expire: "static", version: 1))
        #expect(try rob.response(413).headers.msDiagnostics?.errorID == 2010)
        rob.publish(SignedInEndpoint.note("<b>", expire: "static", version: 1))
        _ = try rob.response(400)
    }
}
