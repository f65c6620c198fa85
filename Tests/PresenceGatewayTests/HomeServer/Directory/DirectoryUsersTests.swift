import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing
import UserDirectory

/// Who exists in a hosted enterprise domain with a directory (MS-PRES 3.3.5.3, 3.4.5.3).
@Suite struct DirectoryUsersTests {
    let bench: Bench

    init() throws {
        bench = Bench(directory: try Fabrikam.directory(Fabrikam.rob, Fabrikam.user("dora", enabled: false)))
    }

    /// A refusal without what every request has of its own.
    static func shown(_ response: SIPResponse) -> [String] {
        ["\(response.status.rawValue) \(response.reason)", response.headers.first(.msDiagnostics) ?? "", response.text]
    }

    @Test("MS-PRES 3.4.5.3: a single for an unknown user is 404 with ms-diagnostics, for a disabled one the same [R148]")
    func single() throws {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "nobody@fabrikam.com"), from: Bench.enterprise)
        let unknown = try bench.nextResponse(404, at: Bench.enterprise)
        #expect(unknown.headers.msDiagnostics?.errorID == 4005)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "dora@fabrikam.com"), from: Bench.enterprise)
        #expect(try Self.shown(bench.nextResponse(404, at: Bench.enterprise)) == Self.shown(unknown))
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(bench.gateway.counts.presentities == 1)
    }

    @Test("a PIDF watcher, a PUBLISH, a SERVICE and a REGISTER for an unknown user are 404 too", arguments: ["nobody", "dora"])
    func others(_ name: String) throws {
        bench.send(bench.subscribe("ann@example.org", to: "\(name)@fabrikam.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(404, at: Bench.simple)
        let endpoint = SignedInEndpoint(bench, "\(name)@fabrikam.com", connection: 1)
        endpoint.register()
        _ = try endpoint.response(404)
        endpoint.publish(SignedInEndpoint.note("here", expire: "static"))
        _ = try endpoint.response(404)
        #expect(bench.gateway.counts.presentities == 0 && bench.gateway.counts.registrations == 0)
    }

    @Test("MS-PRES 3.4.5.3: an unknown resource in a batch is resubscribe without a pool, the others are shown [R193]")
    func batch() throws {
        let endpoint = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        let resources = ["rob@fabrikam.com", "nobody@fabrikam.com", "dora@fabrikam.com"].map { "<resource uri=\"sip:\($0)\"/>" }
        endpoint.subscribe(
            "presence",
            extra: "Require: adhoclist, categoryList\r\nSupported: eventlist\r\nSupported: ms-piggyback-first-notify\r\n"
                + "Accept: application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related\r\n",
            type: "application/msrtc-adrl-categorylist+xml",
            body: "<batchSub xmlns=\"http://schemas.microsoft.com/2006/01/sip/batch-subscribe\" uri=\"sip:rob@fabrikam.com\" name=\"\">"
                + "<action name=\"subscribe\" id=\"1\"><adhocList>\(resources.joined())</adhocList><categoryList "
                + "xmlns=\"http://schemas.microsoft.com/2006/09/sip/categorylist\"><category name=\"contactCard\"/></categoryList>"
                + "</action></batchSub>")
        let answer = try endpoint.response(200)
        #expect(answer.text.contains("Rob Young"))
        for name in ["nobody", "dora"] {
            #expect(answer.text.contains("<resource uri=\"sip:\(name)@fabrikam.com\"><instance id=\"0\" state=\"resubscribe\""))
        }
        #expect(!answer.text.contains("poolFqdn") && !answer.text.contains("categories uri=\"sip:nobody@fabrikam.com\""))
    }

    @Test("MS-PRES 3.3.5.3: a self SUBSCRIBE for somebody else is 404 when he is unknown, 400 when he is known [R129]")
    func selfSubscribe() throws {
        bench.use(try Fabrikam.directory(Fabrikam.rob, Fabrikam.user("dora", enabled: false), Fabrikam.user("carl")))
        let endpoint = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        endpoint.register()
        _ = try endpoint.response(200)
        for (name, status) in [("nobody", 404), ("dora", 404), ("carl", 400)] {
            endpoint.subscribeSelf(["categories"], to: "\(name)@fabrikam.com")
            _ = try endpoint.response(status)
        }
    }

    @Test("who is no user of the domain may not watch as if he were one")
    func stranger() throws {
        let endpoint = SignedInEndpoint(bench, "nobody@fabrikam.com", connection: 1)
        endpoint.subscribe(
            "presence", extra: "Accept: application/pidf+xml\r\n", to: "rob@fabrikam.com")
        _ = try endpoint.response(403)
    }

    @Test("a directory that could not be read yet makes nobody unknown: 503 with Retry-After")
    func unavailable() throws {
        bench.use(.unavailable)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        #expect(try bench.nextResponse(503, at: Bench.enterprise).headers.first(.retryAfter) == "30")
    }

    @Test("hosted domains of the SIMPLE side, and other domains, are none of the directory's business")
    func otherDomains() throws {
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
    }

    @Test("a user who is removed or disabled ends his watchers' subscriptions, and in a batch becomes a rejected resource")
    func removed() throws {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let endpoint = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        endpoint.register()
        _ = try endpoint.response(200)
        endpoint.subscribeSelf(["categories"])
        _ = try endpoint.response(200)
        bench.use(try Fabrikam.directory(Fabrikam.user("rob", enabled: false)))
        let last = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(last.headers.first(.subscriptionState) == "terminated;reason=noresource")
        let own = try endpoint.request(.benotify)
        #expect(own.headers.first("subscription-state")?.hasPrefix("terminated") == true)
        bench.answer(last, 200, from: Bench.enterprise)
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.homeDialogs == 0)
        #expect(bench.gateway.counts.presentities == 0)
    }

    @Test(
        "MS-PRES 1.3.1.3.10: a user who is removed or disabled is offline at once: registrations, publications and dialogs end [R054]",
        arguments: [true, false])
    func administrativeEnd(_ isRemoved: Bool) throws {
        bench.use(try Fabrikam.directory(Fabrikam.rob, Fabrikam.user("carl")))
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.register()
        _ = try rob.response(200)
        rob.publish(
            SignedInEndpoint.note("desk", expire: "endpoint", instance: 1) + SignedInEndpoint.note("rob", expire: "user", instance: 2))
        _ = try rob.response(200)
        try rob.startWatching("carl@fabrikam.com")
        rob.subscribeSelf(["categories"])
        _ = try rob.response(200)
        let published = bench.gateway.counts.publications
        #expect(bench.gateway.counts.registrations == 1 && bench.gateway.counts.watcherDialogs == 1 && published >= 2)

        let carl = try Fabrikam.user("carl")
        bench.use(isRemoved ? try Fabrikam.directory(carl) : try Fabrikam.directory(carl, Fabrikam.user("rob", enabled: false)))
        #expect(
            bench.gateway.counts.registrations == 0 && bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.homeDialogs == 0)
        #expect(bench.gateway.counts.publications < published)
        try #require(try rob.request(.benotify).headers.first("subscription-state")?.hasPrefix("terminated") == true)
        try #require(try rob.request(.notify).headers.first("subscription-state")?.hasPrefix("terminated") == true)
        rob.register()
        _ = try rob.response(404)

        bench.use(try Fabrikam.directory(Fabrikam.rob, carl))
        #expect(bench.gateway.counts.registrations == 0, "he comes back as one who has not signed in")
        let watcher = SignedInEndpoint(bench, "carl@fabrikam.com", connection: 3)
        watcher.watch("rob@fabrikam.com")
        let shown = try watcher.response(200).text
        #expect(!shown.contains(">desk<") && !shown.contains(">rob<"))
    }

    @Test("a user who is removed hears that his subscriptions are over")
    func terminationDiagnostic() throws {
        bench.use(try Fabrikam.directory(Fabrikam.rob, Fabrikam.user("carl")))
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.register()
        _ = try rob.response(200)
        try rob.startWatching("carl@fabrikam.com")
        bench.use(try Fabrikam.directory(Fabrikam.user("carl")))
        #expect(try rob.request(.notify).headers.first("subscription-state")?.hasPrefix("terminated;reason=rejected") == true)
    }
}
