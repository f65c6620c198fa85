import Registration
import SIPCore

/// How full one table of a shard is, for metrics.
public struct TableSize: Hashable, Sendable {
    /// The name of its limit, with underscores.
    public var name: String
    public var entries: Int
    public var limit: Int
}

extension Gateway {
    /// Every table of this shard that is bounded as a whole.
    public var tables: [TableSize] {
        let limits = configuration.limits
        return [
            TableSize(name: "subscriptions", entries: dialogs.count + home.dialogs.count, limit: limits.subscriptions),
            TableSize(name: "presentities", entries: presentities.count, limit: limits.presentities),
            TableSize(name: "registrations", entries: home.registrar.count, limit: limits.registrations),
            TableSize(name: "server_transactions", entries: transactions.serverCount, limit: limits.transactions),
            TableSize(name: "client_transactions", entries: transactions.clientCount, limit: limits.transactions),
            TableSize(name: "journal_entries", entries: journal.count, limit: limits.journalEntries),
        ]
    }
}
