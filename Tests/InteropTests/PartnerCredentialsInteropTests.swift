import Foundation
import GatewayTesting
import Testing

extension RealSockets {
    /// A partner with a server (Kamailio with its module `auth`) that requires credentials of this gateway.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.kamailio, PeerPrograms.sipp, PeerPrograms.tshark), "peers absent"))
    struct PartnerCredentialsInteropTests {
        private let alice = "sip:alice@example.org"

        @Test(
            "RFC 3261 22.2, RFC 7616 3.4: subscriptions at a Kamailio that challenges every SUBSCRIBE, and counts its nonces",
            arguments: [(401, "MD5", "udp"), (407, "MD5", "tcp"), (401, "SHA-256", "tcp")])
        func challenged(status: Int, algorithm: String, transport: String) async throws {
            let scratch = try ScratchDirectory("challenged-\(status)-\(algorithm)")
            let kamailio = try await Kamailio(
                in: scratch, transport: transport, challenge: Kamailio.Challenge(status: status, algorithm: algorithm))
            let password = try scratch.write("secret\n", to: "example-org.password")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: password.path)
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"\(transport):127.0.0.1:\(kamailio.port)\", "
                        + "credentials: { user: gateway, password-file: \(password.path) } }",
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
            // The SUBSCRIBE that ends the subscription uses the same nonce with the next nonce count.
            #expect(await watcher.reaches("refreshed"), "\(watcher.account)")
            try await publisher.publish(.closed)
            #expect(await watcher.reaches("offline"), "\(watcher.account)\n\(gateway.log)")
            #expect(await watcher.succeeds(), "\(watcher.account)\n\(gateway.log)")
            #expect(!gateway.log.contains("partner asks for credentials"), "\(gateway.log)")
            let verdict = try await capture.verdict()
            #expect(verdict.faults == [])
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
            scratch.remove()
        }

        @Test("without credentials a Kamailio that challenges is named in the log and by `isthmus partners`, and the watcher stays pending")
        func withoutCredentials() async throws {
            let scratch = try ScratchDirectory("unchallenged")
            let kamailio = try await Kamailio(in: scratch, transport: "udp", challenge: Kamailio.Challenge(status: 401, algorithm: "MD5"))
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"udp:127.0.0.1:\(kamailio.port)\" }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\" }",
                ], settings: ["admin: { socket: ./isthmus.sock }"])
            let watcher = try SIPp(
                "batch-watcher", name: "watcher", to: gateway.port, transport: "udp",
                keys: ["watcher": "sip:bob@contoso.com", "resources": "<resource uri=\"\(alice)\"/>"], limit: 100, in: scratch)
            #expect(await eventually(within: 20) { gateway.log.contains("partner asks for credentials") }, "\(gateway.log)")
            let partners = try await gateway.run(["partners"])
            #expect(partners.contains("asks for credentials; none are configured (domains.example.org.credentials)"), "\(partners)")
            #expect(!watcher.messages.contains("rejected"), "\(watcher.account)")
            await watcher.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
            scratch.remove()
        }
    }
}
