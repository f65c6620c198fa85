import SIPCore
import SIPEvents

extension SubscriptionStatus {
    /// Converts a Subscription-State header (RFC 6665 8.2.3); a notification without one counts as active.
    init(header: SubscriptionState?) {
        let expires = header?.expires.map(Int.init)
        switch header?.state {
        case .active?, nil: self = .active(expires: expires)
        case .pending?: self = .pending(expires: expires)
        case .terminated?:
            self = .terminated(
                reason: header?.reason.map { SIPEvents.TerminationReason(rawValue: $0.rawValue) },
                retryAfter: header?.retryAfter.map(Int.init))
        case .some(let other): self = .other(other.rawValue, expires: expires)
        }
    }
}
