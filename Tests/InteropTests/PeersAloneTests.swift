import Foundation
import Testing

extension RealSockets {
    /// The peers with each other, without a gateway: a failure here is not caused by the gateway.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.kamailio, PeerPrograms.sipp, PeerPrograms.tshark), "peers absent"))
    struct PeersAloneTests {
        @Test("SIPp sees at Kamailio what SIPp publishes there", arguments: ["udp", "tcp"])
        func pidfWatcherAtKamailio(transport: String) async throws {
            let scratch = try ScratchDirectory("peers-\(transport)")
            let kamailio = try await Kamailio(in: scratch, transport: transport)
            let capture = try await Tshark(ports: [kamailio.port], in: scratch)
            let watcher = try SIPp(
                "pidf-watcher", name: "watcher", to: kamailio.port, transport: transport,
                keys: ["presentity": "sip:alice@example.org", "watcher": "sip:carol@example.com"], in: scratch)
            let publisher = SIPpPublisher(presentity: "sip:alice@example.org", port: kamailio.port, transport: transport, scratch: scratch)
            #expect(await watcher.answersFirstNotify(), "\(watcher.account)")
            for state in [PublishedState.open, .busy, .closed] {
                try await publisher.publish(state)
                #expect(await watcher.reaches("\(state)"), "\(state): \(watcher.account)")
                if state == .busy { #expect(await watcher.reaches("refreshed"), "\(watcher.account)") }
            }
            #expect(await watcher.succeeds(), "\(watcher.account)")
            let verdict = try await capture.verdict()
            #expect(verdict.faults == [])
            #expect(verdict.messages >= 20)
            await kamailio.stop()
            scratch.remove()
        }
    }
}
