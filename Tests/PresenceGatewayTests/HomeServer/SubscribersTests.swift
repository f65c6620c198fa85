import PresenceGateway
import SIPCore
import Testing

/// Subscriber lists and delegates at the home server (MS-PRES 3.6, 3.9).
@Suite struct SubscribersTests {
    let bench: Bench

    init(bench: Bench = Bench()) { self.bench = bench }

    /// An endpoint with a self dialog of that scope.
    func endpoint(_ scopes: [String] = ["subscribers", "delegates"], epid: String = "84d3db8c23", connection: UInt64 = 1) throws
        -> SignedInEndpoint
    {
        let endpoint = SignedInEndpoint(bench, "rob@fabrikam.com", epid: epid, connection: connection)
        endpoint.register()
        _ = try endpoint.response(200)
        endpoint.subscribeSelf(scopes)
        _ = try endpoint.response(200)
        return endpoint
    }

    func category(_ context: String, from watcher: String = "\"Ulla\" <sip:ulla@contoso.com>", user: String = "rob@fabrikam.com") -> String
    {
        let text = bench.categorySubscribe("ulla@contoso.com", to: user)
        let body = text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
        let changed = body.replacing("<resource uri=\"sip:\(user)\"/>", with: "<resource uri=\"sip:\(user)\">\(context)</resource>")
        return text.replacing(body, with: changed)
            .replacing("Content-Length: \(body.utf8.count)", with: "Content-Length: \(changed.utf8.count)")
            .replacing("<sip:ulla@contoso.com>;tag", with: "\(watcher);tag")
    }

    func acknowledge(_ endpoint: SignedInEndpoint, _ subscriber: String, from: String? = nil) {
        endpoint.send(
            "SERVICE", "sip:rob@fabrikam.com", from: from, type: "application/msrtc-presence-setsubscriber+xml",
            body:
                "<setSubscribers xmlns=\"http://schemas.microsoft.com/2006/09/sip/presence-subscribers\">\(subscriber)</setSubscribers>")
    }

    static let ulla = "<subscriber user=\"ulla@contoso.com\" acknowledged=\"true\"/>"

