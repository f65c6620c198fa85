import Foundation

/// One run of a SIPp scenario; its messages and log lines are read from the files that it writes.
final class SIPp: Sendable {
    private let process: ChildProcess
    private let messageFile: URL
    private let logFile: URL
    private let errorFile: URL

    /// Credentials of a scenario.
    struct Credentials {
        var user: String
        var password: String
        /// The digest uri without its scheme.
        var uri: String
    }

    /// - Parameter keys: Values for `-key` of the scenario.
    init(
        _ scenario: String, name: String, to port: Int, transport: String, keys: [String: String], limit seconds: Int = 60,
        localPort: Int? = nil, credentials: Credentials? = nil, in scratch: ScratchDirectory
    ) throws {
        let program = try PeerPrograms.sipp.required(package: "sip-tester")
        messageFile = scratch.file("\(name).messages")
        logFile = scratch.file("\(name).log")
        errorFile = scratch.file("\(name).errors")
        var arguments = [
            "127.0.0.1:\(port)", "-sf", PeerPrograms.files.appendingPathComponent("sipp/\(scenario).xml").path, "-i", "127.0.0.1",
            "-t", transport == "tcp" ? "t1" : "u1", "-m", "1", "-nostdin", "-timeout", "\(seconds)s", "-trace_msg", "-message_file",
            messageFile.path, "-trace_logs", "-log_file", logFile.path, "-trace_err", "-error_file", errorFile.path, "-p",
            "\(try localPort ?? Loopback.freePort())",
        ]
        if let credentials { arguments += ["-au", credentials.user, "-ap", credentials.password, "-auth_uri", credentials.uri] }
        for (key, value) in keys.sorted(by: { $0.key < $1.key }) { arguments += ["-key", key, value] }
        process = try ChildProcess(program, arguments, in: scratch.url, name: name, environment: ["TERM": "dumb"])
    }

    var messages: String { (try? String(decoding: Data(contentsOf: messageFile), as: UTF8.self)) ?? "" }
    var log: String { (try? String(decoding: Data(contentsOf: logFile), as: UTF8.self)) ?? "" }
    var errors: String { (try? String(decoding: Data(contentsOf: errorFile), as: UTF8.self)) ?? "" }
    var isRunning: Bool { process.isRunning }

    /// Bodies of the NOTIFYs and 200s received so far, oldest first.
    var bodies: [String] {
        messages.components(separatedBy: "message received").dropFirst().compactMap { block in
            let message = block.components(separatedBy: "\n-----------------------------------------------")[0]
            let normalised = message.replacingOccurrences(of: "\r\n", with: "\n")
            let parts = normalised.components(separatedBy: "\n\n")
            let body = parts.dropFirst(2).joined(separator: "\n\n").trimmingCharacters(in: .whitespacesAndNewlines)
            return body.isEmpty ? nil : body
        }
    }

    /// Waits for a complete log line with this beginning, which shows that the scenario reached the state.
    func reaches(_ state: String, within seconds: Double = 30) async -> Bool {
        await eventually(within: seconds) {
            log.split(separator: "\n").contains { $0.hasPrefix("\(state): ") && $0.count > state.count + 2 }
        }
    }

    /// Waits for a first NOTIFY and its response: SIPp cannot receive a NOTIFY while it sends.
    func answersFirstNotify(within seconds: Double = 30) async -> Bool {
        await eventually(within: seconds) {
            let messages = messages
            guard let first = messages.range(of: "NOTIFY sip:") else { return false }
            return messages[first.upperBound...].contains("SIP/2.0 200 OK")
        }
    }

    /// Whether the scenario ended as written.
    func succeeds(within seconds: Double = 30) async -> Bool {
        await process.exit(within: seconds) == 0
    }

    var account: String { "\(errors)\n\(process.errorText)\n\(messages)" }

    func stop() async { await process.stop(signal: SIGKILL) }
}
