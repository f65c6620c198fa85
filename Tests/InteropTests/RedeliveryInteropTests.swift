import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing

extension RealSockets {
    /// The program with its default configuration, and a server of 20 watchers that fails briefly during changes.
    @Suite struct RedeliveryInteropTests {
        private static let alice = "sip:alice@example.net"
        private static let crowd = 20

        /// Kind of failure of the watchers' server.
        enum Absence: String, CaseIterable {
            /// The port is closed.
            case away
            /// It presents an expired certificate.
            case expired
            /// It accepts connections without a TLS handshake.
            case silent
        }

        /// Replacement of the server during the failure.
        private final class Intruder {
            private let process: ChildProcess?
            private var socket: LoopbackSocket?

            init?(_ absence: Absence, at port: Int, _ certificates: PartnerCertificates, in scratch: ScratchDirectory) async throws {
                switch absence {
                case .away: return nil
                case .silent:
                    process = nil
                    socket = try LoopbackSocket(.listener, port: port)
                case .expired:
                    socket = nil
                    let openSSL = try PeerPrograms.openSSL.required(package: "openssl")
                    process = try ChildProcess(
                        openSSL,
                        [
                            "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificates.certificate("expired").path, "-key",
                            certificates.key("expired").path, "-www",
                        ], in: scratch.url, name: "expired")
                }
            }

            func leave() async {
                socket = nil
                await process?.stop(signal: SIGKILL)
            }
        }

        private func isNotified(_ note: String) -> (SimpleWatcher) -> Bool { { $0.phase == .live && $0.presence?.notes == [note] } }

        @Test(
            "20 watchers over one connection, their server away while presence changes: all get the newest state in dialogs that live on",
            arguments: [(TransportProtocol.tcp, Absence.away), (.tls, .away), (.tls, .expired), (.tls, .silent)])
        func away(transport: TransportProtocol, absence: Absence) async throws {
            let scratch = try ScratchDirectory("redelivery-\(transport.rawValue)-\(absence.rawValue)")
            let certificates = try await PartnerCertificates(in: scratch)
            let port = try Loopback.freePort()
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.net: { side: simple, hosted: true, unruled: allow, peers: [ 127.0.0.1 ] }",
                    "contoso.com: { side: simple, route: \"\(transport.rawValue):127.0.0.1:\(port)\" }",
                ], secure: true, settings: [certificates.settings("example"), "admin: { socket: ./isthmus.sock }"])
            let stage = LoopbackStage(seed: 71)
            let source = PIDFPublisher(
                name: "source", presentity: Self.alice, address: try stage.place("source", .tcp),
                nextHop: TransportAddress(.tcp, "127.0.0.1", gateway.port), seed: 71)
            try await stage.attach(source, name: "source", at: source.address)
            func show(_ note: String) async throws {
                try await stage.act { source.publish(SimpleDocuments.pidf(of: Self.alice, "open", note: note), at: $0) }
                let isTaken = try await stage.wait(atMost: .seconds(20)) { !source.isBusy }
                #expect(isTaken && source.lastAnswer?.status == .ok, "\(gateway.log.suffix(2_000))")
            }
            let isSecure = transport == .tls
            let server = try WatcherServer(
                Self.crowd, of: Self.alice, in: "contoso.com", at: port,
                gateway: TransportAddress(
                    transport, "127.0.0.1", isSecure ? gateway.securePort : gateway.port, proving: isSecure ? "example.net" : nil),
                secure: isSecure ? (certificates, "contoso") : nil)
            try await server.come()
            try await show("first")
            try await server.act { watcher, now in watcher.subscribe(expires: 3_600, at: now) }
            #expect(await server.all(isNotified("first")), "\(server.account)\n\(gateway.log.suffix(2_000))")

            await server.leave()
            let intruder = try await Intruder(absence, at: port, certificates, in: scratch)
            for note in ["second", "third"] { try await show(note) }
            // A NOTIFY of each dialog has failed; no dialog has ended.
            var listed = ""
            for _ in 0..<300 where listed.components(separatedBy: "failing since").count <= Self.crowd {
                listed = try await gateway.run(["subscriptions"])
            }
            #expect(listed.components(separatedBy: "failing since").count == Self.crowd + 1, "\(listed)\n\(gateway.log.suffix(2_000))")
            if absence == .expired {
                #expect(await eventually(within: 60) { gateway.log.contains("kind=expired") }, "\(gateway.log.suffix(2_000))")
            }
            let explained = try await gateway.run(["explain", "sip:carol3@contoso.com", Self.alice])
            #expect(explained.contains("the newest state is sent") && explained.contains("failed "), "\(explained)")
            await intruder?.leave()

            try await server.come()
            #expect(await server.all(within: 90, isNotified("third")), "\(server.account)\n\(gateway.log.suffix(3_000))")
            // The refresh gets a 200 in the same dialog, and a later change is notified.
            try await server.act { watcher, now in watcher.refresh(expires: 3_600, at: now) }
            #expect(await server.all { $0.lastResponse?.headers.cSeq?.number == 2 && $0.lastResponse?.status == .ok }, "\(server.account)")
            try await show("fourth")
            #expect(await server.all(isNotified("fourth")), "\(server.account)\n\(gateway.log.suffix(2_000))")
            #expect(await server.all { $0.staleNotifications == 0 && $0.faults.isEmpty })
            #expect(!(try await gateway.run(["subscriptions"])).contains("failing since"))
            await server.leave()
            await stage.finish()
            #expect(await gateway.stop() == 0, "\(gateway.log.suffix(2_000))")
            scratch.remove()
        }
    }
}
