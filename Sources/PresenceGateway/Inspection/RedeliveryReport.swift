import PresenceDocuments
import SIPEvents

/// A notification that failed and is being retried.
public struct RedeliveryReport: Codable, Hashable, Sendable {
    /// When the first notification of the run failed.
    public var since: DateTime
    /// Notifications of the run that failed.
    public var failures: Int
    /// Why the last one failed.
    public var reason: String
    /// When the next one is sent; nil: it is sent, and unanswered.
    public var next: DateTime?
    /// When the retries end, and the subscription with them, if none succeeds.
    public var until: DateTime

    public init(since: DateTime, failures: Int, reason: String, next: DateTime?, until: DateTime) {
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
