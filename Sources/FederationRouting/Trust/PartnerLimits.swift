import SIPCore

/// Limits for the requests of one partner; nil: only the limits of the node apply.
public struct PartnerLimits: Hashable, Sendable {
    /// Requests per second on average; also the size of a burst.
    public var messagesPerSecond: Int?
    /// Number of different URIs that its users watch at the same time.
    public var watchedURIs: Int?

    /// Creates limits; by default none.
    public init(messagesPerSecond: Int? = nil, watchedURIs: Int? = nil) {
        self.messagesPerSecond = messagesPerSecond
        self.watchedURIs = watchedURIs
    }

    /// Limits of a partner found by automatic federation, as used by edge servers of the enterprise side: 20 messages per
    /// second, 1000 URIs.
    public static let discovered = PartnerLimits(messagesPerSecond: 20, watchedURIs: 1_000)
}

/// A rate limiter with a burst of one second; unused tokens beyond it are lost.
public struct TokenBucket: Hashable, Sendable {
    /// Tokens per second, from 1 to 1,000,000.
    public let rate: Int
    /// Tokens times 10^9, so that the tokens added per nanosecond are a whole number.
    private var level: Int64
    private var filledAt: Instant

    /// Creates a full bucket; `rate` is clamped to 1...1,000,000 tokens per second.
    public init(rate: Int, at now: Instant) {
        self.rate = min(max(rate, 1), 1_000_000)
        level = Int64(self.rate) * Self.unit
        filledAt = now
    }

    private static let unit: Int64 = 1_000_000_000

    /// Takes one token; false if none is left. A time before the previous call adds no tokens.
    public mutating func take(at now: Instant) -> Bool {
        let passed = min(max((now - filledAt).nanoseconds, 0), Self.unit)
        level = min(level + passed * Int64(rate), Int64(rate) * Self.unit)
        filledAt = max(filledAt, now)
        guard level >= Self.unit else { return false }
        level -= Self.unit
        return true
    }
}
