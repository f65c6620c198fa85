import SIPCore

/// What one partner may ask of this node; nil: as much as everybody together.
public struct PartnerLimits: Hashable, Sendable {
    /// Requests a second, in the long run; as many may come at once.
    public var messagesPerSecond: Int?
    /// Different URIs that its users watch at the same time.
    public var watchedURIs: Int?

    public init(messagesPerSecond: Int? = nil, watchedURIs: Int? = nil) {
        self.messagesPerSecond = messagesPerSecond
        self.watchedURIs = watchedURIs
    }

    /// Of a partner that nobody agreed on, as edges of the enterprise side know it: 20 messages a second and 1000 URIs.
    public static let discovered = PartnerLimits(messagesPerSecond: 20, watchedURIs: 1_000)
}

/// A rate with a burst of one second: what is not used within a second is lost.
public struct TokenBucket: Hashable, Sendable {
    /// A second.
    public let rate: Int
    /// Tokens times 10^9: what a nanosecond adds is then a whole number.
    private var level: Int64
    private var filledAt: Instant

    /// Full at first.
    public init(rate: Int, at now: Instant) {
        self.rate = min(max(rate, 1), 1_000_000)
        level = Int64(self.rate) * Self.unit
        filledAt = now
    }

    private static let unit: Int64 = 1_000_000_000

    /// Takes a token; false when there is none. Time that goes back adds nothing.
    public mutating func take(at now: Instant) -> Bool {
        let passed = min(max((now - filledAt).nanoseconds, 0), Self.unit)
        level = min(level + passed * Int64(rate), Int64(rate) * Self.unit)
        filledAt = max(filledAt, now)
        guard level >= Self.unit else { return false }
        level -= Self.unit
        return true
    }
}
