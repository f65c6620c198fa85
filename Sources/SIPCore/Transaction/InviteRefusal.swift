/// Server side of an INVITE that is always refused (RFC 3261 17.2.1, from Completed on): presence has no calls.
///
///     Completed --timer G--> resend (UDP)    Completed --copy--> resend    Completed --ACK--> Confirmed
///     Completed --timer H--> Terminated      Confirmed --timer I--> Terminated (at once on reliable transports)
public struct InviteRefusal: Equatable, Sendable {
    public enum State: Equatable, Sendable { case completed, confirmed, terminated }
    public enum OnTimer: Equatable, Sendable { case nothing, resend, terminate }

    public private(set) var state = State.completed
    private let timers: TransactionTimers
    private let isReliable: Bool
    private var interval: TimeSpan
    private var timerG: Instant?
    private let timerH: Instant
    private var timerI: Instant?

    /// The refusal is sent by the caller at `now`.
    public init(isReliable: Bool, timers: TransactionTimers = .standard, at now: Instant) {
        self.timers = timers
        self.isReliable = isReliable
        interval = timers.t1
        timerG = isReliable ? nil : now + timers.t1
        timerH = now + timers.timeout
    }

    /// Whether the refusal is to be sent once more for a copy of the INVITE.
    public func receiveCopy() -> Bool { state == .completed }

    public mutating func receiveACK(at now: Instant) {
        guard state == .completed else { return }
        if isReliable {
            state = .terminated
        } else {
            state = .confirmed
            timerI = now + timers.t4
        }
    }

    public mutating func advance(to now: Instant) -> OnTimer {
        switch state {
        case .terminated: return .nothing
        case .confirmed:
            guard let timerI, timerI <= now else { return .nothing }
            state = .terminated
            return .terminate
        case .completed:
            if timerH <= now {
                state = .terminated
                return .terminate
            }
            guard let due = timerG, due <= now else { return .nothing }
            interval = min(interval * 2, timers.t2)
            timerG = due + interval > now ? due + interval : now + interval
            return .resend
        }
    }

    public var nextDeadline: Instant? {
        switch state {
        case .completed: return timerG.map { min($0, timerH) } ?? timerH
        case .confirmed: return timerI
        case .terminated: return nil
        }
    }
}
