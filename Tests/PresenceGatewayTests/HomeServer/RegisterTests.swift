import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// Sign-in and sign-out of endpoints (MS-SIPREGE 3.2), and what ends with them (MS-PRES 3.2.5.5).
@Suite struct RegisterTests {
    let bench = Bench { $0.domains["fabrikam.com"]?.requiresRegistration = true }
    var rob: SignedInEndpoint { SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1) }

    @Test("MS-SIPREGE 3.2.5.1: the 200 of a REGISTER has Expires, a GRUU, separate Supported lines, Allow-Events without blanks")
    func accepted() throws {
        let rob = rob
        rob.register()
        let answer = try rob.response(200)
        #expect(answer.headers.expires == 7_200)
        #expect(answer.headers.values(.supported) == ["adhoclist", "msrtc-event-categories"])
        let events = try #require(answer.headers.first(.allowEvents))
        #expect(events.split(separator: ",").contains("presence") && !events.contains(" "))
        #expect(answer.headers.first(.presenceState) == "register-action=\"added\"")
        #expect(answer.headers.first(.msKeepAlive) == "UAS; tcp=no; hop-hop=yes; end-end=no; timeout=300")
        #expect(answer.headers.contains(.server))
        let contact = try #require(answer.headers.contact)
        #expect(contact.uri.description == "sip:192.0.2.40:40001;transport=tcp")
        #expect(contact.expires == 7_200)
        #expect(contact.sipInstance == "<urn:uuid:221ef77e-3a68-5570-86ed-6ea5bd4b7ff8>")
        #expect(contact.parameters["gruu"] == "sip:rob@fabrikam.com;opaque=user:epid:fvceImg6cFWG7W6lvUt_-AAA;gruu")
        #expect(bench.gateway.counts.registrations == 1)
        rob.register(expires: 600)
        let refreshed = try rob.response(200)
        #expect(refreshed.headers.first(.presenceState) == "register-action=\"refreshed\"" && refreshed.headers.expires == 600)
        rob.register(expires: 0)
        let gone = try rob.response(200)
        #expect(gone.headers.expires == 0 && gone.headers.contact == nil && !gone.headers.contains(.presenceState))
        #expect(bench.gateway.counts.registrations == 0)
    }

    @Test("MS-SIPREGE 3.2.5.1: each refusal of a REGISTER has its status and ms-diagnostics, and registers nothing")
    func refusals() throws {
        let rob = rob
        func expect(_ status: Int, _ errorID: UInt32?, _ location: SourceLocation = #_sourceLocation) throws {
            let answer = try rob.response(status, location)
            if let errorID { #expect(answer.headers.msDiagnostics?.errorID == errorID, sourceLocation: location) }
            #expect(bench.gateway.counts.registrations == 0, sourceLocation: location)
        }
        rob.register(epid: "")
        try expect(400, 4_010)
        rob.register(epid: "0123456789abcdef0")
        try expect(400, 4_012)
        rob.register(contact: "<sip:192.0.2.40>;+sip.instance=\"<urn:uuid:b7d9fc43-19d7-5311-9e00-c6c5b1d81bfb>\"")
        try expect(400, nil)
        rob.register(extra: "Event: presence\r\n")
        try expect(489, 4_055)
        rob.register(extra: "Supported: msrtc-event-categories\r\n")
        try expect(421, 2_057)
        rob.register(expires: 5)
        try expect(423, nil)
        rob.register(to: "eve@fabrikam.com")
        try expect(403, nil)
        rob.register(to: "rob@contoso.com")
        try expect(404, 4_005)
    }

    @Test("RFC 3261 10: a client of a hosted SIMPLE domain registers its Contact without an endpoint's identity")
    func simple() throws {
        let alice = SignedInEndpoint(bench, "alice@example.com", epid: "", connection: 3)
        alice.register(expires: 300, extra: "")
        let answer = try alice.response(200)
        #expect(answer.headers.contact?.expires == 300 && answer.headers.expires == 300)
        #expect(!answer.headers.contains(.presenceState) && !answer.headers.contains(.supported))
        bench.pass(.seconds(300))
        #expect(bench.gateway.counts.registrations == 0)
    }

    // MARK: what ends with an endpoint

    @Test("MS-PRES 3.2.5.4: what is bound to an endpoint needs a registered one, else 488; what is not, does not [R012]")
    func unregistered() throws {
        let rob = rob
        rob.publish(SignedInEndpoint.note("here", expire: "endpoint"))
        _ = try rob.response(488)
        #expect(bench.gateway.counts.publications == 0)
        rob.publish(SignedInEndpoint.note("always", expire: "static"))
        _ = try rob.response(200)
        rob.register()
        _ = try rob.response(200)
        rob.publish(SignedInEndpoint.note("here", expire: "endpoint", instance: 1))
        #expect(try rob.response(200).text.contains("endpointId=\"221ef77e-3a68-5570-86ed-6ea5bd4b7ff8\""))
    }

    @Test(
        "MS-PRES 3.2.5.5: an endpoint signs out: its instances go, and the user's with the last one; watchers are told [R050, R051, R052, R055, R056]"
    )
    func signOut() throws {
        let desk = rob
        let phone = SignedInEndpoint(bench, "rob@fabrikam.com", epid: "3b09add8bc", connection: 2)
        for endpoint in [desk, phone] {
            endpoint.register()
            _ = try endpoint.response(200)
        }
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        desk.publish(
            SignedInEndpoint.note("desk", expire: "endpoint", instance: 1) + SignedInEndpoint.note("user", expire: "user", instance: 2)
                + SignedInEndpoint.note("static", expire: "static", instance: 3))
        _ = try desk.response(200)
        phone.publish(SignedInEndpoint.note("phone", expire: "endpoint", instance: 4))
        _ = try phone.response(200)
        bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 200, from: Bench.enterprise)
        bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 200, from: Bench.enterprise)
        desk.register(expires: 0)
        _ = try desk.response(200)
        let first = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(!first.text.contains(">desk<") && first.text.contains(">user<") && first.text.contains(">phone<"))
        bench.answer(first, 200, from: Bench.enterprise)
        phone.register(expires: 0)
        _ = try phone.response(200)
        let second = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(!second.text.contains(">user<") && !second.text.contains(">phone<") && second.text.contains(">static<"))
        #expect(bench.gateway.counts.publications == 1)
    }

    @Test("MS-PRES 1.3.1.3.10: the expiry of a registration ends what Expires 0 would end [R054]")
    func expiry() throws {
        let rob = rob
        rob.register(expires: 120)
        _ = try rob.response(200)
        rob.publish(SignedInEndpoint.note("here", expire: "endpoint"))
        _ = try rob.response(200)
        bench.pass(.seconds(119))
        #expect(bench.gateway.counts.publications == 1)
        bench.pass(.seconds(1))
        #expect(bench.gateway.counts.publications == 0 && bench.gateway.counts.registrations == 0)
        #expect(bench.gateway.counts.presentities == 0)
    }

    @Test("a lost connection ends an endpoint after the grace, unless it registers again over another one [R054]")
    func connectionLoss() throws {
        let rob = rob
        rob.register()
        _ = try rob.response(200)
        rob.publish(SignedInEndpoint.note("here", expire: "endpoint"))
        _ = try rob.response(200)
        rob.closeConnection()
        bench.pass(.seconds(20))
        rob.connection = ConnectionID(rawValue: 9)
        rob.register()
        _ = try rob.response(200)
        bench.pass(.seconds(60))
        #expect(bench.gateway.counts.publications == 1)
        rob.closeConnection()
        bench.pass(.seconds(29))
        #expect(bench.gateway.counts.publications == 1)
        bench.pass(.seconds(1))
        #expect(bench.gateway.counts.publications == 0 && bench.gateway.counts.registrations == 0)
    }

    @Test("what an endpoint watches ends with its registration, whether or not it asked for BENOTIFY; the user's other endpoint goes on")
    func watchingEnds() throws {
        let (desk, phone) = (rob, SignedInEndpoint(bench, "rob@fabrikam.com", epid: "0a1b2c3d4e", connection: 2))
        for endpoint in [desk, phone] {
            endpoint.register()
            _ = try endpoint.response(200)
        }
        for extra in ["", SignedInEndpoint.home] {
            try desk.startWatching("sue@fabrikam.com", extra: extra)
        }
        try phone.startWatching("sue@fabrikam.com")
        #expect(bench.gateway.counts.watcherDialogs == 3)
        desk.register(expires: 0)
        _ = try desk.response(200)
        #expect(bench.gateway.counts.watcherDialogs == 1)
        phone.register(expires: 120)
        _ = try phone.response(200)
        bench.pass(.seconds(120))
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.presentities == 0)
    }

    @Test("which endpoint a dialog belongs to is known after a restart, too")
    func watchingEndsAfterRestart() throws {
        let bench = Bench(store: MemoryStore())
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.register()
        _ = try rob.response(200)
        try rob.startWatching("sue@fabrikam.com")
        try bench.restart()
        try rob.answerNotifies()
        #expect(bench.gateway.counts.watcherDialogs == 1)
        rob.connection = ConnectionID(rawValue: 8)
        rob.register(expires: 0)
        _ = try rob.response(200)
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("RFC 3261 19.1.6 an endpoint is one under all names of its user: batches replace one another, and end with the registration")
    func aliases() throws {
        let bench = Bench(store: MemoryStore()) { $0.domains["fabrikam.com"]?.forms = .init(aliases: ["im.fabrikam.com"]) }
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        func batch(_ name: String) throws {
            rob.send(
                "SUBSCRIBE", "sip:\(name)", to: name, from: name,
                extra: "Event: presence\r\nAccept: \(Bench.categoryTypes)\r\nRequire: adhoclist, categoryList\r\n"
                    + "Supported: eventlist, ms-piggyback-first-notify\r\n", type: "application/msrtc-adrl-categorylist+xml",
                body: Bench.batchBody([.subscribe("sue@fabrikam.com")]))
            while !rob.isQuiet {
                switch try bench.next(at: rob.place) {
                case .response(let response): #expect(response.status == .ok)
                case .request(let request): bench.answer(request, 200, from: rob.place)
                }
            }
            bench.pass(.seconds(40))
        }
        rob.register()
        _ = try rob.response(200)
        try batch("rob@im.fabrikam.com")
        try bench.restart()
        rob.connection = ConnectionID(rawValue: 8)
        try batch("rob@fabrikam.com")
        #expect(bench.gateway.counts.watcherDialogs == 1)
        try batch("rob@im.fabrikam.com")
        #expect(bench.gateway.counts.watcherDialogs == 1)
        rob.register(expires: 0)
        _ = try rob.response(200)
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }
}
