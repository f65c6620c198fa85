import SIPCore

/// Delivery of NOTIFYs that did not arrive: the newest state is tried again until the subscription ends (RFC 6665 4.2.2).
///
///     live --NOTIFY not delivered--> pause, doubling from 1 s to 30 s --> newest state, whole --answer--> live
///                                      \--unanswered, or 408, for `patience`--> over
///
/// Nothing but the fact that state is due is kept; the body is made when it is sent.
extension Notifier {
    /// Why a NOTIFY got no answer of the watcher.
    public enum DeliveryFailure: Hashable, Sendable {
        /// The transport did not deliver it: connection refused or reset, no route, no TLS handshake, or a proxy answered that its own did
        /// not. That says nothing of the watcher.
        case transport
        /// It was sent, and Timer F fired (RFC 3261 17.1.2.2), or was answered 408.
        case silence
    }

    /// Pauses between two attempts to deliver; the first, and the longest.
    static let firstPause = TimeSpan.seconds(1)
    private static let longestPause = TimeSpan.seconds(30)
    /// At least so long after Timer F: a copy of the unanswered NOTIFY may still be on its way, and must not come after the next one
    /// (RFC 3261 12.2.2).
    private static let settling = TimeSpan.seconds(4)
    /// A failure that comes later after the last one begins a new run.
    private static let longestRun = TimeSpan.seconds(120)

    /// NOTIFYs in a row that failed.
    struct FailureRun: Hashable, Sendable {
        var since: Instant
        var count: Int
    }

    /// A NOTIFY that is being retried.
    public struct Redelivery: Hashable, Sendable {
        /// When the first NOTIFY of the run failed.
        public var since: Instant
        /// NOTIFYs of the run that failed.
        public var failures: Int
        /// When the next one is sent; nil: it is sent, and unanswered.
        public var next: Instant?
        /// When the retries end, if none succeeds.
        public var until: Instant

        public init(since: Instant, failures: Int, next: Instant?, until: Instant) {
            self.since = since
            self.failures = failures
            self.next = next
            self.until = until
        }
    }

    /// Whether the newest state is due because a NOTIFY was not delivered.
    public var isRedelivering: Bool { phase == .live && failures != nil && due != .nothing }

    /// The retries of a NOTIFY that failed; nil: none failed, or there is nothing to retry.
    public var redelivery: Redelivery? {
        guard let failures, isOutstanding || due != .nothing else { return nil }
        var until = expiry
        switch phase {
        case .live: if let silentSince { until = min(until, silentSince + configuration.patience) }
        case .ending: until = endsBy
        case .initial, .held, .fetching, .over: return nil
        }
        return Redelivery(since: failures.since, failures: failures.count, next: isOutstanding ? nil : notBefore, until: until)
    }

    /// A NOTIFY was answered by the watcher.
    mutating func arrived() {
        undelivered = 0
        silentSince = nil
        failures = nil
    }

    mutating func noteFailure(at now: Instant) {
        // A BENOTIFY has no answer that ends a run.
        if configuration.bestEffort, now > undeliveredAt + Self.longestRun { failures = nil }
        var run = failures ?? FailureRun(since: now, count: 0)
        run.count = min(run.count + 1, 1_000_000)
        failures = run
    }

    /// The last NOTIFY, or BENOTIFY, did not arrive: the newest state is sent after a pause, until a NOTIFY is answered or the subscription
    /// ends.
    /// - Parameters:
    ///   - pause: what Retry-After says; nil: the pauses grow.
    ///   - chance: shortens the pause by up to a quarter, so that watchers who were lost together are not tried together.
    public mutating func notifyFailed(
        _ failure: DeliveryFailure, pause wish: TimeSpan? = nil, chance: UInt64 = 0, at now: Instant
    ) -> [Action] {
        guard phase != .over else { return [] }
        isOutstanding = false
        noteFailure(at: now)
        if now > undeliveredAt + Self.longestRun { undelivered = 0 }
        undelivered = min(undelivered + 1, 64)
        undeliveredAt = now
        switch failure {
        case .transport: silentSince = nil
        case .silence:
            let since = silentSince ?? now
            silentSince = since
            if case .ending(let reason) = phase, isLastSent { return close(reason) }
            if phase == .live, now - since >= configuration.patience { return close(.unreachable) }
        }
        if let wish { return retry(from: now + max(wish, Self.firstPause), at: now) }
        let doublings = min(undelivered - 1, 5)
        var pause = min(Self.firstPause * (1 << doublings), Self.longestPause)
        if failure == .silence { pause = max(pause, Self.settling) }
        let sooner = Int64(chance % UInt64(pause.nanoseconds / 4 + 1))
        return retry(from: now + TimeSpan(nanoseconds: pause.nanoseconds - sooner), at: now)
    }

    /// The last NOTIFY was lost with its connection and goes by another way: the newest state is sent at once.
    public mutating func notifyRerouted(at now: Instant) -> [Action] {
        guard phase != .over else { return [] }
        isOutstanding = false
        return retry(from: now, at: now)
    }

    /// The watcher can be reached again: what is due because it could not is sent at once.
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

    /// The watcher is gone, and no NOTIFY says so: its endpoint did not come back.
    public mutating func watcherGone() -> [Action] {
        guard phase != .over else { return [] }
        isOutstanding = false
        if case .ending(let reason) = phase { return close(reason) }
        return close(.unreachable)
    }

    /// The last notification did not leave this node: the newest state is told after a pause.
    public mutating func notificationNotSent(retryIn pause: TimeSpan, at now: Instant) -> [Action] {
        isOutstanding = false
        return retry(from: now + pause, at: now)
    }
}

extension Notifier.EndReason {
    /// Whether the watcher cannot know of the end without the last NOTIFY.
    fileprivate var isNews: Bool { if case .terminated = self { true } else { false } }
}
