/// What was told lately: whoever does the same thing again and again, and a crowd that does, fill no log. Bounded; of a crowd the first are
/// told.
public struct RecentNotes<Key: Hashable & Sendable>: Sendable {
    private let silence: TimeSpan
    private let limit: Int
    private var until: [Key: Instant] = [:]

    /// - Parameters:
    ///   - silence: how long one thing is not told again.
    ///   - limit: things that are remembered; those beyond are not told.
    public init(silence: TimeSpan = .seconds(60), limit: Int) {
        self.silence = silence
        self.limit = limit
    }

    /// Whether this was not told for a while, and is told now.
    public mutating func isNews(_ key: Key, at now: Instant) -> Bool {
        if let until = until[key], now < until { return false }
        if until.count >= limit { until = until.filter { now < $0.value } }
        guard until.count < limit else { return false }
        until[key] = now + silence
        return true
    }
}
