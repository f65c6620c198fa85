/// Moment, as nanoseconds since 1970-01-01T00:00:00Z.
///
/// The core reads no clock: every input carries `now`, and every deadline is an `Instant`. The edge derives it from the wall clock
/// once at start and from the monotonic clock afterwards, so that it does not run backwards.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970; reaches the year 2262.
    public var nanosecondsSince1970: Int64

    public init(nanosecondsSince1970: Int64) {
        self.nanosecondsSince1970 = nanosecondsSince1970
    }

    /// Creates a moment from whole seconds; overflow traps.
    public init(secondsSince1970: Int64) {
        self.nanosecondsSince1970 = secondsSince1970 * 1_000_000_000
    }

    /// Whole seconds since 1970, rounded down.
    public var secondsSince1970: Int64 {
        let quotient = nanosecondsSince1970 / 1_000_000_000
        return nanosecondsSince1970 % 1_000_000_000 < 0 ? quotient - 1 : quotient
    }

    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
    }

    /// Moment after a span; overflow traps.
    public static func + (instant: Instant, span: TimeSpan) -> Instant {
        Instant(nanosecondsSince1970: instant.nanosecondsSince1970 + span.nanoseconds)
    }

    /// Span from `right` to `left`; negative if `right` is later.
    public static func - (left: Instant, right: Instant) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanosecondsSince1970 - right.nanosecondsSince1970)
    }

    /// Moment that precedes another by a span; overflow traps.
    public static func - (instant: Instant, span: TimeSpan) -> Instant {
        Instant(nanosecondsSince1970: instant.nanosecondsSince1970 - span.nanoseconds)
    }
}

/// Length of time in nanoseconds; may be negative.
public struct TimeSpan: Hashable, Comparable, Sendable {
    /// Length in nanoseconds.
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static let zero = TimeSpan(nanoseconds: 0)
    /// Span of whole seconds; overflow traps.
    public static func seconds(_ value: Int) -> TimeSpan { TimeSpan(nanoseconds: Int64(value) * 1_000_000_000) }
    /// Span of whole milliseconds; overflow traps.
    public static func milliseconds(_ value: Int) -> TimeSpan { TimeSpan(nanoseconds: Int64(value) * 1_000_000) }

    /// Whole seconds, rounded toward zero.
    public var seconds: Int { Int(nanoseconds / 1_000_000_000) }

    public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds < right.nanoseconds }
    public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan { TimeSpan(nanoseconds: left.nanoseconds + right.nanoseconds) }
    public static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan { TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds) }
    /// Multiple of a span; overflow traps.
    public static func * (span: TimeSpan, factor: Int) -> TimeSpan { TimeSpan(nanoseconds: span.nanoseconds * Int64(factor)) }
    /// Fraction of a span, rounded toward zero.
    public static func / (span: TimeSpan, divisor: Int) -> TimeSpan { TimeSpan(nanoseconds: span.nanoseconds / Int64(divisor)) }
}

extension Instant {
    /// Earliest of the given moments; nil if all are nil.
    public static func earliest(_ first: Instant?, _ second: Instant?, _ third: Instant? = nil, _ fourth: Instant? = nil) -> Instant? {
        func either(_ one: Instant?, _ other: Instant?) -> Instant? {
            guard let one, let other else { return one ?? other }
            return min(one, other)
        }
        return either(either(first, second), either(third, fourth))
    }
}
