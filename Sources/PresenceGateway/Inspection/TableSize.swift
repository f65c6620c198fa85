import FederationRouting
import SIPCore
import SIPSecurity

/// How full one table is, for metrics.
public struct TableSize: Hashable, Sendable {
    /// The name of its limit, with underscores; of transactions there are two tables.
    public var name: String
    public var entries: Int
    public var limit: Int
}

extension Gateway {
    /// Every table of this shard that is bounded as a whole; what all shards share stands with the first.
    /// - Parameter counts: Those of this shard.
    private func tables(_ counts: GatewayCounts) -> [TableSize] {
        let limits = configuration.limits
        var tables = [
            TableSize(name: "subscriptions", entries: counts.watcherDialogs + counts.homeDialogs, limit: limits.subscriptions),
            TableSize(name: "watched_resources", entries: counts.watchedResources, limit: limits.watchedResources),
            TableSize(name: "upstream_subscriptions", entries: counts.upstreamSubscriptions, limit: limits.upstreamSubscriptions),
            TableSize(name: "presentities", entries: counts.presentities, limit: limits.presentities),
            TableSize(name: "shown_watchers", entries: blocks.watcherCount, limit: limits.shownWatchers),
            TableSize(name: "sign_offs", entries: blocks.signOffCount, limit: limits.signOffs),
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
        if shard == 0, let authenticator {
            tables += [
                TableSize(name: "security_associations", entries: counts.securityAssociations, limit: authenticator.limits.associations),
                TableSize(name: "tls_handshakes", entries: counts.tlsHandshakes, limit: authenticator.limits.handshakes),
            ]
        }
        return tables
    }

    /// All that this shard counts, at one moment.
    public var numbers: GatewayNumbers {
        let counts = counts
        return GatewayNumbers(counters: counters, counts: counts, tables: tables(counts))
    }
}

/// What shards count.
public struct GatewayNumbers: Hashable, Sendable {
    public var counters: GatewayCounters
    public var counts: GatewayCounts
    public var tables: [TableSize]

    /// Those of no shard, unless told otherwise.
    public init(counters: GatewayCounters = GatewayCounters(), counts: GatewayCounts = GatewayCounts(), tables: [TableSize] = []) {
        (self.counters, self.counts, self.tables) = (counters, counts, tables)
    }
}
