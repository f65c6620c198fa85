/// Rate limiter of log messages by key: repetitions within a period are suppressed. Bounded: when full, new keys are suppressed.
public struct RecentNotes<Key: Hashable & Sendable>: Sendable {
    private let silence: TimeSpan
    private let limit: Int
    private var until: [Key: Instant] = [:]

    /// Creates a limiter.
    /// - Parameters:
    ///   - silence: Period in which a key is not reported again.
    ///   - limit: Number of keys remembered; further keys are not reported.
    public init(silence: TimeSpan = .seconds(60), limit: Int) {
        self.silence = silence
        self.limit = limit
    }

    /// Whether to report this key now; a reported key is remembered.
    public mutating func isNews(_ key: Key, at now: Instant) -> Bool {
        if let until = until[key], now < until { return false }
        if until.count >= limit { until = until.filter { now < $0.value } }
        guard until.count < limit else { return false }
        until[key] = now + silence
        return true
    }
}
