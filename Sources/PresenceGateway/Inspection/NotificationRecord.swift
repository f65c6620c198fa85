import SIPCore
import SIPEvents

/// What is kept of a dialog's last notification so that an operator can ask about it: 24 octets, whatever was notified.
struct NotificationRecord: Equatable {
    /// When; of no meaning while `count` is 0.
    private(set) var at = Instant(nanosecondsSince1970: 0)
    /// Notifications since the dialog began or this process started, those in a 200 included.
    private(set) var count: UInt32 = 0
    /// Changes since then without a notification of their own: the watcher had that state, or newer state replaced it while it waited.
    private(set) var suppressed: UInt32 = 0
    /// The status of the answer to it; 0: none yet, or none is awaited.
    private(set) var answer: UInt16 = 0
    private(set) var cause = NotificationCause.first
    /// It went in the answer to a SUBSCRIBE.
    private(set) var isPiggybacked = false
    /// It could not be delivered, or was not answered in time.
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
}

/// Why a watcher was notified.
public enum NotificationCause: String, Codable, Hashable, Sendable {
    /// The first of the dialog, or the first since this process started.
    case first
    /// The watcher refreshed.
    case refresh
    /// The presence changed.
    case change
    /// Nothing may be told yet, or nothing is known.
    case pending
    /// What was pending is so no longer.
    case granted
    /// The one before was refused or not delivered.
    case repetition
    /// The last one.
    case end
}
