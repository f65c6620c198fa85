/// Counts of durations in fixed buckets, for metrics.
///
/// Noting a duration takes no lock and no allocation, unless a copy was made since the last one.
public struct DurationHistogram: Hashable, Sendable {
    /// Upper bounds of the buckets, ascending: 1 ms to 10 s. One more bucket holds what is longer.
    public static let bounds: [TimeSpan] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000].map { .milliseconds($0) }

    /// Number of durations in each bucket, not cumulative; as many as ``bounds`` and one.
    public private(set) var counts = [UInt64](repeating: 0, count: DurationHistogram.bounds.count + 1)
    /// Sum of all durations.
    public private(set) var sum = TimeSpan.zero

    /// Creates an empty histogram.
    public init() {}

    /// Number of all durations.
    public var count: UInt64 { counts.reduce(0, &+) }

    /// Counts a duration in the first bucket whose bound is not below it; a negative one counts as zero.
    public mutating func note(_ span: TimeSpan) {
        var index = 0
        while index < Self.bounds.count, span > Self.bounds[index] { index += 1 }
        counts[index] &+= 1
        sum = sum + max(span, .zero)
    }

    /// Adds the durations of another histogram.
    public mutating func add(_ other: DurationHistogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sum = sum + other.sum
    }
}
