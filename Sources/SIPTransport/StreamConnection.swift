import NIOCore
import SIPCore

/// One message that waits for a socket, with everything needed to say what became of it.
struct QueuedMessage {
    var bytes: [UInt8]
    var token: UInt64
    /// The shard that wants to hear of a failure.
    var shard: Int
    /// The same request as it was before it was moved from UDP to TCP (RFC 3261 18.1.1), for when TCP is refused.
    var datagram: OutboundMessage?
}

/// One TCP or TLS connection, accepted or opened, confined to its event loop.
///
/// ```
///   connecting --connected, with TLS: proved--> open --close, error, idle, overflow--> closed
///        \----refused, timed out------------------------------------------^
/// ```
/// Bytes written during one tick of the loop are gathered in `outgoing` and leave in one write at its end.
final class StreamConnection {
    enum State { case connecting, open, closed }

    let id: ConnectionID
    let remote: TransportAddress
    var local: TransportAddress
    var state: State
    var channel: (any Channel)?
    /// Messages that wait for the connect to end.
    var waiting: [QueuedMessage] = []
    var waitingBytes = 0
    /// This tick's bytes, and the tokens of its messages with the shard that sent each.
    var outgoing = ByteBuffer()
    var outgoingTokens: [(token: UInt64, shard: Int)] = []
    /// Written to the channel and not yet taken by the kernel.
    var inFlightBytes = 0
    var isDirty = false
    var lastActivity: NIODeadline
    /// What the peer has proved by TLS.
    var peer: PeerIdentity?
    /// Whether the peer opened it.
    var isAccepted = false
    /// Since when a TLS handshake is under way.
    var handshakeSince: NIODeadline?
    /// A TLS server may refuse our certificate after we take the handshake for done (RFC 8446 4.4.3): until its first octet, these
    /// messages may never have been looked at.
    var unheardTokens: [(token: UInt64, shard: Int)] = []
    private var isHeard: Bool
    /// Since when a message has begun and not ended: a peer that never ends it is closed.
    var insideSince: NIODeadline?

    init(id: ConnectionID, local: TransportAddress, remote: TransportAddress, state: State, channel: (any Channel)?) {
        self.id = id
        self.local = local
        self.remote = remote
        self.state = state
        self.channel = channel
        lastActivity = .now()
        isAccepted = channel != nil
        isHeard = isAccepted || remote.transport != .tls
    }

    /// The kernel took the bytes of these messages.
    func noteWritten(_ tokens: [(token: UInt64, shard: Int)]) {
        guard !isHeard, state == .open, unheardTokens.count + tokens.count <= 4_096 else { return }
        unheardTokens += tokens
    }

    /// The peer sent something, which it does only after it has accepted us.
    func noteHeard() {
        guard !isHeard else { return }
        isHeard = true
        unheardTokens = []
    }

    /// Octets that the peer has yet to take.
    var queuedBytes: Int { waitingBytes + outgoing.readableBytes + inFlightBytes }
}
