import Foundation
import GatewayTesting
import SIPCore
import Testing

extension RealSockets {
    /// The program with a store, stopped as an operator stops it.
    @Suite struct StopInteropTests {
        private static let alice = "sip:alice@example.com"

        private static func document(_ note: String) -> String {
            "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"\(alice)\"><tuple id=\"t1\"><status><basic>open</basic></status>"
                + "<note>\(note)</note></tuple></presence>"
        }

        @Test("store.on-stop: SIGTERM leaves both dialogs of a bridge to the next process with keep, and ends both with terminate")
        func onStop() async throws {
            let scratch = try ScratchDirectory("stop")
            let stage = LoopbackStage(seed: 9)
            let (serverPlace, lyncPlace) = (try stage.place("server", .udp), try stage.place("lync", .udp))
            let domains = [
                "example.com: { side: simple, route: \"\(serverPlace)\" }", "fabrikam.com: { side: enterprise, route: \"\(lyncPlace)\" }",
            ]
            let path = scratch.file("isthmus.db").path
            let first = try await IsthmusProgram(in: scratch, store: "{ sqlite: \"\(path)\", on-stop: keep }", domains: domains)
            let gateway = TransportAddress(.udp, "127.0.0.1", first.port)
            let server = SimplePresenceServer(name: "server", address: serverPlace, nextHop: gateway, seed: 1)
            let lync = EnhancedWatcher(
                name: "lync", watcher: "sip:erin@fabrikam.com", presentity: Self.alice, address: lyncPlace, nextHop: gateway, seed: 2)
            for peer in [server, lync] as [SIPPeer] { try await stage.attach(peer, name: peer.name, at: peer.address) }

            try await stage.act { now in
                server.set(Self.alice, Self.document("before"), at: now)
                lync.subscribe(at: now)
            }
            #expect(try await stage.wait(atMost: .seconds(20)) { lync.presence?.notes == ["before"] }, "\(stage.account)\n\(first.log)")
            #expect(await first.stop() == 0, "\(first.log)")
            var told: [ScriptedWatcher.Notification] = []
            try await stage.act { _ in
                #expect(lync.phase == .live && server.dialogCount == 1, "nobody was told that it is over")
                told = lync.notifications
            }

            let second = try await IsthmusProgram(
                in: scratch, port: first.port, store: "{ sqlite: \"\(path)\", on-stop: terminate }", domains: domains)
            try await stage.act { server.set(Self.alice, Self.document("after"), at: $0) }
            #expect(try await stage.wait(atMost: .seconds(20)) { lync.presence?.notes == ["after"] }, "\(stage.account)\n\(second.log)")
            try await stage.act { _ in
                #expect(lync.notifications.count == told.count + 1, "told once, of the change")
                #expect((lync.notifications.last?.cSeq ?? 0) > (told.last?.cSeq ?? 0))
                #expect(server.acceptedCount == 1 && server.dialogCount == 1, "in the dialog of the process before")
            }
            #expect(await second.stop() == 0, "\(second.log)")
            #expect(try await stage.wait(atMost: .seconds(20)) { lync.isOver && server.dialogCount == 0 }, "\(stage.account)")
            try await stage.act { _ in
                #expect(lync.staleNotifications == 0)
                #expect(lync.faults + server.faults == [])
            }
            await stage.finish()
            scratch.remove()
        }
    }
}
