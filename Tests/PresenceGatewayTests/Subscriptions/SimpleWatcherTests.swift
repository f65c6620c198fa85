import PresenceGateway
import SIPCore
import Testing

/// F1: a watcher of a SIMPLE domain sees a presentity of an enterprise domain.
@Suite struct SimpleWatcherTests {
    let categoriesType = "application/msrtc-event-categories+xml"

    func piggyback(_ content: String) -> (type: String, body: String) {
        (
            "multipart/related; type=\"application/rlmi+xml\";start=resourceList;boundary=b1",
            "--b1\r\nContent-Transfer-Encoding: binary\r\nContent-ID: resourceList\r\nContent-Type: application/rlmi+xml\r\n\r\n"
                + "<list xmlns=\"urn:ietf:params:xml:ns:rlmi\" uri=\"sip:ann@example.org\" version=\"0\" fullState=\"false\"/>\r\n"
                + "--b1\r\nContent-Transfer-Encoding: binary\r\nContent-Type: \(categoriesType)\r\n\r\n"
                + Bench.categories("bob@contoso.com", content) + "\r\n--b1--\r\n"
        )
    }

    func accept(_ bench: Bench, _ upstream: SIPRequest, _ content: String, expires: Int = 3_600, state: String? = nil) {
        let (type, body) = piggyback(content)
        bench.answer(
            upstream, 200, from: Bench.enterprise,
            headers: [
                (.expires, "\(expires)"), (.event, "presence"), ("subscription-state", state ?? "active;expires=\(expires)"),
                (.msPiggybackCSeq, "\(upstream.headers.cSeq?.number ?? 0)"), (.supported, "ms-piggyback-first-notify"),
                (.contentType, type),
            ], body: body)
    }

    /// The watcher subscribed, the enterprise answered with `content`, the first NOTIFY was answered.
    func established(_ bench: Bench, _ content: String = Bench.state(3_500)) throws -> (SIPResponse, SIPRequest, SIPRequest) {
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        accept(bench, upstream, content)
        let notify = try bench.nextRequest(.notify, at: Bench.simple)
        bench.answer(notify, 200, from: Bench.simple)
        return (accepted, upstream, notify)
    }

