import FederationRouting
import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Containers and bodies as users and watchers meet them over the wire (MS-PRES 1.3.1.3, 2.2.2.7, 3.5.5).
@Suite struct ContainerConversationTests {
    let bench = Bench { $0.limits.publicationBytes = 2_000 }

    @Test("MS-PRES 3.5.5.2 a membership is changed by SERVICE, answered without a body, and moves watchers [R100, R112, R114]")
    func members() throws {
        try bench.publish("rob@fabrikam.com", .note("for colleagues", in: 200))
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        #expect(try !bench.nextResponse(200, at: Bench.enterprise).text.contains("colleagues"))
        bench.service(
            "rob@fabrikam.com", type: "application/msrtc-setcontainermembers+xml",
            body: Bench.membersBody(200, version: 0, [Bench.member("user:ulla@contoso.com")]))
        let answer = try bench.nextResponse(200, at: Bench.endpoint)
        #expect(answer.body.isEmpty && !answer.headers.contains(.contentType))
        #expect(try bench.takeNotifies().map { $0.text.contains("colleagues") } == [true])
    }

    @Test("MS-PRES 4.4.2 the numbers that clients use are containers like any other, members of 2 and 3 included [R090, R094]")
    func conventions() throws {
        let watchers = [2, 3, 100, 200, 300, 400, 32_000].map { (container: $0, user: "u\($0)@contoso.com") }
        try bench.publish("rob@fabrikam.com", .note("for 0", in: 0))
        for (container, user) in watchers {
            try bench.publish("rob@fabrikam.com", .note("for \(container)", in: container))
            try bench.setMembers("rob@fabrikam.com", container, "user:\(user)")
        }
        for (container, user) in watchers + [(0, "nobody@contoso.com")] {
            bench.send(bench.categorySubscribe(user, to: "rob@fabrikam.com", expires: 0), from: Bench.enterprise)
            let text = try bench.nextResponse(200, at: Bench.enterprise).text
            if container == 32_000 {
                // Whatever is in there: it would tell a blocked watcher from one of a user who never published.
                #expect(text.contains("<category name=\"note\"/>"))
            } else {
                #expect(text.contains(">for \(container)<"))
            }
        }
    }

