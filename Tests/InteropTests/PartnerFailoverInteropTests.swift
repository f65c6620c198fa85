import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing

extension RealSockets {
    /// A partner with two real servers in its SRV records, one of which fails during subscriptions.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.nsd, PeerPrograms.kamailio, PeerPrograms.sipp), "peers absent"))
    struct PartnerFailoverInteropTests {
        private static let alice = "sip:alice@example.org"

        @Test(
            "RFC 3263 4.3: the Kamailio that serves the subscriptions is killed; the other of its SRV set takes them")
        func failover() async throws {
            let scratch = try ScratchDirectory("failover")
            let first = try await Kamailio(in: ScratchDirectory("first", inside: scratch), transport: "tcp")
            let second = try await Kamailio(in: ScratchDirectory("second", inside: scratch), transport: "tcp")
            let zone = """
                @ IN NAPTR 10 10 "s" "SIP+D2T" "" _sip._tcp
                _sip._tcp IN SRV 10 0 \(first.port) first
                _sip._tcp IN SRV 20 0 \(second.port) second
                first IN A 127.0.0.1
                second IN A 127.0.0.1
                """
            let names = try await Nsd(["example.org": zone], in: scratch)
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, discover: true, peers: [ 127.0.0.1 ] }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\", peers: [ 127.0.0.1 ] }",
                ], settings: [names.settings, "admin: { socket: ./isthmus.sock }"])
            for (name, kamailio, state) in [("first", first, PublishedState.open), ("second", second, .busy)] {
                try await SIPpPublisher(presentity: Self.alice, port: kamailio.port, transport: "udp", scratch: scratch, named: name)
                    .publish(state)
            }
            let stage = LoopbackStage(seed: 81)
            var watchers: [EnhancedWatcher] = []
            for index in 0..<5 {
                let watcher = EnhancedWatcher(
                    name: "dana\(index)", watcher: "sip:dana\(index)@contoso.com", presentity: Self.alice,
                    address: try stage.place("dana\(index)", .tcp), nextHop: TransportAddress(.tcp, "127.0.0.1", gateway.port),
                    seed: UInt64(81 + index))
                watcher.form = .categories(["state", "note"])
                try await stage.attach(watcher, name: watcher.name, at: watcher.address)
                watchers.append(watcher)
            }
            let all = watchers
            try await stage.act { now in for watcher in all { watcher.subscribe(expires: 3_600, at: now) } }
            #expect(
                try await stage.wait(atMost: .seconds(30)) { all.allSatisfy { $0.presence?.notes == ["open now"] } },
                "\(stage.account)\n\(gateway.log.suffix(3_000))")

            // The second server accepts connections and sends nothing: the known state is unconfirmed.
            second.pause()
            await first.kill()
            var (partners, subscriptions) = ("", "")
            for _ in 0..<100 where !partners.contains("unverified since") || !subscriptions.contains("unverified since") {
                partners = try await gateway.run(["partners"])
                subscriptions = try await gateway.run(["subscriptions"])
            }
            #expect(partners.contains("unverified since"), "\(partners)\n\(gateway.log.suffix(3_000))")
            #expect(subscriptions.contains("unverified since"), "\(subscriptions)\n\(gateway.log.suffix(3_000))")
            second.resume()
            #expect(
                try await stage.wait(atMost: .seconds(30)) { all.allSatisfy { $0.presence?.notes == ["busy now"] } },
                "\(stage.account)\n\(gateway.log.suffix(3_000))")
            for command in ["partners", "subscriptions"] {
                let printed = try await gateway.run([command])
                #expect(!printed.contains("unverified since"), "\(printed)")
            }
            #expect(try await stage.look { all.allSatisfy { $0.phase == .live && $0.staleNotifications == 0 && $0.faults.isEmpty } })
            #expect(gateway.log.contains("next hop is down"), "\(gateway.log.suffix(3_000))")
            await stage.finish()
            #expect(await gateway.stop() == 0, "\(gateway.log.suffix(2_000))")
            await second.stop()
            await names.stop()
            scratch.remove()
        }
    }
}