    @Test("MS-PRES 3.4.5.1.1 one single category SUBSCRIBE goes upstream, and its piggybacked state becomes PIDF")
    func happyPath() throws {
        let bench = Bench()
        let (accepted, upstream, notify) = try established(bench, Bench.state(6_500, token: "on-the-phone"))
        #expect(accepted.headers.expires == 3_600)
        #expect(accepted.body.isEmpty)
        #expect(!accepted.headers.contains(.require))
        #expect(upstream.requestURI == "sip:bob@contoso.com")
        #expect(upstream.headers.from?.uri.description == "sip:ann@example.org")
        #expect(upstream.headers.to?.uri.description == "sip:bob@contoso.com")
        for type in [categoriesType, "application/rlmi+xml", "multipart/related"] {
            #expect(upstream.headers.accept.contains { $0.essence == type })
        }
        #expect(upstream.headers.offers("ms-piggyback-first-notify") && upstream.headers.offers("eventlist"))
        #expect(!upstream.headers.offers("ms-benotify"))
        #expect(upstream.headers.contentType?.essence == "application/msrtc-adrl-categorylist+xml")
        for name in ["state", "note", "contactCard", "services", "calendarData"] { #expect(upstream.text.contains("name=\"\(name)\"")) }
        #expect(notify.headers.contentType?.essence == "application/pidf+xml")
        #expect(notify.headers.first(.subscriptionState) == "active;expires=3600")
        #expect(notify.text.contains("<basic>open</basic>"))
        #expect(notify.text.contains("on-the-phone"))
        #expect(notify.text.contains("sip:bob@contoso.com"))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("MS-PRES 3.2.5.3 a category notification replaces the instances it names and leaves the others")
    func changes() throws {
        let bench = Bench()
        let note =
            "<category name=\"note\" instance=\"0\" publishTime=\"2026-11-22T10:13:00.000\">"
            + "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body type=\"personal\" uri=\"\">Hello</body></note></category>"
        let (_, upstream, first) = try established(bench, Bench.state(3_500) + note)
        #expect(first.text.contains("Hello"))
        bench.notify(
            upstream, "active;expires=3600", cSeq: 2, type: categoriesType, body: Bench.categories("bob@contoso.com", Bench.state(18_500)),
            from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let second = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(second.text.contains("<basic>closed</basic>"))
        #expect(second.text.contains("Hello"))
    }

    @Test("MS-SIP 3.5 a BENOTIFY is taken and never answered")
    func benotify() throws {
        let bench = Bench()
        let (_, upstream, _) = try established(bench)
        bench.notify(
            upstream, "active;expires=3600", cSeq: 2, type: categoriesType, body: Bench.categories("bob@contoso.com", Bench.state(9_500)),
            from: Bench.enterprise, method: .benotify)
        let second = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(second.text.contains("busy"))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("xpidf is written for a watcher that accepts nothing else")
    func xpidf() throws {
        let bench = Bench()
        bench.send(
            bench.subscribe("ann@example.org", to: "bob@contoso.com", accept: "application/xpidf+xml", via: Bench.simple),
            from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        accept(bench, try bench.nextRequest(.subscribe, at: Bench.enterprise), Bench.state(3_500))
        #expect(try bench.nextRequest(.notify, at: Bench.simple).headers.contentType?.essence == "application/xpidf+xml")
    }

    @Test("both legs are refreshed independently of each other")
    func refresh() throws {
        let bench = Bench { $0.timing.enterprise.standard = 600 }
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(upstream.headers.expires == 600)
        accept(bench, upstream, Bench.state(3_500), expires: 600)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.pass(.seconds(450))
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(refresh.headers.toTag != nil && refresh.headers.callID == upstream.headers.callID)
        #expect(refresh.headers.cSeq?.number == 2)
        accept(bench, refresh, Bench.state(3_500), expires: 600)
        #expect(bench.isQuiet(at: Bench.simple))
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 1_800, via: Bench.simple), from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.expires == 1_800)
        let notify = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notify.headers.first(.subscriptionState) == "active;expires=1800")
        #expect(!notify.body.isEmpty)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("RFC 6665 4.4.3 a poll is one upstream fetch and one final NOTIFY with the state")
    func poll() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", expires: 0, via: Bench.simple), from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.expires == 0)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(upstream.headers.expires == 0)
        #expect(!upstream.body.isEmpty)
        accept(bench, upstream, Bench.state(9_500), expires: 0, state: "terminated;expires=0")
        let notify = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notify.headers.first(.subscriptionState) == "terminated;reason=timeout")
        #expect(notify.text.contains("busy"))
        bench.answer(notify, 200, from: Bench.simple)
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts == GatewayCounts())
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("RFC 6665 4.2.1.3 unsubscribing ends both legs and leaves nothing")
    func unsubscribe() throws {
        let bench = Bench()
        let (accepted, upstream, _) = try established(bench)
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.expires == 0)
        let last = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(last.headers.first(.subscriptionState) == "terminated;reason=timeout")
        bench.answer(last, 200, from: Bench.simple)
        let goodbye = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(goodbye.headers.expires == 0 && goodbye.headers.callID == upstream.headers.callID)
        bench.answer(goodbye, 200, from: Bench.enterprise, headers: [(.expires, "0")])
        bench.notify(upstream, "terminated;reason=timeout", cSeq: 3, from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("RFC 6665 4.2.2 a watcher that does not refresh is told timeout, and the far leg ends")
    func watcherExpires() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", expires: 120, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        accept(bench, try bench.nextRequest(.subscribe, at: Bench.enterprise), Bench.state(3_500))
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.pass(.seconds(120))
        let last = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(last.headers.first(.subscriptionState) == "terminated;reason=timeout")
        bench.answer(last, 200, from: Bench.simple)
        #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).headers.expires == 0)
        bench.pass(.seconds(120))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test(
        "the far side's refusal is passed on with its meaning",
        arguments: [(403, "rejected"), (603, "rejected"), (404, "noresource"), (410, "noresource")])
    func refusals(status: Int, reason: String) throws {
        let bench = Bench { $0.domains["contoso.com"]?.upstream = .pidf }
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), status, from: Bench.enterprise)
        let last = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(last.headers.first(.subscriptionState) == "terminated;reason=\(reason)")
        bench.answer(last, 200, from: Bench.simple)
        bench.pass(.seconds(64))
        #expect(bench.gateway.counts == GatewayCounts())
    }

