import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
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
            let (serverAddress, lyncAddress) = (try stage.place("server", .udp), try stage.place("lync", .udp))
            let domains = [
                "example.com: { side: simple, route: \"\(serverAddress)\" }",
                "fabrikam.com: { side: enterprise, route: \"\(lyncAddress)\" }",
            ]
            let path = scratch.file("isthmus.db").path
            let first = try await IsthmusProgram(in: scratch, store: "{ sqlite: \"\(path)\", on-stop: keep }", domains: domains)
            let gateway = TransportAddress(.udp, "127.0.0.1", first.port)
            let server = SimplePresenceServer(name: "server", address: serverAddress, nextHop: gateway, seed: 1)
            let lync = EnhancedWatcher(
                name: "lync", watcher: "sip:erin@fabrikam.com", presentity: Self.alice, address: lyncAddress, nextHop: gateway, seed: 2)
            for peer in [server, lync] as [SIPPeer] { try await stage.attach(peer, name: peer.name, at: peer.address) }

            try await stage.act { now in
                server.set(Self.alice, Self.document("before"), at: now)
                lync.subscribe(at: now)
            }
            #expect(try await stage.wait(atMost: .seconds(20)) { lync.presence?.notes == ["before"] }, "\(stage.account)\n\(first.log)")
            #expect(await first.stop() == 0, "\(first.log)")
            var notified: [ScriptedWatcher.Notification] = []
            try await stage.act { _ in
                #expect(lync.phase == .live && server.dialogCount == 1, "nobody was told that it is over")
                notified = lync.notifications
            }

            let second = try await IsthmusProgram(
                in: scratch, port: first.port, store: "{ sqlite: \"\(path)\", on-stop: terminate }", domains: domains)
            try await stage.act { server.set(Self.alice, Self.document("after"), at: $0) }
            #expect(try await stage.wait(atMost: .seconds(20)) { lync.presence?.notes == ["after"] }, "\(stage.account)\n\(second.log)")
            try await stage.act { _ in
                #expect(lync.notifications.count == notified.count + 1, "told once, of the change")
                #expect((lync.notifications.last?.cSeq ?? 0) > (notified.last?.cSeq ?? 0))
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

        @Test("SIGTERM ends the process while a watcher that no longer answers still holds its connection")
        func silentPeer() async throws {
            let scratch = try ScratchDirectory("silent")
            let gateway = try await IsthmusProgram(
                in: scratch, domains: ["example.com: { side: simple, hosted: true, unruled: allow }"], drain: 3_600)
            let watcher = try LoopbackSocket(.stream, port: gateway.port)
            let lines = [
                "SUBSCRIBE \(Self.alice) SIP/2.0", "Via: SIP/2.0/TCP 127.0.0.1:\(watcher.port);branch=z9hG4bKw", "Max-Forwards: 70",
                "From: <sip:bob@example.com>;tag=w", "To: <\(Self.alice)>", "Call-ID: w", "CSeq: 1 SUBSCRIBE", "Event: presence",
                "Accept: application/pidf+xml", "Expires: 600", "Contact: <sip:bob@127.0.0.1:\(watcher.port);transport=tcp>",
                "Content-Length: 0", "", "",
            ]
            watcher.send(Array(lines.joined(separator: "\r\n").utf8))
            #expect(watcher.receive(until: "\r\nSubscription-State: active").contains("SIP/2.0 200"))
            #expect(await gateway.stop() == 0, "it waits for nobody for an hour: \(gateway.log.suffix(2_000))")
            scratch.remove()
        }
    }
}
