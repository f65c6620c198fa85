import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// What this node writes of itself into Via and Contact, and what it makes of an address that others see differently.
@Suite struct AddressingTests {
    private static let tls = TransportAddress(.tls, "192.0.2.1", 5061)

    private func bench(_ change: @escaping (inout GatewayConfiguration) -> Void) -> Bench {
        Bench {
            $0.listeners.append(Self.tls)
            change(&$0)
        }
    }

    private func upstream(_ bench: Bench, at place: TransportAddress) throws -> SIPRequest {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        return try bench.nextRequest(.subscribe, at: place)
    }

    @Test(
        "RFC 3261 18.1.1, 8.1.1.8: behind a NAT Via and Contact name what a listener is advertised by, its port included",
        arguments: [
            (TransportProtocol.tcp, "edge1.example.net", 443, "edge1.example.net:443", "sip:edge1.example.net:443;transport=tcp"),
            (.udp, "198.51.100.4", 15_060, "198.51.100.4:15060", "sip:198.51.100.4:15060"),
            (.tcp, "2001:db8::4", 5_060, "[2001:db8::4]:5060", "sip:[2001:db8::4]:5060;transport=tcp"),
        ])
    func advertised(transport: TransportProtocol, host: String, port: Int, sentBy: String, contact: String) throws {
        let place = TransportAddress(transport, "192.0.2.20", 5060)
        let bench = bench {
            $0.advertised[transport == .udp ? Bench.local : Bench.localTCP] = .init(host, port)
            $0.domains["example.org"]?.federation.route = place
        }
        let request = try upstream(bench, at: place)
        #expect(request.headers.topVia?.sentBy == sentBy)
        #expect(request.headers.contact?.uri.description == contact)
    }

    @Test("RFC 5923 4: over TLS our Via announces that requests are taken over the same connection; elsewhere it does not")
    func alias() throws {
        var place = Self.tls
        place.host = "192.0.2.20"
        place.provenName = "example.org"
        let secure = bench { $0.domains["example.org"]?.federation.route = place }
        #expect(try upstream(secure, at: place).headers.topVia?.parameters.contains("alias") == true)
        #expect(try upstream(bench { _ in }, at: Bench.simple).headers.topVia?.parameters.contains("alias") == false)
    }

    @Test("RFC 3581 4: the answer to a UDP request goes to the port that it came from, with received and rport, whatever its Via says")
    func rport() throws {
        let bench = Bench()
        let translated = TransportAddress(.udp, "192.0.2.10", 34_567)
        let subscribe = bench.subscribe("ulla@contoso.com", to: "eva@example.com", via: Bench.enterprise)
        bench.send(
            subscribe.replacingOccurrences(of: "192.0.2.10:5060;branch=", with: "10.0.0.7:5060;rport;branch="), from: translated)
        let via = try #require(try bench.nextResponse(200, at: translated).headers.topVia)
        #expect(via.received == "192.0.2.10" && via.rport == 34_567)
        #expect(via.sentBy == "10.0.0.7:5060")
    }
}
