/// Reason of `Subscription-State: terminated` (RFC 6665 4.1.3); unknown tokens are kept.
public struct TerminationReason: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// Token in lower case.
    public let rawValue: String

    /// Wraps a token, converted to lower case.
    public init(rawValue: String) {
        self.rawValue = rawValue.lowercased()
    }

    public var description: String { rawValue }

    /// Subscribe again at once, in a new dialog.
    public static let deactivated = TerminationReason(rawValue: "deactivated")
    /// Subscribe again later, after `retry-after`.
    public static let probation = TerminationReason(rawValue: "probation")
    /// Policy does not allow the subscription.
    public static let rejected = TerminationReason(rawValue: "rejected")
    /// The subscription was not refreshed, was ended by its subscriber, or was a fetch.
    public static let timeout = TerminationReason(rawValue: "timeout")
    /// Authorization was not obtained in time.
    public static let giveup = TerminationReason(rawValue: "giveup")
    /// The resource no longer exists.
    public static let noresource = TerminationReason(rawValue: "noresource")
    /// The state will not change again (RFC 6665 4.1.3).
    public static let invariant = TerminationReason(rawValue: "invariant")

    /// When a subscriber subscribes again after this reason (RFC 6665 4.1.3).
    public enum Retry: Hashable, Sendable {
        case never
        /// At once, in a new dialog; Retry-After is ignored.
        case immediately
        /// After `retry-after` if present, else at a time of the subscriber's choice.
        case later
    }

    /// When to subscribe again; `later` for tokens without a rule.
    public var retry: Retry {
        switch self {
        case .rejected, .noresource, .invariant: .never
        case .deactivated, .timeout: .immediately
        default: .later
        }
    }

    /// Maps a refusal of an upstream SUBSCRIBE to the reason for a watcher with an accepted subscription; nil for a temporary
    /// failure that is worth another attempt. 401 and 407 are temporary: they pass once the gateway has credentials.
    public init?(refusal status: Int) {
        switch status {
        case 403, 603, 606, 607: self = .rejected
        // Redirected: another attempt would be redirected again.
        case 300..<400: self = .noresource
        case 404, 410, 484, 485, 604: self = .noresource
        case 405, 406, 415, 416, 420, 421, 489, 493, 501, 505: self = .noresource
        // A loop persists: another attempt would loop again.
        case 482, 483: self = .noresource
        default: return nil
        }
    }
}

/// Value of Subscription-State without its syntax (RFC 6665 8.2.3).
public enum SubscriptionStatus: Hashable, Sendable {
    case active(expires: Int?)
    case pending(expires: Int?)
    case terminated(reason: TerminationReason?, retryAfter: Int?)
    /// Token that no standard defines; treated like active.
    case other(String, expires: Int?)

    /// Whether the subscription has ended.
    public var isTerminated: Bool {
        if case .terminated = self { true } else { false }
    }

    /// Seconds left; nil when absent or terminated.
    public var expires: Int? {
        switch self {
        case .active(let expires), .pending(let expires), .other(_, let expires): expires
        case .terminated: nil
        }
    }

    /// Value as written in the header.
    public var headerValue: String {
        switch self {
        case .active(let expires?): "active;expires=" + String(expires)
        case .active(let expires): "active" + Self.parameter("expires", expires)
        case .pending(let expires): "pending" + Self.parameter("expires", expires)
        case .other(let token, let expires): token + Self.parameter("expires", expires)
        case .terminated(let reason, let retryAfter):
            "terminated" + (reason.map { ";reason=\($0.rawValue)" } ?? "") + Self.parameter("retry-after", retryAfter)
        }
    }

    private static func parameter(_ name: String, _ value: Int?) -> String {
        value.map { ";" + name + "=" + String($0) } ?? ""
    }
}
