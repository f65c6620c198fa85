import NIOCore
import NIOPosix
import NIOSSL

/// TLS client without a certificate that accepts any server.
final class BareClient: Sendable {
    private let channel: any Channel
    private let inbox: EventLoopFuture<String>

    private init(channel: any Channel, inbox: EventLoopFuture<String>) {
        self.channel = channel
        self.inbox = inbox
    }

    /// Connects to a loopback port.
    static func connect(to port: Int, maximum: TLSVersion = .tlsv13) async throws -> BareClient {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.minimumTLSVersion = .tlsv1
        configuration.maximumTLSVersion = maximum
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: String.self)
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: context, serverHostname: "example.net"), Collector(promise))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return BareClient(channel: channel, inbox: promise.futureResult)
    }

    func send(_ text: String) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }

    /// Sends close_notify (RFC 8446 6.1): nothing more can be sent, input is still read.
    func closeOutput() async throws { try await channel.close(mode: .output).get() }

    /// Returns all input until the end of the connection.
    func received() async throws -> String { try await inbox.get() }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let promise: EventLoopPromise<String>
        private var text = ""

        init(_ promise: EventLoopPromise<String>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }
        func channelInactive(context: ChannelHandlerContext) { promise.succeed(text) }
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
