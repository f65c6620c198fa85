import ByteCoding
import SIPCore

/// Everything that happened on a simulated network, in order; printed when a test fails.
public struct Transcript: Sendable, CustomStringConvertible {
    /// What became of a message, or what happened instead of one.
    public enum Fate: String, Sendable, Hashable {
        /// Handed to the network.
        case sent
        /// A second copy of a datagram was made.
        case duplicated
        /// The network dropped it.
        case lost
        /// Handed to the receiver.
        case delivered
        /// Nobody listens at the destination, or the connection is gone.
        case refused
        /// A connection was opened.
        case opened
        /// A connection ended.
        case closed
        /// What the script did, in its own words.
        case remark
    }

    public struct Entry: Sendable, Hashable {
        public var time: Instant
        public var fate: Fate
        public var from: String
        public var to: String
        public var transport: TransportProtocol
        public var bytes: [UInt8]

        /// The first line of the message, or the fate alone.
        public var startLine: String {
            String(decoding: bytes.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
        }
    }

    /// The newest entries, at most `limit`.
    public private(set) var entries: [Entry] = []
    /// Every entry ever added, those that were dropped included.
    public private(set) var total = 0
    /// FNV-1a over every entry ever added: equal for equal runs. Nothing is recorded with a limit of 0.
    public var digest: UInt64 { hash.value }
    private var hash = FNV1a()
    public let limit: Int
    private let start: Instant

    init(limit: Int, start: Instant) {
        self.limit = max(0, limit)
        self.start = start
    }

    mutating func append(_ entry: Entry) {
        guard limit > 0 else { return }
        if entries.count >= limit * 2 { entries.removeFirst(entries.count - limit) }
        entries.append(entry)
        total += 1
        hash.add(word: UInt64(bitPattern: entry.time.nanosecondsSince1970))
        for text in [entry.fate.rawValue, entry.from, entry.to, entry.transport.rawValue] {
            hash.add(text.utf8)
        }
        hash.add(entry.bytes)
    }

    /// One line for each message that was sent, lost or refused: time, parties, start line.
    public var ladder: String {
        entries.filter { $0.fate != .delivered }.map(line).joined(separator: "\n")
    }

    /// The messages in full, as sent.
    public var description: String {
        entries.filter { $0.fate != .delivered }.map { entry in
            entry.bytes.isEmpty || entry.fate != .sent
                ? line(entry) : "\(line(entry))\n\(String(decoding: entry.bytes, as: UTF8.self))"
        }.joined(separator: "\n")
    }

    private func line(_ entry: Entry) -> String {
        let milliseconds = (entry.time - start).nanoseconds / 1_000_000
        let fraction = String(milliseconds % 1000)
        let padded = String(repeating: "0", count: 3 - min(3, fraction.count)) + fraction
        if entry.fate == .remark { return "\(milliseconds / 1000).\(padded)s --- \(entry.startLine)" }
        let fate = entry.fate == .sent ? "" : " [\(entry.fate.rawValue)]"
        return "\(milliseconds / 1000).\(padded)s \(entry.transport.rawValue) \(entry.from) -> \(entry.to)\(fate) \(entry.startLine)"
    }
}
