import SIPCore

/// NOTIFYs of one dialog that failed since the last one that arrived, and the pause before the next attempt (RFC 6665 4.2.2).
struct LostNotifications: Hashable, Sendable {
    /// Series of failed NOTIFYs.
    struct Run: Hashable, Sendable {
        var since: Instant
        var count: Int
    }

    /// First and longest pause between two delivery attempts.
    static let firstPause = TimeSpan.seconds(1)
    private static let longestPause = TimeSpan.seconds(30)
    /// Least pause after Timer F: a copy of the unanswered NOTIFY may still be in transit, and must not arrive after the next one
    /// (RFC 3261 12.2.2).
    private static let settling = TimeSpan.seconds(4)
    /// Failures further apart than this start a new series.
    private static let longestRun = TimeSpan.seconds(120)

    /// Number of NOTIFYs in a row that were not delivered, at most 64; a response or SUBSCRIBE resets it.
    private(set) var undelivered = 0
    private var undeliveredAt = Instant(nanosecondsSince1970: 0)
    /// Time of the first NOTIFY in a series that met Timer F, 408, or a challenge without credentials for it.
    private(set) var failingSince: Instant?
    /// Series of NOTIFYs that failed, refused ones included; nil: the watcher has a state.
    private(set) var run: Run?

    /// Ends the series, because the watcher has a state.
    mutating func arrived() { (undelivered, failingSince, run) = (0, nil, nil) }

    /// Starts the pauses again, because the watcher is reachable.
    mutating func reached() { undelivered = 0 }

    /// Notes a response of the watcher that refuses the state.
    mutating func answered() { (undelivered, failingSince) = (0, nil) }

    /// Adds a failure to the series.
    /// - Parameter isBestEffort: whether it is a BENOTIFY, which gets no response that could end a series.
    mutating func note(isBestEffort: Bool, at now: Instant) {
        if isBestEffort, now > undeliveredAt + Self.longestRun { run = nil }
        var next = run ?? Run(since: now, count: 0)
        next.count = min(next.count + 1, 1_000_000)
        run = next
    }

    /// Notes a NOTIFY without a response of the watcher.
    /// - Returns: time for which NOTIFYs were not answered; zero after a transport failure, which does not count.
    mutating func failed(_ failure: Notifier.DeliveryFailure, at now: Instant) -> TimeSpan {
        if now > undeliveredAt + Self.longestRun { undelivered = 0 }
        undelivered = min(undelivered + 1, 64)
        undeliveredAt = now
        guard failure != .transport else {
            failingSince = nil
            return .zero
        }
        let since = failingSince ?? now
        failingSince = since
        return now - since
    }

    /// Pause before the next attempt; it doubles with each failure.
    /// - Parameter chance: Random value that shortens the pause by up to a quarter.
    func pause(after failure: Notifier.DeliveryFailure, chance: UInt64) -> TimeSpan {
        var pause = min(Self.firstPause * (1 << min(undelivered - 1, 5)), Self.longestPause)
        if failure == .silence { pause = max(pause, Self.settling) }
        let sooner = Int64(chance % UInt64(pause.nanoseconds / 4 + 1))
        return TimeSpan(nanoseconds: pause.nanoseconds - sooner)
    }
}
