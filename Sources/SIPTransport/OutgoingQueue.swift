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

/// Output of one connection: messages that wait until it is open, then the bytes of a tick, then those that the kernel has not taken.
struct OutgoingQueue {
    /// Token of a message and the shard that sent it.
    typealias Token = (token: UInt64, shard: Int)

    private var waiting: [QueuedMessage] = []
    private var waitingBytes = 0
    /// Bytes of this tick, and the tokens of their messages.
    private var outgoing = ByteBuffer()
    private var outgoingTokens: [Token] = []
    /// Octets written to the channel and not yet taken by the kernel.
    private var inFlightBytes = 0
    /// Whether the connection is written at the end of the tick.
    private var isDirty = false
    /// Tokens of messages written since the peer's last octet. They are reported as failed when the peer turns out to be dead, or when a
    /// TLS server refuses our certificate after our side completed the handshake (RFC 8446 4.4.3).
    private var unheardTokens: [Token] = []

    /// Octets that wait for the connection, for the end of the tick or for the kernel.
    var bytes: Int { waitingBytes + outgoing.readableBytes + inFlightBytes }

    // MARK: Waiting for the connection

    mutating func wait(_ message: QueuedMessage) {
        waitingBytes += message.bytes.count
        waiting.append(message)
    }

    /// Removes the waiting messages, in order.
    mutating func takeWaiting() -> [QueuedMessage] {
        defer {
            waiting = []
            waitingBytes = 0
        }
        return waiting
    }

    /// Removes one waiting message.
    /// - Returns: Whether it was still waiting.
    mutating func withdraw(_ token: UInt64, of shard: Int) -> Bool {
        guard let place = waiting.firstIndex(where: { $0.token == token && $0.shard == shard }) else { return false }
        waitingBytes -= waiting.remove(at: place).bytes.count
        return true
    }

    // MARK: The tick

    /// - Parameter token: Token of the message; 0 when its failure is not reported.
    mutating func append(_ bytes: [UInt8], token: UInt64 = 0, shard: Int = 0) {
        outgoing.writeBytes(bytes)
        if token != 0 { outgoingTokens.append((token, shard)) }
    }

    mutating func append(_ text: StaticString) { outgoing.writeStaticString(text) }

    /// - Returns: Whether the connection was not marked in this tick before.
    mutating func markDirty() -> Bool {
        defer { isDirty = true }
        return !isDirty
    }

    mutating func clearDirty() { isDirty = false }

    /// Moves the bytes of the tick to those in flight; nil when there are none.
    mutating func takeTick() -> (bytes: ByteBuffer, tokens: [Token])? {
        let count = outgoing.readableBytes
        guard count > 0 else { return nil }
        defer {
            outgoing = ByteBuffer()
            outgoingTokens = []
        }
        inFlightBytes += count
        return (outgoing, outgoingTokens)
    }

    // MARK: After the write

    mutating func landed(_ count: Int) { inFlightBytes -= count }

    /// Remembers messages that the kernel took, at most 4,096.
    mutating func awaitPeer(_ tokens: [Token]) {
        guard unheardTokens.count + tokens.count <= 4_096 else { return }
        unheardTokens += tokens
    }

    mutating func heard() { unheardTokens.removeAll(keepingCapacity: true) }

    /// Removes everything after the end of the connection.
    /// - Parameter unheard: Whether messages written since the peer's last octet are lost too.
    /// - Returns: The tokens of lost messages.
    mutating func takeLost(unheard: Bool) -> [Token] {
        let lost = waiting.map { ($0.token, $0.shard) } + (unheard ? unheardTokens : []) + outgoingTokens
        waiting = []
        outgoingTokens = []
        unheardTokens = []
        outgoing = ByteBuffer()
        return lost
    }
}
