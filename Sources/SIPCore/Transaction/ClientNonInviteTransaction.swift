/// Client side of a non-INVITE transaction (RFC 3261 17.1.2). Pure: time is an argument, the caller sends.
///
///     Trying --1xx--> Proceeding            Trying, Proceeding --timer E--> retransmit (UDP)
///     Trying, Proceeding --2xx-6xx--> Completed (deliver)       --timer F, transport error--> Terminated (report)
///     Completed --timer K--> Terminated     Completed --any response--> absorbed
public struct ClientNonInviteTransaction: Equatable, Sendable {
    /// State of the machine (RFC 3261 figure 6).
    public enum State: Equatable, Sendable { case trying, proceeding, completed, terminated }

    /// Decision on a response.
    public enum OnResponse: Equatable, Sendable {
        /// Pass the response to the transaction user.
        case deliver
        /// Drop the response: a copy, or too late.
        case absorb
    }

    /// Decision when a timer fires.
    public enum OnTimer: Equatable, Sendable {
        case nothing
        case retransmit
        /// Timer F: report it to the user, which treats it as 408.
        case timeout
        /// Timer K: remove the transaction.
        case terminate
    }

    /// Current state; `trying` at first.
    public private(set) var state = State.trying
    private let timers: TransactionTimers
    let isReliable: Bool
    private var interval: TimeSpan
    /// Timer E, for retransmission; nil on reliable transports and once completed.
    private var timerE: Instant?
    private let timerF: Instant
    private var timerK: Instant?

    /// Creates the transaction of a request that the caller sends at `now`.
    public init(isReliable: Bool, timers: TransactionTimers = .standard, at now: Instant) {
        self.timers = timers
        self.isReliable = isReliable
        interval = timers.t1
        timerE = isReliable ? nil : now + timers.t1
        timerF = now + timers.timeout
    }

    /// Handles a response with this status.
    public mutating func receive(_ status: SIPStatus, at now: Instant) -> OnResponse {
        guard state == .trying || state == .proceeding else { return .absorb }
        guard status.isFinal else {
            state = .proceeding
            return .deliver
        }
        timerE = nil
        if isReliable {
            state = .terminated
        } else {
            state = .completed
            timerK = now + timers.t4
        }
        return .deliver
    }

    /// Ends the transaction after a transport error; returns whether the user still waits for a response.
    public mutating func transportFailed() -> Bool {
        let isPending = state == .trying || state == .proceeding
        state = .terminated
        return isPending
    }

    /// Fires at most one timer; call again while ``nextDeadline`` is due.
    public mutating func advance(to now: Instant) -> OnTimer {
        switch state {
        case .terminated:
            return .nothing
        case .completed:
            guard let timerK, timerK <= now else { return .nothing }
            state = .terminated
            return .terminate
        case .trying, .proceeding:
            if timerF <= now {
                state = .terminated
                return .timeout
            }
            guard let due = timerE, due <= now else { return .nothing }
            interval = state == .proceeding ? timers.t2 : min(interval * 2, timers.t2)
            // Count from the due time, so that a late call does not shift later timers; but not into the past.
            timerE = due + interval > now ? due + interval : now + interval
            return .retransmit
        }
    }

    /// Time at which ``advance(to:)`` must be called; nil once terminated.
    public var nextDeadline: Instant? {
        switch state {
        case .trying, .proceeding: return timerE.map { min($0, timerF) } ?? timerF
        case .completed: return timerK
        case .terminated: return nil
        }
    }
}
