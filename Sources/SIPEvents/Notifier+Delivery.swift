import SIPCore

/// Redelivery: after a NOTIFY that was not delivered, the newest state is sent until the subscription ends (RFC 6665 4.2.2).
///
///     live --NOTIFY not delivered--> pause, doubling from 1 s to 30 s --> newest state, whole --answer--> live
///                                      \--unanswered, or challenged, for `patience`--> over
///
/// Only the fact that state is due is kept; the body is built when it is sent.
extension Notifier {
    /// Reason why a NOTIFY got no response.
    public enum DeliveryFailure: Hashable, Sendable {
        /// The transport did not deliver it: connection refused or reset, no route, TLS failure. The watcher may still exist.
        case transport
        /// Timer F fired after it was sent (RFC 3261 17.1.2.2).
        case silence
        /// 401 or 407, and no credentials answer it: the configuration lacks them.
        case challenge(status: Int)
    }

    /// First and longest pause between two delivery attempts.
    private static let firstPause = TimeSpan.seconds(1)
    private static let longestPause = TimeSpan.seconds(30)
    /// Least pause after Timer F: a copy of the unanswered NOTIFY may still be in transit, and must not arrive after the next one
    /// (RFC 3261 12.2.2).
    private static let settling = TimeSpan.seconds(4)
    /// Failures further apart than this start a new series.
    private static let longestRun = TimeSpan.seconds(120)

    /// Whether state is due because a NOTIFY was not delivered.
    public var isRedelivering: Bool { phase == .live && undelivered > 0 && due != .nothing }

    /// Handles a NOTIFY or BENOTIFY that was not delivered: schedules the newest state after a pause, or ends the subscription once
    /// NOTIFYs have gone unanswered for ``Configuration/patience``.
    /// - Parameter chance: Random value that shortens the pause by up to a quarter, so that watchers lost together are not retried
    ///   together.
    public mutating func notifyFailed(_ failure: DeliveryFailure, chance: UInt64 = 0, at now: Instant) -> [Action] {
        guard phase != .over else { return [] }
        isOutstanding = false
        if now > undeliveredAt + Self.longestRun { undelivered = 0 }
        undelivered = min(undelivered + 1, 64)
        undeliveredAt = now
        switch failure {
        case .transport: failingSince = nil
        case .silence, .challenge:
            let since = failingSince ?? now
            failingSince = since
            if failure == .silence, case .ending(let reason) = phase, isLastSent { return close(reason) }
            if phase == .live, now - since >= configuration.patience { return close(failure.end) }
        }
        let doublings = min(undelivered - 1, 5)
        var pause = min(Self.firstPause * (1 << doublings), Self.longestPause)
        if failure == .silence { pause = max(pause, Self.settling) }
        let sooner = Int64(chance % UInt64(pause.nanoseconds / 4 + 1))
        return retry(from: now + TimeSpan(nanoseconds: pause.nanoseconds - sooner), at: now)
    }

    /// Sends the newest state at once, because the last NOTIFY was lost with its connection and another route exists.
    public mutating func notifyRerouted(at now: Instant) -> [Action] {
        guard phase != .over else { return [] }
        isOutstanding = false
        return retry(from: now, at: now)
    }

    /// Sends due state at once, because the watcher is reachable again.
    public mutating func watcherReturned(at now: Instant) -> [Action] {
        guard due != .nothing, !isOutstanding else { return [] }
        undelivered = 0
        notBefore = now
        return flush(at: now)
    }

    private mutating func retry(from moment: Instant, at now: Instant) -> [Action] {
        switch phase {
        case .ending(let reason):
            guard reason.isNews, moment < endsBy else { return close(reason) }
            isLastSent = false
            notBefore = moment
            return flush(at: now)
        case .live:
            due = .full
            notBefore = moment
            return flush(at: now)
        case .initial, .held, .fetching, .over:
            return []
        }
    }

    /// Ends the subscription without a NOTIFY, because the watcher's endpoint did not come back.
    public mutating func watcherGone() -> [Action] {
        guard phase != .over else { return [] }
        isOutstanding = false
        if case .ending(let reason) = phase { return close(reason) }
        return close(.unreachable)
    }

    /// Schedules the newest state after `pause`, because the last notification did not leave this node.
    public mutating func notificationNotSent(retryIn pause: TimeSpan, at now: Instant) -> [Action] {
        isOutstanding = false
        return retry(from: now + pause, at: now)
    }
}

extension Notifier.DeliveryFailure {
    /// How a subscription ends for it, once it has lasted for longer than the patience.
    fileprivate var end: Notifier.EndReason {
        if case .challenge(let status) = self { .refused(status: status) } else { .unreachable }
    }
}

extension Notifier.EndReason {
    /// Whether the watcher learns of the end only from the last NOTIFY.
    fileprivate var isNews: Bool { if case .terminated = self { true } else { false } }
}
