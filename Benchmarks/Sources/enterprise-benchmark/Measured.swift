import Glibc

/// Nanoseconds of the monotonic clock.
func clockNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The proportional set size of a process in octets; 0 when it cannot be read.
func memory(of process: pid_t) -> Int {
    guard let file = fopen("/proc/\(process)/smaps_rollup", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("Pss:") else { continue }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
    }
    return 0
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
