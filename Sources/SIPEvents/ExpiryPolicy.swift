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
