import Registration
import SIPCore

/// Sizes of all tables.
extension ShardInspection {
    /// Number of entries of each table, by name, for tests of growth. All tables are empty when all dialogs, publications and
    /// transactions have ended and no user data is kept.
    var tableSizes: [String: Int] {
        let tables: [String: Int] = [
            "pendingRequests": pendingRequests.count,
            "timers": timers.count, "registrations": flows.homeServer.home.registrar.count,
            "clientTransactions": transactions.clientCount, "serverTransactions": transactions.serverCount,
            "changedRecords": commitLog.open.keys.count, "commitsInFlight": commitLog.inFlight.count,
            "waitingMessages": commitLog.waitingMessages,
            "lookups": hops.lookups.count, "deliveries": hops.deliveries.count, "questions": hops.asking.count,
            "undeliverable": hops.undeliverable.count,
            "watchedByPartners": flows.border.partners.table.watchedCount, "connectionCleanup": kernel.connectionCleanup.count,
            "unanswered": unanswered.count, "mailboxes": kernel.mailboxes.count,
        ]
        let flowTables = [
            flows.subscriptions.sizes, flows.presenceSubscriptions.sizes, flows.presentities.sizes, flows.upstream.upstreams.sizes,
            flows.upstream.verifier.sizes, flows.publications.sizes,
        ]
        return flowTables.reduce(tables) { all, sizes in all.merging(sizes) { $1 } }
    }
}
