import SIPCore

/// Counts failed attempts per source address, so that passwords cannot be tried out quickly.
///
/// The table of sources is bounded: while it is full, further sources share one count.
struct FailureLimiter: Sendable {
    let failures: Int
    let window: TimeSpan
    let sourceLimit: Int

    private struct Count {
        var failures = 0
        var until: Instant
    }

    private var counts: [String: Count] = [:]
    private var lastSweep: Instant?
    private static let others = ""

    init(failures: Int, window: TimeSpan, sourceLimit: Int) {
        self.failures = failures
        self.window = window
        self.sourceLimit = sourceLimit
    }

    var sourceCount: Int { counts.count }

    /// Seconds until the source may try again; nil: now.
    func pause(of source: String, at now: Instant) -> Int? {
        guard let count = counts[source] ?? (counts.count >= sourceLimit ? counts[Self.others] : nil), count.failures >= failures,
            now < count.until
        else { return nil }
        return max(1, (count.until - now).seconds)
    }

    mutating func note(_ source: String, at now: Instant) {
        var key = source
        if counts[key] == nil, counts.count >= sourceLimit {
            // Once per window: looking through a full table at every failure would be work for the attacker to give.
            if lastSweep.map({ now - $0 >= window }) ?? true {
                counts = counts.filter { now < $0.value.until }
                lastSweep = now
            }
            if counts.count >= sourceLimit { key = Self.others }
        }
        if let count = counts[key], now < count.until {
            counts[key]?.failures += 1
        } else {
            counts[key] = Count(failures: 1, until: now + window)
        }
    }
}
