import SIPCore

/// Redelivery: after a NOTIFY that was not delivered, the newest state is sent until the subscription ends (RFC 6665 4.2.2).
///
///     live --NOTIFY not delivered--> pause, doubling from 1 s to 30 s --> newest state, whole --answer--> live
///                                      \--unanswered, 408, or challenged, for `patience`--> over
///
/// Only the fact that state is due is kept; the body is built when it is sent.
extension Notifier {
    /// Reason why a NOTIFY got no response of the watcher.
    public enum DeliveryFailure: Hashable, Sendable {
        /// The transport did not deliver it: connection refused or reset, no route, TLS failure; or a proxy reported that its own
        /// transport did not. The watcher may still exist.
        case transport
        /// Timer F fired after it was sent (RFC 3261 17.1.2.2), or the response was 408.
        case silence
        /// 401 or 407, and no credentials answer it: the configuration lacks them.
        case challenge(status: Int)
    }

    /// Retries of a failed NOTIFY.
    public struct Redelivery: Hashable, Sendable {
        /// Time of the first failure in the series.
        public var since: Instant
        /// Number of failed NOTIFYs in the series.
        public var failures: Int
        /// Time of the next attempt; nil while a NOTIFY awaits its response.
        public var next: Instant?
        /// Time at which the retries end if none succeeds.
        public var until: Instant

        /// Creates a report of retries.
        public init(since: Instant, failures: Int, next: Instant?, until: Instant) {
            self.since = since
            self.failures = failures
            self.next = next
            self.until = until
        }
    }

    /// Whether state is due because a NOTIFY was not delivered.
    public var isRedelivering: Bool { phase == .live && losses.run != nil && due != .nothing }

    /// Whether the live dialog is to get the whole state, so that a restored one must not begin with changes.
    public var owesWholeState: Bool { phase == .live && due == .full }

    /// The retries of a failed NOTIFY; nil when none failed, or when no state is due.
    public var redelivery: Redelivery? {
        guard let run = losses.run, isOutstanding || due != .nothing else { return nil }
        var until = expiry
        switch phase {
        case .live: if let failingSince = losses.failingSince { until = min(until, failingSince + configuration.patience) }
        case .ending: until = lastNotify.endsBy
        case .initial, .held, .fetching, .over: return nil
        }
        return Redelivery(since: run.since, failures: run.count, next: isOutstanding ? nil : notBefore, until: until)
    }

    /// Handles a NOTIFY or BENOTIFY that was not delivered: schedules the newest state after a pause, or ends the subscription once
    /// NOTIFYs have failed for ``Configuration/patience``.
    /// - Parameters:
    ///   - pause: Pause of Retry-After, at least 1 s; nil: pauses grow.
    ///   - chance: Random value that shortens a growing pause by up to a quarter, so that watchers lost together are not retried
    ///     together.
    public mutating func notifyFailed(
        _ failure: DeliveryFailure, pause requestedPause: TimeSpan? = nil, chance: UInt64 = 0, at now: Instant
    ) -> [Action] {
        isOutstanding = false
        guard phase != .over else { return [] }
        losses.note(isBestEffort: configuration.bestEffort, at: now)
        let span = losses.failed(failure, at: now)
        if failure != .transport {
            if failure == .silence, case .ending(let reason) = phase, lastNotify.isSent { return close(reason) }
            if phase == .live, span >= configuration.patience { return close(failure.end) }
        }
        if let requestedPause { return retry(from: now + max(requestedPause, LostNotifications.firstPause), at: now) }
        return retry(from: now + losses.pause(after: failure, chance: chance), at: now)
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
        losses.reached()
        notBefore = now
        return flush(at: now)
    }

    private mutating func retry(from moment: Instant, at now: Instant) -> [Action] {
        switch phase {
        case .ending(let reason):
            guard reason.isNews, moment < lastNotify.endsBy else { return close(reason) }
            lastNotify.repeats()
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

    /// Schedules the newest state after `pause`, because the last notification did not leave this node. A fetch keeps waiting for its
    /// only NOTIFY (RFC 6665 4.4.3).
    public mutating func notificationNotSent(retryIn pause: TimeSpan, at now: Instant) -> [Action] {
        isOutstanding = false
        if phase == .ending(.fetched), now + pause < lastNotify.endsBy {
            lastNotify.repeats()
            notBefore = now + pause
            return []
        }
        return retry(from: now + pause, at: now)
    }
}

extension Notifier.DeliveryFailure {
    /// Reason of the end of a subscription, once the failure has lasted for longer than the patience.
    fileprivate var end: Notifier.EndReason {
        if case .challenge(let status) = self { .refused(status: status) } else { .unreachable }
    }
}

extension Notifier.EndReason {
    /// Whether the watcher learns of the end only from the last NOTIFY.
    fileprivate var isNews: Bool { if case .terminated = self { true } else { false } }
}
