import SIPCore

/// Clock that only ``advance(to:)`` moves, and never backwards.
package struct ManualClock: Sendable {
    /// Current instant.
    package private(set) var now: Instant

    /// Creates a clock at an instant, by default 2026-01-05T09:00:00Z, a Monday morning.
    package init(now: Instant = Instant(secondsSince1970: 1_767_603_600)) {
        self.now = now
    }

    /// Advances to an instant; an earlier instant changes nothing.
    package mutating func advance(to moment: Instant) {
        if moment > now { now = moment }
    }
}
