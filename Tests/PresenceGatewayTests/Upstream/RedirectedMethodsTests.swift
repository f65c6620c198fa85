import PresenceGateway
import SIPCore
import Testing

/// RFC 3261 8.1.3.4: 3xx answers to NOTIFY, PUBLISH and SERVICE of this gateway; SUBSCRIBE is in ``RedirectTests``.
@Suite struct RedirectedMethodsTests {
    private let words = HostedPresentityTests()
    private let home = CategoryBridgeTests()
    private static let elsewhere = TransportAddress(.udp, "192.0.2.21", 5_070)
    private static let foreign = ["<sip:x@198.51.100.9>", "<sip:x@example.com>", "<tel:+14255550100>"]

    private func bench() -> Bench {
        Bench {
            for name in ["example.org", "contoso.com"] { $0.domains[name]?.publish = true }
        }
    }

    private func watched(_ bench: Bench, extra: String = "") throws -> (accepted: SIPResponse, notify: SIPRequest) {
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", extra: extra, via: Bench.simple), from: Bench.simple)
        return (try bench.nextResponse(200, at: Bench.simple), try bench.nextRequest(.notify, at: Bench.simple))
    }

    private func redirect(_ bench: Bench, _ request: SIPRequest, _ status: Int = 302, to contact: String, at peer: TransportAddress) {
        bench.answer(request, status, from: peer, headers: [(.contact, contact)])
    }

    private func expectRefused(_ bench: Bench, _ method: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let logs = bench.gateway.takeLogs().filter { $0.message == "redirect not followed" && $0.level == .notice }
        #expect(logs.count == 1 && logs.first?.metadata.first { $0.key == "method" }?.value == method, sourceLocation: sourceLocation)
        #expect(bench.isQuiet(at: TransportAddress(.udp, "198.51.100.9", 5_060)), sourceLocation: sourceLocation)
    }

    // MARK: NOTIFY

    @Test("RFC 3261 12.2.1.2: a NOTIFY that is sent on to a place of the partner goes there with the newest state", arguments: [301, 302])
    func notify(status: Int) throws {
        let bench = bench()
        let first = try watched(bench).notify
        redirect(bench, first, status, to: "<sip:ann@192.0.2.21:5070>", at: Bench.simple)
        let next = try bench.nextRequest(.notify, at: Self.elsewhere)
        #expect(next.requestURI == "sip:ann@192.0.2.21:5070" && next.headers.callID == first.headers.callID)
        #expect(next.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1 && next.body == first.body)
        bench.answer(next, 200, from: Self.elsewhere)
        // The remote target of the dialog is as before.
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com", activity: "busy"))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        let change = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(change.requestURI == first.requestURI && change.text.contains("busy"))
    }

    @Test("RFC 3261 12.2.1.2: a NOTIFY that is sent on keeps the route set of its dialog")
    func routeSet() throws {
        let bench = bench()
        let first = try watched(bench, extra: "Record-Route: <sip:192.0.2.20;lr>\r\n").notify
        #expect(first.headers.contains(.route))
        redirect(bench, first, to: "<sip:ann@192.0.2.21:5070>", at: Bench.simple)
        let next = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(next.requestURI == "sip:ann@192.0.2.21:5070" && next.headers.values(.route) == first.headers.values(.route))
    }

