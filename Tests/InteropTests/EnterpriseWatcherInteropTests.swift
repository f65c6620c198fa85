import Foundation
import GatewayTesting
import ScriptedPeers
import Testing

extension RealSockets {
    /// F2 with real peers: SIPp as a watcher of the enhanced presence model, Kamailio as the presence server of example.org.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.kamailio, PeerPrograms.sipp, PeerPrograms.tshark), "peers absent"))
    struct EnterpriseWatcherInteropTests {
        @Test("MS-PRES 3.4.5.1.1 single category SUBSCRIBE for a presentity at Kamailio", arguments: ["udp", "tcp"])
        func categoriesFromKamailio(transport: String) async throws {
            let scratch = try ScratchDirectory("f2-\(transport)")
            let alice = "sip:alice@example.org"
            let kamailio = try await Kamailio(in: scratch, transport: transport)
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"\(transport):127.0.0.1:\(kamailio.port)\" }",
                    "contoso.com: { side: enterprise, route: \"\(transport):127.0.0.1:9\" }",
                ])
            let capture = try await Tshark(ports: [kamailio.port, gateway.port], in: scratch)
            let publisher = SIPpPublisher(presentity: alice, port: kamailio.port, transport: transport, scratch: scratch)
            try await publisher.publish(.open)
            let watcher = try SIPp(
                "category-watcher", name: "watcher", to: gateway.port, transport: transport,
                keys: ["presentity": alice, "watcher": "sip:bob@contoso.com"], in: scratch)

            #expect(await watcher.reaches("available"), "\(watcher.account)\n\(gateway.log)")
            try await publisher.publish(.busy)
            #expect(await watcher.reaches("busy"), "\(watcher.account)\n\(gateway.log)")
            // SIPp cannot receive a NOTIFY while it sends a SUBSCRIBE, so the next change follows the refresh.
            #expect(await watcher.reaches("refreshed"), "\(watcher.account)")
            try await publisher.publish(.onThePhone)
            try await publisher.publish(.closed)
            #expect(await watcher.reaches("offline"), "\(watcher.account)\n\(gateway.log)")
            #expect(await watcher.succeeds(), "\(watcher.account)\n\(gateway.log)")

            // Check the content of the documents too.
            let seen = watcher.categories
            #expect(seen.allSatisfy { $0.entity == alice })
            #expect(seen.contains { $0.availability == 3500 })
            #expect(seen.contains { $0.availability == 6500 && $0.notes == ["busy now"] })
            #expect(seen.contains { $0.activityToken == "on-the-phone" })
            #expect(seen.last { $0.availability != nil }?.availability == 18_500)
            #expect(watcher.bodies.first?.contains("resourceList") == true, "the first notification comes in the 200 as multipart/related")

            let verdict = try await capture.verdict()
            #expect(verdict.faults == [])
            #expect(Set(verdict.methods).isSuperset(of: ["SUBSCRIBE", "NOTIFY", "PUBLISH"]))
            #expect(verdict.messages >= 30)
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
            scratch.remove()
        }

        @Test("RFC 6665 4.1.2.2: a bridge outlives the restart of a Kamailio that forgets everything")
        func restartOfKamailio() async throws {
            let alice = "sip:alice@example.org"
            let scratch = try ScratchDirectory("forgets")
            let kamailio = try await Kamailio(in: scratch, transport: "udp")
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"udp:127.0.0.1:\(kamailio.port)\", expires: { minimum: 10, default: 15 } }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\" }",
                ])
            try await SIPpPublisher(presentity: alice, port: kamailio.port, transport: "udp", scratch: scratch).publish(.busy)
            let watcher = try SIPp(
                "batch-watcher", name: "watcher", to: gateway.port, transport: "udp",
                keys: ["watcher": "sip:bob@contoso.com", "resources": "<resource uri=\"\(alice)\"/>"], limit: 100, in: scratch)
            func shows(_ availability: Int) async -> Bool {
                await eventually(within: 30) { watcher.categories.last { $0.entity == alice }?.availability == availability }
            }
            #expect(await shows(6_500), "\(watcher.account)\n\(gateway.log)")
            await kamailio.stop()
            let successor = try await Kamailio(in: scratch, transport: "udp", port: kamailio.port)
            try await SIPpPublisher(presentity: alice, port: successor.port, transport: "udp", scratch: scratch, named: "again")
                .publish(.away)
            #expect(await shows(15_500), "\(watcher.account)\n\(gateway.log)")
            await watcher.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await successor.stop()
            scratch.remove()
        }

        @Test("RFC 6665 4.1.2.2: a Kamailio that forgets everything while bridged, at default lifetimes: the right state within 10 s")
        func restartOfKamailioAtDefaultLifetimes() async throws {
            let alice = "sip:alice@example.org"
            let scratch = try ScratchDirectory("forgets-default")
            let kamailio = try await Kamailio(in: scratch, transport: "tcp")
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"tcp:127.0.0.1:\(kamailio.port)\" }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\" }",
                ])
            try await SIPpPublisher(presentity: alice, port: kamailio.port, transport: "tcp", scratch: scratch).publish(.busy)
            let watcher = try SIPp(
                "batch-watcher", name: "watcher", to: gateway.port, transport: "udp",
                keys: ["watcher": "sip:bob@contoso.com", "resources": "<resource uri=\"\(alice)\"/>"], limit: 100, in: scratch)
            func shows(_ availability: Int, within seconds: Double) async -> Bool {
                await eventually(within: seconds) { watcher.categories.last { $0.entity == alice }?.availability == availability }
            }
            #expect(await shows(6_500, within: 30), "\(watcher.account)\n\(gateway.log)")
            await kamailio.stop()
            let successor = try await Kamailio(in: scratch, transport: "tcp", port: kamailio.port)
            try await SIPpPublisher(presentity: alice, port: successor.port, transport: "tcp", scratch: scratch, named: "again")
                .publish(.away)
            #expect(await shows(15_500, within: 10), "\(watcher.account)\n\(gateway.log)")
            await watcher.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await successor.stop()
            scratch.remove()
        }
    }
}

extension SIPp {
    /// The categories documents received so far, from multipart bodies and bare ones.
    var categories: [ObservedPresence] {
        messages.components(separatedBy: "<categories").dropFirst().compactMap { tail in
            guard let end = tail.range(of: "</categories>") else { return nil }
            return try? ObservedPresence(Array(("<categories" + tail[..<end.upperBound]).utf8))
        }
    }

    /// The PIDF documents received so far.
    var pidfs: [ObservedPresence] {
        bodies.compactMap { try? ObservedPresence(Array($0.utf8)) }.filter { $0.basic != nil || !$0.activities.isEmpty }
    }
}
