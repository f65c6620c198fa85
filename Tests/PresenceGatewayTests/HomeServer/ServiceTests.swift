import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// SERVICE requests of a user's own endpoints (MS-PRES 3.2.5, 3.5.5), and requests that have nothing to do with presence.
@Suite struct ServiceTests {
    static let publishType = "application/msrtc-category-publish+xml"
    static let membersType = "application/msrtc-setcontainermembers+xml"
    let bench = Bench { $0.domains["fabrikam.com"]?.requiresRegistration = true }

    func endpoint(_ epid: String = "84d3db8c23", connection: UInt64 = 1) throws -> SignedInEndpoint {
        let endpoint = SignedInEndpoint(bench, "rob@fabrikam.com", epid: epid, connection: connection)
        endpoint.register()
        _ = try endpoint.response(200)
        return endpoint
    }

    @Test(
        "MS-PRES 3.2.5.4: a publish without a body, or with one that is no publish document, is 400 and changes nothing [R001, R002, R003]",
        arguments: [
            "", "<publish", "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"/>",
            "<nonsense xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"/>",
        ])
    func badPublish(body: String) throws {
        let rob = try endpoint()
        rob.send("SERVICE", "sip:rob@fabrikam.com", type: Self.publishType, body: body)
        #expect(try rob.response(400).headers.msDiagnostics?.errorID == 4_001)
        #expect(bench.gateway.counts.presentities == 0)
    }

    @Test("a SERVICE without a Content-Type is 400, with an unknown one 415 with Accept, for a user elsewhere 404")
    func badKind() throws {
        let rob = try endpoint()
        rob.send("SERVICE", "sip:rob@fabrikam.com")
        _ = try rob.response(400)
        rob.send("SERVICE", "sip:rob@fabrikam.com", type: "application/unheard-of", body: "x")
        #expect(try rob.response(415).headers.first(.accept)?.contains(Self.membersType) == true)
        rob.send("SERVICE", "sip:bob@contoso.com", to: "bob@contoso.com", type: Self.publishType, body: "x")
        _ = try rob.response(404)
    }

    @Test("MS-PRES 3.2.5.4: nobody publishes for somebody else [R004]")
    func somebodyElse() throws {
        let rob = try endpoint()
        let body =
            "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:sue@fabrikam.com\">"
            + SignedInEndpoint.note("hers", expire: "static") + "</publications></publish>"
        rob.send("SERVICE", "sip:sue@fabrikam.com", to: "sue@fabrikam.com", type: Self.publishType, body: body)
        _ = try rob.response(403)
        // Neither by naming her in the document alone.
        rob.send("SERVICE", "sip:rob@fabrikam.com", type: Self.publishType, body: body)
        _ = try rob.response(400)
        #expect(bench.gateway.counts.presentities == 0)
    }

