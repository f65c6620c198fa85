/// Why a subscription ended: `reason` of `Subscription-State: terminated` (RFC 6665 4.1.3). Unknown tokens survive.
public struct TerminationReason: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// Lower case.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue.lowercased()
    }

    public var description: String { rawValue }

    /// Move: subscribe again at once.
    public static let deactivated = TerminationReason(rawValue: "deactivated")
    /// Later, after `retry-after`.
    public static let probation = TerminationReason(rawValue: "probation")
    /// Policy forbids it.
    public static let rejected = TerminationReason(rawValue: "rejected")
    /// The subscription was not refreshed, was ended by its subscriber, or was a fetch.
    public static let timeout = TerminationReason(rawValue: "timeout")
    /// Authorization was not obtained in time.
    public static let giveup = TerminationReason(rawValue: "giveup")
    /// The resource does not exist any more.
    public static let noresource = TerminationReason(rawValue: "noresource")
    /// The state will not change any more (RFC 6665 4.1.3).
    public static let invariant = TerminationReason(rawValue: "invariant")

    /// What a subscriber does after a subscription ended so (RFC 6665 4.1.3).
    public enum Retry: Hashable, Sendable {
        case never
        /// At once, in a new dialog; Retry-After does not count.
        case immediately
        /// After `retry-after` when it was given, else when the subscriber likes.
        case later
    }

    public var retry: Retry {
        switch self {
        case .rejected, .noresource, .invariant: .never
        case .deactivated, .timeout: .immediately
        default: .later
        }
    }

    /// The reason that a refusal of the far side's SUBSCRIBE has for somebody whose own subscription was already accepted; nil:
    /// a passing failure, so that a new attempt makes sense. 401 and 407 pass when the gateway gets credentials, and say nothing of the
    /// presentity's wishes.
    public init?(refusal status: Int) {
        switch status {
        case 403, 603, 606, 607: self = .rejected
        // To an address that is not the far side's: asking here again would only be sent there again.
        case 300..<400: self = .noresource
        case 404, 410, 484, 485, 604: self = .noresource
        case 405, 406, 415, 416, 420, 421, 489, 493, 501, 505: self = .noresource
        // A loop stays one: asking again would only go round again.
        case 482, 483: self = .noresource
        default: return nil
        }
    }
}

/// The value of Subscription-State without its syntax (RFC 6665 8.2.3).
public enum SubscriptionStatus: Hashable, Sendable {
    case active(expires: Int?)
    case pending(expires: Int?)
    case terminated(reason: TerminationReason?, retryAfter: Int?)
    /// A token that no standard names; treated like active.
    case other(String, expires: Int?)

    public var isTerminated: Bool {
        if case .terminated = self { true } else { false }
    }

    /// Seconds left, when the notifier says so.
    public var expires: Int? {
        switch self {
        case .active(let expires), .pending(let expires), .other(_, let expires): expires
        case .terminated: nil
        }
    }

    /// The header's value.
    public var headerValue: String {
        switch self {
        case .active(let expires): "active" + Self.parameter("expires", expires)
        case .pending(let expires): "pending" + Self.parameter("expires", expires)
        case .other(let token, let expires): token + Self.parameter("expires", expires)
        case .terminated(let reason, let retryAfter):
            "terminated" + (reason.map { ";reason=\($0.rawValue)" } ?? "") + Self.parameter("retry-after", retryAfter)
        }
    }

    private static func parameter(_ name: String, _ value: Int?) -> String {
        value.map { ";\(name)=\($0)" } ?? ""
    }
}
