import FederationRouting
import SIPCore
import Testing

@testable import GatewayService
@testable import isthmus

/// Text of `isthmus route --from`.
@Suite struct RightsTextTests {
    private func configuration(_ domains: String) throws -> ProgramConfiguration {
        try ConfigurationReader.read("listen: [ \"udp:127.0.0.1:5060\" ]\ndomains:\n" + domains, file: "x")
    }

    private static let domains = """
          contoso.com: { side: enterprise, route: "tcp:192.0.2.10:5060", allow: { from: [ example.org ] }, deny: { users: [ ceo@contoso.com ] } }
          example.org: { side: simple, route: "udp:proxy.example.org:5060", limits: { messages-per-second: 50, watched-uris: 7 } }
          fabrikam.com: { side: simple, route: "udp:192.0.2.20:5060", peers: [ 192.0.2.16/28 ] }
          blocked.example: { refuse: 488 }

        """

    private func text(_ watcher: String, _ presentity: String) throws -> String {
        try RightsText(configuration(Self.domains))
            .lines(watcher: try #require(SIPURI("sip:\(watcher)")), presentity: try #require(SIPURI("sip:\(presentity)")))
    }

    @Test("route --from: whether he may watch and by which entry, from where he is heard, and his domain's limits") func allowed() throws {
        let text = try text("alice@example.org", "bob@contoso.com")
        #expect(
            text == """
                from sip:alice@example.org:
                  rights   may watch: allow.from has example.org (contoso.com)
                  speaks   over UDP and TCP from where the DNS leads: udp:proxy.example.org:5060
                  speaks   over TLS with a certificate of example.org
                  limits   50 messages a second, 7 watched URIs for all users of the domain together

                """)
    }

    @Test("route --from: who may not watch is named with the entry that decides")
    func denied() throws {
        let ceo = try text("alice@example.org", "ceo@contoso.com")
        #expect(ceo.contains("rights   refused 403: ") && ceo.contains("deny.users has ceo@contoso.com (contoso.com)"))
        let stranger = try text("eve@fabrikam.com", "bob@contoso.com")
        #expect(stranger.contains("allow.from does not have") && stranger.contains("from 192.0.2.16/28"))
        #expect(stranger.contains("limits   those of this node"))
        #expect(try text("x@blocked.example", "bob@contoso.com").contains("refused 488: blocked.example is refused"))
        #expect(try text("x@nobody.example", "bob@contoso.com").contains("refused 403: nobody.example is not configured"))
    }
}
