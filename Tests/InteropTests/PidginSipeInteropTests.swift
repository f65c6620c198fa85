import Foundation
import GatewayTesting
import ScriptedPeers
import Testing

extension RealSockets {
    /// Home server for a real enhanced presence client: pidgin-sipe, run by finch. Its view and its publications are compared with those of
    /// independent SIMPLE programs.
    @Suite struct PidginSipeInteropTests {
        private let alice = "sip:alice@contoso.com"
        private let bob = "sip:bob@contoso.com"
        private let dave = "sip:dave@example.org"
        private let carol = "sip:carol@example.com"
        private let erin = "sip:erin@example.com"

        @Test("pidgin-sipe signs in, keeps its contacts at the server, sees both sides, is seen, blocks, and signs out")
        func finchAmongSimplePeers() async throws {
            let scratch = try ScratchDirectory("finch")
            let kamailio = try await Kamailio(in: scratch, transport: "udp")
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "contoso.com: { side: enterprise, hosted: true, network: sameEnterprise, peers: [ 127.0.0.1 ] }",
                    "example.org: { side: simple, route: \"udp:127.0.0.1:\(kamailio.port)\" }",
                    "example.com: { side: simple, route: \"udp:127.0.0.1:9\" }",
                ])
            let davesPhone = SIPpPublisher(presentity: dave, port: kamailio.port, transport: "udp", scratch: scratch, named: "dave")
            let bobsPhone = SIPpPublisher(presentity: bob, port: gateway.port, transport: "udp", scratch: scratch, named: "bob")
            try await davesPhone.publish(.busy)
            try await bobsPhone.publish(.away)
            let watcher = try follower(carol, at: gateway, in: scratch)
            let neighbour = try follower(erin, at: gateway, in: scratch)
            #expect(await watcher.shows("closed"), "\(watcher.account)\n\(gateway.log.suffix(6000))")

            try await contactsAreStored(gateway, in: scratch)

            // A fresh installation: contacts, groups and presence come from the server.
            let finch = try await Finch(user: "alice@contoso.com", server: gateway.port, named: "second", in: scratch)
            func account() -> String {
                "\(finch.account)\ncarol's messages:\n\(watcher.messages.suffix(6000))\n\(gateway.log.suffix(8000))"
            }
            #expect(await finch.signsIn(), "\(account())")
            #expect(await finch.sees(bob, "away"), "\(account())")
            #expect(await finch.sees(dave, "busy"), "\(account())")
            #expect(try await finch.contact(bob)?.group == "Colleagues", "\(account())")
            #expect(try await finch.contact(dave)?.group == "Partners", "\(account())")
            try await davesPhone.publish(.closed)
            #expect(await finch.sees(dave, "offline"), "\(account())")
            try await davesPhone.publish(.open)
            #expect(await finch.sees(dave, "available"), "\(account())")
            try await bobsPhone.publish(.busy)
            #expect(await finch.sees(bob, "busy"), "\(account())")

            // Three changes, watched as PIDF from another domain.
            #expect(await watcher.shows("open"), "\(account())")
            for (status, activity) in [("busy", "busy"), ("away", "away"), ("be-right-back", "away"), ("available", nil)] {
                try await finch.show(status)
                #expect(await watcher.shows("open", activity), "\(status): \(account())")
            }

            // A block: the watcher sees alice leave, and none of her later changes.
            try await finch.block(carol)
            #expect(await watcher.shows("closed"), "\(account())")
            try await finch.show("busy")
            #expect(await neighbour.shows("open", "busy"), "\(account())")
            #expect(watcher.pidfs.last?.basic == "closed", "\(account())")
            try await finch.unblock(carol)
            #expect(await watcher.shows("open", "busy"), "\(account())")

            #expect(try await finch.signOut(), "\(account())")
            #expect(await watcher.shows("closed"), "\(account())")
            #expect(await finch.quit() == 0, "\(account())")
            for watcher in [watcher, neighbour] { await watcher.stop() }
            #expect(await gateway.stop() == 0, "\(gateway.log.suffix(6000))")
            await kamailio.stop()
            scratch.remove()
        }

        private func follower(_ watcher: String, at gateway: IsthmusProgram, in scratch: ScratchDirectory) throws -> SIPp {
            let name = String(watcher.dropFirst("sip:".count).prefix { $0 != "@" })
            return try SIPp(
                "pidf-follower", name: name, to: gateway.port, transport: "udp",
                keys: ["presentity": alice, "watcher": watcher, "accept": "application/pidf+xml"], limit: 240, in: scratch)
        }

        /// Alice signs in for the first time, adds two contacts and signs out.
        private func contactsAreStored(_ gateway: IsthmusProgram, in scratch: ScratchDirectory) async throws {
            let finch = try await Finch(user: "alice@contoso.com", server: gateway.port, named: "first", in: scratch)
            #expect(await finch.signsIn(), "\(finch.account)\n\(gateway.log.suffix(6000))")
            try await finch.add(bob, to: "Colleagues")
            #expect(await finch.sees(bob, "away"), "\(finch.account)\n\(gateway.log.suffix(6000))")
            try await finch.add(dave, to: "Partners")
            #expect(await finch.sees(dave, "busy"), "\(finch.account)\n\(gateway.log.suffix(6000))")
            #expect(try await finch.signOut(), "\(finch.account)")
            #expect(await finch.quit() == 0, "\(finch.account)")
        }
    }
}

extension SIPp {
    /// Waits until the newest PIDF has this basic status and this activity; without `activity` it must have none.
    func shows(_ basic: String, _ activity: String? = nil, within seconds: Double = 30) async -> Bool {
        await eventually(within: seconds) {
            guard let last = pidfs.last else { return false }
            return last.basic == basic && (basic == "closed" || last.activities == Set(activity.map { [$0] } ?? []))
        }
    }
}
