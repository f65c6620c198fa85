import Foundation
import GatewayTesting
import Testing

extension RealSockets {
    /// F2 against a presence service with rules and lists: Kamailio with RLS and XCAP over PostgreSQL.
    @Suite(
        .enabled(
            if: PeerPrograms.areReady(PeerPrograms.kamailio, PeerPrograms.sipp, PeerPrograms.tshark, PeerPrograms.postgres), "peers absent")
    )
    struct ListServiceInteropTests {
        private let bob = "sip:bob@contoso.com"
        private let alice = "sip:alice@example.org"
        private let carol = "sip:carol@example.org"
        private let dave = "sip:dave@example.org"

        @Test(
            "RFC 4662: a batch watcher's contacts at Kamailio are one list subscription; who blocks politely is offline, who has not answered is pending"
        )
        func listAtKamailio() async throws {
            let scratch = try ScratchDirectory("lists")
            let database = try await PostgreSQL(in: scratch)
            try await Kamailio.makeTables(in: database)
            let kamailio = try await Kamailio(in: scratch, transport: "tcp", database: database)
            try kamailio.setRule("allow", for: bob, of: alice)
            try kamailio.setRule("polite-block", for: bob, of: carol)
            // dave has no rules: Kamailio lets his watchers wait.
            try kamailio.setList("sip:bob-list@example.org", of: bob, members: [alice, carol, dave])
            let publishers = [alice, carol, dave].map {
                SIPpPublisher(
                    presentity: $0, port: kamailio.port, transport: "tcp", scratch: scratch,
                    named: "publish-\($0.dropFirst(4).prefix { $0 != "@" })")
            }
            for publisher in publishers { try await publisher.publish(.busy) }
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"tcp:127.0.0.1:\(kamailio.port)\", watcher-list: \"sip:{user}-list@example.org\" }",
                    "contoso.com: { side: enterprise, network: sameEnterprise, route: \"tcp:127.0.0.1:9\" }",
                ])
            let capture = try await Tshark(ports: [kamailio.port], in: scratch)
            let watcher = try SIPp(
                "batch-watcher", name: "watcher", to: gateway.port, transport: "tcp",
                keys: ["watcher": bob, "resources": [alice, carol, dave].map { "<resource uri=\"\($0)\"/>" }.joined()], limit: 150,
                in: scratch)

            #expect(await shows(watcher, alice, 6_500), "\(watcher.account)\n\(gateway.log)")
            #expect(await shows(watcher, carol, 18_500), "\(watcher.account)\n\(gateway.log)")
            try await publishers[0].publish(.away)
            #expect(await shows(watcher, alice, 15_500), "\(watcher.account)\n\(gateway.log)")
            // The rule changes while bridged; what alice does afterwards is not bob's to know.
            try kamailio.setRule("polite-block", for: bob, of: alice)
            #expect(await shows(watcher, alice, 18_500), "\(watcher.account)\n\(gateway.log)")
            try await publishers[0].publish(.busy)
            // And dave lets him in.
            try kamailio.setRule("allow", for: bob, of: dave)
            #expect(await shows(watcher, dave, 6_500), "\(watcher.account)\n\(gateway.log)")
            #expect(states(watcher, carol).allSatisfy { $0 == 18_500 })
            #expect(states(watcher, alice).last == 18_500)
            await watcher.stop()

            let verdict = try await capture.verdict()
            #expect(verdict.faults == [])
            let asked = gateway.log.components(separatedBy: "subscribing upstream").count - 1
            #expect(asked == 1, "one list subscription for three presentities: \(gateway.log)")
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
            await database.stop()
            scratch.remove()
        }

        @Test("RFC 6665 4.1.2.2: a bridge outlives the restart of a Kamailio that forgets everything")
        func restartOfKamailio() async throws {
            let scratch = try ScratchDirectory("forgets")
            let kamailio = try await Kamailio(in: scratch, transport: "udp")
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"udp:127.0.0.1:\(kamailio.port)\", expires: { default: 60 } }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\" }",
                ])
            try await SIPpPublisher(presentity: alice, port: kamailio.port, transport: "udp", scratch: scratch).publish(.busy)
            let watcher = try SIPp(
                "batch-watcher", name: "watcher", to: gateway.port, transport: "udp",
                keys: ["watcher": bob, "resources": "<resource uri=\"\(alice)\"/>"], limit: 150, in: scratch)
            #expect(await shows(watcher, alice, 6_500), "\(watcher.account)\n\(gateway.log)")
            await kamailio.stop()
            let successor = try await Kamailio(in: scratch, transport: "udp", port: kamailio.port)
            try await SIPpPublisher(presentity: alice, port: successor.port, transport: "udp", scratch: scratch, named: "again")
                .publish(.away)
            #expect(await shows(watcher, alice, 15_500, within: 75), "\(watcher.account)\n\(gateway.log)")
            await watcher.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await successor.stop()
            scratch.remove()
        }

        private func states(_ watcher: SIPp, _ presentity: String) -> [Int] {
            watcher.categories.filter { $0.entity == presentity }.compactMap(\.availability)
        }

        /// Waits until the last state of a presentity is this one.
        private func shows(_ watcher: SIPp, _ presentity: String, _ availability: Int, within seconds: Double = 30) async -> Bool {
            await eventually(within: seconds) { states(watcher, presentity).last == availability }
        }
    }
}
