/// Notes of a shard for operators: recent events, and log records until they are taken.
struct OperatorNotes {
    /// Recent refusals, losses and ends.
    var journal: Journal
    private var logs: [GatewayLog] = []
    /// Number of records dropped since the logs were taken.
    private var dropped: UInt64 = 0

    init(journal: Journal) { self.journal = journal }

    /// Whether another log record may be kept.
    func hasRoom(_ limit: Int) -> Bool { logs.count < limit }

    mutating func add(_ record: GatewayLog) { logs.append(record) }

    /// Counts a log record that is dropped.
    mutating func dropLog() { dropped += 1 }

    /// Returns the log records since the last call, oldest first, and the number of dropped ones.
    mutating func takeLogs() -> (records: [GatewayLog], dropped: UInt64) {
        defer {
            logs.removeAll(keepingCapacity: true)
            dropped = 0
        }
        return (logs, dropped)
    }
}
