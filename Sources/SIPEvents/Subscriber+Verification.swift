import SIPCore

/// Asking sooner than the lifetime says, because something happened to the far side (RFC 6665 4.1.2.2 allows a refresh at any time).
extension Subscriber {
    /// It is not known whether the far side still knows the subscription: it is refreshed at the given moment, unless that is later than
    /// planned, or a refused refresh may not be repeated so soon.
    public mutating func verify(at moment: Instant) {
        guard phase == .established, !isFetch, !wantsToLeave, !isAsking else { return }
        let from = max(moment, refreshesFrom ?? moment)
        refreshAt = min(refreshAt ?? from, from)
    }

    /// The far side is back: a subscription that was lost because it was away is made anew then. One that it asked to pause rests on.
    public mutating func wake(at moment: Instant) {
        guard phase == .resting, restsUnheard, let restsUntil else { return }
        self.restsUntil = min(restsUntil, moment)
    }
}
