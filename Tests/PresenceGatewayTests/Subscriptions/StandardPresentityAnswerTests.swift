import FederationRouting
import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// What category watchers are answered about presentities of SIMPLE domains (MS-PRES 3.4.5.1.3.1, 2.2.2.4.2).
@Suite struct StandardPresentityAnswerTests {
    static let pidfType = "application/pidf+xml"
    static let pool = "sip:pool2.fabrikam.com@fabrikam.com;gruu;opaque=srvr:HomeServer:y"

    static let rich = """
        <?xml version="1.0" encoding="UTF-8"?><presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" \
        xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" xmlns:ci="urn:ietf:params:xml:ns:pidf:cipid" \
        xmlns:caps="urn:ietf:params:xml:ns:pidf:caps" entity="sip:alice@example.org">\
        <tuple id="t1"><status><basic>open</basic></status><caps:servcaps><caps:audio>true</caps:audio><caps:video>true</caps:video>\
        </caps:servcaps><rpid:user-input last-input="2023-11-14T21:13:20Z">idle</rpid:user-input><contact>tel:+15550100</contact></tuple>\
        <note>At the lake</note><dm:person id="p1"><rpid:activities><rpid:away/></rpid:activities>\
        <ci:display-name>Alice Example</ci:display-name><rpid:time-offset>60</rpid:time-offset>\
        <rpid:user-input last-input="2023-11-14T21:13:20Z">idle</rpid:user-input></dm:person></presence>
        """

