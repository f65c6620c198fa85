import NIOCore
import SIPCore

/// One TCP or TLS connection, accepted or opened. Confined to its event loop.
///
/// Its parts own their state: ``ConnectionLife``, ``OutgoingQueue``, ``PeerActivity``, ``ConnectionInput`` and ``ConnectionTrust``. Bytes
/// written during one tick of the loop are gathered and sent in one write at its end.
final class StreamConnection {
    let id: ConnectionID
    let remote: TransportAddress
    private(set) var local: TransportAddress
    private(set) var channel: (any Channel)?
    /// Whether the peer opened the connection.
    let isAccepted: Bool
    private(set) var life: ConnectionLife
    private var queue = OutgoingQueue()
    private(set) var activity: PeerActivity
    private(set) var input = ConnectionInput()
    private(set) var trust = ConnectionTrust()
    /// Remote address that the connection counts for; nil for connections that this node opened.
    private var share: RemoteAddressCounts.Key?
    /// Key under which octets of incomplete messages count.
    private(set) lazy var addressKey = RemoteAddressCounts.Key(host: remote.host)

    /// Creates a connection that this node opens.
    init(id: ConnectionID, toward remote: TransportAddress) {
        self.id = id
        self.remote = remote
        local = TransportAddress(remote.transport, "", 0)
        isAccepted = false
        let now = NIODeadline.now()
        life = ConnectionLife(isOpen: false, since: now)
        activity = PeerActivity(since: now)
    }

    /// Creates an accepted connection, which is open unless a TLS handshake comes first.
    init(id: ConnectionID, accepted channel: any Channel, local: TransportAddress, remote: TransportAddress, share: RemoteAddressCounts.Key)
    {
        self.id = id
        self.remote = remote
        self.local = local
        self.channel = channel
        self.share = share
        isAccepted = true
        let now = NIODeadline.now()
        life = ConnectionLife(isOpen: remote.transport != .tls, since: now)
        activity = PeerActivity(since: now)
    }

    var isClosed: Bool { life.isClosed }

    /// TLS identity of the peer; nil without TLS or without a client certificate.
    var peer: PeerIdentity? { trust.peer }

    /// Octets that wait for the connection, for the end of the tick or for the kernel.
    var queuedBytes: Int { queue.bytes }

    // MARK: Life

    /// Records that the TCP connection is up, before its TLS handshake.
    func connected(_ channel: any Channel) { self.channel = channel }

    func beginHandshake() -> Bool { life.beginHandshake(at: .now()) }

    /// - Returns: Whether a handshake was running.
    func endHandshake() -> Bool { life.endHandshake() }

    /// - Returns: The messages that waited.
    func open(on channel: any Channel) -> [QueuedMessage] {
        life.open()
        self.channel = channel
        activity.active(at: .now())
        if let address = channel.localAddress { local = address.transportAddress(remote.transport) }
        return queue.takeWaiting()
    }

    /// - Returns: Whether input was taken until now.
    func endInput() -> Bool { life.endInput() }

    func inputClosed() { life.inputClosed() }

    /// Whether all received requests are answered, and the answers written, after the end of the input.
    var isAnswered: Bool { life.isAnswering && input.unanswered == 0 && queue.bytes == 0 }

    func flushed() { life.flushed() }

    /// - Returns: The remote address that the connection no longer counts for.
    func close() -> RemoteAddressCounts.Key? {
        life.closed()
        defer { share = nil }
        return share
    }

    // MARK: Output

    func wait(_ message: QueuedMessage) { queue.wait(message) }

    func takeWaiting() -> [QueuedMessage] { queue.takeWaiting() }

    /// Removes a message that waits for the connection.
    /// - Returns: Whether it was still waiting.
    func withdraw(_ token: UInt64, of shard: Int) -> Bool { life.isConnecting && queue.withdraw(token, of: shard) }

    /// Adds a message to the output of the tick.
    func send(_ bytes: [UInt8], token: UInt64, shard: Int) {
        if input.unanswered > 0, SIPStartLine.isFinalResponse(bytes) { input.answered() }
        queue.append(bytes, token: token, shard: shard)
    }

    /// Adds the response to input that cannot be framed.
    func sendRefusal(_ bytes: [UInt8]) { queue.append(bytes) }

    /// Adds a pong (CRLF, RFC 5626 3.5.1).
    func sendPong() { queue.append("\r\n") }

    /// - Returns: Whether the connection was not marked in this tick before.
    func markDirty() -> Bool { queue.markDirty() }

    /// The output of the tick; nil when there is none.
    func takeOutput() -> (channel: any Channel, bytes: ByteBuffer, tokens: [OutgoingQueue.Token])? {
        queue.clearDirty()
        guard life.isOpen, let channel, let output = queue.takeTick() else { return nil }
        activity.active(at: .now())
        return (channel, output.bytes, output.tokens)
    }

    /// Records the outcome of a write.
    /// - Parameter taken: Tokens of messages that the kernel took; nil after a failure.
    func finishWrite(of count: Int, taken: [OutgoingQueue.Token]?) {
        queue.landed(count)
        activity.active(at: .now())
        if let taken, !isAccepted, life.isOpen { queue.awaitPeer(taken) }
    }

    /// - Parameter isDead: Whether messages written since the peer's last input count as lost.
    /// - Returns: The tokens of messages that are lost with the connection.
    func takeLost(isDead: Bool) -> [OutgoingQueue.Token] {
        queue.takeLost(unheard: isDead || !activity.wasEverHeard && remote.transport == .tls)
    }

    // MARK: Input

    /// Records octets of the peer, which prove that it accepted the connection.
    /// - Parameter isPong: Whether they are a pong, which is no activity, so that it cannot keep a connection open forever.
    /// - Returns: Whether this is the first input.
    func heard(isPong: Bool) -> Bool {
        let now = NIODeadline.now()
        if !isPong { activity.active(at: now) }
        queue.heard()
        return activity.heard(at: now)
    }

    func received(_ message: [UInt8]) { input.received(wantsResponse: SIPStartLine.wantsResponse(message)) }

    /// Records the end of a read.
    func paused(isInsideMessage: Bool) { input.paused(isInsideMessage: isInsideMessage) }

    /// - Returns: The growth of the octets held of incomplete messages.
    func holds(_ octets: Int) -> Int { input.holds(octets) }

    // MARK: Pings

    /// Whether the octets are exactly a pong (CRLF) after a ping.
    func isPong(_ buffer: ByteBuffer) -> Bool { activity.awaitsPong && buffer.readableBytesView.elementsEqual([13, 10]) }

    /// - Returns: Whether the pong answers a ping.
    func pong() -> Bool { activity.pong() }

    func keepAlive(
        at now: NIODeadline, pongTimeout: TimeSpan, answersPings: @autoclosure () -> Bool, pause: () -> TimeSpan
    ) -> PeerActivity.KeepAlive {
        activity.keepAlive(at: now, pongTimeout: pongTimeout, answersPings: answersPings(), pause: pause)
    }

    // MARK: TLS

    func requireCertificate() { trust.requireCertificate() }

    /// - Returns: Whether the identity of the peer differs from the former one.
    func proved(by proof: PeerProof?) -> Bool { trust.proved(by: proof) }

    /// Whether a request of this connection is inspected for `alias`.
    var looksForAlias: Bool { isAccepted && trust.looksForAlias }

    func inspectedForAlias() { trust.inspectedForAlias() }

    func foundAlias() { trust.foundAlias() }
}
