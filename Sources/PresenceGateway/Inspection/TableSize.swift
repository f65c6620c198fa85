import FederationRouting
import SIPCore
import SIPSecurity

/// Size and limit of one table, for metrics.
public struct TableSize: Hashable, Sendable {
    /// Name of the limit with underscores; transactions have two tables with one limit.
    public var name: String
    /// Number of entries.
    public var entries: Int
    /// Maximum number of entries.
    public var limit: Int
}

extension ShardInspection {
    /// Tables of this shard with a limit on their total size; tables shared by all shards are listed by shard 0.
    /// - Parameter counts: the counts of this shard.
    private func tables(_ counts: GatewayCounts) -> [TableSize] {
        let limits = configuration.limits
        var tables = [
            TableSize(name: "subscriptions", entries: counts.watcherDialogs + counts.homeDialogs, limit: limits.subscriptions),
            TableSize(name: "watched_resources", entries: counts.watchedResources, limit: limits.watchedResources),
            TableSize(name: "upstream_subscriptions", entries: counts.upstreamSubscriptions, limit: limits.upstreamSubscriptions),
            TableSize(name: "presentities", entries: counts.presentities, limit: limits.presentities),
            TableSize(name: "shown_watchers", entries: flows.presentities.blocking.memory.watcherCount, limit: limits.shownWatchers),
            TableSize(name: "sign_offs", entries: flows.presentities.blocking.memory.signOffCount, limit: limits.signOffs),
            TableSize(name: "publication_bridges", entries: counts.publicationBridges, limit: limits.publicationBridges),
            TableSize(name: "registrations", entries: counts.registrations, limit: limits.registrations),
            TableSize(name: "server_transactions", entries: transactions.serverCount, limit: limits.transactions),
            TableSize(name: "client_transactions", entries: transactions.clientCount, limit: limits.transactions),
            TableSize(name: "pending_output", entries: counts.pendingOutput, limit: limits.pendingOutput),
            TableSize(name: "names", entries: hops.cache.count, limit: hops.cache.bounds.entries),
            TableSize(name: "hops_down", entries: hops.health.count, limit: hops.health.policy.entries),
            TableSize(name: "requests_waiting", entries: hops.waiting, limit: configuration.naming?.waiting ?? 0),
            TableSize(name: "journal_entries", entries: journal.count, limit: limits.journalEntries),
        ]
        if place.index == 0, let authenticator {
            tables += [
                TableSize(name: "security_associations", entries: counts.securityAssociations, limit: authenticator.limits.associations),
                TableSize(name: "tls_handshakes", entries: counts.tlsHandshakes, limit: authenticator.limits.handshakes),
            ]
        }
        return tables
    }

    /// Counters, counts and table sizes of this shard at one moment.
    var numbers: GatewayNumbers {
        let counts = counts
        return GatewayNumbers(counters: counters, counts: counts, tables: tables(counts))
    }
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