    @Test("MS-PRES 2.2.2.7 bodies that break their schema, and those nobody knows, come back octet for octet [R016, R017]")
    func verbatim() throws {
        let bodies = [
            "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' "
                + "xsi:type=\"userState\"><odd/><endpointLocation/><availability> 6500 </availability><!-- x --></state>",
            "<n:note xmlns:n='urn:example:other'  n:odd = \"1\">&#x41;<n:a/></n:note>", "<note xmlns=\"\">no namespace</note>",
        ]
        for (index, body) in bodies.enumerated() {
            let name = index == 0 ? "state" : "note"
            let answer = try bench.publish("rob@fabrikam.com", .init(name: name, body: body, instance: index))
            #expect(answer.text.contains(body))
        }
        let answer = try bench.publish("rob@fabrikam.com", .init(name: "routing", body: bodies[1], container: 32_000))
        #expect(answer.text.contains(bodies[1]))
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        let seen = try bench.nextResponse(200, at: Bench.enterprise).text
        for body in bodies { #expect(seen.contains(body)) }
    }

    @Test("MS-PRES 3.2.5.4, 3.5.5.5, 3.4.5.1.3 the quotas of publications, members, watchers and lists are settings, and 413 [R248]")
    func quotas() throws {
        let bench = Bench {
            $0.limits.publicationBytes = 300
            $0.limits.categoryBytes = 500
            $0.limits.membersPerUser = 2
            $0.limits.subscriptionsPerPresentity = 1
            $0.limits.resourcesPerBatch = 1
            $0.limits.categoriesPerSubscription = 2
        }
        func refused(_ publications: Bench.Publication...) throws {
            bench.service("rob@fabrikam.com", body: Bench.publishBody("rob@fabrikam.com", publications))
            _ = try bench.nextResponse(413, at: Bench.endpoint)
        }
        try refused(.note(String(repeating: "x", count: 300)))
        let half = String(repeating: "x", count: 150)
        try bench.publish("rob@fabrikam.com", .note(half))
        try refused(.note(half, instance: 1), .note(half, instance: 2))
        try bench.setMembers("rob@fabrikam.com", 100, "federated", "publicCloud")
        bench.service(
            "rob@fabrikam.com", type: "application/msrtc-setcontainermembers+xml",
            body: Bench.membersBody(200, version: 0, [Bench.member("federated")]))
        _ = try bench.nextResponse(413, at: Bench.endpoint)
        let watchers = [
            bench.batch("ulla@contoso.com", .subscribe("rob@fabrikam.com", "sue@fabrikam.com")),
            bench.batch("ulla@contoso.com", .subscribe("rob@fabrikam.com", to: ["state", "note", "services"])),
            bench.batch("ulla@contoso.com", .subscribe("rob@fabrikam.com")),
            bench.batch("emma@contoso.com", .subscribe("rob@fabrikam.com")),
        ]
        for (text, status) in zip(watchers, [413, 413, 200, 200]) {
            bench.send(text, from: Bench.enterprise)
            let response = try bench.nextResponse(status, at: Bench.enterprise)
            if text == watchers[3] { #expect(response.text.contains("quotaExceeded") && response.text.contains("413")) }
        }
    }
}

/// Category subscriptions as they live on: changes of what is watched, notifications, replacement (MS-PRES 3.4.5.1.3, 3.4.5.2).
@Suite struct CategoryDialogTests {
    let bench = Bench()

    func subscribe(_ actions: Bench.Action, extra: String = "", piggyback: Bool = true) throws -> SIPResponse {
        bench.send(bench.batch("ulla@fabrikam.com", actions, piggyback: piggyback, extra: extra), from: Bench.enterprise)
        return try bench.nextResponse(200, at: Bench.enterprise)
    }

    @Test("MS-PRES 4.5 a SUBSCRIBE in the dialog adds resources and is answered about those that it names [R160, R170]")
    func addsResources() throws {
        try bench.publish("rob@fabrikam.com", .state(6_500))
        let first = try subscribe(.subscribe("rob@fabrikam.com"))
        bench.send(bench.change(first, cSeq: 2, .subscribe("sue@fabrikam.com", "bob@contoso.com")), from: Bench.enterprise)
        let answer = try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise))
        #expect(answer.uris == ["sip:sue@fabrikam.com"])
        #expect(answer.instanceStates == ["sip:bob@contoso.com: resubscribe"])
        // Named again, the verdict comes again, once.
        bench.send(bench.change(first, cSeq: 3, .subscribe("bob@contoso.com")), from: Bench.enterprise)
        let again = try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise))
        #expect(again.uris.isEmpty && again.instanceStates == ["sip:bob@contoso.com: resubscribe"])
        for (user, version) in [("rob@fabrikam.com", 1), ("sue@fabrikam.com", 0)] {
            try bench.publish(user, .state(3_500, version: version))
            let notify = try bench.takeNotifies()
            #expect(notify.count == 1 && notify.first?.text.contains("uri=\"sip:\(user)\"") == true)
        }
    }

    @Test("MS-PRES 3.4.5.1.3 a known resource gets the categories that it lacked, and its data again [R172]")
    func addsCategories() throws {
        try bench.publish("rob@fabrikam.com", .state(6_500), .note("here"))
        let first = try subscribe(.subscribe("rob@fabrikam.com", to: ["state"]))
        #expect(!first.text.contains("note"))
        bench.send(bench.change(first, cSeq: 2, .subscribe("rob@fabrikam.com", to: ["note"])), from: Bench.enterprise)
        let answer = try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise))
        #expect(answer.parts.first?.categories.map(\.name) == [.state, .note])
        try bench.publish("rob@fabrikam.com", .state(3_500, version: 1), .note("there", version: 1))
        let notify = try bench.takeNotifies()
        #expect(notify.count == 1 && notify.first?.text.contains("there") == true && notify.first?.text.contains("3500") == true)
    }

    @Test("MS-PRES 3.4.5.1.3 unsubscribe takes categories and resources out; the list is empty, the dialog lives on [R173]")
    func unsubscribes() throws {
        let first = try subscribe(.subscribe("rob@fabrikam.com", "sue@fabrikam.com"))
        bench.send(
            bench.change(
                first, cSeq: 2, .unsubscribe("rob@fabrikam.com", from: ["note"]), .unsubscribe("sue@fabrikam.com", "eve@fabrikam.com")),
            from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        let answer = try BatchAnswer(response)
        #expect(answer.parts.isEmpty && answer.list.resources.isEmpty)
        #expect(response.headers.first("subscription-state") == "active;expires=3600")
        try bench.publish("sue@fabrikam.com", .state(3_500), .note("x"))
        try bench.publish("rob@fabrikam.com", .note("x"))
        #expect(try bench.takeNotifies().isEmpty)
        try bench.publish("rob@fabrikam.com", .state(3_500))
        #expect(try bench.takeNotifies().count == 1)
        bench.send(bench.change(first, cSeq: 3, .unsubscribe("rob@fabrikam.com", from: ["state"])), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(bench.gateway.counts.watcherDialogs == 1)
    }

    @Test("MS-PRES 3.4.5.1.3 unsubscribing outside any dialog is 200 and makes none [R173]")
    func unsubscribesNothing() throws {
        let response = try subscribe(.unsubscribe("rob@fabrikam.com"))
        #expect(response.headers.expires == 0 && bench.gateway.counts.watcherDialogs == 0)
        #expect(try BatchAnswer(response).parts.isEmpty)
    }

    @Test("MS-PRES 3.4.5.1.3 the actions of a batch are done in their order [R174]")
    func order() throws {
        bench.send(
            bench.batch(
                "ulla@fabrikam.com", .subscribe("rob@fabrikam.com", "sue@fabrikam.com"), .unsubscribe("rob@fabrikam.com"),
                .unsubscribe("tom@fabrikam.com"), .subscribe("tom@fabrikam.com", to: ["note"])), from: Bench.enterprise)
        let first = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try BatchAnswer(first).uris == ["sip:sue@fabrikam.com", "sip:tom@fabrikam.com"])
        bench.send(
            bench.change(
                first, cSeq: 2, .unsubscribe("sue@fabrikam.com"), .subscribe("sue@fabrikam.com", to: ["note"]),
                .subscribe("tom@fabrikam.com", to: ["state"]), .unsubscribe("tom@fabrikam.com", from: ["note", "state"])),
            from: Bench.enterprise)
        let answer = try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise))
        #expect(answer.uris == ["sip:sue@fabrikam.com"])
        #expect(answer.parts.first?.categories.map(\.name) == [.note])
    }

    @Test("MS-PRES 3.4.5.2 each notification is one bare document of one publisher, and only what changed [R087, R088, R089, R176, R178]")
    func notifications() throws {
        try bench.publish("rob@fabrikam.com", .note("one", instance: 1), .note("two", instance: 2))
        _ = try subscribe(.subscribe("rob@fabrikam.com", "sue@fabrikam.com"))
        try bench.publish("rob@fabrikam.com", .note("three", version: 1, instance: 1))
        let outstanding = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(outstanding.headers.contentType?.essence == "application/msrtc-event-categories+xml")
        #expect(outstanding.headers.hasToken(.require, "eventlist") && outstanding.headers.event?.package == "presence")
        let document = try CategoriesDocument(parsing: outstanding.body)
        #expect(document.categories.map(\.instance) == [1, 2] && document.categories.allSatisfy { $0.name == .note })
        // Meanwhile both publish; each then comes in a notification of its own, its categories together.
        try bench.publish("rob@fabrikam.com", .state(6_500))
        try bench.publish("sue@fabrikam.com", .state(3_500), .note("hi"))
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.answer(outstanding, 200, from: Bench.enterprise)
        let later = try bench.takeNotifies().map { try CategoriesDocument(parsing: $0.body) }
        #expect(later.map(\.uri) == ["sip:rob@fabrikam.com", "sip:sue@fabrikam.com"])
        #expect(later.map { $0.categories.map(\.name) } == [[.state], [.state, .note]])
    }

    @Test("MS-PRES 3.4.5.2 whoever caused it: clients, members, expiry, an endpoint that ends, PUBLISH [R086, R179]")
    func causes() throws {
        _ = try subscribe(.subscribe("rob@fabrikam.com"))
        func isNotified(_ text: String, _ location: SourceLocation = #_sourceLocation) throws {
            let notifies = try bench.takeNotifies()
            #expect(
                notifies.count == 1 && notifies.first?.text.contains(text) == true, "\(notifies.map(\.text))", sourceLocation: location)
        }
        try bench.publish("rob@fabrikam.com", .state(6_500), .note("for all"))
        try isNotified("6500")
        try bench.publish("rob@fabrikam.com", .note("for colleagues", in: 200))
        #expect(try bench.takeNotifies().isEmpty)
        try bench.setMembers("rob@fabrikam.com", 200, "sameEnterprise")
        try isNotified("for colleagues")
        try bench.setMembers("rob@fabrikam.com", 200, version: 1, "-sameEnterprise")
        try isNotified("for all")
        try bench.publish("rob@fabrikam.com", .init(name: "note", body: "", instance: 7, expireType: "time", expires: 60))
        try isNotified("instance=\"7\"")
        bench.pass(.seconds(61))
        try isNotified("for all")
        let laptop = TransportAddress(.tcp, "192.0.2.31", 5060)
        let connection = ConnectionID(rawValue: 3)
        bench.service(
            "rob@fabrikam.com",
            body: Bench.publishBody("rob@fabrikam.com", [.init(name: "note", body: "", instance: 8, expireType: "endpoint")]),
            instance: "cf2e5c2a-5a0b-4d5c-9f0c-1b0f6a2f3d11", via: laptop, connection: connection)
        _ = try bench.nextResponse(200, at: laptop)
        try isNotified("instance=\"8\"")
    }

    @Test("MS-PRES 3.4.5.1.3 an endpoint has one batch dialog: the new one is accepted, the old one ended with Expires 0 [R156, R177]")
    func replaced() throws {
        func send(_ epid: String) {
            let text = bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com"))
            bench.send(text.replacingOccurrences(of: ">;tag=w", with: ">;epid=\(epid);tag=w"), from: Bench.enterprise)
        }
        send("0a1b2c3d4e")
        let first = try bench.nextResponse(200, at: Bench.enterprise)
        send("ffffffffff")
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(bench.gateway.counts.watcherDialogs == 2)
        send("0a1b2c3d4e")
        let second = try bench.nextResponse(200, at: Bench.enterprise)
        let last = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(last.headers.callID == first.headers.callID)
        #expect(last.headers.subscriptionState?.state == .terminated && last.headers.expires == 0)
        bench.answer(last, 200, from: Bench.enterprise)
        #expect(bench.gateway.counts.watcherDialogs == 2)
        try bench.publish("rob@fabrikam.com", .state(6_500))
        #expect(try bench.takeNotifies().count == 2)
        for response in [first, second] { #expect(try BatchAnswer(response).list.version == 0) }
    }

    @Test(
        "MS-PRES 1.3.3 a refresh keeps the format whatever it accepts [R221]", arguments: ["text/xml+msrtc.pidf", "application/pidf+xml"])
    func format(type: String) throws {
        bench.send(
            bench.subscribe("ulla@contoso.com", to: "rob@fabrikam.com", accept: type, via: Bench.enterprise), from: Bench.enterprise)
        let first = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try bench.takeNotifies().map { $0.headers.contentType?.essence } == [type])
        bench.send(
            bench.inDialog(
                first, cSeq: 2, expires: 3_600, extra: "Accept: application/msrtc-event-categories+xml\r\n", via: Bench.enterprise),
            from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try bench.takeNotifies().map { $0.headers.contentType?.essence } == [type])
    }

    @Test(
        "MS-PRES 3.4.5.1.3 the class of a watcher is that of its configured domain, whatever it writes about itself [R200]",
        arguments: [
            (DomainNetwork.sameEnterprise, 3_500), (.federated, 6_500), (.publicCloud, 9_500),
        ])
    func network(network: DomainNetwork, availability: Int) throws {
        let bench = Bench { $0.domains["contoso.com"]?.federation.network = network }
        try bench.publish("rob@fabrikam.com", .state(3_500, in: 100), .state(6_500, in: 200), .state(9_500, in: 300))
        try bench.setMembers("rob@fabrikam.com", 100, "sameEnterprise")
        try bench.setMembers("rob@fabrikam.com", 200, "federated")
        try bench.setMembers("rob@fabrikam.com", 300, "publicCloud")
        for source in ["publiccloud", "federation", "sameenterprise"] {
            bench.send(
                bench.categorySubscribe(
                    "ulla@contoso.com", to: "rob@fabrikam.com",
                    extra: "ms-edge-proxy-message-trust: ms-source-type=DirectPartner;ms-ep-fqdn=edge.example.net;"
                        + "ms-source-network=\(source)\r\nms-source-network: \(source)\r\n"),
                from: Bench.enterprise)
            #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("<availability>\(availability)</availability>"))
        }
    }
}
