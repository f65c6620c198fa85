import Administration
import SIPCore
import Storage

extension StatusPages {
    /// Metrics of the store: its queue and its transactions.
    static func storeMetrics(_ statistics: StoreWorker.Statistics) -> [Metric] {
        [
            Metric(
                "isthmus_store_requests_waiting", .gauge, help: "Requests to the store without a result.", value: Double(statistics.waiting)
            ),
            Metric(
                "isthmus_store_oldest_wait_seconds", .gauge, help: "Age of the oldest request without a result.",
                value: statistics.oldestWait.fractionalSeconds),
            Metric(
                "isthmus_store_commits_total", .counter, help: "Commits with a result, failed ones included.",
                value: Double(statistics.commits)),
            Metric(
                "isthmus_store_transactions_total", .counter, help: "Transactions of one or several commits.",
                value: Double(statistics.transactions)),
            Metric(
                "isthmus_store_transaction_seconds", .gauge,
                help: "Duration of the last transaction, with its wait for other processes.",
                value: statistics.lastTransaction.fractionalSeconds),
        ]
    }
}
