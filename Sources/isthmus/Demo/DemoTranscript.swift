import SIPCore
import Synchronization

/// Prints every message of the demonstration at its party's socket, with the side, the direction and the time.
final class DemoTranscript: Sendable {
    enum Direction: String, Sendable {
        case toGateway = "-->"
        case fromGateway = "<--"
    }

    private let isColoured: Bool
    private let isQuiet: Bool
    private let start = Mutex<Instant?>(nil)

    init(isColoured: Bool, isQuiet: Bool) {
        self.isColoured = isColoured
        self.isQuiet = isQuiet
    }

    func message(_ bytes: [UInt8], party: String, leg: String, _ direction: Direction, at now: Instant) {
        let lines = MessageText.lines(bytes)
        let since = start.withLock { start in
            if start == nil { start = now }
            return now - (start ?? now)
        }
        let milliseconds = since.nanoseconds / 1_000_000
        let title = "\(party) \(direction.rawValue) Isthmus   [\(leg), \(milliseconds) ms]"
        guard !isQuiet else {
            Terminal.write("  \(title)  \(lines.first ?? "")\n")
            return
        }
        let colour = direction == .toGateway ? "\u{1B}[36m" : "\u{1B}[33m"
        var text = isColoured ? "\(colour)\(title)\u{1B}[0m\n" : "\(title)\n"
        for line in lines { text += line.isEmpty ? "    |\n" : "    | \(line)\n" }
        Terminal.write(text + "\n")
    }

    func heading(_ text: String) {
        Terminal.write(isColoured ? "\u{1B}[1m== \(text)\u{1B}[0m\n\n" : "== \(text)\n\n")
    }

    func remark(_ text: String) {
        Terminal.write("   \(text)\n\n")
    }
}
