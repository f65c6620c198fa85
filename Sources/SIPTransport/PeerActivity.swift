import NIOCore
import SIPCore

/// Signs of life of a peer, and the pings that ask for one (RFC 5626 4.4.1).
///
///     open --nothing heard for 80 to 100 % of the interval--> CRLFCRLF --any octet--> open
///                                                                |
///                     10 s: of a peer that has answered a ping before: dead; of any other: not pinged again, and left open
struct PeerActivity {
    /// Step that keeps a connection alive.
    enum KeepAlive { case nothing, ping, dead }

    /// Time of the last message in either direction, at first the creation time.
    private(set) var lastActivity: NIODeadline
    /// Time of the peer's last octet, at first the creation time.
    private var lastHeard: NIODeadline
    /// Whether the peer has ever sent anything.
    private(set) var wasEverHeard = false
    /// Whether pings are sent.
    private var isPinged = true
    /// Silence after which the next ping is sent; zero until it is drawn.
    private var pingPause = TimeSpan.zero
    /// Time of a ping that nothing has been received after; nil otherwise.
    private var pingSince: NIODeadline?
    /// Whether a ping was sent without a pong seen since.
    private(set) var awaitsPong = false

    init(since: NIODeadline) {
        lastActivity = since
        lastHeard = since
    }

    mutating func active(at now: NIODeadline) { lastActivity = now }

    /// Records input of the peer, which proves that it accepted the connection.
    /// - Returns: Whether this is the first input.
    mutating func heard(at now: NIODeadline) -> Bool {
        lastHeard = now
        pingSince = nil
        defer { wasEverHeard = true }
        return !wasEverHeard
    }

    /// - Returns: Whether the pong answers a ping.
    mutating func pong() -> Bool {
        defer { awaitsPong = false }
        return awaitsPong
    }

    /// Decides whether to ping, and whether an unanswered ping shows that the peer is dead.
    /// - Parameters:
    ///   - answersPings: Whether the peer has answered a ping before.
    ///   - pause: Draws the silence before the next ping.
    mutating func keepAlive(
        at now: NIODeadline, pongTimeout: TimeSpan, answersPings: @autoclosure () -> Bool, pause: () -> TimeSpan
    ) -> KeepAlive {
        guard isPinged else { return .nothing }
        if let pinged = pingSince {
            guard now - pinged >= pongTimeout.amount else { return .nothing }
            guard answersPings() else {
                isPinged = false
                pingSince = nil
                return .nothing
            }
            return .dead
        }
        if pingPause == .zero { pingPause = pause() }
        guard now - lastHeard >= pingPause.amount else { return .nothing }
        pingSince = now
        awaitsPong = true
        pingPause = pause()
        return .ping
    }
}
