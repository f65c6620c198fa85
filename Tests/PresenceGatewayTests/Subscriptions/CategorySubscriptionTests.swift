import FederationRouting
import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// The forms of category subscriptions and their answers (MS-PRES 3.4.5.1, 2.2.2.4.2).
@Suite struct CategorySubscriptionTests {
    static let pool = "sip:pool1.fabrikam.com@fabrikam.com;gruu;opaque=srvr:HomeServer:x"

    @Test("MS-PRES 2.2.2.4.2 a batch is answered with the list first, then one part per accepted resource [R140, R160, R161, R162, R163]")
    func answerForm() throws {
        let bench = Bench()
        try bench.publish("rob@fabrikam.com", .state(6_500))
        bench.send(
            bench.batch(
                "ulla@fabrikam.com",
                .subscribe("nobody@elsewhere.example", "rob@fabrikam.com", "bob@contoso.com", "sue@fabrikam.com")), from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        let type = try #require(response.headers.contentType)
        #expect(type.essence == "multipart/related")
        #expect(type.parameters["type"] == "application/rlmi+xml" && type.parameters["start"] == "resourceList")
        #expect(type.parameters["boundary"] != nil)
        #expect(response.headers.hasToken(.require, "eventlist"))
        #expect(response.headers.event?.package == "presence")
        #expect(response.headers.first("subscription-state") == "active;expires=3600" && response.headers.expires == 3_600)

        let answer = try BatchAnswer(response)
        #expect(
            answer.mime.map { $0.contentType?.essence } == [
                "application/rlmi+xml", "application/msrtc-event-categories+xml", "application/msrtc-event-categories+xml",
            ])
        #expect(answer.mime.first?.contentID == "resourceList")
        #expect(answer.mime.allSatisfy { $0.headers.first("Content-Transfer-Encoding") == "binary" })
        #expect(answer.list.uri == "sip:ulla@fabrikam.com" && answer.list.version == 0 && !answer.list.fullState)
        #expect(answer.instanceStates == ["sip:nobody@elsewhere.example: resubscribe", "sip:bob@contoso.com: resubscribe"])
        #expect(answer.uris == ["sip:rob@fabrikam.com", "sip:sue@fabrikam.com"])
        // Clients cut the four octets before each boundary.
        let text = response.text
        let boundary = "--" + (type.parameters["boundary"] ?? "")
        let ends = text.split(separator: boundary, omittingEmptySubsequences: false).dropFirst().dropLast()
        #expect(ends.count == 3 && ends.allSatisfy { $0.hasSuffix("\r\n\r\n") })
    }

