import FederationRouting
import SIPCore
import SIPEvents

/// Notifications of a watcher that knows the state by its entity-tag (RFC 5839).
extension WatcherDialog {
    /// Entity-tag of the state that a notification to a standard watcher shows (RFC 5839 7.1); nil: it has none.
    var entityTag: String? { terms.side == .simple ? presence?.entityTag : nil }

    /// Whether the watcher has the state of a notification, by the condition of its SUBSCRIBE (RFC 5839 7.2).
    func leavesOutBody(of content: Notifier.Content, tagged tag: String?) -> Bool {
        guard let wishes, content == .full, tag != nil else { return false }
        if wishes.isRepeating, wishes.isConditional { return true }
        return wishes.takeCondition()?.isMet(by: tag) ?? false
    }

    /// Whether the notification of a refresh is left out (RFC 5839 6.4): the watcher has the state, or wants none.
    func skipping(at now: Instant) -> Notifier.Skipping {
        guard let condition = wishes?.condition, wasNotifiedActive, let presence else { return .nothing }
        switch condition {
        case .always: return .thisOne
        case .tag(let tag): return presence.hasState(tagged: tag, in: self, at: now) ? .allDue : .nothing
        }
    }
}
