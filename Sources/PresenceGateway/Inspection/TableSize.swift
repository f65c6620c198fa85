/// Size and limit of one table, for metrics.
package struct TableSize: Hashable, Sendable {
    /// Name of the limit with underscores; transactions have two tables with one limit.
    package var name: String
    /// Number of entries.
    package var entries: Int
    /// Maximum number of entries.
    package var limit: Int
}

/// Counters, counts and table sizes of one or several shards.
package struct GatewayNumbers: Hashable, Sendable {
    /// Counters since the start.
    package var counters: GatewayCounters
    /// Current counts.
    package var counts: GatewayCounts
    /// Table sizes.
    package var tables: [TableSize]

    /// Creates numbers, zero by default.
    package init(counters: GatewayCounters = GatewayCounters(), counts: GatewayCounts = GatewayCounts(), tables: [TableSize] = []) {
        (self.counters, self.counts, self.tables) = (counters, counts, tables)
    }
}
