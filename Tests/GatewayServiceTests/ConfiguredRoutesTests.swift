import FederationRouting
import SIPCore
import Testing

@testable import GatewayService

@Suite struct ConfiguredRoutesTests {
    @Test(
        "a route names the entry that decided",
        arguments: [
            ("sip:a@contoso.com", "local (enterprise): contoso.com is configured and hosted here"),
            (
                "sip:a@EXAMPLE.org",
                "udp:127.0.0.1:5080 (simple, federated): example.org is configured with the route udp:127.0.0.1:5080"
            ),
            ("pres:a@www.example.net", "refused 403: www.example.net is covered by \"*\" and refused"),
        ])
    func route(uri: String, expected: String) throws {
        let table = try ConfigurationReader.read(ConfigurationReaderTests.example, file: "x.yaml").routingTable
        let parsed = try #require(SIPURI(uri))
        #expect(table.decide(parsed).description == expected)
    }
}
