import Foundation

/// liblinphone without a user interface, as a SIMPLE client that watches one presentity through an outbound proxy on loopback.
final class Linphone: Sendable {
    private let process: ChildProcess

    /// Presence that its API reports for one notification.
    struct Seen: Decodable, Equatable {
        /// `open` or `closed`.
        var basic: String
        var activities: [String]
        /// Texts of activities.
        var texts: [String]
        /// Summary for user interfaces: `online`, `busy`, `do-not-disturb`, `offline`.
        var consolidated: String
    }

    init(user: String, watching presentity: String, proxyPort: Int, in scratch: ScratchDirectory) throws {
        _ = try PeerPrograms.linphone.required(package: "linphone-cli")
        let files = PeerPrograms.files.appendingPathComponent("linphone")
        var text = try String(contentsOf: files.appendingPathComponent("linphonerc"), encoding: .utf8)
        for (name, value) in [("USER", user), ("PORT", "\(proxyPort)"), ("TRANSPORT", "udp"), ("WATCHED", presentity)] {
            text = text.replacingOccurrences(of: "@\(name)@", with: value)
        }
        // It requires these folders to start.
        for folder in [".local/share/linphone", "linphone"] {
            try FileManager.default.createDirectory(
                at: scratch.file("home").appendingPathComponent(folder), withIntermediateDirectories: true)
        }
        let home = scratch.file("home").path
        let settings = try scratch.write(text, to: "home/linphonerc")
        // A script uses the library, because its command-line clients cannot show presence.
        process = try ChildProcess(
            try PeerPrograms.python.required(package: "python3"), [files.appendingPathComponent("watch.py").path, settings.path],
            in: scratch.url, name: "linphone", environment: ["HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home])
    }

    /// All reported presence, oldest first.
    func seen() -> [Seen] {
        process.outputText.split(separator: "\n").compactMap { try? JSONDecoder().decode(Seen.self, from: Data($0.utf8)) }
    }

    var trace: String { process.outputText + process.errorText }

    func stop() async { await process.stop(signal: SIGKILL) }
}
