import Foundation
import GatewayTesting
import Testing

extension RealSockets {
    /// Kamailio as a partner over mutual TLS (RFC 5922), with a throw-away authority.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.kamailio, PeerPrograms.sipp), "peers absent"))
    struct TLSInteropTests {
        private let alice = "sip:alice@example.org"

        /// The gateway, which is example.net, with its route to Kamailio.
        private func gateway(in scratch: ScratchDirectory, _ folder: URL, toward kamailio: Kamailio) async throws -> IsthmusProgram {
            try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"tls:127.0.0.1:\(kamailio.securePort)\" }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\" }",
                ],
                secure: true,
                settings: [
                    "tls: { certificate: \(folder.path)/example.pem, key: \(folder.path)/example.key, trust: \(folder.path)/authority.pem }"
                ])
        }

        /// Puts certificates into the scratch directory, which goes with them.
        private func certificates(in scratch: ScratchDirectory) async throws -> URL {
            let folder = scratch.file("certificates")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let script = PeerPrograms.files.deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Support/make-partner-certificates")
            let making = try ChildProcess(script, [folder.path], in: scratch.url, name: "certificates")
            guard await making.exit(within: 60) == 0 else { throw PeerError(description: "no certificates: \(making.errorText)") }
            return folder
        }

        @Test("RFC 5922 7: a presentity at Kamailio is watched over mutual TLS, requests of both sides included")
        func mutual() async throws {
            let scratch = try ScratchDirectory("tls")
            let folder = try await certificates(in: scratch)
            let kamailio = try await Kamailio(
                in: scratch, transport: "tls",
                certificate: (folder.appendingPathComponent("example-org.pem"), folder.appendingPathComponent("authority.pem")))
            let gateway = try await gateway(in: scratch, folder, toward: kamailio)
            let publisher = SIPpPublisher(presentity: alice, port: kamailio.port, transport: "udp", scratch: scratch)
            try await publisher.publish(.open)
            let watcher = try SIPp(
                "category-watcher", name: "watcher", to: gateway.port, transport: "udp",
                keys: ["presentity": alice, "watcher": "sip:bob@contoso.com"], in: scratch)
            #expect(await watcher.reaches("available"), "\(watcher.account)\n\(gateway.log)")
            try await publisher.publish(.busy)
            #expect(await watcher.reaches("busy"), "\(watcher.account)\n\(gateway.log)")
            #expect(await watcher.reaches("refreshed"), "\(watcher.account)")
            try await publisher.publish(.closed)
            #expect(await watcher.reaches("offline"), "\(watcher.account)\n\(gateway.log)")
            #expect(await watcher.succeeds(), "\(watcher.account)\n\(gateway.log)")
            #expect(watcher.categories.contains { $0.availability == 6500 })
            #expect(!gateway.log.contains("TLS handshake failed"), "\(gateway.log)")
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
            scratch.remove()
        }

        @Test("RFC 5922 7.3: a Kamailio that proves another domain is asked nothing, and the log says why")
        func impostor() async throws {
            let scratch = try ScratchDirectory("tls-impostor")
            let folder = try await certificates(in: scratch)
            let kamailio = try await Kamailio(
                in: scratch, transport: "tls",
                certificate: (folder.appendingPathComponent("contoso.pem"), folder.appendingPathComponent("authority.pem")))
            let gateway = try await gateway(in: scratch, folder, toward: kamailio)
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
            scratch.remove()
        }
    }
}
