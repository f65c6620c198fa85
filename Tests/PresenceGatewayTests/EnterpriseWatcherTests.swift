import PresenceGateway
import SIPCore
import Testing

/// F2: an enterprise watcher sees a presentity of a SIMPLE domain.
@Suite struct EnterpriseWatcherTests {
    let pidfType = "application/pidf+xml"

    /// The far side accepts and notifies.
    func serve(_ bench: Bench, _ body: String, state: String = "active;expires=3600") throws -> SIPRequest {
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(upstream, state, cSeq: 1, type: pidfType, body: body, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        return upstream
    }

    @Test("MS-PRES 2.2.2.4.2 the 200 piggybacks multipart/related, and a NOTIFY with categories follows the far side's PIDF")
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
        #expect(upstream.headers.first(.accept) == "application/pidf+xml")
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

    @Test("MS-PRES 3.2.5.3 only changed categories are told, and the same state is not told twice")
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
