import EnhancedPresence
import SIPCore
import SIPEvents

/// Notifications of a dialog, and their results.
struct NotificationHistory {
    /// Whether the last notification had the state `active`, not `pending`.
    private(set) var wasActive = false
    /// Record of the last notification, for operators.
    private(set) var last = NotificationRecord()
    /// Reason of the last failed notification; valid while the notifier retries.
    private(set) var failureReason: String?
    /// Diagnostic for the last notification, if this server ended the dialog.
    private(set) var terminationDiagnostic: Diagnostic?

    /// Notes a notification, or a 200 in place of it.
    mutating func notified(_ status: SubscriptionStatus, _ content: Notifier.Content, inAnswer: Bool, at now: Instant) {
        if case .active = status { wasActive = true } else if !inAnswer { wasActive = false }
        if !inAnswer { last.sent(status, content, inAnswer: false, at: now) }
    }

    /// Notes that a 200 in place of a notification was sent.
    mutating func notifiedInAnswer(_ status: SubscriptionStatus, _ content: Notifier.Content, at now: Instant) {
        last.sent(status, content, inAnswer: true, at: now)
    }

    /// Notes a change without a notification.
    mutating func suppressed() { last.suppressedChange() }

    /// Notes the final response to a NOTIFY.
    mutating func answered(_ status: SIPStatus) { last.answered(status.rawValue) }

    /// Notes that a final response is not a redirection that is followed.
    mutating func settled(_ status: SIPStatus) { failureReason = status.isSuccess ? nil : "answered \(status.rawValue)" }

    /// Notes a notification that was not delivered.
    mutating func lost(_ reason: String) {
        last.lost()
        failureReason = reason
    }

    /// Takes back the last notification, which was not sent.
    mutating func notSent() { last.notSent() }

    /// Sets the diagnostic of the last notification; nil: none.
    mutating func diagnose(_ diagnostic: Diagnostic?) { terminationDiagnostic = diagnostic }

    /// Takes over the state of the last notification from the store.
    mutating func restore(wasActive: Bool) { self.wasActive = wasActive }
}
