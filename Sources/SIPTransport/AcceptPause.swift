import Logging
import NIOCore
import NIOPosix

/// Pauses a listener while file descriptors are scarce: new connections wait in the kernel's backlog. Without the pause, the listener stays
/// readable and its loop spins on the error.
///
///     accepting --scarce, or EMFILE and its like--> paused --100 ms, enough again--> accepting
///                                                     ^---------100 ms, scarce--------|
final class AcceptPause: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private let host: ShardHost
    private var isPaused = false
    /// Whether the pipeline requested a read during the pause.
    private var wantsRead = false
    private var lastLogged: NIODeadline?

    private static let pause = TimeAmount.milliseconds(100)
    private static let logInterval = TimeAmount.seconds(60)

    init(host: ShardHost) {
        self.host = host
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
        if FileDescriptors.areScarce { pause(context, "\(FileDescriptors.limit) file descriptors less the reserve are in use") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Every socket error leaves the backlog unchanged, so the next attempt would fail in the same way.
        if error is IOError { pause(context, TransportError.reason(error)) }
        context.fireErrorCaught(error)
    }

    func read(context: ChannelHandlerContext) {
        if isPaused { wantsRead = true } else { context.read() }
    }

    private func pause(_ context: ChannelHandlerContext, _ reason: String) {
        guard !isPaused else { return }
        isPaused = true
        host.counters.acceptsPaused &+= 1
        if lastLogged.map({ $0 + Self.logInterval < .now() }) ?? true {
            lastLogged = .now()
            host.logger.warning(
                "new connections wait: too few file descriptors",
                metadata: ["listener": "\(context.channel.localAddress?.description ?? "")", "reason": "\(reason)"])
        }
        resumeLater(context)
    }

    private func resumeLater(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            guard context.channel.isActive else { return }
            guard !FileDescriptors.areScarce else { return self.resumeLater(context) }
            self.isPaused = false
            guard self.wantsRead else { return }
            self.wantsRead = false
            context.read()
        }
    }
}
