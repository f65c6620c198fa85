import NIOCore
import NIOPosix

/// TCP relay that forwards the client's first octets (the ClientHello) to a server and holds the rest until it is released.
final class HoldingRelay: Sendable {
    private let listener: any Channel
    private let gate: Gate

    private init(listener: any Channel, gate: Gate) {
        self.listener = listener
        self.gate = gate
    }

    var port: Int { listener.localAddress!.port! }

    /// - Parameter server: Port of the server on loopback.
    static func start(before server: Int) async throws -> HoldingRelay {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let gate = Gate(loop)
        let listener = try await ServerBootstrap(group: loop)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelInitializer { backend in
                        backend.eventLoop.makeCompletedFuture {
                            try backend.pipeline.syncOperations.addHandler(Forwarder(to: client, through: nil))
                        }
                    }
                    .connect(host: "127.0.0.1", port: server)
                    .flatMapThrowing { backend in
                        try client.pipeline.syncOperations.addHandler(Forwarder(to: backend, through: gate))
                    }
            }
            // Client and server share one loop, so the gate needs no lock.
            .bind(host: "127.0.0.1", port: 0).get()
        return HoldingRelay(listener: listener, gate: gate)
    }

    /// Completes once octets of the client are held.
    func isHolding() async throws { try await gate.holding.futureResult.get() }

    func release() async throws { try await gate.loop.submit { [gate] in gate.release() }.get() }

    func stop() async throws { try await listener.close().get() }

    /// Confined to its loop.
    private final class Gate: @unchecked Sendable {
        let loop: any EventLoop
        let holding: EventLoopPromise<Void>
        private var isOpen = false
        private var chunks = 0
        private var kept: [(ByteBuffer, any Channel)] = []

        init(_ loop: any EventLoop) {
            self.loop = loop
            holding = loop.makePromise()
        }

        func pass(_ octets: ByteBuffer, to channel: any Channel) {
            chunks += 1
            guard !isOpen && chunks > 1 else { return channel.writeAndFlush(octets, promise: nil) }
            kept.append((octets, channel))
            holding.succeed(())
        }

        func release() {
            isOpen = true
            for (octets, channel) in kept { channel.writeAndFlush(octets, promise: nil) }
            kept = []
        }
    }

    private final class Forwarder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let other: any Channel
        private let gate: Gate?

        init(to other: any Channel, through gate: Gate?) {
            self.other = other
            self.gate = gate
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let octets = unwrapInboundIn(data)
            if let gate { gate.pass(octets, to: other) } else { other.writeAndFlush(octets, promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
