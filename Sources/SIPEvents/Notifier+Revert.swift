import SIPCore

/// Changes that could not be committed.
extension Notifier {
    /// Restores the state before a SUBSCRIBE, or before an end, that could not be committed (RFC 3261 12.2: a refused request changes
    /// nothing). Live, it schedules the newest state after `pause`: an unsent notification may have carried a change.
    /// - Parameter reasons: Ends to restore from; a subscription that is ending for another reason stays as it is.
    public mutating func revert(to before: Notifier, from reasons: Set<EndReason>, retryIn pause: TimeSpan, at now: Instant) {
        if case .ending(let reason) = phase, !reasons.contains(reason) { return }
        let current = self
        self = before
        // Responses, state and grants that arrived since the SUBSCRIBE stay valid.
        isOutstanding = current.isOutstanding
        takeAuthorization(of: current)
        guard phase == .live else { return }
        due = .full
        notBefore = max(notBefore, now + pause)
    }
}
