import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// The administration listener: `GET /health` (JSON) and `GET /metrics` (Prometheus text), read only, without identities of people.
///
/// It listens on the configured address alone and trusts whoever reaches it; bind it to loopback or to a management network.
public final class AdministrationServer: Sendable {
    /// What the two pages show; called on no particular thread.
    public struct Sources: Sendable {
        public var health: @Sendable () async -> HealthReport
        public var metrics: @Sendable () async -> [Metric]

        public init(health: @escaping @Sendable () async -> HealthReport, metrics: @escaping @Sendable () async -> [Metric]) {
            self.health = health
            self.metrics = metrics
        }
    }

    public let host: String
    public let port: Int
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup

    /// - Parameter port: 0 picks a free one.
    /// - Throws: `IOError` when the address cannot be listened on.
    public static func start(host: String, port: Int, sources: Sources, logger: Logger) async throws -> AdministrationServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelOption(ChannelOptions.backlog, value: 64)
                .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(IdleStateHandler(readTimeout: .seconds(30)))
                        try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                        try pipeline.addHandler(AdministrationHandler(sources: sources))
                    }
                }
                .bind(host: host, port: port).get()
            return AdministrationServer(host: host, port: channel.localAddress?.port ?? port, channel: channel, group: group)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private init(host: String, port: Int, channel: any Channel, group: MultiThreadedEventLoopGroup) {
        self.host = host
        self.port = port
        self.channel = channel
        self.group = group
    }

    public func stop() async {
        try? await channel.close()
        try? await group.shutdownGracefully()
    }
}

/// One connection of the administration listener.
private final class AdministrationHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let sources: AdministrationServer.Sources
    private var head: HTTPRequestHead?

    init(sources: AdministrationServer.Sources) {
        self.sources = sources
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // Nothing here takes a body: it is read past and never kept.
        case .body: break
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private struct Page: Sendable {
        var status: HTTPResponseStatus
        var type: String
        var body: String
    }

    private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        let path = head.uri.prefix { $0 != "?" }
        guard head.method == .GET || head.method == .HEAD else {
            return write(Page(status: .methodNotAllowed, type: "text/plain", body: "only GET and HEAD\n"), to: head, context: context)
        }
        let sources = self.sources
        let page = context.eventLoop.makePromise(of: Page.self)
        switch path {
        case "/health":
            page.completeWithTask {
                let report = await sources.health()
                return Page(
                    status: report.status == .ok ? .ok : .serviceUnavailable, type: "application/json", body: report.json + "\n")
            }
        case "/metrics":
            page.completeWithTask {
                Page(status: .ok, type: "text/plain; version=0.0.4; charset=utf-8", body: Metric.text(await sources.metrics()))
            }
        default:
            page.succeed(Page(status: .notFound, type: "text/plain", body: "there are /health and /metrics\n"))
        }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        page.futureResult.whenSuccess { page in
            let (handler, context) = bound.value
            handler.write(page, to: head, context: context)
        }
    }

    private func write(_ page: Page, to request: HTTPRequestHead, context: ChannelHandlerContext) {
        let body = ByteBuffer(string: page.body)
        var headers = HTTPHeaders()
        headers.add(name: "Content-Type", value: page.type)
        headers.add(name: "Content-Length", value: "\(body.readableBytes)")
        headers.add(name: "Cache-Control", value: "no-store")
        if page.status == .methodNotAllowed { headers.add(name: "Allow", value: "GET, HEAD") }
        if !request.isKeepAlive { headers.add(name: "Connection", value: "close") }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: request.version, status: page.status, headers: headers))), promise: nil)
        if request.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        let channel = context.channel
        let done = context.eventLoop.makePromise(of: Void.self)
        if !request.isKeepAlive { done.futureResult.whenComplete { _ in channel.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    }
}