    /// Accepts an upstream subscription and sends it this document.
    static func serve(_ bench: Bench, _ subscribe: SIPRequest, _ body: String, state: String = "active;expires=3600") {
        bench.answer(subscribe, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(subscribe, state, cSeq: 1, type: body.isEmpty ? "" : pidfType, body: body, from: Bench.simple)
    }

    static func subscriptions(_ bench: Bench) throws -> [String: SIPRequest] {
        var subscriptions: [String: SIPRequest] = [:]
        while !bench.isQuiet(at: Bench.simple) {
            guard case .request(let request) = try bench.next(at: Bench.simple), request.method == .subscribe else { continue }
            subscriptions[request.headers.to?.uri.user ?? ""] = request
        }
        return subscriptions
    }

    @Test(
        "MS-PRES 3.4.5.1.3.1 a batch: RLMI first, a part per active resource, another pool by its GRUU, outside without, refused as terminated [R162, R163, R190, R191]"
    )
    func answer() throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.federation.poolFQDN = Self.pool
            $0.domains["adatum.example"] = DomainConfiguration(side: .enterprise, route: Bench.enterprise)
        }
        bench.send(
            bench.batch(
                "ulla@fabrikam.com",
                .subscribe(
                    "alice@example.org", "rob@fabrikam.com", "bob@contoso.com", "eve@adatum.example", "x@elsewhere.invalid",
                    "y@example.net")), from: Bench.enterprise)
        let answer = try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
        #expect(answer.mime.first?.contentType?.essence == "application/rlmi+xml")
        #expect(answer.list.uri == "sip:ulla@fabrikam.com" && answer.list.version == 0 && !answer.list.fullState)
        #expect(
            answer.instanceStates == [
                "sip:bob@contoso.com: resubscribe", "sip:eve@adatum.example: resubscribe", "sip:x@elsewhere.invalid: resubscribe",
                "sip:y@example.net: terminated",
            ])
        #expect(answer.list.resources.map { $0.instances.first?.poolFqdn } == [Self.pool, nil, nil, nil])
        #expect(answer.list.resources.last?.instances.first?.reason == "rejected")
        #expect(answer.uris == ["sip:alice@example.org", "sip:rob@fabrikam.com"])
        #expect(answer.mime.dropFirst().allSatisfy { $0.contentType?.essence == "application/msrtc-event-categories+xml" })
    }

    @Test("MS-PRES 3.4.5.1.3.1 a resource that its side lets wait is pending in the list, without a part, and comes when it is granted")
    func pending() throws {
        let bench = Bench()
        let watched = ["alice@example.org", "ann@example.org"]
        bench.send(bench.batch("ulla@fabrikam.com", Bench.Action(resources: watched)), from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        let subscriptions = try Self.subscriptions(bench)
        Self.serve(bench, try #require(subscriptions["ann"]), "", state: "pending;expires=3600")
        Self.serve(bench, try #require(subscriptions["alice"]), Bench.pidf("alice@example.org", activity: "busy"))
        let notified = try bench.takeNotifies()
        #expect(notified.allSatisfy { $0.headers.subscriptionState?.state == .active })
        let list = try #require(notified.first { $0.headers.contentType?.essence == "multipart/related" })
        #expect(try BatchAnswer(list).instanceStates == ["sip:ann@example.org: pending"])
        #expect(notified.contains { $0.text.contains("<availability>6500</availability>") })
        // Whoever asks again is told so again.
        bench.send(
            bench.inDialog(
                response, cSeq: 2, expires: 3_600,
                extra: "Require: adhoclist, categoryList\r\nSupported: eventlist, ms-piggyback-first-notify\r\n",
                via: Bench.enterprise), from: Bench.enterprise)
        let again = try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
        #expect(again.instanceStates == ["sip:ann@example.org: pending"] && again.uris == ["sip:alice@example.org"])
        bench.notify(
            try #require(subscriptions["ann"]), "active;expires=3600", cSeq: 2, type: Self.pidfType, body: Bench.pidf("ann@example.org"),
            from: Bench.simple)
        let granted = try bench.takeNotifies()
        #expect(try granted.map { try CategoriesDocument(parsing: $0.body).uri } == ["sip:ann@example.org"])
        #expect(granted.first?.text.contains("<availability>3500</availability>") == true)
    }

    @Test("MS-PRES 3.4.5.1.1 in a single category dialog the dialog itself is pending, and then active")
    func singlePending() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "ann@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let subscription = try #require(try Self.subscriptions(bench)["ann"])
        Self.serve(bench, subscription, "", state: "pending;expires=3600")
        #expect(try bench.takeNotifies().map { $0.headers.subscriptionState?.state } == [.pending])
        bench.notify(
            subscription, "active;expires=3600", cSeq: 2, type: Self.pidfType, body: Bench.pidf("ann@example.org"), from: Bench.simple)
        let granted = try bench.takeNotifies()
        #expect(granted.map { $0.headers.subscriptionState?.state }.last == .active)
        #expect(granted.last?.text.contains("<availability>3500</availability>") == true)
    }

    @Test(
        "MS-PRES 3.4.5.3 private categories are ignored, alone and in a batch, and the rest is answered [R091, R164, R165]",
        arguments: [true, false])
    func privateCategories(isBatch: Bool) throws {
        let bench = Bench()
        let action = Bench.Action.subscribe("alice@example.org", to: ["routing", "state", "dndState", "note"])
        if isBatch {
            bench.send(bench.batch("ulla@fabrikam.com", action), from: Bench.enterprise)
        } else {
            bench.send(
                bench.subscribe(
                    "ulla@fabrikam.com", to: "alice@example.org", accept: Bench.categoryTypes,
                    extra: "Supported: eventlist, ms-piggyback-first-notify\r\n", body: Bench.batchBody([action]),
                    contentType: "application/msrtc-adrl-categorylist+xml", via: Bench.enterprise), from: Bench.enterprise)
        }
        let first = try BatchAnswer(try bench.nextResponse(200, at: Bench.enterprise))
        #expect(first.uris == ["sip:alice@example.org"] && first.list.resources.isEmpty)
        #expect(first.parts.map { $0.categories.map(\.name) } == [[.state, .note]])
        Self.serve(bench, try #require(try Self.subscriptions(bench)["alice"]), Self.rich)
        let notified = try bench.takeNotifies()
        #expect(notified.count == 1 && notified.allSatisfy { $0.text.contains("<availability>") && $0.text.contains("At the lake") })
        #expect(notified.allSatisfy { !$0.text.contains("routing") && !$0.text.contains("dndState") })
    }

    @Test("MS-PRES 3.2.5.3 every requested category gets what the PIDF gave: state, contactCard, services, note; calendarData by its name")
    func content() throws {
        let bench = Bench()
        let names = ["state", "contactCard", "services", "note", "calendarData"]
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("alice@example.org", to: names), expires: 0), from: Bench.enterprise)
        Self.serve(bench, try #require(try Self.subscriptions(bench)["alice"]), Self.rich)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        let part = try #require(try BatchAnswer(response).parts.first)
        #expect(Set(part.categories.map(\.name.rawValue)) == Set(names))
        for words in [
            "<availability>15500</availability>", "lastActive=\"2023-11-14T21:13:20", "<displayName>Alice Example</displayName>",
            "At the lake", "+15550100",
        ] { #expect(response.text.contains(words), "\(words) in \(response.text)") }
        #expect(response.text.lowercased().contains("timezone"))
    }
}
