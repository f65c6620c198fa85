/// Client side of a non-INVITE transaction (RFC 3261 17.1.2). Pure: time is an argument, the caller sends what it is told to.
///
///     Trying --1xx--> Proceeding            Trying, Proceeding --timer E--> retransmit (UDP)
///     Trying, Proceeding --2xx-6xx--> Completed (deliver)       --timer F, transport error--> Terminated (report)
///     Completed --timer K--> Terminated     Completed --any response--> absorbed
public struct ClientNonInviteTransaction: Equatable, Sendable {
    public enum State: Equatable, Sendable { case trying, proceeding, completed, terminated }

    public enum OnResponse: Equatable, Sendable {
        /// Hand the response to the transaction user.
        case deliver
        /// A copy, or too late.
        case absorb
    }

    public enum OnTimer: Equatable, Sendable {
        case nothing
        case retransmit
        /// Timer F: tell the user, who treats it as 408.
        case timeout
        /// Timer K: forget the transaction.
        case terminate
    }

    public private(set) var state = State.trying
    private let timers: TransactionTimers
    let isReliable: Bool
    private var interval: TimeSpan
    /// Retransmission; nil on reliable transports and once completed.
    private var timerE: Instant?
    private let timerF: Instant
    private var timerK: Instant?

    /// The request is sent by the caller at `now`.
    public init(isReliable: Bool, timers: TransactionTimers = .standard, at now: Instant) {
        self.timers = timers
        self.isReliable = isReliable
        interval = timers.t1
        timerE = isReliable ? nil : now + timers.t1
        timerF = now + timers.timeout
    }

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

    /// Whether the user is still waiting and must be told.
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
            // Counted from when it was due, so that a late wake-up does not shift the rest; but never into the past.
            timerE = due + interval > now ? due + interval : now + interval
            return .retransmit
        }
    }

    public var nextDeadline: Instant? {
        switch state {
        case .trying, .proceeding: return timerE.map { min($0, timerF) } ?? timerF
        case .completed: return timerK
        case .terminated: return nil
        }
    }
}
