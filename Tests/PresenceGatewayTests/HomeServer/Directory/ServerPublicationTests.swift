import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing
import UserDirectory

/// What the server publishes for its users (MS-PRES 3.2.6.2).
@Suite struct ServerPublicationTests {
    let bench: Bench

    init() throws { bench = Bench(directory: try Fabrikam.directory(Fabrikam.rob)) }

    func endpoint(_ user: String = "rob@fabrikam.com", connection: UInt64 = 1) throws -> SignedInEndpoint {
        let endpoint = SignedInEndpoint(bench, user, connection: connection)
        endpoint.register()
        _ = try endpoint.response(200)
        return endpoint
    }

    static func named(_ name: String) throws -> DirectoryState {
        try Fabrikam.directory(Fabrikam.user("rob", [.displayName: name, .email: "rob@fabrikam.com", .workPhone: "+1 555 0100"]))
    }

    @Test("MS-PRES 3.2.6.2: a user finds the server's static instances in his containers, and keeps nothing by them [R325]")
    func table() throws {
        let rob = try endpoint()
        rob.subscribeSelf(["categories"])
        let text = try rob.response(200).text
        let data = try RoamingDataDocument(parsing: Array(text.utf8))
        let instances = (data.categories?.categories ?? []).map {
            "\($0.name) \($0.container?.rawValue ?? 0) \($0.instance ?? 0) \($0.version ?? 0) \($0.expireType?.rawValue ?? "")"
        }
        #expect(
            Set(instances)
                == Set(
                    [0, 100, 200, 300, 400, 32_000].map { "contactCard \($0) 0 1 static" } + [
                        "legacyInterop 32000 0 1 static", "userProperties 1 0 1 static",
                    ]))
        #expect(text.contains("<legacyInterop availability=\"18500\"") || text.contains("availability=\"18500\""))
        #expect(text.contains("Rob Young") && text.contains(">rob@fabrikam.com<"))
        #expect(bench.gateway.counts.publications == 0)
    }

    @Test("a watcher of a user who never published sees his card, since when the directory is so, and the record goes with the watcher")
    func silent() throws {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        let first = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(first.text.contains("Rob Young") && first.text.contains("<category name=\"state\"/>"))
        #expect(first.text.contains("publishTime=\"2023-07-22T04:26:40.000\""))
        bench.send(bench.inDialog(first, cSeq: 2, expires: 0, via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts.presentities == 0)
    }

    @Test("MS-PRES 3.2.6.2: other data are published and told, unchanged data are not [R326]")
    func changes() throws {
        let rob = try endpoint()
        rob.subscribeSelf(["categories"])
        _ = try rob.response(200)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(.seconds(100))
        bench.use(try Self.named("Rob Young"))
        #expect(rob.isQuiet && bench.isQuiet(at: Bench.enterprise))
        bench.use(try Self.named("Robert Young"))
        let seen = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(seen.text.contains("Robert Young") && !seen.text.contains("name=\"state\""))
        let own = try rob.request(.benotify).text
        #expect(own.contains("Robert Young") && own.contains("version=\"2\"") && !own.contains("userProperties"))
    }

    @Test("MS-PRES 3.2.6.2: clients cannot overwrite or delete userProperties in container 1: 403 with ms-diagnostics 2003 [R327]")
    func readOnly() throws {
        let rob = try endpoint()
        for expires in ["", " expires=\"0\""] {
            rob.publish(
                "<publication categoryName=\"userProperties\" instance=\"0\" container=\"1\" version=\"1\" expireType=\"static\"\(expires)/>"
            )
            #expect(try rob.response(403).headers.msDiagnostics?.errorID == 2003)
        }
        rob.subscribeSelf(["categories"])
        #expect(try rob.response(200).text.contains("name=\"userProperties\" instance=\"0\""))
    }

    @Test("a card that a client puts in the place of the server's stands until the server's next period")
    func overwritten() throws {
        let rob = try endpoint()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        rob.publish(
            "<publication categoryName=\"contactCard\" instance=\"0\" container=\"0\" version=\"1\" expireType=\"static\"><contactCard "
                + "xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\"><identity><name><displayName>Bobby</displayName></name>"
                + "</identity></contactCard></publication>")
        _ = try rob.response(200)
        let own = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(own.text.contains("Bobby"))
        bench.answer(own, 200, from: Bench.enterprise)
        bench.pass(.seconds(59))
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.pass(.seconds(2))
        #expect(try bench.nextRequest(.notify, at: Bench.enterprise).text.contains("Rob Young"))
    }

    @Test("MS-PRES 3.7.5.5: msrtc.pidf has name, mail address and phone of the directory, and follows it [R228]")
    func msrtc() throws {
        bench.send(
            bench.subscribe(
                "ulla@contoso.com", to: "rob@fabrikam.com", accept: "text/xml+msrtc.pidf",
                extra: "Supported: ms-piggyback-first-notify\r\n", via: Bench.enterprise), from: Bench.enterprise)
        let first = try MSRTCPIDFDocument(parsing: bench.nextResponse(200, at: Bench.enterprise).body)
        #expect(first.displayName == "Rob Young")
        #expect(first.email == "rob@fabrikam.com")
        #expect(first.phoneNumber?.number == "+1 555 0100")
        #expect(first.aggregateState?.availability == 18_500)
        bench.use(try Fabrikam.directory(Fabrikam.user("rob", [.displayName: "Rob Young", .email: "rob@fabrikam.com"])))
        #expect(try MSRTCPIDFDocument(parsing: bench.nextRequest(.notify, at: Bench.enterprise).body).phoneNumber == nil)
    }

    @Test("a PIDF watcher of a user who never published sees somebody offline with a name, and PUBLISH is seen as before")
    func pidf() throws {
        bench.send(bench.subscribe("ann@example.org", to: "rob@fabrikam.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(first.text.contains("<basic>closed</basic>") && first.text.contains("Rob Young"))
        bench.answer(first, 200, from: Bench.simple)
        bench.sendPublish("rob@fabrikam.com", Bench.pidf("rob@fabrikam.com", activity: "busy"), expires: nil, via: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("busy"))
    }

    @Test("a watcher whom the user has blocked sees the card that a watcher of a user who never published sees, time included")
    func blocked() throws {
        bench.use(try Fabrikam.directory(Fabrikam.user("rob", [.displayName: "X"]), Fabrikam.user("bea", [.displayName: "X"])))
        let rob = try endpoint()
        bench.pass(.seconds(3_600))
        rob.setMembers("<container id=\"32000\" version=\"0\"><member type=\"user\" value=\"ulla@contoso.com\"/></container>")
        _ = try rob.response(200)
        rob.publish(SignedInEndpoint.note("in the lab", expire: "static", container: 300))
        _ = try rob.response(200)
        var cards: [String] = []
        for name in ["rob", "bea"] {
            bench.send(bench.categorySubscribe("ulla@contoso.com", to: "\(name)@fabrikam.com"), from: Bench.enterprise)
            let text = try bench.nextResponse(200, at: Bench.enterprise).text
            cards.append(String(try #require(text.split(separator: "<category name=\"contactCard\"").last).prefix { $0 != "\r\n" }))
        }
        #expect(cards[0] == cards[1])
        #expect(cards[0].contains(">X<"))
    }
}
