import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing

extension RealSockets {
    /// Partners without configured servers: the program looks them up at a real DNS server.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.nsd, PeerPrograms.kamailio, PeerPrograms.sipp), "peers absent"))
    struct DiscoveryInteropTests {
        @Test("RFC 3263 4: a presentity is watched at a Kamailio that NAPTR, SRV and A lead to, the server before it being dead")
        func failover() async throws {
            let alice = "sip:alice@example.org"
            let scratch = try ScratchDirectory("discovery")
            let kamailio = try await Kamailio(in: scratch, transport: "tcp")
            let dead = try Loopback.freePort()
            let zone = """
                @ IN NAPTR 20 10 "s" "SIP+D2U" "" _sip._udp
                @ IN NAPTR 10 10 "s" "SIP+D2T" "" _sip._tcp
                _sip._tcp IN SRV 20 0 \(kamailio.port) second
                _sip._tcp IN SRV 10 0 \(dead) first
                _sip._udp IN SRV 10 0 \(dead) first
                first IN A 127.0.0.1
                second IN A 127.0.0.1
                """
            let names = try await Nsd(["example.org": zone], in: scratch)
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, discover: true, peers: [ 127.0.0.1 ] }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\", peers: [ 127.0.0.1 ] }",
                ], settings: [names.settings])
            let printed = try await gateway.run(["route", alice, "--dns"])
            let servers = printed.split(separator: "\n").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(servers.count == 3, "\(printed)")
            #expect(servers[0].hasPrefix("1. tcp:127.0.0.1:\(dead), TTL 60 s, by "), "\(printed)")
            #expect(servers[1].hasPrefix("2. tcp:127.0.0.1:\(kamailio.port), TTL 60 s, by "), "\(printed)")

            let publisher = SIPpPublisher(presentity: alice, port: kamailio.port, transport: "udp", scratch: scratch)
            try await RealSockets.followThreeStates(of: publisher, at: gateway, in: scratch)
            let down = gateway.log.split(separator: "\n").filter { $0.contains("next hop is down") }
            #expect(!down.isEmpty && down.allSatisfy { $0.contains("tcp:127.0.0.1:\(dead)") }, "\(gateway.log.suffix(3_000))")
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
            await names.stop()
            scratch.remove()
        }

        @Test("MS-SIPRE: two enterprises that know nothing of each other but their names federate by _sipfederationtls._tcp and mutual TLS")
        func openFederation() async throws {
            let scratch = try ScratchDirectory("open-federation")
            let certificates = try await PartnerCertificates(in: scratch)
            let ports = ["contoso": try Loopback.freePort(), "fabrikam": try Loopback.freePort()]
            var zones: [String: String] = [:]
            for (name, port) in ports {
                zones["\(name).com"] = "_sipfederationtls._tcp IN SRV 0 0 \(port) sip.\(name).com.\nsip IN A 127.0.0.1"
            }
            // A third domain; its records name another company's server.
            zones["fabrikam.net"] = "_sipfederationtls._tcp IN SRV 0 0 \(ports["contoso"] ?? 0) sip\nsip IN A 127.0.0.1"
            let names = try await Nsd(zones, in: scratch)
            var gateways: [String: IsthmusProgram] = [:]
            for (name, port) in ports {
                gateways[name] = try await IsthmusProgram(
                    in: try ScratchDirectory(name, inside: scratch),
                    domains: [
                        "\(name).com: { side: enterprise, hosted: true, peers: [ 127.0.0.1 ] }",
                        "\"*\": { side: enterprise, discover: true }",
                    ],
                    node: "edge.\(name).com", secure: true, securePort: port, settings: [certificates.settings(name), names.settings])
            }
            let (contoso, fabrikam) = (try #require(gateways["contoso"]), try #require(gateways["fabrikam"]))
            let stage = LoopbackStage(seed: 61)
            let bob = CategoryPublisher(
                name: "bob", presentity: "sip:bob@contoso.com", address: try stage.place("bob", .tcp),
                nextHop: TransportAddress(.tcp, "127.0.0.1", contoso.port), seed: 61)
            func watcher(of presentity: String, _ seed: UInt64) throws -> EnhancedWatcher {
                let watcher = EnhancedWatcher(
                    name: "dana", watcher: "sip:dana@fabrikam.com", presentity: presentity, address: try stage.place("dana", .tcp),
                    nextHop: TransportAddress(.tcp, "127.0.0.1", fabrikam.port), seed: seed)
                watcher.form = .categories(["state"])
                return watcher
            }
            let dana = try watcher(of: "sip:bob@contoso.com", 62)
            let misled = try watcher(of: "sip:eve@fabrikam.net", 63)
            for peer in [bob, dana, misled] as [SIPPeer] { try await stage.attach(peer, name: peer.name, at: peer.address) }
            let states = Array(try GoldenState.all().prefix(4))
            try await stage.act { now in dana.subscribe(at: now) }
            #expect(try await stage.wait(atMost: .seconds(20)) { dana.phase == .live }, "\(stage.account)\n\(fabrikam.log.suffix(2_000))")
            for state in states {
                try await stage.act { now in
                    bob.publish([0, 100, 200, 300, 400].map { .init("state", instance: 1, container: $0, body: state.text) }, at: now)
                }
                let arrives = try await stage.wait(atMost: .seconds(20)) {
                    let element = dana.notifications.last.flatMap { GoldenState.stateElement(in: String(decoding: $0.body, as: UTF8.self)) }
                    return element.map { GoldenState.facts(of: $0) } == state.facts && bob.awaited == 0
                }
                #expect(arrives, "\(state.name)\n\(stage.account)\n\(contoso.log.suffix(2_000))")
            }
            // The server belongs to contoso and proves that name, so no request for fabrikam.net is sent to it.
            try await stage.act { now in misled.poll(at: now) }
            #expect(await eventually(within: 20) { fabrikam.log.contains("expected=sip.fabrikam.net") }, "\(fabrikam.log.suffix(2_000))")
            #expect(fabrikam.log.contains("kind=wrong-name"))
            #expect(!contoso.log.contains("fabrikam.net"), "\(contoso.log.suffix(2_000))")
            let printed = try await fabrikam.run(["route", "sip:bob@contoso.com", "--dns"])
            #expect(printed.contains("1. tls:127.0.0.1:\(ports["contoso"] ?? 0), proves sip.contoso.com"), "\(printed)")
            await stage.finish()
            for gateway in [contoso, fabrikam] { #expect(await gateway.stop() == 0, "\(gateway.log.suffix(2_000))") }
            await names.stop()
            scratch.remove()
        }
    }
}
