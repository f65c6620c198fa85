import PresenceGateway
import SIPCore
import Testing

/// RFC 3261 8.1.3.4: 3xx answers to SUBSCRIBEs of this gateway.
@Suite struct RedirectTests {
    private func watch(_ bench: Bench) throws -> SIPRequest {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        return try bench.nextRequest(.subscribe, at: Bench.simple)
    }

    @Test(
        "RFC 3261 8.1.3.4: 301 and 302 to a place of the same partner are followed, by address or by user",
        arguments: [
            (301, "<sip:alice@192.0.2.21:5070>", TransportAddress(.udp, "192.0.2.21", 5_070), "sip:alice@192.0.2.21:5070"),
            (302, "<sip:alice.new@example.org>", Bench.simple, "sip:alice.new@example.org"),
        ])
    func followed(status: Int, contact: String, place: TransportAddress, uri: String) throws {
        let bench = Bench()
        let first = try watch(bench)
        bench.answer(first, status, from: Bench.simple, headers: [(.contact, contact)])
        let next = try bench.nextRequest(.subscribe, at: place)
        #expect(next.requestURI == uri && next.headers.cSeq?.number == 2)
        #expect(next.headers.callID == first.headers.callID && next.headers.to?.uri == first.headers.to?.uri)
        bench.answer(next, 200, from: place, headers: [(.expires, "3600")])
        bench.notify(
            next, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("alice@example.org"), from: place)
        bench.pass(.seconds(3_590))
        bench.drop(at: place) { if case .response = $0 { true } else { false } }
        #expect(try bench.nextRequest(.subscribe, at: place).headers.cSeq?.number == 3)
    }

    @Test(
        "a redirection to anybody else, in a circle, or to nobody ends the subscription with a reason, and is not asked for again",
        arguments: ["<sip:alice@198.51.100.9>", "<sip:alice@example.com>", "<sip:alice@example.org>", "<tel:+14255550100>", ""])
    func ended(contact: String) throws {
        let bench = Bench()
        let first = try watch(bench)
        bench.answer(first, 302, from: Bench.simple, headers: contact.isEmpty ? [(.contact, "<tel:+1>")] : [(.contact, contact)])
        bench.pass(.seconds(600))
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(bench.isQuiet(at: TransportAddress(.udp, "198.51.100.9", 5_060)))
        #expect(bench.gateway.takeLogs().contains { $0.message == "redirect not followed" && $0.level == .notice })
    }

    @Test("a partner that sends on again and again is asked at a bounded number of places") func bounded() throws {
        let bench = Bench()
        var request = try watch(bench)
        for number in 0..<5 {
            bench.answer(request, 302, from: Bench.simple, headers: [(.contact, "<sip:a\(number)@example.org>")])
            request = try bench.nextRequest(.subscribe, at: Bench.simple)
        }
        bench.answer(request, 302, from: Bench.simple, headers: [(.contact, "<sip:a9@example.org>")])
        bench.pass(.seconds(600))
        #expect(bench.isQuiet(at: Bench.simple))
    }
}
