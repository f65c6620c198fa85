/// Size and limit of one table, for metrics.
public struct TableSize: Hashable, Sendable {
    /// Name of the limit with underscores; transactions have two tables with one limit.
    public var name: String
    /// Number of entries.
    public var entries: Int
    /// Maximum number of entries.
    public var limit: Int
}

/// Counters, counts and table sizes of one or several shards.
public struct GatewayNumbers: Hashable, Sendable {
    /// Counters since the start.
    public var counters: GatewayCounters
    /// Current counts.
    public var counts: GatewayCounts
    /// Table sizes.
    public var tables: [TableSize]

    /// Creates numbers, zero by default.
    public init(counters: GatewayCounters = GatewayCounters(), counts: GatewayCounts = GatewayCounts(), tables: [TableSize] = []) {
        (self.counters, self.counts, self.tables) = (counters, counts, tables)
    }
}
