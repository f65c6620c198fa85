import PresenceGateway
import SIPCore
import Testing

/// F2: an enterprise watcher sees a presentity of a SIMPLE domain.
@Suite struct EnterpriseWatcherTests {
    let pidfType = "application/pidf+xml"

    /// The remote domain accepts and notifies.
    func serve(_ bench: Bench, _ body: String, state: String = "active;expires=3600") throws -> SIPRequest {
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(upstream, state, cSeq: 1, type: pidfType, body: body, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        return upstream
    }

    @Test(
        "MS-PRES 2.2.2.4.2 the 200 piggybacks multipart/related, and a NOTIFY with categories follows the far side's PIDF [R149, R180, R241, R242]"
    )
    func happyPath() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(accepted.headers.contentType?.essence == "multipart/related")
        #expect(accepted.headers.first("subscription-state") == "active;expires=3600")
        #expect(accepted.headers.msPiggybackCSeq == 1)
        #expect(accepted.headers.hasToken(.require, "eventlist"))
        #expect(accepted.headers.hasToken(.supported, "ms-piggyback-first-notify"))
        #expect(accepted.headers.expires == 3_600)
        #expect(accepted.text.contains("<category name=\"state\"/>"))
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(upstream.requestURI == "sip:alice@example.org")
        #expect(upstream.headers.from?.uri.description == "sip:ulla@contoso.com")
        #expect(upstream.headers.first(.accept) == "application/pidf-diff+xml, application/pidf+xml;q=0.9")
        #expect(upstream.headers.maxForwards == 69)
        #expect(upstream.headers.contains("Isthmus-Hop"))
        #expect(upstream.body.isEmpty)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            upstream, "active;expires=3600", cSeq: 1, type: pidfType, body: Bench.pidf("alice@example.org", activity: "busy"),
            from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let notify = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(notify.headers.contentType?.essence == "application/msrtc-event-categories+xml")
        #expect(notify.headers.hasToken(.require, "eventlist"))
        #expect(notify.headers.first(.subscriptionState) == "active;expires=3600")
        #expect(notify.text.contains("<availability>6500</availability>"))
        #expect(notify.headers.toTag == "w1")
        #expect(notify.headers.fromTag == accepted.headers.toTag)
    }

