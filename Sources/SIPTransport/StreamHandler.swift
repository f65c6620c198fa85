import Logging
import NIOCore
import SIPCore

/// Frames the bytes of one connection into messages (RFC 3261 18.3) and passes them to the shard of its loop.
final class StreamHandler: ChannelInboundHandler, RestingReader {
    typealias InboundIn = ByteBuffer

    private let connection: StreamConnection
    private let host: ShardHost
    private var framer: StreamFramer
    private var isRefused = false
    private var share = TickShare()
    private var isResting = false
    /// Whether the peer closed its sending half.
    private var hasEnded = false

    init(connection: StreamConnection, host: ShardHost) {
        self.connection = connection
        self.host = host
        var limits = SIPLimits.standard
        limits.headerBytes = host.options.maximumHeaderBytes
        limits.bodyBytes = host.options.maximumBodyBytes
        framer = StreamFramer(limits: limits)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A closed connection may still deliver bytes that arrived before.
        guard !connection.isClosed else { return }
        let buffer = unwrapInboundIn(data)
        // Pongs do not count as activity, so that they cannot keep a connection open forever.
        let isPong = !isResting && !framer.isInsideMessage && connection.isPong(buffer)
        host.connectionTable.noteHeard(connection, isPong: isPong)
        host.counters.bytesReceived &+= UInt64(buffer.readableBytes)
        // Two pongs in a row are not a ping of the peer.
        guard !isRefused, !isPong else { return }
        framer.append(buffer.readableBytesView)
        if isResting { host.connectionTable.noteUnfinished(connection, framer.reservedCount) } else { takeMessages(isLast: false) }
    }

    /// Passes on complete messages, up to the connection's share of a tick.
    private func takeMessages(isLast: Bool) {
        while !isRefused {
            if !isLast, share.isSpent(host.options.messagesPerTick, in: host.scheduler.tick) {
                rest()
                break
            }
            guard let event = framer.next() else { break }
            switch event {
            case .message(let bytes):
                connection.received(bytes)
                share.take(in: host.scheduler.tick)
                host.connectionTable.noteAlias(connection, bytes)
                host.receive(
                    InboundMessage(
                        bytes: bytes, local: connection.local, remote: connection.remote, connection: connection.id, peer: connection.peer))
            case .ping:
                host.connectionTable.answerKeepAlive(connection)
            case .pong:
                host.connectionTable.notePong(connection)
            case .failure(let error):
                isRefused = true
                host.connectionTable.refuse(connection, error)
            }
        }
        connection.paused(isInsideMessage: framer.isInsideMessage)
        host.connectionTable.noteUnfinished(connection, framer.reservedCount)
    }

    private func rest() {
        isResting = true
        host.counters.readsPaused &+= 1
        // Stop reading: further input waits in the kernel.
        _ = connection.channel?.setOption(ChannelOptions.autoRead, value: false)
        host.scheduler.rest(self)
    }

    func resume() {
        guard isResting else { return }
        isResting = false
        takeMessages(isLast: false)
        guard !isResting else { return }
        guard !hasEnded else { return host.connectionTable.inputClosed(connection) }
        _ = connection.channel?.setOption(ChannelOptions.autoRead, value: true)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            hasEnded = true
            if !isResting { host.connectionTable.inputClosed(connection) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isResting {
            isResting = false
            takeMessages(isLast: true)
        }
        host.connectionTable.ended(connection, reason: "closed by the peer", end: .byPeer)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        host.connectionTable.ended(connection, reason: TransportError.reason(error))
        context.close(promise: nil)
    }
}
