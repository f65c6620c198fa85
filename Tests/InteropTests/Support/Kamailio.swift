import Foundation

/// Kamailio as the SIMPLE presence server of example.org, in memory, on one free port for UDP and TCP.
final class Kamailio: Sendable {
    let port: Int
    private let process: ChildProcess

    init(in scratch: ScratchDirectory, transport: String) async throws {
        let program = try PeerPrograms.kamailio.required(package: "kamailio")
        port = try Loopback.freePort()
        let tables = scratch.file("tables")
        try FileManager.default.createDirectory(at: tables, withIntermediateDirectories: true)
        for table in ["version", "presentity", "active_watchers", "watchers", "xcap"] {
            try FileManager.default.copyItem(
                at: URL(fileURLWithPath: "/usr/share/kamailio/dbtext/kamailio/\(table)"), to: tables.appendingPathComponent(table))
        }
        var text = try String(contentsOf: PeerPrograms.files.appendingPathComponent("kamailio/kamailio.cfg"), encoding: .utf8)
        for (name, value) in [
            ("PORT", "\(port)"), ("MODULES", try Self.modules()), ("TABLES", tables.path), ("TRANSPORT", transport),
        ] {
            text = text.replacingOccurrences(of: "@\(name)@", with: value)
        }
        let configuration = try scratch.write(text, to: "kamailio.cfg")
        process = try ChildProcess(
            program,
            [
                "-DD", "-E", "-f", configuration.path, "-P", scratch.file("kamailio.pid").path, "-Y", scratch.url.path, "-w",
                scratch.url.path, "-m", "64", "-M", "8",
            ], in: scratch.url, name: "kamailio")
        try await waitUntilReady()
    }

    private static func modules() throws -> String {
        let roots = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        for root in roots where FileManager.default.fileExists(atPath: "\(root)/kamailio/modules/presence.so") {
            return "\(root)/kamailio/modules/"
        }
        throw PeerError(description: "the Debian package kamailio-presence-modules is not installed")
    }

    /// It answers OPTIONS once its workers are up.
    private func waitUntilReady() async throws {
        let socket = try LoopbackSocket(.datagram, port: 0)
        let request =
            "OPTIONS sip:127.0.0.1:\(port) SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:\(socket.port);branch=z9hG4bKready\(socket.port)\r\n"
            + "Max-Forwards: 70\r\nFrom: <sip:probe@example.com>;tag=1\r\nTo: <sip:probe@example.org>\r\n"
            + "Call-ID: ready-\(socket.port)\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"
        for _ in 0..<100 where process.isRunning {
            socket.send(Array(request.utf8), to: port)
            if socket.receive(atMost: 100) != nil { return }
        }
        throw PeerError(description: "kamailio did not answer: \(process.errorText.suffix(2000))")
    }

    func stop() async { await process.stop() }
}
