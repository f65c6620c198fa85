import SIPCore

/// Event package: token, media types of its bodies and default lifetime (RFC 6665 5.4).
public struct EventPackage: Hashable, Sendable {
    /// Token of the Event header, case-sensitive (RFC 6665 8.2.1).
    public var token: String
    /// Media types of its bodies, the default first.
    public var mediaTypes: [String]
    /// Seconds granted when a SUBSCRIBE has no Expires.
    public var defaultExpiry: Int

    public init(token: String, mediaTypes: [String], defaultExpiry: Int) {
        self.token = token
        self.mediaTypes = mediaTypes
        self.defaultExpiry = defaultExpiry
    }

    /// Presence (RFC 3856) with the body types of MS-PRES 1.3.3; without Accept the body is PIDF.
    public static let presence = EventPackage(
        token: "presence",
        mediaTypes: [
            "application/pidf+xml", "application/msrtc-event-categories+xml", "text/xml+msrtc.pidf", "application/xpidf+xml",
        ],
        defaultExpiry: 3_600)

    /// Roaming self (MS-PRES 3.3): a user's own publications, containers and subscribers.
    public static let roamingSelf = EventPackage(
        token: "vnd-microsoft-roaming-self", mediaTypes: ["application/vnd-microsoft-roaming-self+xml"], defaultExpiry: 28_800)
}

/// Policy for requested lifetimes (RFC 6665 4.2.1.1, RFC 3903 6).
public struct ExpiryPolicy: Hashable, Sendable {
    /// Seconds; shorter requests are refused with 423, except 0 and requests of at least 3,600.
    public var minimum: Int
    /// Seconds granted when no lifetime is requested, at most ``maximum``.
    public var standard: Int
    /// Seconds; longer requests are shortened to this.
    public var maximum: Int

    /// Creates a policy; all values are seconds and are not checked against each other.
    public init(minimum: Int, standard: Int, maximum: Int) {
        self.minimum = minimum
        self.standard = standard
        self.maximum = maximum
    }

    /// Decision on a requested lifetime.
    public enum Decision: Hashable, Sendable {
        /// Accept for this number of seconds.
        case grant(Int)
        /// 423 Interval Too Brief with this Min-Expires.
        case tooBrief(minimum: Int)
    }

    /// Decides on the requested seconds: nil stands for a request without Expires; 0 or less grants 0.
    public func decide(_ requested: Int?) -> Decision {
        guard let requested else { return .grant(min(standard, maximum)) }
        if requested <= 0 { return .grant(0) }
        if requested < minimum && requested < 3_600 { return .tooBrief(minimum: minimum) }
        return .grant(min(requested, maximum))
    }
}
