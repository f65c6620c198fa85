import Foundation
import GatewayTesting
import Logging
import NIOCore
import SIPCore
import SIPTransport
import ScriptedPeers
import Testing

extension RealSockets {
    /// F1 with a real watcher: SIPp subscribes to PIDF, the enterprise side is the scripted server on loopback sockets.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.sipp, PeerPrograms.tshark), "peers absent"))
    struct SimpleWatcherInteropTests {
        private let bob = "sip:bob@contoso.com"

        @Test("RFC 3856 watcher of an enterprise presentity", arguments: ["udp", "tcp"])
        func pidfFromCategories(transport: String) async throws {
            let scratch = try ScratchDirectory("f1-\(transport)")
            let enterprise = try await EnterpriseOnLoopback(transport: transport == "tcp" ? .tcp : .udp)
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "contoso.com: { side: enterprise, route: \"\(transport):127.0.0.1:\(enterprise.port)\" }",
                    "example.com: { side: simple, route: \"\(transport):127.0.0.1:9\" }",
                ])
            let capture = try await Tshark(ports: [enterprise.port, gateway.port], in: scratch)
            try await enterprise.show(bob, EnhancedState(18_500))
            let watcher = try SIPp(
                "pidf-watcher", name: "watcher", to: gateway.port, transport: transport,
                keys: ["presentity": bob, "watcher": "sip:carol@example.com"], in: scratch)
            #expect(await enterprise.isWatched(), "\(watcher.account)\n\(gateway.log)")
            #expect(await watcher.answersFirstNotify(), "\(watcher.account)\n\(gateway.log)")

            try await enterprise.show(bob, EnhancedState(3500, note: "at my desk", displayName: "Bob"))
            #expect(await watcher.reaches("open"), "\(watcher.account)\n\(gateway.log)")
            try await enterprise.show(bob, EnhancedState(6500))
            #expect(await watcher.reaches("busy"), "\(watcher.account)\n\(gateway.log)")
            // SIPp cannot receive a NOTIFY while it sends a SUBSCRIBE, so the next change follows the refresh.
            #expect(await watcher.reaches("refreshed"), "\(watcher.account)")
            try await enterprise.show(bob, EnhancedState(6500, token: "on-the-phone"))
            try await enterprise.show(bob, EnhancedState(18_500))
            #expect(await watcher.reaches("closed"), "\(watcher.account)\n\(gateway.log)")
            #expect(await watcher.succeeds(), "\(watcher.account)\n\(gateway.log)")

            let seen = watcher.pidfs
            #expect(seen.allSatisfy { $0.entity == bob || $0.entity == "pres:bob@contoso.com" })
            #expect(seen.contains { $0.basic == "open" && $0.notes.contains("at my desk") })
            #expect(seen.contains { $0.basic == "open" && $0.activities == ["busy"] })
            #expect(seen.last?.basic == "closed")
            #expect(try await enterprise.faults() == [])

            let verdict = try await capture.verdict()
            #expect(verdict.faults == [])
            #expect(Set(verdict.methods).isSuperset(of: ["SUBSCRIBE", "NOTIFY"]))
            #expect(verdict.messages >= 20)
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await enterprise.stop()
            scratch.remove()
        }
    }
}

/// The scripted enterprise server behind real sockets.
final class EnterpriseOnLoopback: Sendable {
    let port: Int
    private let server: SIPServer

    init(transport: TransportProtocol, host: String = "127.0.0.1") async throws {
        let port = try Loopback.freePort()
        self.port = port
        let addresses = [transport, transport == .udp ? .tcp : .udp].map { TransportAddress($0, host, port) }
        server = try await SIPServer.start(
            listening: addresses, logger: Logger(label: "enterprise", factory: { _ in SwiftLogNoOpLogHandler() })
        ) { _ in
            EnhancedServer(
                name: "enterprise", address: addresses[0], nextHop: TransportAddress(transport, host, 9), seed: 17)
        }
    }

    private func with<Value: Sendable>(_ body: @escaping @Sendable (EnhancedServer, Instant) -> Value) async throws -> Value? {
        try await server.shards[0].perform { endpoint, now in (endpoint as? EnhancedServer).map { body($0, now) } }.get()
    }

    func show(_ presentity: String, _ state: EnhancedState) async throws {
        _ = try await with { $0.set(presentity, state, at: $1) }
    }

    func faults() async throws -> [String] { try await with { server, _ in server.faults } ?? [] }

    /// Waits for a subscription.
    func isWatched(within seconds: Double = 10) async -> Bool {
        let end = ContinuousClock.now + .milliseconds(Int(seconds * 1000))
        while ContinuousClock.now < end {
            if let count = try? await with({ server, _ in server.dialogCount }), count > 0 { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    func stop() async { await server.stop() }
}
