import SIPCore

/// Which next hops failed lately, and when each is tried again (RFC 3263 4.3).
///
///     up --failed--> down, for a pause that doubles --pause over--> one request tries it --answered--> up
///                     ^                                                    | failed
///                     +----------------------------------------------------+
///
/// It chooses among several: a hop that is the only one is used whatever is known of it. Bounded: where it is full, the hop that would
/// be tried again first is forgotten, and counts as up.
public struct TargetHealth: Sendable {
    public struct Policy: Hashable, Sendable {
        /// The first pause; each failed try doubles it.
        public var shortestPause: TimeSpan = .seconds(2)
        public var longestPause: TimeSpan = .seconds(300)
        /// What a peer may ask for itself by Retry-After.
        public var longestWish: TimeSpan = .seconds(3_600)
        /// How long one try may go without a verdict before another is made.
        public var trial: TimeSpan = .seconds(32)
        /// Hops that are remembered.
        public var entries = 4_096

        public init() {}
    }

    private struct Entry {
        var failures: Int
        var until: Instant
        var trialUntil: Instant?
        var reason: String
    }

    /// What an operator is shown of a hop that is down.
    public struct Report: Hashable, Sendable {
        public var target: TransportAddress
        public var until: Instant
        public var failures: Int
        public var reason: String
    }

    public var policy: Policy
    private var entries: [TransportAddress: Entry] = [:]
    private var ends = DeadlineQueue<TransportAddress>()

    public init(policy: Policy = Policy()) { self.policy = policy }

    /// Hops that failed and have not answered since.
    public var count: Int { entries.count }

    /// Those that failed and have not answered since, the first to be tried again first.
    public var reports: [Report] {
        entries.map { Report(target: $0.key, until: $0.value.until, failures: $0.value.failures, reason: $0.value.reason) }
            .sorted { ($0.until, $0.target.description) < ($1.until, $1.target.description) }
    }

    /// The same targets with those behind that are passed over now, the first to be tried again first.
    public func order(_ targets: [TransportAddress], at now: Instant) -> [TransportAddress] {
        guard !entries.isEmpty else { return targets }
        let down = targets.filter { isPassedOver($0, at: now) }
        guard !down.isEmpty else { return targets }
        let byEnd = down.enumerated().sorted {
            (entries[$0.element]?.until ?? now, $0.offset) < (entries[$1.element]?.until ?? now, $1.offset)
        }
        return targets.filter { !down.contains($0) } + byEnd.map(\.element)
    }

    /// Whether a target is down, or being tried by another request.
    public func isPassedOver(_ target: TransportAddress, at now: Instant) -> Bool {
        guard let entry = entries[target] else { return false }
        return now < entry.until || entry.trialUntil.map { now < $0 } ?? false
    }

    /// A request goes there: if the hop was down, it is the one that tries.
    public mutating func began(_ target: TransportAddress, at now: Instant) {
        guard let entry = entries[target], now >= entry.until else { return }
        entries[target]?.trialUntil = now + policy.trial
    }

    /// It answered, whatever it said.
    /// - Returns: whether it had failed before.
    @discardableResult
    public mutating func succeeded(_ target: TransportAddress) -> Bool {
        guard entries.removeValue(forKey: target) != nil else { return false }
        ends.set(target, at: nil)
        return true
    }

    /// It could not be reached, was silent, or said that it is not to be asked.
    /// - Parameters:
    ///   - wish: Retry-After in seconds.
    ///   - random: for the jitter, a tenth up or down.
    /// - Returns: whether it was up before.
    @discardableResult
    public mutating func failed(
        _ target: TransportAddress, _ reason: String, retryAfter wish: Int? = nil, at now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        let known = entries[target]
        // Requests that were on their way when it went down say nothing new.
        if let known, now < known.until, wish == nil { return false }
        let isNews = known.map { now >= $0.until } ?? true
        let failures = (known?.failures ?? 0) + (isNews ? 1 : 0)
        var pause = policy.shortestPause
        for _ in 1..<max(failures, 1) where pause < policy.longestPause { pause = pause * 2 }
        pause = min(pause, policy.longestPause)
        let tenth = pause.nanoseconds / 10
        if tenth > 0 { pause = pause + TimeSpan(nanoseconds: Int64.random(in: -tenth...tenth, using: &random)) }
        if let wish { pause = max(pause, min(.seconds(max(wish, 0)), policy.longestWish)) }
        let until = max(now + pause, known?.until ?? now)
        if known == nil, entries.count >= policy.entries, let first = ends.popDue(at: .init(nanosecondsSince1970: .max)) {
            entries[first] = nil
        }
        guard policy.entries > 0 else { return true }
        entries[target] = Entry(failures: failures, until: until, trialUntil: nil, reason: reason)
        ends.set(target, at: until)
        return known == nil
    }

    /// Hops that are passed over now.
    public func downCount(at now: Instant) -> Int { entries.values.reduce(0) { $0 + (now < $1.until ? 1 : 0) } }
}
