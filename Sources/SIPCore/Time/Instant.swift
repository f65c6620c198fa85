/// A moment, as nanoseconds since 1970-01-01T00:00:00Z.
///
/// The core never reads a clock: every input carries `now`, and every wish to be woken is an `Instant`. The edge derives it from
/// the wall clock once at start and from the monotonic clock afterwards, so that it never runs backwards.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanosecondsSince1970: Int64

    public init(nanosecondsSince1970: Int64) {
        self.nanosecondsSince1970 = nanosecondsSince1970
    }

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

    public static func + (instant: Instant, span: TimeSpan) -> Instant {
        Instant(nanosecondsSince1970: instant.nanosecondsSince1970 + span.nanoseconds)
    }

    public static func - (left: Instant, right: Instant) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanosecondsSince1970 - right.nanosecondsSince1970)
    }

    public static func - (instant: Instant, span: TimeSpan) -> Instant {
        Instant(nanosecondsSince1970: instant.nanosecondsSince1970 - span.nanoseconds)
    }
}

/// A length of time in nanoseconds; may be negative.
public struct TimeSpan: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static let zero = TimeSpan(nanoseconds: 0)
    public static func seconds(_ value: Int) -> TimeSpan { TimeSpan(nanoseconds: Int64(value) * 1_000_000_000) }
    public static func milliseconds(_ value: Int) -> TimeSpan { TimeSpan(nanoseconds: Int64(value) * 1_000_000) }

    /// Whole seconds, rounded toward zero.
    public var seconds: Int { Int(nanoseconds / 1_000_000_000) }

    public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds < right.nanoseconds }
    public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan { TimeSpan(nanoseconds: left.nanoseconds + right.nanoseconds) }
    public static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan { TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds) }
    public static func * (span: TimeSpan, factor: Int) -> TimeSpan { TimeSpan(nanoseconds: span.nanoseconds * Int64(factor)) }
    public static func / (span: TimeSpan, divisor: Int) -> TimeSpan { TimeSpan(nanoseconds: span.nanoseconds / Int64(divisor)) }
}

extension Instant {
    /// The earliest of those that are there.
    public static func earliest(_ first: Instant?, _ second: Instant?, _ third: Instant? = nil, _ fourth: Instant? = nil) -> Instant? {
        func either(_ one: Instant?, _ other: Instant?) -> Instant? {
            guard let one, let other else { return one ?? other }
            return min(one, other)
        }
        return either(either(first, second), either(third, fourth))
    }
}
