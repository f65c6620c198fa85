import SIPCore

/// The envelopes between this shard and the others, in order in each direction.
///
///     post --> outgoing --takeOutgoing--> transport --> receive --> those that follow without a gap, in order
///                                                          \--> early ones wait
struct Mailboxes {
    let shard: Int
    private var outgoing: [ShardEnvelope] = []
    /// Number of the last envelope to each shard.
    private var sent: [Int: UInt64] = [:]
    /// Number of the last envelope from each shard that was handed on.
    private var received: [Int: UInt64] = [:]
    /// Envelopes that arrived before an earlier one of the same shard.
    private var early: [Int: [UInt64: ShardEnvelope]] = [:]

    init(of shard: Int) { self.shard = shard }

    /// Number of envelopes that wait to be sent or handed on.
    var count: Int { early.values.reduce(outgoing.count) { $0 + $1.count } }

    /// Sends a value to another shard.
    mutating func post(_ content: any Sendable, to target: Int) {
        let number = sent[target, default: 0] + 1
        sent[target] = number
        outgoing.append(ShardEnvelope(from: shard, to: target, sequence: number, content))
    }

    /// Returns the envelopes to send, in order.
    mutating func takeOutgoing() -> [ShardEnvelope] {
        defer { outgoing = [] }
        return outgoing
    }

    /// Takes an envelope.
    /// - Returns: the values that follow the last one of its shard without a gap, in order; an envelope that was received before is ignored.
    mutating func receive(_ envelope: ShardEnvelope) -> [any Sendable] {
        let source = envelope.source
        var last = received[source, default: 0]
        guard envelope.sequence > last else { return [] }
        if envelope.sequence == last + 1, early.isEmpty {
            received[source] = envelope.sequence
            return [envelope.content]
        }
        early[source, default: [:]][envelope.sequence] = envelope
        var values: [any Sendable] = []
        while let next = early[source]?.removeValue(forKey: last + 1) {
            last += 1
            values.append(next.content)
        }
        received[source] = last
        if early[source]?.isEmpty == true { early[source] = nil }
        return values
    }
}
