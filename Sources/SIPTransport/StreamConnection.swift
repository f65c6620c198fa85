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
    /// The shard does not know by which connection it leaves, and is told.
    var isUnnamed = false
    /// How long it may wait for its connection; nil: as long as connecting takes.
    var patience: TimeSpan?
}

/// One TCP or TLS connection, accepted or opened, confined to its event loop.
///
/// ```
///   connecting --connected, with TLS: proved--> open --close, error, idle, overflow--> closed
///        \----refused, timed out------------------------------------------^
/// ```
/// An open connection whose input is over answers what it has taken before it closes, see ``ending``.
///
/// Bytes written during one tick of the loop are gathered in `outgoing` and leave in one write at its end.
final class StreamConnection {
    enum State { case connecting, open, closed }
    /// How far an open connection is that takes no more input.
    enum Ending { case answering, flushed }

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
    /// What that was concluded from, to conclude it again when roots change or a certificate ends.
    var proof: PeerProof?
    /// Of a listener with TLS: whether clients need a certificate there.
    var needsCertificate = false
    /// Requests that are looked at for `alias` (RFC 5923 4); a partner writes it into all or none.
    var aliasChances = 4
    /// Whether the peer opened it.
    var isAccepted = false
    /// Since when a TLS handshake is under way.
    var handshakeSince: NIODeadline?
    /// What was written since the peer's last octet: if the peer turns out to be gone, it never looked at it. So too if a TLS server
    /// refuses our certificate after we take the handshake for done (RFC 8446 4.4.3).
    var unheardTokens: [(token: UInt64, shard: Int)] = []
    /// Whether the peer has sent anything.
    private(set) var wasEverHeard = false
    /// When its last octet came, or the connection was opened.
    var lastHeard: NIODeadline
    /// Whether it is asked for signs of life (RFC 5626 4.4.1).
    var isPinged = true
    /// After how much silence it is asked next; zero: nobody has drawn that yet.
    var pingPause = TimeSpan.zero
    /// Since when a ping waits for any octet.
    var pingSince: NIODeadline?
    /// Whether a ping was sent and no answer to it has been seen.
    var wasPinged = false
    /// As whose connection it counts, of those that peers opened.
    var share: RemoteAddressCounts.Key?
    /// nil: input is taken.
    var ending: Ending?
    /// Whether the peer has closed its sending half.
    var isInputClosed = false
    /// Requests that were taken and not yet given a final response.
    var unanswered = 0
    /// Octets held of messages that are not complete.
    var unfinishedOctets = 0
    /// The address as whose octets they count.
    lazy var addressKey = RemoteAddressCounts.Key(host: remote.host)
    /// When it was made.
    let since: NIODeadline
    /// Since when a message has begun and not ended: a peer that never ends it is closed.
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

    /// The kernel took the bytes of these messages.
    func noteWritten(_ tokens: [(token: UInt64, shard: Int)]) {
        guard !isAccepted, state == .open, unheardTokens.count + tokens.count <= 4_096 else { return }
        unheardTokens += tokens
    }

    /// The peer sent something, which it does only after it has accepted us.
    /// - Returns: whether that was the first time.
    func noteHeard() -> Bool {
        lastHeard = .now()
        pingSince = nil
        unheardTokens.removeAll(keepingCapacity: true)
        defer { wasEverHeard = true }
        return !wasEverHeard
    }

    /// Whether octets are the answer to a ping of ours and nothing else.
    func isPong(_ buffer: ByteBuffer) -> Bool { wasPinged && buffer.readableBytesView.elementsEqual([13, 10]) }

    /// Octets that the peer has yet to take.
    var queuedBytes: Int { waitingBytes + outgoing.readableBytes + inFlightBytes }
}
