import SIPCore
import SIPEvents

/// Facts about a dialog's last notification for operators; 24 bytes, whatever was notified.
struct NotificationRecord: Equatable {
    /// Time of the notification; meaningless while `count` is 0.
    private(set) var at = Instant(nanosecondsSince1970: 0)
    /// Notifications since the start of the dialog or process, including those in a 200.
    private(set) var count: UInt32 = 0
    /// Changes without a notification in that time: the watcher had the state already, or a newer state replaced it while it waited.
    private(set) var suppressed: UInt32 = 0
    /// Status of the response; 0: none yet, or none expected.
    private(set) var answer: UInt16 = 0
    private(set) var cause = NotificationCause.first
    /// Whether it was sent in the response to a SUBSCRIBE.
    private(set) var isPiggybacked = false
    /// Whether it could not be delivered or timed out.
    private(set) var isLost = false

    mutating func sent(_ status: SubscriptionStatus, _ content: Notifier.Content, inAnswer isPiggybacked: Bool, at now: Instant) {
        cause = cause(of: status, content)
        at = now
        count &+= 1
        answer = 0
        self.isPiggybacked = isPiggybacked
        isLost = false
    }

    private func cause(of status: SubscriptionStatus, _ content: Notifier.Content) -> NotificationCause {
        if status.isTerminated { return .end }
        if case .pending = status { return .pending }
        if count == 0 { return .first }
        if content == .changes { return .change }
        if cause == .pending { return .granted }
        return isLost || answer >= 300 ? .repetition : .refresh
    }

    mutating func suppressedChange() { suppressed &+= 1 }

    mutating func answered(_ status: Int) { answer = UInt16(clamping: status) }

    mutating func lost() { isLost = true }

    /// Takes back the last notification, which was not sent.
    mutating func notSent() {
        if count > 0 { count -= 1 }
    }
}

/// Cause of a notification.
package enum NotificationCause: String, Codable, Hashable, Sendable {
    /// The first one of the dialog or of this process.
    case first
    /// The watcher refreshed.
    case refresh
    /// The presence changed.
    case change
    /// The subscription is not authorized yet, or no state is known.
    case pending
    /// A pending subscription became active.
    case granted
    /// The previous one was refused or not delivered.
    case repetition
    /// The last notification.
    case end
}
