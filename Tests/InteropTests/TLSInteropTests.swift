import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing

extension RealSockets {
    /// Kamailio as a partner over mutual TLS (RFC 5922), with a temporary authority.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.kamailio, PeerPrograms.sipp), "peers absent"))
    struct TLSInteropTests {
        private let alice = "sip:alice@example.org"

        /// Starts a gateway with the certificate of example.net and a route to Kamailio.
        private func gateway(in scratch: ScratchDirectory, _ certificates: PartnerCertificates, toward kamailio: Kamailio) async throws
            -> IsthmusProgram
        {
            try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"tls:127.0.0.1:\(kamailio.securePort)\" }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\" }",
                ],
                secure: true,
                settings: [certificates.settings("example")])
        }

        @Test("RFC 5922 7: a presentity at Kamailio is watched over mutual TLS, requests of both sides included")
        func mutual() async throws {
            let scratch = try ScratchDirectory("tls")
            defer { scratch.remove() }
            let certificates = try await PartnerCertificates(in: scratch)
            let kamailio = try await Kamailio(
                in: scratch, transport: "tls",
                certificate: (certificates.certificate("example-org"), certificates.roots))
            let gateway = try await gateway(in: scratch, certificates, toward: kamailio)
            let publisher = SIPpPublisher(presentity: alice, port: kamailio.port, transport: "udp", scratch: scratch)
            let watcher = try await RealSockets.followThreeStates(of: publisher, at: gateway, in: scratch)
            #expect(watcher.categories.contains { $0.availability == 6500 })
            #expect(!gateway.log.contains("TLS handshake failed"), "\(gateway.log)")
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
        }

        @Test(
            "RFC 8446 6.2: OpenSSL's client reads the alert certificate_unknown, whatever rule refuses its certificate",
            arguments: ["expired", "foreign", "wrong-name"])
        func alert(certificate name: String) async throws {
            let scratch = try ScratchDirectory("tls-alert")
            defer { scratch.remove() }
            let certificates = try await PartnerCertificates(in: scratch)
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"tls:127.0.0.1:9\" }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\" }",
                ], secure: true, settings: [certificates.settings("example")])
            let line = try SecureLine(
                to: gateway.securePort, as: name, of: certificates, saying: "\r\n", named: "refused", in: scratch)
            #expect(
                await eventually(within: 10) {
                    line.errors.contains("alert certificate unknown") && line.errors.contains("alert number 46")
                },
                "\(line.errors)")
            #expect(await eventually(within: 10) { gateway.log.contains("TLS handshake failed") }, "\(gateway.log)")
            await line.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log)")
        }

        @Test("RFC 5922 7: two gateways federate over mutual TLS, and renewed certificates on SIGHUP interrupt nobody")
        func renewal() async throws {
            let scratch = try ScratchDirectory("tls-pair")
            defer { scratch.remove() }
            let certificates = try await PartnerCertificates(in: scratch)
            let ports = (try Loopback.freePort(), try Loopback.freePort())
            func edge(_ home: String, _ away: String, at port: Int, toward other: Int) async throws -> (IsthmusProgram, ScratchDirectory) {
                let place = try ScratchDirectory("tls-\(home)")
                return (
                    try await IsthmusProgram(
                        in: place,
                        domains: [
                            "\(home).com: { side: enterprise, hosted: true }",
                            "\(away).com: { side: simple, route: \"tls:127.0.0.1:\(other)\", lossless: true }",
                        ],
                        node: "edge.\(home).com", secure: true, securePort: port,
                        settings: [certificates.settings(home)]), place
                )
            }
            let (first, firstAddress) = try await edge("contoso", "fabrikam", at: ports.0, toward: ports.1)
            defer { firstAddress.remove() }
            let (second, secondAddress) = try await edge("fabrikam", "contoso", at: ports.1, toward: ports.0)
            defer { secondAddress.remove() }
            let stage = LoopbackStage(seed: 31)
            let bob = CategoryPublisher(
                name: "bob", presentity: "sip:bob@contoso.com", address: try stage.place("bob", .tcp),
                nextHop: TransportAddress(.tcp, "127.0.0.1", first.port), seed: 31)
            let dana = EnhancedWatcher(
                name: "dana", watcher: "sip:dana@fabrikam.com", presentity: "sip:bob@contoso.com", address: try stage.place("dana", .tcp),
                nextHop: TransportAddress(.tcp, "127.0.0.1", second.port), seed: 32)
            dana.form = .categories(["state"])
            try await stage.attach(bob, name: "bob", at: bob.address)
            try await stage.attach(dana, name: "dana", at: dana.address)
            try await stage.act { now in dana.subscribe(at: now) }
            #expect(try await stage.wait(atMost: .seconds(20)) { dana.phase == .live }, "\(stage.account)\n\(second.log.suffix(2_000))")
            let states = Array(try GoldenState.all().prefix(12))
            for (index, state) in states.enumerated() {
                if index == 4 {
                    try certificates.replace("contoso", by: "renewed")
                    first.reload()
                    second.reload()
                }
                try await stage.act { now in
                    bob.publish([0, 100, 200, 300, 400].map { .init("state", instance: 1, container: $0, body: state.text) }, at: now)
                }
                let arrives = try await stage.wait(atMost: .seconds(20)) {
                    dana.notifications.last.map { Self.facts(of: $0.body) } == state.facts && bob.awaited == 0
                }
                #expect(arrives, "\(state.name)\n\(second.log.suffix(2_000))")
            }
            #expect(await eventually(within: 10) { [first, second].allSatisfy { $0.log.contains("configuration reloaded") } })
            for edge in [first, second] { #expect(!edge.log.contains("TLS handshake failed"), "\(edge.log.suffix(2_000))") }
            await stage.finish()
            for edge in [first, second] { #expect(await edge.stop() == 0, "\(edge.log.suffix(2_000))") }
        }

        private static func facts(of body: [UInt8]) -> Set<String> {
            GoldenState.stateElement(in: String(decoding: body, as: UTF8.self)).map { GoldenState.facts(of: $0) } ?? []
        }

        @Test("RFC 5922 7.3: a Kamailio that proves another domain is asked nothing, and the log says why")
        func unauthorizedPeer() async throws {
            let scratch = try ScratchDirectory("tls-impostor")
            defer { scratch.remove() }
            let certificates = try await PartnerCertificates(in: scratch)
            let kamailio = try await Kamailio(
                in: scratch, transport: "tls",
                certificate: (certificates.certificate("contoso"), certificates.roots))
            let gateway = try await gateway(in: scratch, certificates, toward: kamailio)
            let watcher = try SIPp(
                "category-watcher", name: "watcher", to: gateway.port, transport: "udp",
                keys: ["presentity": alice, "watcher": "sip:bob@contoso.com"], in: scratch)
            #expect(await eventually(within: 20) { gateway.log.contains("TLS handshake failed") }, "\(gateway.log)")
            #expect(gateway.log.contains("kind=wrong-name"), "\(gateway.log)")
            #expect(gateway.log.contains("expected=example.org"), "\(gateway.log)")
            #expect(gateway.log.contains("sip:contoso.com"), "\(gateway.log)")
            await watcher.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
        }
    }
}
