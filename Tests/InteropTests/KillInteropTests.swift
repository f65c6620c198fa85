import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing

extension RealSockets {
    /// The program with a store, killed by SIGKILL.
    @Suite struct KillInteropTests {
        private static let dave = "sip:dave@hosted.example.net"

        @Test(
            "after kill -9 publications, members and dialogs are there, versions go on, and CSeq only grows",
            arguments: [
                TransportProtocol.udp, .tcp,
            ])
        func kill(transport: TransportProtocol) async throws {
            let scratch = try ScratchDirectory("kill-\(transport.rawValue)")
            let stage = LoopbackStage(seed: 8)
            let watcherAddress = try stage.place("watcher", transport)
            let lyncAddress = try stage.place("lync", transport)
            let domains = [
                "hosted.example.net: { side: enterprise, hosted: true, network: sameEnterprise, peers: [ 127.0.0.0/8 ] }",
                "example.com: { side: simple, route: \"\(watcherAddress)\" }",
                "fabrikam.com: { side: enterprise, route: \"\(lyncAddress)\" }",
            ]
            let store = "{ sqlite: \"\(scratch.file("isthmus.db").path)\" }"
            let first = try await IsthmusProgram(in: scratch, store: store, domains: domains)
            let gateway = TransportAddress(transport, "127.0.0.1", first.port)
            let endpoint = CategoryPublisher(
                name: "endpoint", presentity: Self.dave, address: try stage.place("endpoint", transport), nextHop: gateway, seed: 1)
            let simple = SimpleWatcher(
                name: "watcher", watcher: "sip:carol@example.com", presentity: Self.dave, address: watcherAddress, nextHop: gateway, seed: 2
            )
            let lync = EnhancedWatcher(
                name: "lync", watcher: "sip:erin@fabrikam.com", presentity: Self.dave, address: lyncAddress, nextHop: gateway, seed: 3)
            for peer in [endpoint, simple, lync] as [SIPPeer] { try await stage.attach(peer, name: peer.name, at: peer.address) }

            try await stage.act { endpoint.publish(availability: 3500, note: "before", at: $0) }
            #expect(try await stage.wait(atMost: .seconds(20)) { endpoint.lastAnswer?.status == .ok }, "\(first.log)")
            try await stage.act { endpoint.setMembers(container: 300, version: 0, adding: ["sip:carol@example.com"], at: $0) }
            #expect(try await stage.wait(atMost: .seconds(20)) { endpoint.lastMembersAnswer?.status == .ok }, "\(first.log)")
            try await stage.act { now in
                simple.subscribe(at: now)
                lync.subscribe(at: now)
            }
            #expect(
                try await stage.wait(atMost: .seconds(20)) { simple.presence?.basic == "open" && lync.presence?.notes == ["before"] },
                "\(stage.account)\n\(first.log)")
            await first.kill()
            #expect(!first.isRunning)

            let second = try await IsthmusProgram(in: scratch, port: first.port, store: store, domains: domains)
            #expect(second.log.contains("restored-dialogs=2"), "\(second.log)")
            #expect(second.log.contains("left-out=0"), "\(second.log)")
            // Container 300 now has version 1, and its member sees it.
            try await stage.act { endpoint.setMembers(container: 300, version: 0, adding: ["sip:x@example.com"], at: $0) }
            #expect(try await stage.wait(atMost: .seconds(20)) { endpoint.lastMembersAnswer?.status == .conflict }, "\(second.log)")
            try await stage.act { endpoint.publish(availability: 6500, note: "after", at: $0) }
            #expect(
                try await stage.wait(atMost: .seconds(20)) {
                    simple.presence?.activities == ["busy"] && lync.presence?.notes == ["after"]
                }, "\(stage.account)\n\(second.log)")
            var faults: [String] = []
            try await stage.act { now in
                faults = [endpoint, simple, lync].flatMap { ($0 as SIPPeer).faults }
                #expect(endpoint.conflicts == 0)
                #expect(simple.staleNotifications + lync.staleNotifications == 0)
                #expect(simple.phase == .live && lync.phase == .live)
                simple.refresh(at: now)
                lync.refresh(at: now)
            }
            #expect(faults.isEmpty)
            #expect(try await stage.wait(atMost: .seconds(20)) { simple.lastResponse?.headers.cSeq?.number == 2 }, "\(second.log)")
            #expect(simple.lastResponse?.status == .ok)
            await stage.finish()
            #expect(await second.stop() == 0, "\(second.log)")
            scratch.remove()
        }
    }
}