    @Test(
        "MS-PRES 4.8: a category subscription with a context lists the watcher and tells self dialogs; acknowledged, the list is empty again [R183, R201, R202, R205, R206, R208, R209]",
        arguments: ["<context/>", "<context><subscriptionContext xmlns=\"urn:example:x\"/></context>"])
    func listedAndAcknowledged(context: String) throws {
        let desk = try endpoint()
        let phone = try endpoint(["subscribers"], epid: "3b09add8bc", connection: 2)
        let other = try endpoint(["categories"], epid: "0b196426d9", connection: 3)
        bench.send(category(context), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        for endpoint in [desk, phone] {
            let notified = try endpoint.request(.benotify).text
            #expect(
                notified.contains("<subscriber user=\"ulla@contoso.com\" displayName=\"Ulla\" acknowledged=\"false\" type=\"federated\""))
            #expect(notified.contains("<context>") == context.contains("subscriptionContext"))
            #expect(!notified.contains("<delegates"))
        }
        acknowledge(desk, Self.ulla)
        #expect(try desk.response(200).body.isEmpty)
        for endpoint in [desk, phone] {
            #expect(
                try endpoint.request(.benotify).text.contains(
                    "<subscribers xmlns=\"http://schemas.microsoft.com/2006/09/sip/presence-subscribers\"/>"))
        }
        #expect(other.isQuiet)
    }

    @Test("MS-PRES 1.3.1.4: without a context nobody is listed, and one who is listed is not told again [R183, R201]")
    func silent() throws {
        let desk = try endpoint()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(desk.isQuiet)
        for _ in 1...2 {
            bench.send(category("<context/>"), from: Bench.enterprise)
            _ = try bench.nextResponse(200, at: Bench.enterprise)
        }
        _ = try desk.request(.benotify)
        #expect(desk.isQuiet)
    }

    @Test(
        "MS-PRES 3.7.5.3: MSRTC and PIDF watchers are always listed, and stay on the list when acknowledged [R208, R210]",
        arguments: ["text/xml+msrtc.pidf", "application/pidf+xml"])
    func otherFormats(accept: String) throws {
        let desk = try endpoint()
        bench.send(
            bench.subscribe("ulla@contoso.com", to: "rob@fabrikam.com", accept: accept, via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try desk.request(.benotify).text.contains("user=\"ulla@contoso.com\""))
        acknowledge(desk, Self.ulla)
        _ = try desk.response(200)
        #expect(try desk.request(.benotify).text.contains("acknowledged=\"true\""))
        bench.send(
            bench.subscribe("ulla@contoso.com", to: "rob@fabrikam.com", accept: accept, expires: 0, via: Bench.enterprise),
            from: Bench.enterprise)
        #expect(desk.isQuiet)
    }

    @Test(
        "MS-PRES 3.6.5.3: an unknown subscriber and an invalid document are 400, From that differs from To is 403, and nobody is told [R207]"
    )
    func errors() throws {
        let desk = try endpoint()
        bench.send(category("<context/>"), from: Bench.enterprise)
        _ = try desk.request(.benotify)
        acknowledge(desk, "<subscriber user=\"dan@contoso.com\" acknowledged=\"true\"/>")
        #expect(try desk.response(400).headers.msDiagnostics?.errorID == 2000)
        acknowledge(desk, "<subscriber user=\"ulla@contoso.com\" acknowledged=\"false\"/>")
        #expect(try desk.response(400).headers.msDiagnostics?.errorID == 4001)
        acknowledge(desk, Self.ulla + Self.ulla)
        _ = try desk.response(400)
        acknowledge(desk, Self.ulla, from: "eve@fabrikam.com")
        _ = try desk.response(403)
        #expect(desk.isQuiet)
        desk.subscribeSelf(["subscribers"])
        #expect(try desk.response(200).text.contains("acknowledged=\"false\""))
    }

    @Test("MS-PRES 3.6.5.3: a full list refuses the subscription with 413, and in a batch only that resource [R194, R211, R212]")
    func full() throws {
        let bench = Bench { $0.limits.subscribersPerUser = 1 }
        let tests = SubscribersTests(bench: bench)
        let desk = try tests.endpoint()
        bench.send(tests.category("<context/>"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try desk.request(.benotify)
        bench.send(tests.category("<context/>", from: "<sip:uwe@contoso.com>"), from: Bench.enterprise)
        _ = try bench.nextResponse(413, at: Bench.enterprise)
        #expect(desk.isQuiet && bench.gateway.counts.watcherDialogs == 1)
        // A batch is answered, and says of that one user why not.
        let text = tests.category("<context/>", from: "<sip:uwe@contoso.com>")
            .replacing("SUBSCRIBE sip:rob@fabrikam.com", with: "SUBSCRIBE sip:uwe@contoso.com")
            .replacing("To: <sip:rob@fabrikam.com>", with: "To: <sip:uwe@contoso.com>")
            .replacing("Supported: eventlist", with: "Require: adhoclist, categoryList\r\nSupported: eventlist")
        bench.send(text, from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(answer.text.contains("state=\"terminated\"") && answer.text.contains("reason=\"quotaExceeded\""))
        #expect(answer.text.contains("statusCode=\"413\""))
        #expect(desk.isQuiet)
    }

    @Test("a name that never used this server gets no list: anybody could make names up")
    func nobody() throws {
        bench.send(category("<context/>", user: "nobody@fabrikam.com"), from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        bench.send(bench.inDialog(answer, cSeq: 2, expires: 0, via: Bench.enterprise), from: Bench.enterprise)
        bench.pass(.seconds(40))
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.presentities == 0)
    }

    @Test("MS-PRES 1.3.1.4: a user of the directory who was never here finds who subscribed meanwhile [R201]")
    func listedBeforeFirstSignIn() throws {
        bench.use(try Fabrikam.directory(try Fabrikam.rob))
        bench.send(category("<context/>"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let desk = SignedInEndpoint(bench, "rob@fabrikam.com", epid: "84d3db8c23", connection: 1)
        desk.register()
        _ = try desk.response(200)
        desk.subscribeSelf(["subscribers"])
        #expect(try desk.response(200).text.contains("<subscriber user=\"ulla@contoso.com\" displayName=\"Ulla\" acknowledged=\"false\""))
    }

    // MARK: delegates

    func delegate(
        _ endpoint: SignedInEndpoint, version: Int, _ uri: String, _ action: String = "add", rights: String = "", from: String? = nil
    ) {
        endpoint.send(
            "SERVICE", "sip:rob@fabrikam.com", from: from, type: "application/msrtc-setDelegate+xml",
            body:
                "<setDelegates xmlns=\"http://schemas.microsoft.com/2007/09/sip/delegate-management\" version=\"\(version)\"><delegate uri=\"\(uri)\" action=\"\(action)\">\(rights)</delegate></setDelegates>"
        )
    }

    @Test(
        "MS-PRES 4.12: a delegate is in the 200 and at every self dialog of that scope, in full and with the version [R245, R330, R334, R337, R338]"
    )
    func delegates() throws {
        let desk = try endpoint()
        let phone = try endpoint(["delegates"], epid: "3b09add8bc", connection: 2)
        delegate(desk, version: 0, "sip:dan@fabrikam.com", rights: "<publishOperation authorization=\"allow\"/>")
        let first = "version=\"1\"><delegate uri=\"dan@fabrikam.com\" publish=\"true\" redelegate=\"false\"/></delegates>"
        let answer = try desk.response(200)
        #expect(answer.headers.contentType?.essence == "application/vnd-microsoft-roaming-self+xml")
        #expect(answer.text.contains(first))
        for endpoint in [desk, phone] {
            let notified = try endpoint.request(.benotify).text
            #expect(notified.contains(first) && !notified.contains("<subscribers"))
        }
        delegate(desk, version: 1, "sip:dan@fabrikam.com", "remove")
        #expect(
            try desk.response(200).text.contains("<delegates xmlns=\"http://schemas.microsoft.com/2007/09/sip/delegates\" version=\"2\"/>"))
    }

    @Test(
        "MS-PRES 3.9.5.4: every wrong setDelegate has its status, tells nobody and changes nothing [R331, R332, R333, R335, R336]")
    func delegateErrors() throws {
        let bench = Bench { $0.limits.delegatesPerUser = 1 }
        let tests = SubscribersTests(bench: bench)
        let desk = try tests.endpoint()
        tests.delegate(desk, version: 0, "sip:dan@fabrikam.com")
        _ = try desk.response(200)
        _ = try desk.request(.benotify)
        tests.delegate(desk, version: 0, "sip:eva@fabrikam.com")
        let stale = try desk.response(409)
        #expect(stale.headers.msDiagnostics?.errorID == 2141)
        #expect(stale.headers.contentType?.essence == "application/msrtc-fault+xml")
        #expect(stale.text.contains("<Faultcode>Client.BadCall.WrongDelta</Faultcode>"))
        #expect(stale.text.contains("<operation index=\"1\" version=\"0\" curVersion=\"1\"/>"))
        for (uri, action, from, status) in [
            ("sip:rob@fabrikam.com", "add", nil, 400), ("sip:dan@fabrikam.com", "promote", nil, 400),
            ("sip:alice@example.org", "add", nil, 404), ("sip:carl@example.com", "add", nil, 404),
            ("sip:eva@fabrikam.com", "remove", nil, 403),
            ("sip:eva@fabrikam.com", "add", "eve@fabrikam.com", 403), ("sip:eva@fabrikam.com", "add", nil, 413),
        ] as [(String, String, String?, Int)] {
            tests.delegate(desk, version: 1, uri, action, from: from)
            _ = try desk.response(status)
        }
        #expect(desk.isQuiet)
        desk.subscribeSelf(["delegates"])
        #expect(try desk.response(200).text.contains("version=\"1\"><delegate uri=\"dan@fabrikam.com\""))
    }
}
