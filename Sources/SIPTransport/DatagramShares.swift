import SIPCore

/// Queues datagrams that exceed their source's share of a tick, for one UDP socket.
struct DatagramShares {
    private var tick: UInt64 = 0
    private var used: [TransportAddress: Int] = [:]
    private var waiting: [TransportAddress: ArraySlice<InboundMessage>] = [:]
    /// Sources with queued messages, in the order in which they are served.
    private var order: [TransportAddress] = []
    private var waitingCount = 0

    /// Limit of queued messages of all sources; further messages are dropped, as a full socket buffer drops them.
    private static let limit = 4_096

    enum Verdict {
        case now, later, dropped
    }

    var isEmpty: Bool { order.isEmpty }

    /// Decides whether a message is handled now, queued or dropped; a queued message is stored.
    mutating func take(_ message: InboundMessage, share: Int, in tick: UInt64) -> Verdict {
        if self.tick != tick {
            self.tick = tick
            used.removeAll(keepingCapacity: true)
        }
        let source = message.remote
        if waiting[source] == nil, used[source, default: 0] < share {
            used[source, default: 0] += 1
            return .now
        }
        // Per-source limit, so that one source cannot fill the queue.
        guard waitingCount < Self.limit, waiting[source, default: []].count < share * 8 else { return .dropped }
        if waiting[source] == nil { order.append(source) }
        waiting[source, default: []].append(message)
        waitingCount += 1
        return .later
    }

    /// Removes and returns up to `share` queued messages of each source.
    mutating func nextRound(share: Int) -> [InboundMessage] {
        var round: [InboundMessage] = []
        order = order.filter { source in
            guard let left = waiting[source] else { return false }
            round += left.prefix(share)
            let rest = left.dropFirst(share)
            waiting[source] = rest.isEmpty ? nil : rest
            return !rest.isEmpty
        }
        waitingCount -= round.count
        return round
    }
}
