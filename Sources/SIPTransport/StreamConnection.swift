import NIOCore
import SIPCore

/// One message that waits for a socket, with the data needed to report its outcome.
struct QueuedMessage {
    var bytes: [UInt8]
    var token: UInt64
    /// Shard that is notified of a failure.
    var shard: Int
    /// Original request for UDP, before it was moved to TCP (RFC 3261 18.1.1); sent when TCP is refused.
    var datagram: OutboundMessage?
    /// Whether the shard does not know which connection carries the message; it is then notified with `carried`.
    var isUnnamed = false
    /// Longest wait for the connection; nil waits until the connect ends.
    var patience: TimeSpan?
}

/// One TCP or TLS connection, accepted or opened. Confined to its event loop.
///
/// ```
///   connecting --connected, with TLS: proved--> open --close, error, idle, overflow--> closed
///        \----refused, timed out------------------------------------------^
/// ```
/// An open connection with ended input still sends responses to earlier requests before it closes, see ``ending``.
///
/// Bytes written during one tick of the loop are gathered in `outgoing` and sent in one write at its end.
final class StreamConnection {
    enum State { case connecting, open, closed }
    /// Progress of an open connection that takes no more input.
    enum Ending { case answering, flushed }

    let id: ConnectionID
    let remote: TransportAddress
    var local: TransportAddress
    var state: State
    var channel: (any Channel)?
    /// Messages that wait until the connection is open.
    var waiting: [QueuedMessage] = []
    var waitingBytes = 0
    /// Bytes of this tick, and the token and shard of each of their messages.
    var outgoing = ByteBuffer()
    var outgoingTokens: [(token: UInt64, shard: Int)] = []
    /// Octets written to the channel and not yet taken by the kernel.
    var inFlightBytes = 0
    var isDirty = false
    var lastActivity: NIODeadline
    /// TLS identity of the peer; nil without TLS or without a client certificate.
    var peer: PeerIdentity?
    /// Certificates behind `peer`, to verify them again when roots change or a certificate expires.
    var proof: PeerProof?
    /// Whether the TLS listener requires a client certificate.
    var needsCertificate = false
    /// Number of further requests inspected for `alias` (RFC 5923 4); a peer sets it in all of its requests or in none.
    var aliasChances = 4
    /// Whether the peer opened the connection.
    var isAccepted = false
    /// Start of the running TLS handshake; nil when none is running.
    var handshakeSince: NIODeadline?
    /// Tokens of messages written since the peer's last octet. They are reported as failed when the peer turns out to be dead, or when a
    /// TLS server refuses our certificate after our side completed the handshake (RFC 8446 4.4.3).
    var unheardTokens: [(token: UInt64, shard: Int)] = []
    /// Whether the peer has ever sent anything.
    private(set) var wasEverHeard = false
    /// Time of the peer's last octet, at first the creation time.
    var lastHeard: NIODeadline
    /// Whether keep-alive pings are sent (RFC 5626 4.4.1).
    var isPinged = true
    /// Silence after which the next ping is sent; zero until it is drawn.
    var pingPause = TimeSpan.zero
    /// Time of a ping that nothing has been received after; nil otherwise.
    var pingSince: NIODeadline?
    /// Whether a ping was sent without a pong seen since.
    var wasPinged = false
    /// Remote address that the connection counts for; nil for connections that this node opened.
    var share: RemoteAddressCounts.Key?
    /// State of ending; nil while input is taken.
    var ending: Ending?
    /// Whether the peer closed its sending half.
    var isInputClosed = false
    /// Number of received requests without a final response.
    var unanswered = 0
    /// Octets held of incomplete messages.
    var unfinishedOctets = 0
    /// Key under which `unfinishedOctets` counts.
    lazy var addressKey = RemoteAddressCounts.Key(host: remote.host)
    /// Creation time.
    let since: NIODeadline
    /// Arrival of the first octet of an incomplete message; the connection is closed after `messageTimeout`.
    var insideSince: NIODeadline?

    init(id: ConnectionID, local: TransportAddress, remote: TransportAddress, state: State, channel: (any Channel)?) {
        self.id = id
        self.local = local
        self.remote = remote
        self.state = state
        self.channel = channel
        since = .now()
        lastActivity = since
        lastHeard = since
        isAccepted = channel != nil
    }

    /// Records that the kernel took the bytes of these messages.
    func noteWritten(_ tokens: [(token: UInt64, shard: Int)]) {
        guard !isAccepted, state == .open, unheardTokens.count + tokens.count <= 4_096 else { return }
        unheardTokens += tokens
    }

    /// Records input of the peer, which proves that it accepted the connection.
    /// - Returns: Whether this is the first input.
    func noteHeard() -> Bool {
        lastHeard = .now()
        pingSince = nil
        unheardTokens.removeAll(keepingCapacity: true)
        defer { wasEverHeard = true }
        return !wasEverHeard
    }

    /// Whether the octets are exactly a pong (CRLF) after a ping.
    func isPong(_ buffer: ByteBuffer) -> Bool { wasPinged && buffer.readableBytesView.elementsEqual([13, 10]) }

    /// Octets that wait for the connection, for the end of the tick or for the kernel.
    var queuedBytes: Int { waitingBytes + outgoing.readableBytes + inFlightBytes }
}
