import ByteCoding
import SIPCore

/// Record of all events on a simulated network, in order; printed when a test fails.
package struct Transcript: Sendable, CustomStringConvertible {
    /// Outcome of a message, or another event.
    package enum Fate: String, Sendable, Hashable {
        /// The message was handed to the network.
        case sent
        /// The network made a second copy of a datagram.
        case duplicated
        /// The network lost the message.
        case lost
        /// The message was delivered to the receiver.
        case delivered
        /// The destination has no listener, or the connection is closed.
        case refused
        /// A connection was opened.
        case opened
        /// A connection ended.
        case closed
        /// A remark of the script.
        case remark
    }

    /// One event of the transcript.
    package struct Entry: Sendable, Hashable {
        /// Virtual time of the event.
        package var time: Instant
        /// Outcome of the message, or the kind of event.
        package var fate: Fate
        /// Name of the sender; empty for remarks.
        package var from: String
        /// Name of the receiver, or its address when no station has it; empty for remarks.
        package var to: String
        /// Transport of the message or connection.
        package var transport: TransportProtocol
        /// Octets of the message, or the UTF-8 text of a remark; empty for opened and closed connections.
        package var bytes: [UInt8]

        /// First line of `bytes`; empty for opened and closed connections.
        package var startLine: String {
            String(decoding: bytes.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
        }
    }

    /// Newest entries; at least `limit` of them are kept, and never more than twice as many.
    package private(set) var entries: [Entry] = []
    /// Number of all entries ever added, including dropped ones.
    package private(set) var total = 0
    /// FNV-1a hash of all entries ever added: equal for equal runs. With a limit of 0 it never changes.
    package var digest: UInt64 { hash.value }
    private var hash = FNV1a()
    /// Number of entries kept; 0 records nothing.
    package let limit: Int
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

    /// One line for each event except deliveries: time, parties and start line.
    package var ladder: String {
        entries.filter { $0.fate != .delivered }.map(line).joined(separator: "\n")
    }

    /// As ``ladder``, with the full text of sent messages.
    package var description: String {
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
