import FederationRouting
import PresenceGateway
import SIPCore
import Testing

@testable import GatewayService

@Suite struct TrustReaderTests {
    private func read(_ domain: String) throws -> DomainTrust? {
        try ConfigurationReader.read("listen: [ \"udp:127.0.0.1:5060\" ]\ndomains:\n  a.example: { \(domain) }", file: "x")
            .domains["a.example"]?.trust
    }

    @Test("who may speak for a domain, what its servers are believed, and what its users may, are keys of the domain") func keys() throws {
        let trust = try #require(
            try read(
                "side: enterprise, route: \"tcp:192.0.2.7:5060\", network: sameEnterprise, peers: [ 192.0.2.0/24, \"2001:db8::1\", Sip.A.example ], "
                    + "asserts: true, edge: true, allow: { from: [ example.org ], to: [] }, deny: { users: [ \"ceo@a.example\" ] }, "
                    + "limits: { messages-per-second: 50, watched-uris: 7 }"))
        #expect(trust.peers == ["192.0.2.0/24", "2001:db8::1", "sip.a.example"].compactMap { PeerPattern($0) })
        #expect(trust.peers.count == 3 && trust.asserts && trust.isEdge)
        #expect(trust.limits == PartnerLimits(messagesPerSecond: 50, watchedURIs: 7))
        #expect(trust.rights.allow == .init(from: [PartyPattern("example.org")].compactMap { $0 }, to: []))
        #expect(trust.rights.deny == .init(users: [PartyPattern("ceo@a.example")].compactMap { $0 }))
        #expect(try read("side: simple, route: \"udp:192.0.2.7:5060\"") == DomainTrust())
    }

    @Test(
        "mistakes are named",
        arguments: [
            ("peers: [ 192.0.2.1/24 ]", "peers.1", "no address, no block"), ("peers: []", "peers", "at least one"),
            ("edge: true", "edge", "network sameEnterprise"), ("allow: { from: [ \"a*b@c.example\" ] }", "allow.from.1", "is none of"),
            ("deny: { of: [ x ] }", "deny.of", "unknown key"),
            ("limits: { messages-per-second: 0 }", "limits.messages-per-second", "whole number"),
            ("asserts: maybe", "asserts", "true or false"),
        ])
    func mistakes(keys: String, key: String, rule: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try read("side: enterprise, route: \"udp:192.0.2.7:5060\", \(keys)") }
        #expect(error?.lines.count == 1)
        #expect(error?.lines.first?.contains("domains.a.example.\(key)") == true && error?.lines.first?.contains(rule) == true)
    }
}
