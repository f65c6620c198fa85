/// Server side of a non-INVITE transaction (RFC 3261 17.2.2). Pure: time is an argument, the caller keeps and sends the bytes.
///
///     Trying --1xx from user--> Proceeding      Trying --copy of request--> absorbed
///     Proceeding --copy--> resend               Trying, Proceeding --final from user--> Completed (send)
///     Completed --copy--> resend                Completed --timer J--> Terminated (at once on reliable transports)
public struct ServerNonInviteTransaction: Equatable, Sendable {
    public enum State: Equatable, Sendable { case trying, proceeding, completed, terminated }

    public enum OnRequest: Equatable, Sendable {
        case absorb
        /// Send the last response once more.
        case resend
    }

    public enum OnRespond: Equatable, Sendable {
        case send
        /// A final response was sent before.
        case refuse
    }

    public private(set) var state = State.trying
    private let timers: TransactionTimers
    private let isReliable: Bool
    /// Timer J, and before the final response the time to give up waiting for one.
    private var deadline: Instant

    /// The request goes to the user at `now`.
    public init(isReliable: Bool, timers: TransactionTimers = .standard, at now: Instant) {
        self.timers = timers
        self.isReliable = isReliable
        deadline = now + timers.abandonment
    }

    /// A copy of the request arrived.
    public func receiveCopy() -> OnRequest { state == .proceeding || state == .completed ? .resend : .absorb }

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

    public mutating func transportFailed() { state = .terminated }

    /// Whether the transaction ended now.
    public mutating func advance(to now: Instant) -> Bool {
        guard state != .terminated, deadline <= now else { return false }
        state = .terminated
        return true
    }

    public var nextDeadline: Instant? { state == .terminated ? nil : deadline }
}
