import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// F5: a presentity whose home is the gateway, published in either model and watched in any format.
@Suite struct HostedPresentityTests {
    static let client = TransportAddress(.udp, "192.0.2.30", 5060)

    func service(
        _ bench: Bench, _ user: String, _ publications: String, from: String? = nil, type: String = "application/msrtc-category-publish+xml"
    ) {
        let body =
            "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:\(user)\">\(publications)"
            + "</publications></publish>"
        let id = bench.number()
        bench.send(
            "SERVICE sip:\(user) SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.30:5060;branch=z9hG4bKs\(id)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:\(from ?? user)>;tag=s\(id)\r\nTo: <sip:\(user)>\r\nCall-ID: s\(id)\r\nCSeq: 1 SERVICE\r\n"
                + "Contact: <sip:192.0.2.30:5060>;+sip.instance=\"<urn:uuid:221ef77e-3a68-5570-86ed-6ea5bd4b7ff8>\"\r\n"
                + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", from: Self.client)
    }

    func publication(_ name: String, _ body: String, version: Int = 0, instance: Int = 1, container: Int = 0, expire: String = "static")
        -> String
    {
        "<publication categoryName=\"\(name)\" instance=\"\(instance)\" container=\"\(container)\" version=\"\(version)\" "
            + "expireType=\"\(expire)\">\(body)</publication>"
    }

    func state(_ availability: Int, version: Int = 0) -> String {
        publication(
            "state",
            "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                + "xsi:type=\"aggregateState\"><availability>\(availability)</availability></state>", version: version)
    }

    func publish(_ bench: Bench, _ user: String, body: String, ifMatch: String? = nil, expires: Int = 600, from: String? = nil) {
        bench.sendPublish(user, body, ifMatch: ifMatch, expires: expires, from: from)
    }

    @Test("MS-PRES 3.2.5.1.2 a publish is answered with the instances of the changed pairs, and watchers see the change [R001, R034]")
    func servicePublish() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("<category name=\"state\"/>"))
        bench.send(bench.subscribe("ann@example.org", to: "rob@fabrikam.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(first.text.contains("<basic>closed</basic>"))
        bench.answer(first, 200, from: Bench.simple)

        service(bench, "rob@fabrikam.com", state(6_500))
        let published = try bench.nextResponse(200, at: Self.client)
        #expect(published.headers.contentType?.essence == "application/vnd-microsoft-roaming-self+xml")
        #expect(published.text.contains("version=\"1\""))
        let categories = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(categories.headers.contentType?.essence == "application/msrtc-event-categories+xml")
        #expect(categories.text.contains("<availability>6500</availability>"))
        #expect(!categories.text.contains("container="))
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("busy"))
        #expect(bench.gateway.counts.publications == 1)
    }

