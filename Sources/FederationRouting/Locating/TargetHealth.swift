import SIPCore

/// Next hops that failed recently, and the time of the next attempt for each (RFC 3263 4.3).
///
///     up --failed--> down, for a pause that doubles --pause over--> one request tries it --answered--> up
///                     ^                                                    | failed
///                     +----------------------------------------------------+
///
/// It knows server addresses, not domains: a domain may have several servers, and several domains share one. Used to order alternatives of
/// one request: a single hop is used in any state. Bounded: when full, the hop with the earliest next
/// attempt is removed and counts as up.
public struct TargetHealth: Sendable {
    /// Pauses and limits.
    public struct Policy: Hashable, Sendable {
        /// First pause; doubles with each failed attempt.
        public var shortestPause: TimeSpan = .seconds(2)
        /// Longest pause without Retry-After.
        public var longestPause: TimeSpan = .seconds(300)
        /// Longest pause that a peer can request by Retry-After.
        public var longestRetryAfter: TimeSpan = .seconds(3_600)
        /// Time after which an attempt without a result no longer blocks the next one.
        public var trial: TimeSpan = .seconds(32)
        /// Largest number of failed hops remembered.
        public var entries = 4_096

        /// Creates the default policy: pauses of 2 s to 300 s, Retry-After up to 1 h, attempts of 32 s, 4,096 hops.
        public init() {}
    }

    private struct Entry {
        var failures: Int
        var until: Instant
        var trialUntil: Instant?
        var reason: String
    }

    /// A failed hop for an operator.
    public struct Report: Hashable, Sendable {
        /// The hop.
        public var target: TransportAddress
        /// Time of the next attempt.
        public var until: Instant
        /// Number of consecutive failed attempts.
        public var failures: Int
        /// Reason of the last failure.
        public var reason: String
    }

    /// The policy; a change applies to later failures.
    public private(set) var policy: Policy
    private var entries: [TransportAddress: Entry] = [:]
    private var ends = DeadlineQueue<TransportAddress>()

    /// Creates a table in which every hop is up.
    public init(policy: Policy = Policy()) { self.policy = policy }

    /// Applies another policy to later failures.
    public mutating func use(_ policy: Policy) { self.policy = policy }

    /// Number of hops that failed and have not answered since.
    public var count: Int { entries.count }

    /// The hops that failed and have not answered since, ordered by the time of the next attempt.
    public var reports: [Report] {
        entries.map { Report(target: $0.key, until: $0.value.until, failures: $0.value.failures, reason: $0.value.reason) }
            .sorted { ($0.until, $0.target.description) < ($1.until, $1.target.description) }
    }

    /// Moves targets that are passed over to the end, ordered by the time of the next attempt; the others keep their order.
    public func order(_ targets: [TransportAddress], at now: Instant) -> [TransportAddress] {
        guard !entries.isEmpty else { return targets }
        let down = targets.filter { isPassedOver($0, at: now) }
        guard !down.isEmpty else { return targets }
        let byEnd = down.enumerated().sorted {
            (entries[$0.element]?.until ?? now, $0.offset) < (entries[$1.element]?.until ?? now, $1.offset)
        }
        return targets.filter { !down.contains($0) } + byEnd.map(\.element)
    }

    /// Whether a target is down, or another request is testing it.
    public func isPassedOver(_ target: TransportAddress, at now: Instant) -> Bool {
        guard let entry = entries[target] else { return false }
        return now < entry.until || entry.trialUntil.map { now < $0 } ?? false
    }

    /// Records that a request is sent to a target; if the pause of a failed hop is over, this request is its test.
    public mutating func began(_ target: TransportAddress, at now: Instant) {
        guard let entry = entries[target], now >= entry.until else { return }
        entries[target]?.trialUntil = now + policy.trial
    }

    /// Records a response with any status that does not count as a failure: the hop is up.
    /// - Returns: whether the hop had failed before.
    @discardableResult
    public mutating func succeeded(_ target: TransportAddress) -> Bool {
        guard entries.removeValue(forKey: target) != nil else { return false }
        ends.set(target, at: nil)
        return true
    }

    /// Records that a target was unreachable, did not respond, or refused further requests.
    /// - Parameters:
    ///   - wish: Retry-After in seconds.
    ///   - random: source of the jitter of ±10 %.
    /// - Returns: whether the hop was up before.
    @discardableResult
    public mutating func failed(
        _ target: TransportAddress, _ reason: String, retryAfter requestedPause: Int? = nil, at now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        let known = entries[target]
        // Requests sent before the hop went down carry no new information.
        if let known, now < known.until, requestedPause == nil { return false }
        let isNews = known.map { now >= $0.until } ?? true
        let failures = (known?.failures ?? 0) + (isNews ? 1 : 0)
        var pause = policy.shortestPause
        for _ in 1..<max(failures, 1) where pause < policy.longestPause { pause = pause * 2 }
        pause = min(pause, policy.longestPause)
        let tenth = pause.nanoseconds / 10
        if tenth > 0 { pause = pause + TimeSpan(nanoseconds: Int64.random(in: -tenth...tenth, using: &random)) }
        if let requestedPause { pause = max(pause, min(.seconds(max(requestedPause, 0)), policy.longestRetryAfter)) }
        let until = max(now + pause, known?.until ?? now)
        if known == nil, entries.count >= policy.entries, let first = ends.popDue(at: .init(nanosecondsSince1970: .max)) {
            entries[first] = nil
        }
        guard policy.entries > 0 else { return true }
        entries[target] = Entry(failures: failures, until: until, trialUntil: nil, reason: reason)
        ends.set(target, at: until)
        return known == nil
    }

    /// Number of hops in a pause.
    public func downCount(at now: Instant) -> Int { entries.values.reduce(0) { $0 + (now < $1.until ? 1 : 0) } }
}
