import Logging
import NIOCore
import NIOPosix

/// Accepts no connection while file descriptors are scarce: new ones wait in the kernel's queue. Without it the listener, which stays
/// readable, would make its loop spin on an error.
///
///     accepting --scarce, or EMFILE and its like--> paused --100 ms, enough again--> accepting
///                                                     ^---------100 ms, scarce--------|
final class AcceptPause: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private let host: ShardHost
    private var isPaused = false
    /// A read that was asked for while paused.
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
        // Whatever it was, the queue is as it was before, and so would be the next try.
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