    @Test("MS-PRES 1.3.1.6.2 a stale version is 409 with the stored data, and nobody is told [R031, R032]")
    func staleVersion() throws {
        let bench = Bench()
        service(bench, "rob@fabrikam.com", state(6_500))
        _ = try bench.nextResponse(200, at: Self.client)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("<availability>6500</availability>"))
        service(bench, "rob@fabrikam.com", state(9_500))
        let fault = try bench.nextResponse(409, at: Self.client)
        #expect(fault.headers.contentType?.essence == "application/msrtc-fault+xml")
        #expect(fault.headers.msDiagnostics?.errorID == 2_044)
        #expect(fault.text.contains("curVersion=\"1\""))
        #expect(bench.isQuiet(at: Bench.enterprise))
        service(bench, "rob@fabrikam.com", state(9_500, version: 1))
        _ = try bench.nextResponse(200, at: Self.client)
        #expect(try bench.nextRequest(.notify, at: Bench.enterprise).text.contains("<availability>9500</availability>"))
    }

    @Test("RFC 3903 6 initial, refresh, modify and remove each give a new entity-tag")
    func publishLifecycle() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com", activity: "busy"))
        let one = try #require(try bench.nextResponse(200, at: Self.client).headers.sipETag)
        let busy = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(busy.text.contains("<availability>6500</availability>"))
        bench.answer(busy, 200, from: Bench.enterprise)
        publish(bench, "alice@example.com", body: "", ifMatch: one)
        let two = try #require(try bench.nextResponse(200, at: Self.client).headers.sipETag)
        #expect(two != one)
        #expect(bench.isQuiet(at: Bench.enterprise))
        publish(bench, "alice@example.com", body: "", ifMatch: one)
        _ = try bench.nextResponse(412, at: Self.client)
        publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"), ifMatch: two)
        let three = try #require(try bench.nextResponse(200, at: Self.client).headers.sipETag)
        let free = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(free.text.contains("<availability>3500</availability>"))
        bench.answer(free, 200, from: Bench.enterprise)
        publish(bench, "alice@example.com", body: "", ifMatch: three, expires: 0)
        _ = try bench.nextResponse(200, at: Self.client)
        let gone = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(!gone.text.contains("<availability>3500</availability>"))
        #expect(bench.gateway.counts.publications == 0)
    }

    @Test("RFC 3903 6 a publication that is not refreshed lapses, and watchers are told")
    func publicationLapses() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"), expires: 90)
        _ = try bench.nextResponse(200, at: Self.client)
        let open = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(open.text.contains("<basic>open</basic>"))
        bench.answer(open, 200, from: Bench.simple)
        bench.pass(.seconds(90))
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>closed</basic>"))
    }

    @Test(
        "RFC 3903 6 refusals of PUBLISH",
        arguments: [
            ("bob@contoso.com", "bob@contoso.com", "x", 404), ("alice@example.com", "eve@example.com", "x", 403),
            ("alice@example.com", "alice@example.com", "", 400), ("alice@example.com", "alice@example.com", "<presence", 400),
        ])
    func publishRefusals(user: String, from: String, body: String, status: Int) throws {
        let bench = Bench()
        publish(bench, user, body: body, from: from)
        _ = try bench.nextResponse(status, at: Self.client)
        #expect(bench.gateway.counts.presentities == 0)
    }

    @Test("MS-PRES 3.2.5.4 refusals of SERVICE [R004, R009]")
    func serviceRefusals() throws {
        let bench = Bench()
        service(bench, "rob@fabrikam.com", state(6_500), from: "eve@fabrikam.com")
        #expect(try bench.nextResponse(403, at: Self.client).headers.contains(.msDiagnostics))
        service(bench, "rob@fabrikam.com", state(6_500) + state(3_500))
        _ = try bench.nextResponse(400, at: Self.client)
        service(bench, "rob@fabrikam.com", state(6_500), type: "text/plain")
        #expect(try bench.nextResponse(415, at: Self.client).headers.contains(.accept))
        service(bench, "bob@contoso.com", state(6_500))
        _ = try bench.nextResponse(404, at: Self.client)
        #expect(
            bench.gateway.counts
                == {
                    var counts = GatewayCounts(); counts.transactions = 4; counts.timers = 0; return counts
                }())
    }

    @Test("MS-PRES 2.2.2.9 an msrtc.pidf watcher with piggyback gets its document in the 200 [R226, R227]")
    func msrtcWatcher() throws {
        let bench = Bench()
        service(bench, "rob@fabrikam.com", state(9_500))
        _ = try bench.nextResponse(200, at: Self.client)
        bench.send(
            bench.subscribe(
                "ulla@contoso.com", to: "rob@fabrikam.com", accept: "text/xml+msrtc.pidf, application/pidf+xml",
                extra: "Supported: ms-piggyback-first-notify\r\n", via: Bench.enterprise), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(accepted.headers.contentType?.essence == "text/xml+msrtc.pidf")
        #expect(accepted.text.contains("9500"))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("MS-PRES 3.4.5.1.2 a piggybacked category poll of a hosted user leaves no state [R150, R182]")
    func poll() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com", expires: 0), from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(answer.headers.first("subscription-state") == "terminated;expires=0")
        #expect(answer.headers.expires == 0)
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("MS-PRES 3.7.5.5: a hosted simple user who signs off with Expires 0 is 18500 to category watchers, as over two nodes [R230]")
    func signOff() throws {
        let bench = Bench()
        func states(_ text: String) -> [String] {
            text.split(separator: "<state ").dropFirst().compactMap { $0.split(separator: "</state>").first.map(String.init) }
        }
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.com"), from: Bench.enterprise)
        let before = states(try bench.nextResponse(200, at: Bench.enterprise).text)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com", activity: "busy"))
        let tag = try #require(try bench.nextResponse(200, at: Self.client).headers.sipETag)
        #expect(try bench.takeNotifies().last?.text.contains("<availability>6500</availability>") == true)
        _ = try bench.takeNotifies(at: Bench.simple)
        publish(bench, "alice@example.com", body: "", ifMatch: tag, expires: 0)
        _ = try bench.nextResponse(200, at: Self.client)
        let gone = try bench.takeNotifies()
        #expect(gone.count == 1 && gone[0].text.contains("<availability>18500</availability>"))
        bench.pass(.seconds(5))
        bench.send(bench.categorySubscribe("otto@contoso.com", to: "alice@example.com", expires: 0), from: Bench.enterprise)
        let poll = states(try bench.nextResponse(200, at: Bench.enterprise).text)
        #expect(poll.count == 1 && poll[0].contains("<availability>18500</availability>") && poll == before)

        // The second node reads the document of the first.
        let document = try #require(try bench.takeNotifies(at: Bench.simple).last?.text)
        let second = Bench()
        second.send(second.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try second.nextResponse(200, at: Bench.enterprise)
        let subscription = try second.nextRequest(.subscribe, at: Bench.simple)
        second.answer(subscription, 200, from: Bench.simple, headers: [(.expires, "3600")])
        second.notify(subscription, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: document, from: Bench.simple)
        let over = try second.takeNotifies().last { $0.text.contains("name=\"state\"") }
        #expect(states(try #require(over).text).last == poll[0])
    }

    @Test("watchers of one view share one encoding")
    func sharedBodies() throws {
        let bench = Bench()
        for number in 0..<20 {
            bench.send(bench.subscribe("w\(number)@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
            bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        }
        let before = bench.gateway.counters.bodiesEncoded
        publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"))
        #expect(bench.gateway.counters.bodiesEncoded == before + 1)
        #expect(bench.gateway.counters.bodiesShared >= 19)
    }

    @Test("MS-PRES 3.4.5.1.1 a batch names several users, and one of another deployment is told to resubscribe")
    func batch() throws {
        let bench = Bench { $0.domains["contoso.com"]?.federation.poolFQDN = "sip:pool@contoso.com;gruu;opaque=srvr:HomeServer:x" }
        service(bench, "rob@fabrikam.com", state(6_500))
        _ = try bench.nextResponse(200, at: Self.client)
        let body = """
            <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe" uri="sip:ulla@fabrikam.com" name="">\
            <action name="subscribe" id="1"><adhocList><resource uri="sip:rob@fabrikam.com"/><resource uri="sip:sue@fabrikam.com"/>\
            <resource uri="sip:bob@contoso.com"/></adhocList><categoryList xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist">\
            <category name="state"/></categoryList></action></batchSub>
            """
        bench.send(
            bench.subscribe(
                "ulla@fabrikam.com", to: "ulla@fabrikam.com",
                accept: "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related",
                extra: "Require: adhoclist, categoryList\r\nSupported: eventlist, ms-piggyback-first-notify\r\n", body: body,
                contentType: "application/msrtc-adrl-categorylist+xml", via: Self.client), from: Self.client)
        let accepted = try bench.nextResponse(200, at: Self.client)
        #expect(accepted.text.contains("state=\"resubscribe\""))
        #expect(accepted.text.contains("poolFqdn=\"sip:pool@contoso.com;gruu;opaque=srvr:HomeServer:x\""))
        #expect(accepted.text.contains("uri=\"sip:rob@fabrikam.com\""))
        #expect(accepted.text.contains("<availability>6500</availability>"))
        #expect(accepted.text.contains("uri=\"sip:sue@fabrikam.com\""))
        service(bench, "sue@fabrikam.com", state(3_500))
        _ = try bench.nextResponse(200, at: Self.client)
        let notify = try bench.nextRequest(.notify, at: Self.client)
        #expect(notify.headers.contentType?.essence == "application/msrtc-event-categories+xml")
        #expect(notify.text.contains("uri=\"sip:sue@fabrikam.com\"") && !notify.text.contains("rob@"))
    }
}

extension HostedPresentityTests {
    @Test("category watchers of one view share one document, and each hears of the change once")
    func sharedCategories() throws {
        let bench = Bench()
        for number in 0..<10 {
            bench.send(bench.categorySubscribe("w\(number)@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
            _ = try bench.nextResponse(200, at: Bench.enterprise)
        }
        let before = bench.gateway.counters.bodiesEncoded
        service(bench, "rob@fabrikam.com", state(6_500))
        _ = try bench.nextResponse(200, at: Self.client)
        #expect(bench.gateway.counters.bodiesEncoded == before + 1)
        var tags = Set<String>()
        for _ in 0..<10 { tags.insert(try #require(try bench.nextRequest(.notify, at: Bench.enterprise).headers.toTag)) }
        #expect(tags.count == 10)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("MS-PRES 3.2.5.3 a watcher in a container sees what that container holds, whatever else is published")
    func containers() throws {
        let bench = Bench()
        service(bench, "rob@fabrikam.com", state(3_500))
        _ = try bench.nextResponse(200, at: Self.client)
        let members =
            "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\"><container id=\"400\" version=\"0\">"
            + "<member action=\"add\" type=\"user\" value=\"ulla@contoso.com\"/></container></setContainerMembers>"
        let id = bench.number()
        bench.send(
            "SERVICE sip:rob@fabrikam.com SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.30:5060;branch=z9hG4bKm\(id)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:rob@fabrikam.com>;tag=m\(id)\r\nTo: <sip:rob@fabrikam.com>\r\nCall-ID: m\(id)\r\nCSeq: 1 SERVICE\r\n"
                + "Contact: <sip:192.0.2.30:5060>\r\nContent-Type: application/msrtc-setcontainermembers+xml\r\n"
                + "Content-Length: \(members.utf8.count)\r\n\r\n\(members)", from: Self.client)
        _ = try bench.nextResponse(200, at: Self.client)
        service(
            bench, "rob@fabrikam.com",
            publication(
                "state",
                "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                    + "xsi:type=\"aggregateState\"><availability>18500</availability></state>", container: 400))
        _ = try bench.nextResponse(200, at: Self.client)
        publish(bench, "rob@fabrikam.com", body: Bench.pidf("rob@fabrikam.com", activity: "busy"))
        _ = try bench.nextResponse(200, at: Self.client)
        for (watcher, availability) in [("ulla@contoso.com", "18500"), ("otto@contoso.com", "6500")] {
            bench.send(bench.categorySubscribe(watcher, to: "rob@fabrikam.com"), from: Bench.enterprise)
            #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("<availability>\(availability)</availability>"))
        }
    }

    @Test("MS-PRES 3.2.6.1 a time-bound instance ends by itself, and watchers are told [R057]")
    func timeBound() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        service(
            bench, "rob@fabrikam.com",
            publication("note", "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"/>", expire: "time\" expires=\"90"))
        _ = try bench.nextResponse(200, at: Self.client)
        bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 200, from: Bench.enterprise)
        bench.pass(.seconds(90))
        #expect(try bench.nextRequest(.notify, at: Bench.enterprise).text.contains("<category name=\"note\"/>"))
        #expect(bench.gateway.counts.publications == 0)
    }

    @Test("MS-PRES 3.2.5.5 an endpoint-bound instance ends with its connection [R040]")
    func endpointBound() throws {
        let bench = Bench()
        let client = TransportAddress(.tcp, "192.0.2.30", 5060)
        let body =
            "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:rob@fabrikam.com\">"
            + publication("note", "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"/>", expire: "endpoint")
            + "</publications></publish>"
        bench.send(
            "SERVICE sip:rob@fabrikam.com SIP/2.0\r\nVia: SIP/2.0/TCP 192.0.2.30:5060;branch=z9hG4bKe1\r\nMax-Forwards: 70\r\n"
                + "From: <sip:rob@fabrikam.com>;tag=e1\r\nTo: <sip:rob@fabrikam.com>\r\nCall-ID: e1\r\nCSeq: 1 SERVICE\r\n"
                + "Contact: <sip:192.0.2.30:5060>;+sip.instance=\"<urn:uuid:221ef77e-3a68-5570-86ed-6ea5bd4b7ff8>\"\r\n"
                + "Content-Type: application/msrtc-category-publish+xml\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
            from: client, connection: ConnectionID(rawValue: 9))
        _ = try bench.nextResponse(200, at: client)
        #expect(bench.gateway.counts.publications == 1)
        bench.gateway.receive(.closed(ConnectionID(rawValue: 9)), at: bench.now)
        #expect(bench.gateway.counts.presentities == 0)
    }

    @Test("over which connection an endpoint published is known for as long as something published depends on it")
    func connections() throws {
        let bench = Bench()
        let laptop = TransportAddress(.tcp, "192.0.2.31", 5060)
        var note = Bench.Publication.note("at the desk")
        note.expireType = "endpoint"
        var removal = Bench.Publication(name: "note", body: "", version: 1, expireType: "endpoint")
        removal.expires = 0
        for (publication, known) in [(note, 2), (removal, 0)] {
            bench.service(
                "rob@fabrikam.com", body: Bench.publishBody("rob@fabrikam.com", [.state(3_500, version: known == 2 ? 0 : 1), publication]),
                via: laptop, connection: ConnectionID(rawValue: 3))
            _ = try bench.nextResponse(200, at: laptop)
            #expect(bench.gateway.tableSizes["publishingConnections"] == known)
        }
    }
}
