/// Names a flow of the gateway; the shard fills a table of flows by these numbers.
struct FlowID: Hashable, Sendable {
    let rawValue: UInt8

    /// The kernel itself.
    static let kernel = FlowID(rawValue: 0)
}

/// Names a record of a flow to the kernel, which stores it with timers and requests and hands it back to the flow. 12 octets.
struct Ticket: Hashable, Sendable {
    let flow: FlowID
    /// Table of the record within its flow.
    let kind: UInt8
    let key: SlabKey

    init(_ flow: FlowID, kind: UInt8 = 0, _ key: SlabKey) {
        self.flow = flow
        self.kind = kind
        self.key = key
    }

    /// The ticket of a record with a number that is not used again.
    init(_ flow: FlowID, kind: UInt8 = 0, number: UInt64) {
        self.init(
            flow, kind: kind, SlabKey(slot: UInt32(truncatingIfNeeded: number), generation: UInt32(truncatingIfNeeded: number >> 32)))
    }

    /// The ticket of the only record of its kind.
    init(_ flow: FlowID, only kind: UInt8) {
        self.init(flow, kind: kind, number: 0)
    }

    /// Names no record.
    static let none = Ticket(.kernel, only: .max)

    /// The number of the record, if it has one.
    var number: UInt64 { UInt64(key.generation) << 32 | UInt64(key.slot) }

    /// Two words, so that timers and requests are found quickly.
    func hash(into hasher: inout Hasher) {
        hasher.combine(UInt16(flow.rawValue) << 8 | UInt16(kind))
        hasher.combine(number)
    }
}