    @Test("MS-PRES 3.2.5.3 only changed categories are told, and the same state is not told twice [R089]")
    func onlyChanges() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try serve(bench, Bench.pidf("alice@example.org", note: "At lunch"))
        let first = try bench.nextRequest(.notify, at: Bench.enterprise)
        bench.answer(first, 200, from: Bench.enterprise)
        bench.pass(.seconds(1))
        bench.notify(
            upstream, "active;expires=3599", cSeq: 2, type: pidfType, body: Bench.pidf("alice@example.org", note: "At lunch"),
            from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.notify(
            upstream, "active;expires=3599", cSeq: 3, type: pidfType,
            body: Bench.pidf("alice@example.org", basic: "closed", note: "At lunch"), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let second = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(second.text.contains("name=\"state\""))
        #expect(!second.text.contains("name=\"note\""))
        #expect(second.text.contains("<availability>18500</availability>"))
    }
}

extension EnterpriseWatcherTests {
    @Test(
        "MS-PRES 1.3.3 the first acceptable format wins whatever the order of Accept [R220]",
        arguments: [
            ("application/pidf+xml, text/xml+msrtc.pidf", "text/xml+msrtc.pidf"), ("application/pidf+xml", "application/pidf+xml"),
            ("application/xpidf+xml, application/pidf+xml", "application/pidf+xml"), ("", "application/pidf+xml"),
            ("*/*", "application/pidf+xml"),
        ])
    func formats(accept: String, type: String) throws {
        let bench = Bench()
        bench.send(
            bench.subscribe("ulla@contoso.com", to: "alice@example.org", accept: accept, via: Bench.enterprise), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(accepted.body.isEmpty && !accepted.headers.contains(.msPiggybackCSeq))
        _ = try serve(bench, Bench.pidf("alice@example.org", activity: "busy"))
        let notify = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(notify.headers.contentType?.essence == type)
        #expect(notify.text.contains(type == "text/xml+msrtc.pidf" ? "6500" : "busy"))
        #expect(!notify.headers.contains(.require))
    }

    @Test("MS-SIP 3.4.5.1 an msrtc.pidf watcher that offers piggyback is not told offline before the far side was heard")
    func unknownMSRTC() throws {
        let bench = Bench()
        bench.send(
            bench.subscribe(
                "ulla@contoso.com", to: "alice@example.org", accept: "text/xml+msrtc.pidf",
                extra: "Supported: ms-piggyback-first-notify\r\n", via: Bench.enterprise), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(accepted.body.isEmpty && !accepted.headers.contains(.msPiggybackCSeq), "\(accepted.text)")
        _ = try serve(bench, Bench.pidf("alice@example.org", activity: "busy"))
        let notify = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(notify.headers.contentType?.essence == "text/xml+msrtc.pidf" && notify.text.contains("6500"))
        bench.answer(notify, 200, from: Bench.enterprise)
        // Now it is known, and a refresh has it in the 200.
        bench.send(
            bench.inDialog(accepted, cSeq: 2, expires: 600, extra: "Supported: ms-piggyback-first-notify\r\n", via: Bench.enterprise),
            from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("6500"))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("MS-PRES 2.2.2.8 PIDF toward an enterprise partner is one tuple with the draft namespaces unless configured otherwise")
    func draftProfile() throws {
        for profile in [DomainProfile.rpidDraft, .rpid] {
            let bench = Bench { if profile == .rpid { $0.domains["contoso.com"]?.profile = .rpid } }
            bench.send(bench.subscribe("ulla@contoso.com", to: "rob@fabrikam.com", via: Bench.enterprise), from: Bench.enterprise)
            _ = try bench.nextResponse(200, at: Bench.enterprise)
            _ = try bench.takeNotifies()
            let card =
                "<contactCard xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\"><identity>"
                + "<email>rob@fabrikam.com</email></identity></contactCard>"
            try bench.publish("rob@fabrikam.com", .state(6_500), .init(name: "contactCard", body: card))
            let text = try #require(try bench.takeNotifies().last).text
            #expect(text.contains("urn:ietf:params:xml:ns:pidf:rpid-tuple") == (profile == .rpidDraft))
            #expect(text.split(separator: "<tuple").count - 1 == (profile == .rpidDraft ? 1 : 2), "\(text)")
        }
    }

    @Test("MS-SIP 3.4.5.1 without piggyback the first NOTIFY carries the list and the categories [R180]")
    func withoutPiggyback() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org", piggyback: false), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(accepted.body.isEmpty && !accepted.headers.contains("subscription-state"))
        _ = try serve(bench, Bench.pidf("alice@example.org"))
        let notify = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(notify.headers.contentType?.essence == "multipart/related")
        #expect(notify.text.contains("<availability>3500</availability>"))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("MS-PRES 3.4.5.1.2 the 200 to a piggybacked poll waits for the far side and carries the state [R150]")
    func poll() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org", expires: 0), from: Bench.enterprise)
        #expect(bench.isQuiet(at: Bench.enterprise))
        let upstream = try serve(bench, Bench.pidf("alice@example.org", activity: "busy"), state: "terminated;reason=timeout")
        #expect(upstream.headers.expires == 0)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(answer.headers.first("subscription-state") == "terminated;expires=0")
        #expect(answer.text.contains("<availability>6500</availability>"))
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts == GatewayCounts())
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test(
        "a poll whose far side is silent is answered in bounded time, and one that is refused gets the refusal", arguments: [0, 403, 404])
    func pollFailures(status: Int) throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org", expires: 0), from: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        if status == 0 { bench.pass(.seconds(3)) } else { bench.answer(upstream, status, from: Bench.simple) }
        _ = try bench.nextResponse(status == 0 ? 200 : status, at: Bench.enterprise)
        bench.pass(.seconds(100))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("MS-PRES 3.4.5.1.3 a refresh with piggyback returns the data again in the 200")
    func refresh() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try serve(bench, Bench.pidf("alice@example.org", activity: "busy"))
        bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 200, from: Bench.enterprise)
        bench.send(
            bench.inDialog(
                accepted, cSeq: 2, expires: 3_600, extra: "Supported: ms-piggyback-first-notify, eventlist\r\n",
                body: Bench.categoryBody.replacingOccurrences(of: "PRESENTITY", with: "alice@example.org"),
                contentType: "application/msrtc-adrl-categorylist+xml", via: Bench.enterprise), from: Bench.enterprise)
        let refreshed = try bench.nextResponse(200, at: Bench.enterprise)
        // The NOTIFY between them had 2.
        #expect(refreshed.headers.msPiggybackCSeq == 3)
        #expect(refreshed.text.contains("<availability>6500</availability>"))
        #expect(bench.isQuiet(at: Bench.enterprise))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("RFC 3261 12.2.2 an old CSeq in the dialog is 500")
    func oldCSeq() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        bench.send(bench.inDialog(accepted, cSeq: 1, expires: 3_600, via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(500, at: Bench.enterprise)
    }

    @Test("the far side's end is passed on: rejected and noresource end the watcher, pending makes it pending")
    func remoteEnd() throws {
        for (reason, expected) in [("rejected", "terminated;reason=rejected"), ("noresource", "terminated;reason=noresource")] {
            let bench = Bench()
            bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
            _ = try bench.nextResponse(200, at: Bench.enterprise)
            let upstream = try serve(bench, Bench.pidf("alice@example.org"))
            bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 200, from: Bench.enterprise)
            bench.notify(upstream, "pending;expires=3000", cSeq: 2, from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
            let pending = try bench.nextRequest(.notify, at: Bench.enterprise)
            #expect(pending.headers.subscriptionState?.state == .pending && pending.body.isEmpty)
            bench.answer(pending, 200, from: Bench.enterprise)
            bench.notify(upstream, "terminated;reason=\(reason)", cSeq: 3, from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
            let last = try bench.nextRequest(.notify, at: Bench.enterprise)
            #expect(last.headers.first(.subscriptionState) == expected)
            bench.answer(last, 200, from: Bench.enterprise)
            bench.pass(.seconds(64))
            #expect(bench.gateway.counts == GatewayCounts())
        }
    }

    @Test("RFC 6665 4.2.2 a watcher that answers 481 is forgotten, and the far leg ends")
    func goneWatcher() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try serve(bench, Bench.pidf("alice@example.org"))
        bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 481, from: Bench.enterprise)
        #expect(bench.gateway.counts.watcherDialogs == 0)
        #expect(try bench.nextRequest(.subscribe, at: Bench.simple).headers.expires == 0)
        bench.pass(.seconds(200))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("a watcher that answers no NOTIFY is forgotten after the patience, not after one timer F")
    func silentWatcher() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try serve(bench, Bench.pidf("alice@example.org"))
        _ = try bench.nextRequest(.notify, at: Bench.enterprise)
        bench.pass(.seconds(600))
        #expect(bench.gateway.counts.watcherDialogs == 1)
        bench.pass(.seconds(120))
        #expect(bench.gateway.counts.watcherDialogs == 0)
        bench.pass(.seconds(200))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test(
        "MS-SIP 3.5 inside the enterprise, over a connection, BENOTIFY is negotiated; the dialog ends with the grace of the connection [R243]"
    )
    func benotify() throws {
        let client = TransportAddress(.tcp, "192.0.2.40", 5060)
        let bench = Bench()
        let connection = ConnectionID(rawValue: 7)
        bench.send(
            bench.categorySubscribe("ulla@fabrikam.com", to: "alice@example.org", extra: "Supported: ms-benotify\r\n", via: client),
            from: client,
            connection: connection)
        let accepted = try bench.nextResponse(200, at: client)
        #expect(accepted.headers.hasToken(.supported, "ms-benotify"))
        let upstream = try serve(bench, Bench.pidf("alice@example.org"))
        #expect(try bench.nextRequest(.benotify, at: client).text.contains("<availability>3500</availability>"))
        bench.notify(
            upstream, "active;expires=3600", cSeq: 2, type: pidfType, body: Bench.pidf("alice@example.org", basic: "closed"),
            from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        // The 200 took number 1.
        #expect(try bench.nextRequest(.benotify, at: client).headers.cSeq?.number == 3)
        bench.gateway.receive(.closed(connection), at: bench.now)
        #expect(bench.gateway.counts.watcherDialogs == 1)
        bench.pass(.seconds(30))
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("MS-SIP 3.5 across federation, or over UDP, there is no BENOTIFY [R243]")
    func noBenotify() throws {
        for watcher in ["ulla@contoso.com", "ulla@fabrikam.com"] {
            let bench = Bench()
            bench.send(
                bench.categorySubscribe(
                    watcher, to: "alice@example.org", extra: "Supported: ms-benotify\r\nProxy-Require: ms-benotify\r\n"),
                from: Bench.enterprise)
            #expect(try !bench.nextResponse(200, at: Bench.enterprise).headers.hasToken(.supported, "ms-benotify"))
            _ = try serve(bench, Bench.pidf("alice@example.org"))
            _ = try bench.nextRequest(.notify, at: Bench.enterprise)
        }
    }

    @Test("a far side that grants the subscription and says nothing shows somebody offline")
    func emptyNotify() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.notify(upstream, "active;expires=3600", cSeq: 1, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        #expect(try bench.nextRequest(.notify, at: Bench.enterprise).text.contains("<availability>18500</availability>"))
    }

    @Test("shutting down moves watchers away and gives up the far legs")
    func shutdown() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try serve(bench, Bench.pidf("alice@example.org"))
        bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 200, from: Bench.enterprise)
        bench.gateway.shutdown(at: bench.now)
        bench.sort()
        let last = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(last.headers.first(.subscriptionState) == "terminated;reason=deactivated")
        bench.answer(last, 200, from: Bench.enterprise)
        let goodbye = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(goodbye.headers.expires == 0)
        bench.answer(goodbye, 200, from: Bench.simple, headers: [(.expires, "0")])
        bench.notify(upstream, "terminated;reason=timeout", cSeq: 2, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(bench.gateway.isDrained)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(503, at: Bench.enterprise)
    }
}

extension EnterpriseWatcherTests {
    @Test("a subscription outlives the connection it came over: the NOTIFY goes once more by address")
    func connectionLost() throws {
        let client = TransportAddress(.tcp, "192.0.2.40", 5060)
        let bench = Bench()
        bench.send(
            bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org", via: client), from: client,
            connection: ConnectionID(rawValue: 7))
        _ = try bench.nextResponse(200, at: client)
        _ = try serve(bench, Bench.pidf("alice@example.org"))
        let first = try bench.nextRequest(.notify, at: client)
        bench.gateway.receive(.closed(ConnectionID(rawValue: 7)), at: bench.now)
        bench.sort()
        let second = try bench.nextRequest(.notify, at: client)
        #expect(second.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1)
        #expect(second.text.contains("<availability>3500</availability>"))
        bench.answer(second, 200, from: client)
        #expect(bench.gateway.counts.watcherDialogs == 1)
    }

    @Test(
        "MS-PRES 3.4.5.1.1 a batch may name users of a SIMPLE domain: each gets a far leg of its own, and refusals come in the list [R198]")
    func batch() throws {
        let bench = Bench()
        let body = """
            <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe"><action name="subscribe" id="1"><adhocList>\
            <resource uri="sip:alice@example.org"/><resource uri="sip:dan@example.org"/></adhocList>\
            <categoryList xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist"><category name="state"/></categoryList>\
            </action></batchSub>
            """
        bench.send(
            bench.subscribe(
                "ulla@contoso.com", to: "ulla@contoso.com",
                accept: "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related",
                extra: "Require: adhoclist, categoryList\r\nSupported: eventlist, ms-piggyback-first-notify\r\n", body: body,
                contentType: "application/msrtc-adrl-categorylist+xml", via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let alice = try bench.nextRequest(.subscribe, at: Bench.simple)
        let dan = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(alice.requestURI == "sip:alice@example.org" && dan.requestURI == "sip:dan@example.org")
        bench.answer(alice, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(alice, "active;expires=3600", cSeq: 1, type: pidfType, body: Bench.pidf("alice@example.org"), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.notify, at: Bench.enterprise)
        #expect(first.headers.contentType?.essence == "application/msrtc-event-categories+xml")
        bench.answer(first, 200, from: Bench.enterprise)
        bench.answer(dan, 404, from: Bench.simple)
        var notified = first.text
        while !bench.isQuiet(at: Bench.enterprise) {
            let notify = try bench.nextRequest(.notify, at: Bench.enterprise)
            notified += notify.text
            bench.answer(notify, 200, from: Bench.enterprise)
        }
        #expect(notified.contains("<availability>3500</availability>"))
        #expect(notified.contains("reason=\"noresource\""))
        #expect(bench.gateway.counts.watcherDialogs == 1 && bench.gateway.counts.upstreamSubscriptions == 1)
    }
}
