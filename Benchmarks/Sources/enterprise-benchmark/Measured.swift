import Glibc

/// Nanoseconds of the monotonic clock.
func clockNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Durations, sorted when asked.
struct Durations {
    private var values: [UInt64] = []

    mutating func add(_ value: UInt64) { values.append(value) }
    var count: Int { values.count }

    /// Milliseconds at a quantile from 0 to 1.
    func milliseconds(_ quantile: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]) / 1e6
    }
}
