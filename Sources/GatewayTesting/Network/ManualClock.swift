import SIPCore

/// A clock that moves only when it is told to, and never backwards.
public struct ManualClock: Sendable {
    public private(set) var now: Instant

    /// Starts at the given moment; by default 2026-01-05T09:00:00Z, a Monday morning.
    public init(now: Instant = Instant(secondsSince1970: 1_767_603_600)) {
        self.now = now
    }

    /// Moves to the given moment; a moment in the past leaves the clock as it is.
    public mutating func advance(to moment: Instant) {
        if moment > now { now = moment }
    }
}
