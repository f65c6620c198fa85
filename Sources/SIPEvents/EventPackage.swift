import SIPCore

/// An event package: its token, what its bodies look like and how long a subscription lasts (RFC 6665 section 5.4).
public struct EventPackage: Hashable, Sendable {
    /// As in the Event header; compared byte for byte (RFC 6665 8.2.1).
    public var token: String
    /// Media types of its bodies, the default one first.
    public var mediaTypes: [String]
    /// Seconds granted when a SUBSCRIBE asks for none.
    public var defaultExpiry: Int

    public init(token: String, mediaTypes: [String], defaultExpiry: Int) {
        self.token = token
        self.mediaTypes = mediaTypes
        self.defaultExpiry = defaultExpiry
    }

    /// RFC 3856, with the forms that MS-PRES 1.3.3 adds; without Accept the body is PIDF.
    public static let presence = EventPackage(
        token: "presence",
        mediaTypes: [
            "application/pidf+xml", "application/msrtc-event-categories+xml", "text/xml+msrtc.pidf", "application/xpidf+xml",
        ],
        defaultExpiry: 3_600)

    /// MS-PRES 3.3: a user's own publications, containers and subscribers.
    public static let roamingSelf = EventPackage(
        token: "vnd-microsoft-roaming-self", mediaTypes: ["application/vnd-microsoft-roaming-self+xml"], defaultExpiry: 28_800)
}

/// What an agent does with a wish for a lifetime (RFC 6665 4.2.1.1, RFC 3903 section 6).
public struct ExpiryPolicy: Hashable, Sendable {
    /// Seconds; shorter wishes are refused with 423, unless they are 0 or at least 3600.
    public var minimum: Int
    /// Seconds granted when nothing is asked.
    public var standard: Int
    /// Seconds; longer wishes are shortened.
    public var maximum: Int

    public init(minimum: Int, standard: Int, maximum: Int) {
        self.minimum = minimum
        self.standard = standard
        self.maximum = maximum
    }

    /// The answer to a wish of that many seconds; nil: nothing was asked.
    public enum Decision: Hashable, Sendable {
        case grant(Int)
        /// 423 Interval Too Brief with this Min-Expires.
        case tooBrief(minimum: Int)
    }

    public func decide(_ wished: Int?) -> Decision {
        guard let wished else { return .grant(min(standard, maximum)) }
        if wished <= 0 { return .grant(0) }
        if wished < minimum && wished < 3_600 { return .tooBrief(minimum: minimum) }
        return .grant(min(wished, maximum))
    }
}