    @Test("RFC 5057 5.1: a NOTIFY that is sent on to a place of somebody else ends the dialog", arguments: foreign)
    func foreignNotify(contact: String) throws {
        let bench = bench()
        redirect(bench, try watched(bench).notify, to: contact, at: Bench.simple)
        expectRefused(bench, "NOTIFY")
        #expect(bench.gateway.counts.watcherDialogs == 0)
        bench.pass(.seconds(600))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("NOTIFYs that are sent on in a circle, or on and on, end the dialog after a bounded number of places", arguments: [true, false])
    func circle(isCircle: Bool) throws {
        let bench = bench()
        var request = try watched(bench).notify
        var places = 0
        while bench.gateway.counts.watcherDialogs > 0, places < 50 {
            redirect(bench, request, to: "<sip:a\(isCircle ? places % 2 : places)@example.org>", at: Bench.simple)
            guard !bench.isQuiet(at: Bench.simple) else { break }
            request = try bench.nextRequest(.notify, at: Bench.simple)
            places += 1
        }
        #expect(places == (isCircle ? 2 : 5) && bench.gateway.counts.watcherDialogs == 0)
        bench.pass(.seconds(600))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    // MARK: PUBLISH

    @Test("RFC 3261 8.1.3.4: a PUBLISH sent on to a place of the partner goes there with the next CSeq number", arguments: [301, 302])
    func publish(status: Int) throws {
        let bench = bench()
        let alice = PIDFBridgeTests.alice
        bench.service(alice, body: Bench.publishBody(alice, [.state(6_500)]))
        let first = try bench.nextRequest(.publish, at: Bench.simple)
        redirect(bench, first, status, to: "<sip:alice@192.0.2.21:5070>", at: Bench.simple)
        let next = try bench.nextRequest(.publish, at: Self.elsewhere)
        #expect(next.requestURI == "sip:alice@192.0.2.21:5070" && next.headers.callID == first.headers.callID)
        #expect(next.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1 && next.body == first.body)
        #expect(next.headers.to?.uri == first.headers.to?.uri)
        bench.answer(next, 200, from: Self.elsewhere, headers: [(.sipETag, "e1"), (.expires, "3600")])
        _ = try bench.nextResponse(200, at: PIDFBridgeTests.place)
        bench.service(alice, body: Bench.publishBody(alice, [.state(3_500, version: 1)]))
        let change = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(change.headers.sipIfMatch == "e1" && (change.headers.cSeq?.number ?? 0) > (next.headers.cSeq?.number ?? 0))
    }

    @Test("a PUBLISH that is sent on to a place of somebody else is 502, and asked for no more", arguments: foreign)
    func foreignPublish(contact: String) throws {
        let bench = bench()
        let alice = PIDFBridgeTests.alice
        bench.service(alice, body: Bench.publishBody(alice, [.state(6_500)]))
        redirect(bench, try bench.nextRequest(.publish, at: Bench.simple), to: contact, at: Bench.simple)
        _ = try bench.nextResponse(502, at: PIDFBridgeTests.place)
        expectRefused(bench, "PUBLISH")
        bench.pass(.seconds(900))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    // MARK: SERVICE

    @Test("RFC 3261 8.1.3.4: a SERVICE sent on to a place of the partner goes there with the next CSeq number", arguments: [301, 302])
    func service(status: Int) throws {
        let bench = bench()
        home.publish(bench, activity: "busy")
        let first = try bench.nextRequest(.service, at: Bench.enterprise)
        redirect(bench, first, status, to: "<sip:bob@192.0.2.21:5070;transport=tcp>", at: Bench.enterprise)
        let place = TransportAddress(.tcp, "192.0.2.21", 5_070)
        let next = try bench.nextRequest(.service, at: place)
        #expect(next.requestURI == "sip:bob@192.0.2.21:5070;transport=tcp" && next.headers.callID == first.headers.callID)
        #expect(next.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1 && next.body == first.body)
        #expect(next.headers.contact?.uri.transport == .tcp && next.headers.contact?.sipInstance == first.headers.contact?.sipInstance)
        bench.answer(next, 200, from: place)
        _ = try home.tag(bench)
    }

    @Test("a SERVICE that is sent on to a place of somebody else, or in a circle, is 502", arguments: foreign + ["<sip:bob@contoso.com>"])
    func foreignService(contact: String) throws {
        let bench = bench()
        home.publish(bench, activity: "busy")
        redirect(bench, try bench.nextRequest(.service, at: Bench.enterprise), to: contact, at: Bench.enterprise)
        _ = try bench.nextResponse(502, at: CategoryBridgeTests.client)
        expectRefused(bench, "SERVICE")
        bench.pass(.seconds(900))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }
}
