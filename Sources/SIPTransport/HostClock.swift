import Glibc
import NIOCore
import SIPCore

/// The clock of a process: reads the wall clock once and then follows the monotonic clock, so that time never runs backwards. Later changes
/// of the wall clock do not show in `now()`.
package struct HostClock: Sendable {
    private let wallAtStart: Int64
    private let monotonicAtStart: NIODeadline

    /// Creates a clock that starts at the current wall-clock time.
    package init() {
        wallAtStart = Self.wall().nanosecondsSince1970
        monotonicAtStart = .now()
    }

    /// Current reading of the system's wall clock, which may be set forwards or backwards.
    static func wall() -> Instant {
        var wall = timespec()
        clock_gettime(CLOCK_REALTIME, &wall)
        return Instant(nanosecondsSince1970: Int64(wall.tv_sec) * 1_000_000_000 + Int64(wall.tv_nsec))
    }

    /// Returns the wall-clock time at creation plus the monotonic time elapsed since.
    package func now() -> Instant {
        Instant(nanosecondsSince1970: wallAtStart + (NIODeadline.now() - monotonicAtStart).nanoseconds)
    }

    /// Converts an instant to a deadline of the event loop; instants before the clock's start become its start.
    func deadline(of instant: Instant) -> NIODeadline {
        let (span, overflow) = instant.nanosecondsSince1970.subtractingReportingOverflow(wallAtStart)
        // Cap the span at 100 years, well within the range of the event loop.
        return monotonicAtStart + .nanoseconds(overflow ? 0 : min(max(span, 0), 3_153_600_000_000_000_000))
    }
}

extension TimeSpan {
    var amount: TimeAmount { .nanoseconds(nanoseconds) }
}
