import NIOCore

/// Life of one connection. Inputs are methods that return whether they apply.
///
/// ```
///   connecting <--> securing (TLS handshake)
///       |
///      open --input is over--> answering --answers written--> flushed
///
///   any --refused, closed, error, idle, overflow--> closed
/// ```
struct ConnectionLife {
    private enum Phase {
        case connecting
        case securing(since: NIODeadline)
        case open
        case answering
        case flushed
        case closed
    }

    private var phase: Phase
    /// Creation time.
    let since: NIODeadline
    /// Whether the peer closed its sending half.
    private(set) var isInputClosed = false

    init(isOpen: Bool, since: NIODeadline) {
        phase = isOpen ? .open : .connecting
        self.since = since
    }

    /// Whether messages wait, during the connect or the TLS handshake.
    var isConnecting: Bool {
        switch phase {
        case .connecting, .securing: true
        case .open, .answering, .flushed, .closed: false
        }
    }

    /// Whether the channel is in use; includes an ended input.
    var isOpen: Bool {
        switch phase {
        case .open, .answering, .flushed: true
        case .connecting, .securing, .closed: false
        }
    }

    var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// Whether no more input is taken, and earlier requests still await their responses.
    var isAnswering: Bool { if case .answering = phase { true } else { false } }

    /// Whether the own sending half is closed.
    var isFlushed: Bool { if case .flushed = phase { true } else { false } }

    /// Whether the connection is open and takes input.
    var takesInput: Bool { if case .open = phase { true } else { false } }

    /// Start of the running TLS handshake; nil when none is running.
    var handshakeSince: NIODeadline? { if case .securing(let since) = phase { since } else { nil } }

    mutating func beginHandshake(at now: NIODeadline) -> Bool {
        guard case .connecting = phase else { return false }
        phase = .securing(since: now)
        return true
    }

    /// - Returns: Whether a handshake was running.
    mutating func endHandshake() -> Bool {
        guard case .securing = phase else { return false }
        phase = .connecting
        return true
    }

    mutating func open() { if isConnecting { phase = .open } }

    mutating func endInput() -> Bool {
        guard takesInput else { return false }
        phase = .answering
        return true
    }

    mutating func flushed() { if isAnswering { phase = .flushed } }

    mutating func inputClosed() { isInputClosed = true }

    mutating func closed() { phase = .closed }
}
