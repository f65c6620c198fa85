import SIPCore

/// How the servers of one partner answer what this node asks of them.
///
///     unknown --answer--> up --silence, no connection, 408, 503--> down --answer--> up
///
/// The last outcome decides. Of a NOTIFY in a watcher's dialog only the answer counts: silence may mean that this one watcher is gone.
public struct PartnerContact: Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable { case up, down, unknown }

    public struct Failure: Hashable, Sendable {
        public var at: Instant
        /// For an operator, such as `no answer` or `answered 503`.
        public var reason: String
    }

    /// With NOTIFY and BENOTIFY; a request that went to several servers counts once.
    public private(set) var requestsSent: UInt64 = 0
    /// Final answers but 408 and 503.
    public private(set) var answers: UInt64 = 0
    /// Requests that no server of the partner answered, or with 408 or 503.
    public private(set) var failures: UInt64 = 0
    public private(set) var lastAnswer: Instant?
    public private(set) var lastFailure: Failure?
    /// Faults of the configuration, such as missing credentials, by the method of the refused requests.
    public private(set) var faults: [SIPMethod: Failure] = [:]
    /// When a request came from there last.
    public private(set) var lastHeard: Instant?
    /// From the sending of the last request that was answered to its final answer.
    public private(set) var roundTrip: TimeSpan?
    /// The same, smoothed (an eighth of the newest, as RFC 6298 2).
    public private(set) var smoothedRoundTrip: TimeSpan?
    /// Since when ``state`` is what it is; nil: it is unknown.
    public private(set) var since: Instant?

    public init() {}

    /// The newest of ``faults``; nil: nothing that is known.
    public var fault: Failure? { faults.values.max { ($0.at, $0.reason) < ($1.at, $1.reason) } }

    public var state: State {
        switch (lastAnswer, lastFailure?.at) {
        case (nil, nil): .unknown
        case (_?, nil): .up
        case (nil, _?): .down
        case (let answer?, let failure?): failure > answer ? .down : .up
        }
    }

    mutating func sent() { requestsSent &+= 1 }

    mutating func heard(at now: Instant) { lastHeard = now }

    /// A final answer that shows that the partner is there.
    mutating func answered(after span: TimeSpan, at now: Instant) {
        let before = state
        answers &+= 1
        lastAnswer = now
        roundTrip = span
        smoothedRoundTrip = smoothedRoundTrip.map { $0 + (span - $0) / 8 } ?? span
        if before != .up { since = now }
    }

    /// Nobody answered, or whoever did has nothing behind it.
    /// - Parameter isVerdict: whether that says something of the partner itself.
    mutating func failed(_ reason: String, isVerdict: Bool, at now: Instant) {
        failures &+= 1
        guard isVerdict else { return }
        let before = state
        lastFailure = Failure(at: now, reason: reason)
        if state != before { since = now }
    }

    mutating func misconfigured(_ reason: String, for method: SIPMethod, at now: Instant) {
        failures &+= 1
        faults[method] = Failure(at: now, reason: reason)
    }

    mutating func configurationWorks(for method: SIPMethod) { faults[method] = nil }

    /// What another shard knows of the same partner.
    mutating func add(_ other: PartnerContact) {
        let parts = [self, other]
        requestsSent &+= other.requestsSent
        answers &+= other.answers
        failures &+= other.failures
        lastHeard = Self.latest(lastHeard, other.lastHeard)
        if let answer = other.lastAnswer, lastAnswer.map({ answer > $0 }) ?? true {
            lastAnswer = answer
            roundTrip = other.roundTrip
            smoothedRoundTrip = other.smoothedRoundTrip
        }
        if let failure = other.lastFailure, lastFailure.map({ failure.at > $0.at }) ?? true { lastFailure = failure }
        faults.merge(other.faults) { $0.at >= $1.at ? $0 : $1 }
        let (known, opposite) = (state, state == .up ? lastFailure?.at : lastAnswer)
        since = Self.latest(parts.filter { $0.state == known }.compactMap(\.since).min(), opposite)
    }

    private static func latest(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }
}
