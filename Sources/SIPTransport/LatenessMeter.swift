import SIPCore

/// Measures how late a loop serves its shard, and decides when the endpoint is notified; has no I/O and no clock.
struct LatenessMeter {
    /// Shortest delay that is reported.
    let threshold: TimeSpan
    /// Whether a delay was reported and its end has not been reported yet.
    private(set) var isLate = false
    private var excused = TimeSpan.zero
    /// Delays of all measurements.
    private(set) var delays = DurationHistogram()

    init(threshold: TimeSpan) { self.threshold = threshold }

    /// Excludes a span from the next measurement, such as the time of an administrative request or a reload.
    mutating func excuse(_ span: TimeSpan) { excused = excused + span }

    /// - Parameters:
    ///   - tickBegan: Time at which the first message of this tick was read; nil when there was none.
    ///   - deadline: Time at which the endpoint's next timer was due.
    /// - Returns: The delay to report: the duration of the tick or the delay of the timer, whichever is longer; zero once the delay is
    ///   over; nil when there is nothing to report.
    mutating func measure(tickBegan: Instant?, deadline: Instant?, at now: Instant) -> TimeSpan? {
        var late = now - (tickBegan ?? now)
        if let deadline { late = max(late, now - deadline) }
        late = late - excused
        excused = .zero
        delays.note(late)
        let wasLate = isLate
        isLate = late >= threshold
        return isLate ? late : wasLate ? .zero : nil
    }
}
