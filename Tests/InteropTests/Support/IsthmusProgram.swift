import Foundation

/// The built program, run as `isthmus serve` with a configuration file, on two event loops.
final class IsthmusProgram: Sendable {
    let port: Int
    /// Port for TLS; unused without TLS.
    let securePort: Int
    private let process: ChildProcess
    private let configuration: URL

    /// - Parameters:
    ///   - domains: Lines under `domains:`, such as `example.org: { side: simple, route: "udp:127.0.0.1:5080" }`.
    ///   - port: Port; nil selects a free one.
    ///   - store: Value of `store:`.
    ///   - authentication: Sign-in requirement of the listeners for users of hosted domains, such as `ntlm`.
    ///   - node: Name of the node, by which gateways detect loops.
    ///   - secure: Whether it also listens for TLS.
    ///   - securePort: Port for TLS; nil selects a free one.
    ///   - settings: Further lines of the highest level, such as `directory: { file: users.yaml }`.
    ///   - logLevel: Lowest level that is logged.
    ///   - drain: Maximum wait after SIGTERM in seconds; nil for the default.
    ///   - environment: Variables besides those of the test.
    ///   - limits: Shell commands run before it, such as `ulimit -n 128`; nil starts it without a shell.
    init(
        in scratch: ScratchDirectory, host: String = "127.0.0.1", port wanted: Int? = nil, store: String = "{ memory: true }",
        domains: [String], authentication: String = "none", node: String = "edge1.example.net",
        secure: Bool = false, securePort wantedSecure: Int? = nil, settings: [String] = [],
        logLevel: String = "debug", drain: Int? = nil, environment: [String: String] = [:], limits: String? = nil
    ) async throws {
        let port = try wanted ?? Loopback.freePort()
        self.port = port
        let securePort = try wantedSecure ?? Loopback.freePort()
        self.securePort = securePort
        let places = [("udp", port), ("tcp", port)] + (secure ? [("tls", securePort)] : [])
        let listeners = places.map { transport, port in
            "{ address: \"\(transport):\(host):\(port)\", authentication: \(authentication) }"
        }
        let text = """
            node: { name: \(node), shards: 2 }
            listen: [ \(listeners.joined(separator: ", ")) ]
            store: \(store)
            timing: { notify-spacing-ms: 0 }
            \(settings.joined(separator: "\n"))
            domains:
            \(domains.map { "  \($0)" }.joined(separator: "\n"))

            """
        configuration = try scratch.write(text, to: "isthmus.yaml")
        let arguments = ["serve", "--config", configuration.path, "--log-level", logLevel] + (drain.map { ["--drain", String($0)] } ?? [])
        if let limits {
            process = try ChildProcess(
                URL(fileURLWithPath: "/bin/sh"), ["-c", limits + " && exec \"$0\" \"$@\"", PeerPrograms.isthmus.path] + arguments,
                in: scratch.url, name: "isthmus", environment: environment)
        } else {
            process = try ChildProcess(PeerPrograms.isthmus, arguments, in: scratch.url, name: "isthmus", environment: environment)
        }
        let isReady = await eventually(within: 20) { process.outputText.hasPrefix("ready ") || !process.isRunning }
        guard isReady, process.isRunning else {
            throw PeerError(description: "isthmus serve is not ready: \(process.outputText)\(process.errorText)")
        }
    }

    var isRunning: Bool { process.isRunning }
    var processID: pid_t { process.processID }
    var log: String { process.errorText }

    /// Output of another command with the same configuration, such as `route URI`.
    func run(_ arguments: [String]) async throws -> String {
        let folder = configuration.deletingLastPathComponent()
        let command = try ChildProcess(
            PeerPrograms.isthmus, arguments + ["--config", configuration.path], in: folder, name: "command-\(UUID().uuidString.prefix(8))")
        guard await command.exit(within: 20) == 0 else { throw PeerError(description: "\(arguments): \(command.errorText)") }
        return command.outputText
    }

    /// Sends SIGHUP, which reloads its files.
    func reload() { process.send(signal: SIGHUP) }

    /// Sends SIGKILL: dialogs are not ended, nothing is written.
    func kill() async { await process.stop(signal: SIGKILL) }

    /// Sends SIGTERM and waits for at most 12 s; 0 is a clean stop.
    func stop() async -> Int32? { await process.stop(within: 12) }
}
