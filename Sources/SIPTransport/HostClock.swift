import Glibc
import NIOCore
import SIPCore

/// The one clock of a process: the wall clock read once, the monotonic clock ever after, so that time never runs backwards. What the wall
/// clock says later is another question, for those that follow when it is set.
public struct HostClock: Sendable {
    private let wallAtStart: Int64
    private let monotonicAtStart: NIODeadline

    public init() {
        wallAtStart = Self.wall().nanosecondsSince1970
        monotonicAtStart = .now()
    }

    /// What the wall clock says now.
    static func wall() -> Instant {
        var wall = timespec()
        clock_gettime(CLOCK_REALTIME, &wall)
        return Instant(nanosecondsSince1970: Int64(wall.tv_sec) * 1_000_000_000 + Int64(wall.tv_nsec))
    }

    public func now() -> Instant {
        Instant(nanosecondsSince1970: wallAtStart + (NIODeadline.now() - monotonicAtStart).nanoseconds)
    }

    /// The event loop's form of an instant, at the earliest now.
    func deadline(of instant: Instant) -> NIODeadline {
        let (span, overflow) = instant.nanosecondsSince1970.subtractingReportingOverflow(wallAtStart)
        // A century is as good as never, and far from the end of the loop's own range.
        return monotonicAtStart + .nanoseconds(overflow ? 0 : min(max(span, 0), 3_153_600_000_000_000_000))
    }
}

extension TimeSpan {
    var amount: TimeAmount { .nanoseconds(nanoseconds) }
}
