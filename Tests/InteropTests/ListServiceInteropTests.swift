import Foundation
import GatewayTesting
import ScriptedPeers
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

        @Test("RFC 4662: three contacts at Kamailio are one list subscription; who lets the watcher wait is seen as soon as he lets him in")
        func listAtKamailio() async throws {
            let service = try await Service("lists", watcher: bob, allowing: [alice], blockingPolitely: [carol])
            // dave has no rules: Kamailio leaves watchers of dave pending.
            try service.kamailio.setList("sip:bob-list@example.org", of: bob, members: [alice, carol, dave])
            for presentity in [alice, carol, dave] { try await service.publish(.busy, for: presentity) }
            let capture = try await Tshark(ports: [service.kamailio.port], in: service.scratch)
            let gateway = try await service.gateway("watcher-list: \"sip:{user}-list@example.org\"")
            let watcher = try service.watch([alice, carol, dave], as: bob, through: gateway)

            #expect(await shows(watcher, alice, 6_500), "\(watcher.account)\n\(gateway.log)")
            try await service.publish(.away, for: alice)
            #expect(await shows(watcher, alice, 15_500), "\(watcher.account)\n\(gateway.log)")
            try service.kamailio.setRule("allow", for: bob, of: dave)
            #expect(await shows(watcher, dave, 6_500), "\(watcher.account)\n\(gateway.log)")
            #expect(states(watcher, carol).allSatisfy { $0 == 18_500 }, "who blocks politely shows nothing")
            await watcher.stop()

            let verdict = try await capture.verdict()
            #expect(verdict.faults == [])
            let asked = gateway.log.components(separatedBy: "subscribing upstream").count - 1
            #expect(asked == 1, "one list subscription for three presentities: \(gateway.log)")
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await service.stop()
        }

        @Test("RFC 5025: polite block, pending and allow at Kamailio arrive, also when they change while bridged")
        func rulesAtKamailio() async throws {
            let service = try await Service("rules", watcher: bob, allowing: [alice], blockingPolitely: [carol])
            for presentity in [alice, carol, dave] { try await service.publish(.busy, for: presentity) }
            let gateway = try await service.gateway("partial: true")
            let watcher = try service.watch([alice, carol, dave], as: bob, through: gateway)

            #expect(await shows(watcher, alice, 6_500), "\(watcher.account)\n\(gateway.log)")
            #expect(await shows(watcher, carol, 18_500), "\(watcher.account)\n\(gateway.log)")
            // Later changes of alice are hidden from bob.
            try service.kamailio.setRule("polite-block", for: bob, of: alice)
            #expect(await shows(watcher, alice, 18_500), "\(watcher.account)\n\(gateway.log)")
            try await service.publish(.away, for: alice)
            try service.kamailio.setRule("allow", for: bob, of: dave)
            #expect(await shows(watcher, dave, 6_500), "\(watcher.account)\n\(gateway.log)")
            #expect(states(watcher, alice).last == 18_500)
            #expect(states(watcher, carol).allSatisfy { $0 == 18_500 })
            await watcher.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await service.stop()
        }

        /// Kamailio with rules and lists, its database, and the publishers.
        private final class Service {
            let scratch: ScratchDirectory
            let kamailio: Kamailio
            private let database: PostgreSQL
            private var publishers: [String: SIPpPublisher] = [:]

            init(_ name: String, watcher: String, allowing: [String], blockingPolitely: [String]) async throws {
                scratch = try ScratchDirectory(name)
                database = try await PostgreSQL(in: scratch)
                try await Kamailio.makeTables(in: database)
                kamailio = try await Kamailio(in: scratch, transport: "tcp", database: database)
                for presentity in allowing { try kamailio.setRule("allow", for: watcher, of: presentity) }
                for presentity in blockingPolitely { try kamailio.setRule("polite-block", for: watcher, of: presentity) }
            }

            func publish(_ state: PublishedState, for presentity: String) async throws {
                let user = presentity.dropFirst("sip:".count).prefix { $0 != "@" }
                let publisher =
                    publishers[presentity]
                    ?? SIPpPublisher(
                        presentity: presentity, port: kamailio.port, transport: "tcp", scratch: scratch, named: "publish-\(user)")
                publishers[presentity] = publisher
                try await publisher.publish(state)
            }

            func gateway(_ setting: String) async throws -> IsthmusProgram {
                try await IsthmusProgram(
                    in: scratch,
                    domains: [
                        "example.org: { side: simple, route: \"tcp:127.0.0.1:\(kamailio.port)\", \(setting) }",
                        "contoso.com: { side: enterprise, network: sameEnterprise, route: \"tcp:127.0.0.1:9\" }",
                    ])
            }

            func watch(_ presentities: [String], as watcher: String, through gateway: IsthmusProgram) throws -> SIPp {
                try SIPp(
                    "batch-watcher", name: "watcher", to: gateway.port, transport: "tcp",
                    keys: ["watcher": watcher, "resources": presentities.map { "<resource uri=\"\($0)\"/>" }.joined()], limit: 150,
                    in: scratch)
            }

            func stop() async {
                await kamailio.stop()
                await database.stop()
                scratch.remove()
            }
        }

        private func states(_ watcher: SIPp, _ presentity: String) -> [Int] {
            watcher.categories.filter { $0.entity == presentity }.compactMap(\.availability)
        }

        /// Waits until the last state of a presentity has this availability.
        private func shows(_ watcher: SIPp, _ presentity: String, _ availability: Int, within seconds: Double = 30) async -> Bool {
            await eventually(within: seconds) { states(watcher, presentity).last == availability }
        }
    }
}
