import SIPCore

/// Changes that could not be committed.
extension Notifier {
    /// Takes over the stored subscription after a failed commit (RFC 3261 12.2: a refused request changes nothing). Live, it schedules the
    /// whole state after `pause`: an unsent notification may have carried a change.
    ///
    /// An unsubscribe is undone; a poll, and a subscription that is ending for another reason, stay as they are. Responses, state and
    /// grants that arrived meanwhile stay valid.
    /// - Parameter expiry: End of the subscription without a refresh.
    public mutating func reload(expiry: Instant, retryIn pause: TimeSpan, at now: Instant) {
        switch phase {
        case .initial, .fetching: return
        case .ending(let reason) where reason != .unsubscribed: return
        case .held: takeStored(expiry, .held)
        case .live, .ending, .over:
            takeStored(expiry, .live)
            due = .full
            notBefore = now + pause
        }
    }

    /// Sends the whole state instead of the due changes, because they are not known any more.
    public mutating func replaceChanges() {
        if due == .changes { due = .full }
    }
}
