import Glibc

/// Current time of the monotonic clock, in nanoseconds.
public func clockNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Collects durations and computes quantiles.
public struct Durations {
    private var values: [UInt64] = []

    public init() {}

    public mutating func add(_ value: UInt64) { values.append(value) }
    public var count: Int { values.count }

    /// Duration at a quantile from 0 to 1, in milliseconds.
    public func milliseconds(_ quantile: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]) / 1e6
    }
}
