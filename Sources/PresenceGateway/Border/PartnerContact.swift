import SIPCore

/// Contact with the servers of one partner, from the responses to our requests.
///
///     unknown --answer--> up --silence, no connection, 408, 503--> down --answer--> up
///
/// The last outcome decides. A NOTIFY in a watcher's dialog counts only if it is answered, because silence may concern this watcher alone.
package struct PartnerContact: Hashable, Sendable {
    /// State of a partner after the last outcome; unknown before the first.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable { case up, down, unknown }

    /// A failed request.
    package struct Failure: Hashable, Sendable {
        /// Time of the failure.
        package var at: Instant
        /// Reason for an operator, such as `no answer` or `answered 503`.
        package var reason: String
    }

    /// Requests sent, with NOTIFY and BENOTIFY; a request tried at several servers counts once.
    package private(set) var requestsSent: UInt64 = 0
    /// Final responses other than 408 and 503.
    package private(set) var answers: UInt64 = 0
    /// Requests without a response, with 408 or 503, or with a challenge that the configured credentials do not meet.
    package private(set) var failures: UInt64 = 0
    /// Time of the last final response other than 408 and 503.
    package private(set) var lastAnswer: Instant?
    /// Last failure that concerns the partner as a whole.
    package private(set) var lastFailure: Failure?
    /// Configuration faults, such as missing credentials, by the method of the refused requests.
    package private(set) var faults: [SIPMethod: Failure] = [:]
    /// Time of the last request from the partner.
    package private(set) var lastHeard: Instant?
    /// Round trip of the last answered request, to its final response.
    package private(set) var roundTrip: TimeSpan?
    /// Smoothed round trip; the newest counts one eighth (RFC 6298 2).
    package private(set) var smoothedRoundTrip: TimeSpan?
    /// Time of the last change of ``state``; nil: unknown.
    package private(set) var since: Instant?

    /// Creates a contact without any outcome.
    package init() {}

    /// The newest of ``faults``; nil: none.
    package var fault: Failure? { faults.values.max { ($0.at, $0.reason) < ($1.at, $1.reason) } }

    /// State after the last outcome.
    package var state: State {
        switch (lastAnswer, lastFailure?.at) {
        case (nil, nil): .unknown
        case (_?, nil): .up
        case (nil, _?): .down
        case (let answer?, let failure?): failure > answer ? .down : .up
        }
    }

    mutating func sent() { requestsSent &+= 1 }

    mutating func heard(at now: Instant) { lastHeard = now }

    /// Records a final response that shows that the partner is up.
    mutating func answered(after span: TimeSpan, at now: Instant) {
        let before = state
        answers &+= 1
        lastAnswer = now
        roundTrip = span
        smoothedRoundTrip = smoothedRoundTrip.map { $0 + (span - $0) / 8 } ?? span
        if before != .up { since = now }
    }

    /// Records a request without a response, or with 408 or 503.
    /// - Parameter isVerdict: whether the failure concerns the partner as a whole.
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

    /// Adds the contact of another shard with the same partner.
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
