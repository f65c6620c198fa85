import SIPCore

/// Requests ahead of schedule, after an event at the remote domain (RFC 6665 4.1.2.2 allows a refresh at any time).
extension Subscriber {
    /// Moves the refresh forward to `moment`, because the notifier may have lost the subscription; not before a refused refresh may
    /// be repeated.
    public mutating func verify(at moment: Instant) {
        guard phase == .established, !isFetch, !wantsToLeave, !isAsking else { return }
        let from = max(moment, refreshesFrom ?? moment)
        refreshAt = min(refreshAt ?? from, from)
    }

    /// Shortens the pause to `moment`, because the remote domain is reachable again; a pause that the notifier requested is kept.
    public mutating func wake(at moment: Instant) {
        guard phase == .resting, restsUnheard, let restsUntil else { return }
        self.restsUntil = min(restsUntil, moment)
    }
}
