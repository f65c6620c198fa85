import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing

extension RealSockets {
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.sipp, PeerPrograms.sngrep, PeerPrograms.tshark), "peers absent"))
    struct CaptureInteropTests {
        private let bob = "sip:bob@contoso.com"

        @Test("sngrep reads the two legs of a bridged subscription from the HEP stream, each as one flow")
        func twoFlows() async throws {
            let scratch = try ScratchDirectory("capture")
            let sngrep = try await Sngrep(in: scratch)
            let enterprise = try await EnterpriseOnLoopback(transport: .udp)
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:\(enterprise.port)\" }",
                    "example.com: { side: simple, route: \"udp:127.0.0.1:9\" }",
                ],
                settings: ["capture: { hep: \"udp:127.0.0.1:\(sngrep.port)\", agent: 7 }"])
            try await enterprise.show(bob, EnhancedState(18_500))
            let watcher = try SIPp(
                "pidf-watcher", name: "watcher", to: gateway.port, transport: "udp",
                keys: ["presentity": bob, "watcher": "sip:carol@example.com"], in: scratch)
            #expect(await enterprise.isWatched(), "\(watcher.account)\n\(gateway.log)")
            #expect(await watcher.answersFirstNotify(), "\(watcher.account)\n\(gateway.log)")
            try await enterprise.show(bob, EnhancedState(3500))
            #expect(await watcher.reaches("open"), "\(watcher.account)\n\(gateway.log)")
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            let flows = try await sngrep.flows(ports: [gateway.port, enterprise.port])
            #expect(flows.count == 2, "\(flows) \(sngrep.account)")
            for (call, messages) in flows {
                // One request and its response each, in either direction.
                #expect(messages.count(where: { $0.hasSuffix("SUBSCRIBE") }) >= 2, "\(call): \(messages)")
                #expect(messages.count(where: { $0.hasSuffix("NOTIFY") }) >= 2, "\(call): \(messages)")
            }
            await watcher.stop()
            await enterprise.stop()
            scratch.remove()
        }
    }
}
