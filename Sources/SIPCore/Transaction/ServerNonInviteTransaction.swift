/// Server side of a non-INVITE transaction (RFC 3261 17.2.2). Pure: time is an argument, the caller keeps and sends the bytes.
///
///     Trying --1xx from user--> Proceeding      Trying --copy of request--> absorbed
///     Proceeding --copy--> resend               Trying, Proceeding --final from user--> Completed (send)
///     Completed --copy--> resend                Completed --timer J--> Terminated (at once on reliable transports)
public struct ServerNonInviteTransaction: Equatable, Sendable {
    /// State of the machine (RFC 3261 figure 8).
    public enum State: Equatable, Sendable { case trying, proceeding, completed, terminated }

    /// Decision on a copy of the request.
    public enum OnRequest: Equatable, Sendable {
        case absorb
        /// Send the last response again.
        case resend
    }

    /// Decision on a response of the user.
    public enum OnRespond: Equatable, Sendable {
        case send
        /// Drop the response: a final one was sent before.
        case refuse
    }

    /// Current state; `trying` at first.
    public private(set) var state = State.trying
    private let timers: TransactionTimers
    private let isReliable: Bool
    /// Timer J; before the final response, the end of waiting for it.
    private var deadline: Instant

    /// Creates the transaction of a request that is passed to the user at `now`.
    public init(isReliable: Bool, timers: TransactionTimers = .standard, at now: Instant) {
        self.timers = timers
        self.isReliable = isReliable
        deadline = now + timers.abandonment
    }

    /// Handles a copy of the request.
    public func receiveCopy() -> OnRequest { state == .proceeding || state == .completed ? .resend : .absorb }

    /// Handles a response of the user; a final one starts Timer J, or ends the transaction on reliable transports.
    public mutating func respond(_ status: SIPStatus, at now: Instant) -> OnRespond {
        guard state == .trying || state == .proceeding else { return .refuse }
        if !status.isFinal {
            state = .proceeding
        } else if isReliable {
            state = .terminated
        } else {
            state = .completed
            deadline = now + timers.timeout
        }
        return .send
    }

    /// Ends the transaction after a transport error.
    public mutating func transportFailed() { state = .terminated }

    /// Ends the transaction if its deadline has passed; returns whether it did.
    public mutating func advance(to now: Instant) -> Bool {
        guard state != .terminated, deadline <= now else { return false }
        state = .terminated
        return true
    }

    /// Time at which ``advance(to:)`` must be called; nil once terminated.
    public var nextDeadline: Instant? { state == .terminated ? nil : deadline }
}
