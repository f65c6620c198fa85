import SIPCore

/// Requests ahead of schedule, after an event at the remote domain (RFC 6665 4.1.2.2 allows a refresh at any time).
extension Subscriber {
    /// Moves the refresh forward to `moment`, because the notifier may have lost the subscription; not before a refused refresh may
    /// be repeated.
    public mutating func verify(at moment: Instant) {
        if isVerifiable { refreshes.verify(at: moment) }
    }

    /// Whether ``verify(at:)`` with `moment` moves the refresh forward.
    public func verifiesSooner(at moment: Instant) -> Bool {
        guard isVerifiable else { return false }
        let from = refreshes.verification(at: moment)
        return asksAt.map { from < $0 } ?? true
    }

    private var isVerifiable: Bool { phase == .established && !isFetch && !wantsToLeave && !isAsking }

    /// Shortens the pause to `moment`, because the remote domain is reachable again; a pause that the notifier requested is kept.
    public mutating func wake(at moment: Instant) {
        guard wakesSooner(at: moment) else { return }
        rest?.end(at: moment)
    }

    /// Whether ``wake(at:)`` with `moment` shortens the pause.
    public func wakesSooner(at moment: Instant) -> Bool {
        phase == .resting && rest.map { $0.isUnheard && moment < $0.until } ?? false
    }
}
