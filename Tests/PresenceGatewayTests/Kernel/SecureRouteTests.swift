import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// A partner behind a route over TLS, whose server has to prove a name.
@Suite struct SecureRouteTests {
    private let partner = TransportAddress(.tls, "192.0.2.20", 5061, proving: "example.org")

    private func bench() -> Bench {
        Bench { configuration in
            configuration.listeners.append(TransportAddress(.tls, "192.0.2.1", 5061))
            configuration.domains["example.org"]?.federation.route = self.partner
        }
    }

    /// A subscription of an enterprise watcher, and the partner's NOTIFY with this Contact.
    private func subscribed(_ bench: Bench, contact: String) throws -> SIPRequest {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: partner)
        bench.answer(upstream, 200, from: partner, headers: [(.expires, "3600"), (.contact, contact)])
        let body = Bench.pidf("alice@example.org", activity: "busy")
        bench.send(
            "NOTIFY \(upstream.headers.contact?.uri.description ?? "") SIP/2.0\r\n"
                + "Via: SIP/2.0/TLS 192.0.2.20:5061;branch=z9hG4bKn1\r\nMax-Forwards: 70\r\n"
                + "From: <sip:alice@example.org>;tag=far\(upstream.headers.fromTag ?? "")\r\nTo: \(upstream.headers.first(.from) ?? "")\r\n"
                + "Call-ID: \(upstream.headers.callID ?? "")\r\nCSeq: 1 NOTIFY\r\nContact: \(contact)\r\nEvent: presence\r\n"
                + "Subscription-State: active;expires=3600\r\nContent-Type: application/pidf+xml\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n" + body, from: partner,
            proving: PeerIdentity(dnsNames: [], sipDomains: ["example.org"], notAfter: 4_000_000_000, fingerprint: "example.org"))
        bench.clear()
        return upstream
    }

    @Test("RFC 5922 4: requests go where the partner has to prove its name, with TLS in Via and Contact") func proven() throws {
        let bench = bench()
        let upstream = try subscribed(bench, contact: "<sip:192.0.2.20:5061;transport=tls>")
        let via = try #require(upstream.headers.topVia)
        #expect(via.description.hasPrefix("SIP/2.0/TLS 192.0.2.1:5061;"))
        #expect(via.parameters.contains("alias"), "RFC 5923 5: the partner may use this connection too")
        #expect(upstream.headers.first(.contact) == "<sip:192.0.2.1:5061;transport=tls>")
    }

    @Test(
        "RFC 5922 4: within the dialog the name is the same wherever the partner is, and nothing leaves TLS",
        arguments: [
            ("<sip:192.0.2.20:5061;transport=tls>", "192.0.2.20", 5061), ("<sip:192.0.2.99:5062>", "192.0.2.99", 5062),
            ("<sip:192.0.2.99;transport=tls>", "192.0.2.99", 5061),
            // A Contact elsewhere than in TLS, or one by name, is left to the route.
            ("<sip:192.0.2.99:5060;transport=udp>", "192.0.2.20", 5061), ("<sip:192.0.2.99:5060;transport=tcp>", "192.0.2.20", 5061),
            ("<sip:sip.example.org;transport=tls>", "192.0.2.20", 5061),
        ])
    func withinDialog(contact: String, host: String, port: Int) throws {
        let bench = bench()
        _ = try subscribed(bench, contact: contact)
        bench.pass(.seconds(3_590))
        let refresh = try bench.nextRequest(.subscribe, at: TransportAddress(.tls, host, port, proving: "example.org"))
        #expect(refresh.headers.first(.via)?.hasPrefix("SIP/2.0/TLS ") == true)
        #expect(refresh.headers.toTag != nil)
    }
}
