import SIPCore

/// How late a loop serves its shard, and whether its endpoint is to be told of it; without I/O and without a clock.
struct LatenessMeter {
    /// What is less is not worth telling.
    let threshold: TimeSpan
    /// Whether the endpoint was told that it is served late, and not yet that it no longer is.
    private(set) var isLate = false
    private var excused = TimeSpan.zero

    init(threshold: TimeSpan) { self.threshold = threshold }

    /// Leaves time out of the next measurement that the program itself asked for, such as for a page or a new configuration.
    mutating func excuse(_ span: TimeSpan) { excused = excused + span }

    /// - Parameters:
    ///   - tickBegan: when the first message of this tick was read; nil: there was none.
    ///   - deadline: when the endpoint wanted to be woken.
    /// - Returns: What the endpoint is to be told: how long the loop was at reading this tick, or how much later than its timer it came,
    ///   whichever is more; zero as soon as it is in time again; nil: nothing.
    mutating func measure(tickBegan: Instant?, deadline: Instant?, at now: Instant) -> TimeSpan? {
        var late = now - (tickBegan ?? now)
        if let deadline { late = max(late, now - deadline) }
        late = late - excused
        excused = .zero
        let wasLate = isLate
        isLate = late >= threshold
        return isLate ? late : wasLate ? .zero : nil
    }
}
