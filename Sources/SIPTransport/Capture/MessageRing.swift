import SIPCore

/// Copy of a message that passed a listener.
package struct PassedMessage: Sendable {
    /// Number among the messages of its loop, from 1, without gaps while the ring is filled.
    package var number: UInt64
    /// Time at which it was received or sent.
    package var at: Instant
    /// Whether this node received it.
    package var isReceived: Bool
    /// Address of the peer.
    package var remote: TransportAddress
    /// Address of this node.
    package var local: TransportAddress
    /// The message as it was on the wire, before encryption.
    package var bytes: [UInt8]

    /// Creates a copy.
    package init(number: UInt64, at: Instant, isReceived: Bool, remote: TransportAddress, local: TransportAddress, bytes: [UInt8]) {
        (self.number, self.at, self.isReceived, self.remote, self.local, self.bytes) = (number, at, isReceived, remote, local, bytes)
    }
}

/// The last messages of one loop within a bounded number of octets, the oldest dropped first. Confined to its loop.
///
///     filled --no reading for 10 s--> dropped (by ``ShardHost``)
struct MessageRing {
    /// Octets that an entry counts besides those of its message.
    private static let overhead = 128

    private let limit: Int
    private var entries: [PassedMessage] = []
    /// Position of the oldest entry.
    private var first = 0
    private var octets = 0
    private(set) var number: UInt64
    /// Time of the last reading.
    private(set) var lastRead: Instant

    /// - Parameter number: that of the last message of an earlier ring of this loop, so that readers notice no other message with it.
    init(octets limit: Int, after number: UInt64, at now: Instant) {
        self.limit = limit
        self.number = number
        lastRead = now
    }

    mutating func add(_ bytes: [UInt8], isReceived: Bool, remote: TransportAddress, local: TransportAddress, at now: Instant) {
        number += 1
        let size = bytes.count + Self.overhead
        guard size <= limit else { return }
        octets += size
        entries.append(PassedMessage(number: number, at: now, isReceived: isReceived, remote: remote, local: local, bytes: bytes))
        while octets > limit {
            octets -= entries[first].bytes.count + Self.overhead
            entries[first].bytes = []
            first += 1
        }
        if first > 64, first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
    }

    /// The messages with greater numbers, oldest first.
    mutating func read(after number: UInt64, at now: Instant) -> [PassedMessage] {
        lastRead = now
        // Numbers ascend, with gaps for messages that were too long.
        var (low, high) = (first, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return Array(entries[low...])
    }
}