    @Test("a far side that is away for a while leaves the watcher pending until it is back", arguments: [480, 503, 0])
    func awayRemoteDomain(status: Int) throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        if status > 0 { bench.answer(first, status, from: Bench.enterprise, headers: [(.retryAfter, "40")]) }
        bench.pass(.seconds(1))
        let pending = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(pending.headers.first(.subscriptionState) == "pending;expires=3600")
        #expect(pending.body.isEmpty)
        bench.answer(pending, 200, from: Bench.simple)
        // 40 s, and up to a quarter of it by chance.
        bench.pass(.seconds(50))
        var retry: SIPRequest?
        while !bench.isQuiet(at: Bench.enterprise) { retry = try bench.nextRequest(.subscribe, at: Bench.enterprise) }
        let again = try #require(retry)
        #expect(again.headers.callID != first.headers.callID)
        accept(bench, again, Bench.state(3_500))
        let active = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(active.headers.subscriptionState?.state == .active)
        #expect(active.text.contains("<basic>open</basic>"))
    }

    @Test("a lost far leg is made anew, the last state is kept for a while and then counts as offline")
    func lostUpstream() throws {
        let bench = Bench()
        let (_, upstream, _) = try established(bench)
        bench.notify(upstream, "terminated;reason=deactivated", cSeq: 2, from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(.seconds(99))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(2))
        let offline = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(offline.text.contains("<basic>closed</basic>"))
        #expect(offline.headers.subscriptionState?.state == .active)
        bench.answer(offline, 200, from: Bench.simple)
        while !bench.isQuiet(at: Bench.enterprise) { _ = try bench.next(at: Bench.enterprise) }
        for _ in 0..<100 where bench.isQuiet(at: Bench.enterprise) { bench.pass(.seconds(5)) }
        let retry = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        accept(bench, retry, Bench.state(3_500))
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>open</basic>"))
    }

    @Test("MS-PRES 1.3.3 a far side that takes no categories is asked for msrtc.pidf and then PIDF", arguments: [406, 415, 489])
    func fallback(status: Int) throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), status, from: Bench.enterprise)
        let second = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(second.headers.first(.accept) == "text/xml+msrtc.pidf")
        bench.answer(second, status, from: Bench.enterprise)
        let third = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(third.headers.first(.accept) == "application/pidf+xml")
        #expect(third.body.isEmpty && !third.headers.contains(.require))
        bench.answer(third, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.notify(
            third, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("bob@contoso.com"), from: Bench.enterprise
        )
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>open</basic>"))
    }

    @Test("RFC 3856 6.8 a NOTIFY of a second, forked dialog is 481")
    func forked() throws {
        let bench = Bench()
        let (_, upstream, _) = try established(bench)
        bench.notify(
            upstream, "active;expires=3600", cSeq: 1, type: categoriesType, body: Bench.categories("bob@contoso.com", Bench.state(9_500)),
            from: Bench.enterprise, tag: "other")
        _ = try bench.nextResponse(481, at: Bench.enterprise)
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("a notified document that cannot be read is 400, changes nothing, and is asked for anew", arguments: ["<categories", "<x/>", ""])
    func unreadable(body: String) throws {
        let bench = Bench()
        let (_, upstream, _) = try established(bench)
        bench.notify(
            upstream, "active;expires=3600", cSeq: 2, type: body.isEmpty ? "" : categoriesType, body: body, from: Bench.enterprise)
        var refreshes = 0
        bench.drop(at: Bench.enterprise) { message in
            guard case .request(let request) = message, request.method == .subscribe else { return false }
            refreshes += 1
            return true
        }
        _ = try bench.nextResponse(body.isEmpty ? 200 : 400, at: Bench.enterprise)
        #expect(bench.isQuiet(at: Bench.simple) && bench.isQuiet(at: Bench.enterprise) && refreshes == (body.isEmpty ? 0 : 1))
    }
}