    @Test("MS-PRES 4.5 every requested category appears, empty ones by their name, private ones not at all [R091, R164, R165, R166, R167]")
    func categories() throws {
        let bench = Bench()
        try bench.publish(
            "rob@fabrikam.com", .state(6_500), .init(name: "note", body: "", instance: 4), .init(name: "routing", body: ""))
        bench.send(
            bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com", to: ["routing", "note", "state", "services"])),
            from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        let answer = try BatchAnswer(response)
        #expect(answer.list.resources.isEmpty)
        let part = try #require(answer.parts.first)
        #expect(part.uri == "sip:rob@fabrikam.com")
        #expect(part.categories.map(\.name) == [.note, .state, .services])
        #expect(part.categories.map(\.isEmptyMarker) == [false, false, true])
        #expect(part.categories.first?.instance == 4 && part.categories.first?.publishTime != nil && part.categories.first?.body == nil)
        #expect(response.text.contains("<category name=\"services\"/>"))
    }

    @Test("MS-PRES 2.2.2.1 watchers see publishTime, and nothing that only the publisher's endpoints may see [R168, R169]")
    func attributes() throws {
        let bench = Bench()
        try bench.publish(
            "rob@fabrikam.com", .init(name: "note", body: "", instance: 1, expireType: "time", expires: 600),
            .init(name: "note", body: "", instance: 2, expireType: "endpoint"),
            .init(name: "note", body: "", instance: 3, expireType: "user"))
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com")), from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        try bench.publish("rob@fabrikam.com", .init(name: "note", body: "", version: 1, instance: 1, expireType: "time", expires: 700))
        try bench.publish("rob@fabrikam.com", .init(name: "note", body: "", instance: 5, expireType: "time", expires: 700))
        let notify = try bench.nextRequest(.notify, at: Bench.enterprise)
        for text in [response.text, notify.text] {
            let elements = text.split(separator: "<category ").dropFirst().filter { $0.contains("instance=") }
            #expect(!elements.isEmpty && elements.allSatisfy { $0.contains("publishTime=") })
            for name in ["container=", "version=\"1\"", "version=\"2\"", "expireType=", "endpointId=", "expires="] {
                #expect(!elements.contains { $0.contains(name) }, "\(name)")
            }
        }
    }

    @Test(
        "MS-PRES 3.4.5.1.1 further types of Accept, names in batchSub and a server's Request-URI mean nothing [R142, R143, R146]",
        arguments: [
            "multipart/related, application/pidf+xml;q=1.0, application/rlmi+xml, text/plain, application/msrtc-event-categories+xml;q=0.1",
            Bench.categoryTypes,
        ])
    func ignored(accept: String) throws {
        let bench = Bench()
        let text = bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com"), accept: accept)
        // The body names another uri, a name and an odd id.
        bench.send(
            text.replacingOccurrences(of: "SUBSCRIBE sip:ulla@fabrikam.com SIP", with: "SUBSCRIBE \(Self.pool) SIP"), from: Bench.enterprise
        )
        #expect(try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise)).uris == ["sip:rob@fabrikam.com"])
    }

    @Test("MS-PRES 3.4.5.1.1 without both tags in Require the request is single, between whoever From and To name [R140, R149]")
    func single() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        #expect(try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise)).uris == ["sip:rob@fabrikam.com"])
        bench.send(
            bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com", extra: "Require: adhoclist\r\n"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
    }

    @Test("MS-PRES 3.4.5.1.2 a poll gets the body of a subscription and leaves nothing [R150, R151, R182]")
    func poll() throws {
        let bench = Bench()
        try bench.publish("rob@fabrikam.com", .state(6_500), .note("here"))
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com", "bob@contoso.com"), expires: 0), from: Bench.enterprise)
        let poll = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(poll.headers.expires == 0 && poll.headers.first("subscription-state") == "terminated;expires=0")
        #expect(bench.gateway.counts.watcherDialogs == 0)
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com", "bob@contoso.com")), from: Bench.enterprise)
        let lasting = try bench.nextResponse(200, at: Bench.enterprise)
        let (one, other) = (try BatchAnswer(poll), try BatchAnswer(lasting))
        #expect(one.list == other.list && one.mime.map(\.body) == other.mime.map(\.body))
        try bench.publish("rob@fabrikam.com", .state(3_500, version: 1))
        #expect(try bench.takeNotifies().count == 1)
    }

    @Test("MS-PRES 4.5 expires of the state is that of the 200, and the server chooses it [R241, R244]")
    func expires() throws {
        let bench = Bench()
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com"), expires: 1_000_000), from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(response.headers.expires == 43_200)
        #expect(response.headers.first("subscription-state") == "active;expires=43200")
    }

    @Test("MS-SIP 3.4 without piggyback a batch is answered empty, and the first NOTIFY has list and parts [R180]")
    func withoutPiggyback() throws {
        let bench = Bench()
        try bench.publish("rob@fabrikam.com", .state(6_500))
        bench.send(
            bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com", "bob@contoso.com"), piggyback: false), from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(response.body.isEmpty && !response.headers.contains(.msPiggybackCSeq))
        let first = try BatchAnswer(try bench.nextRequest(.notify, at: Bench.enterprise))
        #expect(first.uris == ["sip:rob@fabrikam.com"] && first.instanceStates == ["sip:bob@contoso.com: resubscribe"])
    }
}

/// What becomes of resources that are not served (MS-PRES 3.4.5.1.3.1).
@Suite struct RejectedResourceTests {
    private func instanceState(_ resource: String, _ change: (inout GatewayConfiguration) -> Void = { _ in }) throws -> (
        SIPResponse, RLMIInstance
    ) {
        let bench = Bench(change)
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe(resource, "rob@fabrikam.com")), from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        let answer = try BatchAnswer(response)
        #expect(answer.uris == ["sip:rob@fabrikam.com"])
        return (response, try #require(answer.list.resources.first?.instances.first))
    }

    @Test(
        "MS-PRES 3.4.5.1.3.1 another deployment, or nobody known: resubscribe without poolFqdn [R190, R192, R193]",
        arguments: [
            "bob@contoso.com", "nobody@elsewhere.example",
        ])
    func elsewhere(resource: String) throws {
        let (_, instance) = try instanceState(resource)
        #expect(instance == RLMIInstance(id: "0", state: .resubscribe, cid: resource))
    }

    @Test("MS-PRES 3.4.5.1.3.1 another pool of the deployment: resubscribe with its GRUU, an attribute of its own [R191, R199]")
    func otherPool() throws {
        let pool = CategorySubscriptionTests.pool
        let (response, instance) = try instanceState("bob@contoso.com") { $0.domains["contoso.com"]?.federation.poolFQDN = pool }
        #expect(instance == RLMIInstance(id: "0", state: .resubscribe, cid: "bob@contoso.com", poolFqdn: pool))
        #expect(response.text.contains("cid=\"bob@contoso.com\" "))
    }

    @Test(
        "MS-PRES 3.4.5.1.3.1 a presentity with too many watchers: terminated, quotaExceeded, 413; the others are served [R192, R194, R195]")
    func quota() throws {
        let bench = Bench { $0.limits.subscriptionsPerPresentity = 1 }
        bench.send(bench.categorySubscribe("otto@fabrikam.com", to: "sue@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("sue@fabrikam.com", "rob@fabrikam.com")), from: Bench.enterprise)
        let answer = try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise))
        #expect(answer.uris == ["sip:rob@fabrikam.com"])
        #expect(
            answer.list.resources.first?.instances == [
                RLMIInstance(id: "0", state: .terminated, reason: "quotaExceeded", cid: "sue@fabrikam.com", statusCode: 413)
            ])
        bench.send(bench.categorySubscribe("emma@fabrikam.com", to: "sue@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(413, at: Bench.enterprise)
    }

    @Test("MS-PRES 2.2.2.4.2 the states of an instance are these four, and only terminated has a reason [R195]")
    func states() throws {
        let bench = Bench()
        bench.send(
            bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com", "bob@contoso.com", "eve@example.net", "alice@example.org")),
            from: Bench.enterprise)
        var instanceStates: [String: RLMIInstance] = [:]
        func note(_ list: RLMIDocument) {
            for resource in list.resources { instanceStates[resource.uri] = resource.instances.first }
        }
        note(try BatchAnswer(bench.nextResponse(200, at: Bench.enterprise)).list)
        let far = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(far, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(far, "pending;expires=3600", cSeq: 1, type: "", body: "", from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        for notify in try bench.takeNotifies() where notify.headers.contentType?.essence == "multipart/related" {
            note(try BatchAnswer(notify).list)
        }
        func instanceState(_ user: String) -> RLMIInstance? { instanceStates.first { $0.key.hasSuffix(user) }?.value }
        #expect(instanceState("bob@contoso.com")?.state == .resubscribe)
        #expect(instanceState("eve@example.net")?.state == .terminated && instanceState("eve@example.net")?.reason == "rejected")
        #expect(instanceState("alice@example.org")?.state == .pending)
        #expect(instanceState("rob@fabrikam.com").map { $0.state == .active } ?? true)
        for (uri, instance) in instanceStates { #expect((instance.reason != nil) == (instance.state == .terminated), "\(uri)") }
    }

    @Test("MS-PRES 2.2.2.4.1 a category list of another Content-Type is 415 with the right one [R141]")
    func contentType() throws {
        let bench = Bench()
        let text = bench.batch("ulla@fabrikam.com", .subscribe("rob@fabrikam.com"))
            .replacingOccurrences(of: "Content-Type: application/msrtc-adrl-categorylist+xml", with: "Content-Type: application/xml")
        bench.send(text, from: Bench.enterprise)
        let refused = try bench.nextResponse(415, at: Bench.enterprise)
        #expect(refused.headers.first(.accept) == "application/msrtc-adrl-categorylist+xml")
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("a domain that is refused: terminated, rejected")
    func refused() throws {
        let (_, instance) = try instanceState("eve@example.net")
        #expect(instance == RLMIInstance(id: "0", state: .terminated, reason: "rejected", cid: "eve@example.net"))
    }

    @Test("MS-PRES 4.6 all rejected at the start is terminated;expires=0 and no dialog [R175]")
    func allRejected() throws {
        let bench = Bench()
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("bob@contoso.com", "nobody@elsewhere.example")), from: Bench.enterprise)
        let response = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(response.headers.expires == 0 && response.headers.first("subscription-state") == "terminated;expires=0")
        let answer = try BatchAnswer(response)
        #expect(answer.parts.isEmpty && answer.list.resources.count == 2)
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts == GatewayCounts())
    }
}
