import Logging
import NIOCore
import SIPCore

/// Cuts the bytes of one connection into messages (RFC 3261 18.3) and hands them to the shard of its loop.
final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: StreamConnection
    private let host: ShardHost
    private var framer: StreamFramer
    private var isRefused = false

    init(connection: StreamConnection, host: ShardHost) {
        self.connection = connection
        self.host = host
        var limits = SIPLimits.standard
        limits.headerBytes = host.options.maximumHeaderBytes
        limits.bodyBytes = host.options.maximumBodyBytes
        framer = StreamFramer(limits: limits)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A connection that was refused or given up may still deliver what had arrived before it closes.
        guard connection.state != .closed else { return }
        let buffer = unwrapInboundIn(data)
        connection.lastActivity = .now()
        connection.noteHeard()
        host.counters.bytesReceived &+= UInt64(buffer.readableBytes)
        guard !isRefused else { return }
        framer.append(buffer.readableBytesView)
        while !isRefused, let event = framer.next() {
            switch event {
            case .message(let bytes):
                host.receive(
                    InboundMessage(
                        bytes: bytes, local: connection.local, remote: connection.remote, connection: connection.id, peer: connection.peer))
            case .ping:
                host.wires.answerKeepAlive(connection)
            case .pong:
                break
            case .failure(let error):
                isRefused = true
                host.wires.refuse(connection, error)
            }
        }
        connection.insideSince = framer.isInsideMessage ? connection.insideSince ?? .now() : nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        host.wires.ended(connection, reason: "closed by the peer")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        host.wires.ended(connection, reason: TransportError.reason(error))
        context.close(promise: nil)
    }
}
