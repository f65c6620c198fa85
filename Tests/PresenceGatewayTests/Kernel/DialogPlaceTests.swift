import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// Where the requests of a dialog, and answers, may be made to go: to the far end's own servers, whatever it writes.
@Suite struct DialogPlaceTests {
    private let victim = TransportAddress(.udp, "203.0.113.9", 5060)

    @Test(
        "RFC 3261 12.2.1.1: a watcher's Contact outside of its domain's servers, or a maddr there, moves no notification; one inside does",
        arguments: [
            ("<sip:ulla@203.0.113.9>", "192.0.2.10", 5060), ("<sip:ulla@pc.contoso.com;maddr=203.0.113.9>", "192.0.2.10", 5060),
            ("<sip:ulla@[2001:db8::9]:5060>", "192.0.2.10", 5060), ("<sip:ulla@192.0.2.77:5070>", "192.0.2.77", 5070),
            ("<sip:ulla@pc.contoso.com;maddr=192.0.2.77>", "192.0.2.77", 5060),
            ("<sip:ulla@pc.contoso.com;maddr=192.0.2.77;transport=tcp>", "192.0.2.77", -5060),
            ("<sip:ulla@203.0.113.9;maddr=192.0.2.77>", "192.0.2.77", 5060),
        ])
    func watcher(contact: String, host: String, port: Int) throws {
        let bench = Bench()
        let subscribe = bench.subscribe("ulla@contoso.com", to: "eva@example.com", via: Bench.enterprise)
        bench.send(subscribe.replacingOccurrences(of: "<sip:192.0.2.10:5060>", with: contact), from: Bench.enterprise)
        if host == "192.0.2.10" { _ = try bench.nextResponse(200, at: Bench.enterprise) }
        let place = TransportAddress(port < 0 ? .tcp : .udp, host, abs(port))
        #expect(try bench.nextRequest(.notify, at: place).requestURI == String(contact.dropFirst().dropLast()))
        #expect(bench.isQuiet(at: victim))
        #expect(bench.isQuiet(at: TransportAddress(.udp, "2001:db8::9", 5060)))
    }

    @Test("RFC 3261 12.2.1.1: a refresh of the Contact is looked at like the first one") func moved() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ulla@contoso.com", to: "eva@example.com", via: Bench.enterprise), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        bench.answer(try bench.nextRequest(.notify, at: Bench.enterprise), 200, from: Bench.enterprise)
        let refresh = bench.inDialog(accepted, cSeq: 2, expires: 3_600, via: Bench.enterprise)
        bench.send(refresh.replacingOccurrences(of: "<sip:192.0.2.10:5060>", with: "<sip:203.0.113.9>"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try bench.nextRequest(.notify, at: Bench.enterprise).requestURI == "sip:203.0.113.9")
        #expect(bench.isQuiet(at: victim))
    }

    /// A subscription toward example.org, answered and notified from there with this Contact.
    private func subscribed(_ bench: Bench, contact: String) throws {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600"), (.contact, contact)])
        let body = Bench.pidf("alice@example.org", activity: "busy")
        bench.send(
            "NOTIFY \(upstream.headers.contact?.uri.description ?? "") SIP/2.0\r\n"
                + "Via: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKn1\r\nMax-Forwards: 70\r\n"
                + "From: <sip:alice@example.org>;tag=far\(upstream.headers.fromTag ?? "")\r\nTo: \(upstream.headers.first(.from) ?? "")\r\n"
                + "Call-ID: \(upstream.headers.callID ?? "")\r\nCSeq: 1 NOTIFY\r\nContact: \(contact)\r\nEvent: presence\r\n"
                + "Subscription-State: active;expires=3600\r\nContent-Type: application/pidf+xml\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n" + body, from: Bench.simple)
        bench.clear()
    }

    @Test(
        "RFC 3261 12.1.2: the Contact of a far side sends our refreshes to nobody else, and to another server of its own",
        arguments: [
            ("<sip:alice@203.0.113.9>", "192.0.2.20"), ("<sip:pres.example.org;maddr=203.0.113.9>", "192.0.2.20"),
            ("<sip:pres.example.org;maddr=192.0.2.21>", "192.0.2.21"), ("<sip:192.0.2.21>", "192.0.2.21"),
        ])
    func remoteDomain(contact: String, host: String) throws {
        let bench = Bench()
        try subscribed(bench, contact: contact)
        bench.pass(.seconds(3_590))
        let refresh = try bench.nextRequest(.subscribe, at: TransportAddress(.udp, host, 5060))
        #expect(refresh.headers.toTag != nil)
        #expect(refresh.requestURI == String(contact.dropFirst().dropLast()))
        #expect(bench.isQuiet(at: victim))
    }

    @Test("RFC 3261 12.1.1: a Record-Route whose maddr leads to somebody else is 403") func recordRoute() throws {
        let bench = Bench()
        let routed = bench.subscribe(
            "ulla@contoso.com", to: "eva@example.com", extra: "Record-Route: <sip:p.contoso.com;lr;maddr=203.0.113.9>\r\n",
            via: Bench.enterprise)
        bench.send(routed, from: Bench.enterprise)
        _ = try bench.nextResponse(403, at: Bench.enterprise)
        #expect(bench.isQuiet(at: victim))
    }

    @Test("a Contact that is a GRUU is asked as it is written, parameters and all (RFC 5627 5)") func gruu() throws {
        let bench = Bench()
        let gruu = "sip:alice@example.org;gr=urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
        try subscribed(bench, contact: "<\(gruu)>")
        bench.pass(.seconds(3_590))
        #expect(try bench.nextRequest(.subscribe, at: Bench.simple).requestURI == gruu)
    }

    @Test(
        "RFC 3261 18.2.2: the maddr of Via is obeyed where it names a server of the same domain, and removed where it names anybody else",
        arguments: [
            ("192.0.2.99", "192.0.2.99"), ("203.0.113.9", "192.0.2.10"), ("[2001:db8::9]", "192.0.2.10"), ("victim.example", "192.0.2.10"),
        ])
    func answers(maddr: String, host: String) throws {
        let bench = Bench()
        let subscribe = bench.subscribe("ulla@contoso.com", to: "eva@example.com", via: Bench.enterprise)
        bench.send(
            subscribe.replacingOccurrences(of: ";branch=", with: ";maddr=\(maddr);branch="), from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: TransportAddress(.udp, host, 5060))
        #expect((answer.headers.topVia?.parameters.contains("maddr") == true) == (host == "192.0.2.99"))
        #expect(bench.isQuiet(at: victim))
    }

    @Test("RFC 3261 18.2.2: a stranger is answered where it speaks from, whatever domain it claims") func stranger() throws {
        let bench = Bench()
        let stranger = TransportAddress(.udp, "198.51.100.1", 5060)
        for method in ["OPTIONS", "SUBSCRIBE"] {
            bench.send(
                bench.subscribe("eva@example.com", to: "otto@example.com", via: stranger)
                    .replacingOccurrences(of: "SUBSCRIBE", with: method)
                    .replacingOccurrences(of: ";branch=", with: ";maddr=203.0.113.9;branch="), from: stranger)
            #expect(!bench.isQuiet(at: stranger))
            bench.clear()
        }
        #expect(bench.isQuiet(at: victim))
    }
}
