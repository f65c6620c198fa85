import NIOCore
import SIPCore

/// One turn of a loop: reads the time once, and measures how late the loop is.
struct LoopTick {
    /// Time of the tick; nil until it is read.
    private var instant: Instant?
    private var isPumpScheduled = false
    private var meter: LatenessMeter

    init(latenessReported threshold: TimeSpan) { meter = LatenessMeter(threshold: threshold) }

    mutating func now(by clock: HostClock) -> Instant {
        if let instant { return instant }
        let now = clock.now()
        instant = now
        return now
    }

    /// - Returns: Whether the pump was not scheduled before.
    mutating func schedulePump() -> Bool {
        defer { isPumpScheduled = true }
        return !isPumpScheduled
    }

    mutating func pumpBegan() { isPumpScheduled = false }

    mutating func ended() { instant = nil }

    // MARK: Lateness

    var isLate: Bool { meter.isLate }

    /// Delays of all turns.
    var delays: DurationHistogram { meter.delays }

    /// Excludes a span from the next measurement.
    mutating func excuse(_ span: TimeSpan) { meter.excuse(span) }

    /// The delay to report; nil when there is none.
    mutating func lateness(deadline: Instant?, at now: Instant) -> TimeSpan? {
        meter.measure(tickBegan: instant, deadline: deadline, at: now)
    }
}

/// The only timer of a loop, moved only for an earlier deadline: the endpoint keeps its own heap.
struct LoopTimer {
    private var scheduled: Scheduled<Void>?
    private var instant: Instant?

    /// Whether a deadline is earlier than that of the timer.
    func isMoved(by deadline: Instant) -> Bool { instant.map { deadline < $0 } ?? true }

    /// Replaces the timer.
    mutating func set(_ scheduled: Scheduled<Void>, for deadline: Instant) {
        self.scheduled?.cancel()
        self.scheduled = scheduled
        instant = deadline
    }

    mutating func fired() {
        scheduled = nil
        instant = nil
    }

    mutating func cancel() {
        scheduled?.cancel()
        scheduled = nil
    }
}