    @Test("MS-PRES 2.2.2.7: a body that breaks its printed schema is stored and shown verbatim [R017]")
    func verbatim() throws {
        let rob = try endpoint()
        let card =
            "<contactCard xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\"><surprise><identity/></surprise></contactCard>"
        rob.publish(
            "<publication categoryName=\"contactCard\" instance=\"7\" container=\"0\" version=\"0\" expireType=\"static\">\(card)</publication>"
        )
        #expect(try rob.response(200).text.contains(card))
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains(card))
    }

    @Test("MS-PRES 3.2.5.6: what ends with an endpoint in container 2 is aggregated anew [R060]")
    func aggregatesAnew() throws {
        let desk = try endpoint()
        let phone = try endpoint("3b09add8bc", connection: 2)
        func machine(_ availability: Int, instance: Int) -> String {
            "<publication categoryName=\"state\" instance=\"\(instance)\" container=\"2\" version=\"0\" expireType=\"endpoint\"><state "
                + "xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                + "xsi:type=\"machineState\"><availability>\(availability)</availability></state></publication>"
        }
        desk.publish(machine(3_500, instance: 1_000))
        _ = try desk.response(200)
        phone.publish(machine(5_000, instance: 1_001))
        _ = try phone.response(200)
        phone.subscribeSelf(["categories"])
        #expect(Self.aggregate(try phone.response(200).text) == 3_500)
        desk.register(expires: 0)
        _ = try desk.response(200)
        #expect(Self.aggregate(try phone.request(.benotify).text) == 5_000)
    }

    /// The availability of aggregateState in container 2.
    static func aggregate(_ text: String) -> Int? {
        for category in text.split(separator: "<category ")
        where category.contains("aggregateState") && category.contains("container=\"2\"") {
            return category.split(separator: "<availability>").last.flatMap { Int($0.prefix { $0.isNumber }) }
        }
        return nil
    }

    @Test("MS-PRES 3.5.5.5: setContainerMembers without a body, with a wrong one, or for somebody else is refused [R100, R101, R102]")
    func badMembers() throws {
        let rob = try endpoint()
        let start = "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\">"
        for body in [
            "", start, "<container id=\"200\" version=\"0\"/>",
            start + "<container id=\"0\" version=\"0\"><member type=\"everyone\"/></container></setContainerMembers>",
        ] {
            rob.send("SERVICE", "sip:rob@fabrikam.com", type: Self.membersType, body: body)
            _ = try rob.response(400)
        }
        rob.send(
            "SERVICE", "sip:sue@fabrikam.com", to: "sue@fabrikam.com", type: Self.membersType,
            body: start + "<container id=\"200\" version=\"0\"><member type=\"everyone\"/></container></setContainerMembers>")
        _ = try rob.response(403)
        #expect(bench.gateway.counts.presentities == 0)
    }

    @Test("MS-PRES 3.5.5.2: a stale membership version is 409 with the fault document; success is 200 without a body [R100, R103, R112]")
    func memberVersions() throws {
        let rob = try endpoint()
        rob.setMembers("<container id=\"200\" version=\"0\"><member type=\"sameEnterprise\"/></container>")
        #expect(try rob.response(200).body.isEmpty)
        rob.setMembers(
            "<container id=\"300\" version=\"0\"><member type=\"federated\"/></container>"
                + "<container id=\"200\" version=\"0\"><member type=\"federated\"/></container>")
        let refused = try rob.response(409)
        #expect(refused.headers.contentType?.essence == "application/msrtc-fault+xml")
        #expect(refused.text.contains("index=\"2\"") && refused.text.contains("curVersion=\"1\""))
        rob.subscribeSelf(["containers"])
        #expect(try !rob.response(200).text.contains("federated"))
    }

    @Test("MS-PRES 4.3.1: the 200 to a publish request has what the server computed because of it, beside what was published [R039]")
    func computedInAnswer() throws {
        let rob = try endpoint()
        let state =
            "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
            + "xsi:type=\"machineState\"><availability>3500</availability></state>"
        rob.publish(
            [2, 3].map {
                "<publication categoryName=\"state\" instance=\"831107580\" container=\"\($0)\" version=\"0\" expireType=\"endpoint\">"
                    + "\(state)</publication>"
            }.joined())
        let answer = try #require(try RoamingDataDocument(parsing: rob.response(200).body).categories)
        func containers(_ name: CategoryName) -> Set<UInt16> {
            Set(answer.categories.filter { $0.name == name }.compactMap { $0.container?.rawValue })
        }
        #expect(answer.categories.contains { $0.instance == 831_107_580 })
        #expect(containers(.state) == [2, 3, 100, 200, 300, 400])
        #expect(containers(.legacyInterop) == [100, 200, 300, 400])
    }

    @Test("MS-PRES 3.5.5.4: a membership that moves a watcher shows it the other container's instances [R114]")
    func watchersMove() throws {
        let rob = try endpoint()
        rob.publish(
            SignedInEndpoint.note("for all", expire: "static") + SignedInEndpoint.note("for friends", expire: "static", container: 400))
        _ = try rob.response(200)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains(">for all<"))
        rob.setMembers("<container id=\"400\" version=\"0\"><member type=\"user\" value=\"ulla@contoso.com\"/></container>")
        _ = try rob.response(200)
        let moved = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(moved.text.contains(">for friends<") && !moved.text.contains(">for all<"))
        bench.answer(moved, 200, from: Bench.enterprise)
        // It concerns nobody else.
        rob.setMembers("<container id=\"400\" version=\"1\"><member type=\"user\" value=\"otto@contoso.com\"/></container>")
        _ = try rob.response(200)
        #expect(bench.isQuiet(at: Bench.enterprise))
        rob.setMembers(
            "<container id=\"400\" version=\"2\"><member action=\"remove\" type=\"user\" value=\"sip:ulla@contoso.com\"/></container>")
        _ = try rob.response(200)
        #expect(try bench.nextRequest(.notify, at: Bench.enterprise).text.contains(">for all<"))
    }

    @Test("MS-PRES 4.4.2: a signed-in client that blocks somebody need not have filled the container: he sees nobody there [R093]")
    func block() throws {
        let rob = try endpoint()
        let state =
            "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
        rob.publish(
            "<publication categoryName=\"state\" instance=\"1\" container=\"0\" version=\"0\" expireType=\"static\">\(state)"
                + "xsi:type=\"aggregateState\"><availability>3500</availability></state></publication>"
                + SignedInEndpoint.note("secret", expire: "static"))
        _ = try rob.response(200)
        for watcher in ["ulla@contoso.com", "otto@contoso.com"] {
            bench.send(bench.categorySubscribe(watcher, to: "rob@fabrikam.com"), from: Bench.enterprise)
            #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains(">secret<"))
        }
        rob.subscribeSelf(["categories"])
        _ = try rob.response(200)
        rob.setMembers("<container id=\"32000\" version=\"0\"><member type=\"user\" value=\"ulla@contoso.com\"/></container>")
        _ = try rob.response(200)
        let notified = try rob.request(.benotify)
        #expect(notified.text.contains("<category name=\"state\" instance=\"0\""))
        let blocked = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(blocked.text.contains("<availability>18500</availability>") && !blocked.text.contains("secret"))
        bench.answer(blocked, 200, from: Bench.enterprise)
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.send(bench.subscribe("ulla@contoso.com", to: "rob@fabrikam.com", via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let pidf = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(pidf.text.contains("<basic>closed</basic>"))
        bench.answer(pidf, 200, from: Bench.enterprise)
        rob.setMembers(
            "<container id=\"32000\" version=\"1\"><member action=\"remove\" type=\"user\" value=\"ulla@contoso.com\"/></container>")
        _ = try rob.response(200)
        // The note, which is static, outlasts a sign-off: she saw it all the while.
        #expect(try bench.nextRequest(.notify, at: Bench.enterprise).text.contains("<availability>3500<"))
        bench.clear()
        // What the client publishes there itself stands.
        rob.publish(SignedInEndpoint.note("busy elsewhere", expire: "static", version: 1, container: 32_000))
        _ = try rob.response(200)
        _ = try rob.request(.benotify)
        rob.setMembers("<container id=\"32000\" version=\"2\"><member type=\"user\" value=\"otto@contoso.com\"/></container>")
        _ = try rob.response(200)
        #expect(try bench.nextRequest(.notify, at: Bench.enterprise).text.contains(">secret<") == false)
    }

    // MARK: no presence

    @Test("an INVITE to a user of the house is 480, to anybody else 405: nobody here takes calls")
    func invite() throws {
        let rob = try endpoint()
        rob.send("INVITE", "sip:ocschat@fabrikam.com", to: "ocschat@fabrikam.com")
        #expect(try rob.response(480).headers.first(.server) == "Isthmus")
        rob.send("INVITE", "sip:bob@contoso.com", to: "bob@contoso.com")
        #expect(try rob.response(405).headers.contains(.allow))
    }

    @Test("what belongs to a call is 481 within a dialog, 405 outside", arguments: ["BYE", "INFO", "MESSAGE"])
    func calls(method: String) throws {
        let rob = try endpoint()
        rob.send(method, "sip:sue@fabrikam.com", to: "sue@fabrikam.com", toTag: "nobody")
        _ = try rob.response(481)
        rob.send(method, "sip:sue@fabrikam.com", to: "sue@fabrikam.com")
        #expect(try rob.response(405).headers.contains(.allow))
    }

    @Test("MS-SIPRE 2.2.3: notifications to a GRUU go to the Contact that its endpoint registered")
    func watcherByGRUU() throws {
        let rob = try endpoint()
        let body = Bench.categoryBody.replacingOccurrences(of: "PRESENTITY", with: "sue@fabrikam.com")
        rob.send(
            "SUBSCRIBE", "sip:rob@fabrikam.com", contact: "<sip:rob@fabrikam.com;opaque=user:epid:fvceImg6cFWG7W6lvUt_-AAA;gruu>",
            extra: "Event: presence\r\nRequire: adhoclist, categoryList\r\nSupported: eventlist, ms-benotify, ms-piggyback-first-notify\r\n"
                + "Accept: application/rlmi+xml, multipart/related, application/msrtc-event-categories+xml\r\n",
            type: "application/msrtc-adrl-categorylist+xml", body: body)
        _ = try rob.response(200)
        let sue = SignedInEndpoint(bench, "sue@fabrikam.com", epid: "2be779d608", connection: 5)
        sue.publish(SignedInEndpoint.note("hello", expire: "static"))
        _ = try sue.response(200)
        #expect(try rob.request(.benotify).requestURI == "sip:192.0.2.40:40001;transport=tcp")
    }
}
