import SIPCore

/// What the sources of one UDP socket sent beyond their share of a tick: kept for the next ticks, as far as there is room.
struct DatagramShares {
    private var tick: UInt64 = 0
    private var used: [TransportAddress: Int] = [:]
    private var waiting: [TransportAddress: ArraySlice<InboundMessage>] = [:]
    /// Who waits, in the order in which they go on.
    private var order: [TransportAddress] = []
    private var waitingCount = 0

    /// Messages that all sources together may leave for later; beyond it they are dropped, as a full socket drops them.
    private static let limit = 4_096

    enum Verdict {
        case now, later, dropped
    }

    var isEmpty: Bool { order.isEmpty }

    /// Says when a message is taken; one for later is kept.
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
        // Each source has room of its own, so that one of them does not fill all of it.
        guard waitingCount < Self.limit, waiting[source, default: []].count < share * 8 else { return .dropped }
        if waiting[source] == nil { order.append(source) }
        waiting[source, default: []].append(message)
        waitingCount += 1
        return .later
    }

    /// A share of what each source left.
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
