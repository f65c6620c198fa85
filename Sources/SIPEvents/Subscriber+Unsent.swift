import SIPCore

/// SUBSCRIBE requests that did not leave this node, because a change that they depend on could not be committed.
extension Subscriber {
    /// Repeats a refresh after a pause; the dialog stays. Any other SUBSCRIBE counts as failed.
    public mutating func subscribeNotSent(at now: Instant) -> [Action] {
        guard isAsking, phase == .established, lapsesAt != nil, !isFetch, !wantsToLeave else { return subscribeFailed(at: now) }
        isAsking = false
        timerN = nil
        wantsChange = false
        refreshes.refused(until: now + max(configuration.retryMinimum, Self.leastPause))
        return []
    }
}
