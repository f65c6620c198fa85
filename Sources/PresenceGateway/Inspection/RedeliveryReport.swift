import PresenceDocuments
import SIPEvents

/// A notification that failed and is being retried.
package struct RedeliveryReport: Codable, Hashable, Sendable {
    /// Time of the first failure in the series.
    package var since: DateTime
    /// Number of failed notifications in the series.
    package var failures: Int
    /// Reason of the last failure.
    package var reason: String
    /// Time of the next attempt; nil while a NOTIFY awaits its response.
    package var next: DateTime?
    /// Time at which retries and subscription end, if none succeeds.
    package var until: DateTime

    /// Creates a report.
    package init(since: DateTime, failures: Int, reason: String, next: DateTime?, until: DateTime) {
        self.since = since
        self.failures = failures
        self.reason = reason
        self.next = next
        self.until = until
    }

    init?(_ notifier: Notifier, _ reason: String?) {
        guard let redelivery = notifier.redelivery else { return nil }
        self.init(
            since: DateTime(redelivery.since), failures: redelivery.failures, reason: reason ?? "no answer",
            next: redelivery.next.map { DateTime($0) }, until: DateTime(redelivery.until))
    }
}
