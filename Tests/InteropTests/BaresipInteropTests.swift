import Foundation
import GatewayTesting
import PresenceGateway
import SIPCore
import SIPSecurity
import ScriptedPeers
import Testing

extension RealSockets {
    /// F1 with a public client: baresip watches bob@contoso.com.
    @Suite(
        .enabled(if: PeerPrograms.areReady(PeerPrograms.baresip), "the Debian package baresip-core is not installed"),
        .enabled(if: Baresip.address != nil, "baresip needs an IPv4 address beside loopback, and this host has none"))
    struct BaresipInteropTests {
        @Test("baresip signs in with the default of `authentication`, and sees bob come and go")
        func baresipSeesBobComeAndGo() async throws {
            let host = try #require(Baresip.address)
            let scratch = try ScratchDirectory("baresip")
            let password = "battery-staple"
            let carol = try CredentialVerifiers(user: "carol", realm: "example.com", password: password)
            try scratch.write("users:\n  sip:carol@example.com: { verifiers: \"\(carol.text)\" }\n", to: "users.yaml")
            let bob = "sip:bob@contoso.com"
            let enterprise = try await EnterpriseOnLoopback(transport: .udp, host: host)
            let gateway = try await IsthmusProgram(
                in: scratch, host: host,
                domains: [
                    "contoso.com: { side: enterprise, route: \"udp:\(host):\(enterprise.port)\" }",
                    "example.com: { side: simple, hosted: true, unruled: allow }",
                ], authentication: ListenerAuthentication.Schemes.any.rawValue, settings: ["directory: { file: users.yaml }"])
            try await enterprise.show(bob, EnhancedState(3500))
            let client = try Baresip(
                host: host, user: "sip:carol@example.com", password: password, watching: bob, proxyPort: gateway.port, in: scratch)
            for (state, word) in [(3500, "Online"), (18_500, "Offline"), (3500, "Online")] {
                try await enterprise.show(bob, EnhancedState(state))
                let isSeen = await eventually(within: 15) { client.contacts().contains(word) }
                #expect(isSeen, "\(state) as \(word): \(client.contacts())\n\(client.trace.suffix(6000))\n\(gateway.log.suffix(3000))")
            }
            #expect(gateway.log.contains("request challenged"), "\(gateway.log.suffix(3000))")
            #expect(try await enterprise.faults() == [])
            await client.stop()
            #expect(await gateway.stop() == 0)
            await enterprise.stop()
            scratch.remove()
        }
    }
}
