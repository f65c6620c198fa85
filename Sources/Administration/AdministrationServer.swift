import Glibc
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// An administration listener: `GET /health`, `/health/live`, `/health/ready` (JSON) and `GET /metrics` (Prometheus text), all without
/// identities of users, and the inspection pages if ``Sources/inspect`` is set. POST, which changes state, is accepted on a Unix socket only,
/// because a web page in a browser can send a POST to any loopback port.
///
/// Clients are not authenticated. A Unix socket has mode 0600; inspection over TCP requires a loopback name or address in
/// Host, which stops web pages in a browser (DNS rebinding).
package final class AdministrationServer: Sendable {
    /// Providers of the pages; called on an arbitrary thread.
    package struct Sources: Sendable {
        /// Provides the report of `GET /health` and `GET /health/ready`.
        package var health: @Sendable () async -> HealthReport
        /// Tells whether all event loops turn, for `GET /health/live`; must answer when they do not.
        package var isAlive: @Sendable () async -> Bool
        /// Provides the metrics of `GET /metrics`.
        package var metrics: @Sendable () async -> [Metric]
        /// Answers every other path; nil: this listener shows no identities of users.
        package var inspect: (@Sendable (AdministrationRequest) async -> AdministrationAnswer)?

        /// Creates the providers; without `inspect`, other paths are answered with 404.
        package init(
            health: @escaping @Sendable () async -> HealthReport, isAlive: @escaping @Sendable () async -> Bool = { true },
            metrics: @escaping @Sendable () async -> [Metric],
            inspect: (@Sendable (AdministrationRequest) async -> AdministrationAnswer)? = nil
        ) {
            self.health = health
            self.isAlive = isAlive
            self.metrics = metrics
            self.inspect = inspect
        }
    }

    /// The address in use, with the actual port if port 0 was requested.
    package let address: AdministrationAddress
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup

    /// Starts a listener on its own thread. Idle connections are closed after 30 s.
    /// - Parameter address: port 0 picks a free port; a Unix socket gets mode 0600 and replaces the file of a process that
    ///   has ended.
    /// - Throws: `IOError` or ``AdministrationError`` if the address cannot be bound.
    package static func start(on address: AdministrationAddress, sources: Sources, logger: Logger) async throws -> AdministrationServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let isSocket: Bool
        if case .socket = address { isSocket = true } else { isSocket = false }
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.backlog, value: 64)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(readTimeout: .seconds(30)))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(AdministrationHandler(sources: sources, isSocket: isSocket))
                }
            }
        do {
            switch address {
            case .http(let host, let port):
                let channel = try await bootstrap.serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: host, port: port).get()
                return AdministrationServer(.http(host: host, port: channel.localAddress?.port ?? port), channel: channel, group: group)
            case .socket(let path):
                let channel = try await bootstrap.withBoundSocket(try PrivateSocket.bind(path)).get()
                return AdministrationServer(address, channel: channel, group: group)
            }
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private init(_ address: AdministrationAddress, channel: any Channel, group: MultiThreadedEventLoopGroup) {
        self.address = address
        self.channel = channel
        self.group = group
    }

    /// Stops listening, removes the file of a Unix socket, and ends the listener's thread.
    package func stop() async {
        // Safe to unlink: while this process listens, no other process can have replaced the socket.
        if case .socket(let path) = address { unlink(path) }
        try? await channel.close()
        try? await group.shutdownGracefully()
    }
}

/// One connection of the administration listener.
private final class AdministrationHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let sources: AdministrationServer.Sources
    private let isSocket: Bool
    private var head: HTTPRequestHead?

    init(sources: AdministrationServer.Sources, isSocket: Bool) {
        self.sources = sources
        self.isSocket = isSocket
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // No page reads a body: it is discarded.
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

        init(status: HTTPResponseStatus, type: String, body: String) {
            self.status = status
            self.type = type
            self.body = body
        }

        init(_ answer: AdministrationAnswer) {
            self.init(status: HTTPResponseStatus(statusCode: answer.status), type: "application/json", body: answer.json + "\n")
        }
    }

    /// Whether Host names the loopback (RFC 9110 7.2); false if Host is missing or repeated.
    private static func isForLoopback(_ head: HTTPRequestHead) -> Bool {
        let values = head.headers["host"]
        guard values.count == 1, var host = values.first.map({ Substring($0) }) else { return false }
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return false }
            host = host[host.index(after: host.startIndex)..<end]
        } else {
            host = host.prefix { $0 != ":" }
        }
        return AdministrationAddress.isLoopback(String(host))
    }

    private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        let isAction = head.method == .POST && isSocket
        guard head.method == .GET || head.method == .HEAD || isAction else {
            let words = isSocket ? "only GET, HEAD and POST\n" : "only GET and HEAD; POST is taken over admin.socket\n"
            return write(Page(status: .methodNotAllowed, type: "text/plain", body: words), to: head, context: context)
        }
        guard var request = AdministrationRequest(target: head.uri) else {
            return write(
                Page(.problem(400, "RFC 3986 2.1: the request's URI has an escape that cannot be read")), to: head, context: context)
        }
        request.isAction = isAction
        let sources = self.sources
        let page = context.eventLoop.makePromise(of: Page.self)
        switch request.path {
        case "/health":
            page.completeWithTask {
                let report = await sources.health()
                return Page(
                    status: report.status == .ok ? .ok : .serviceUnavailable, type: "application/json", body: report.json + "\n")
            }
        case "/health/live":
            page.completeWithTask {
                let isAlive = await sources.isAlive()
                return Page(
                    status: isAlive ? .ok : .serviceUnavailable, type: "application/json", body: "{\"live\":\(isAlive)}\n")
            }
        case "/health/ready":
            page.completeWithTask {
                let report = await sources.health()
                return Page(
                    status: report.reasons.isEmpty ? .ok : .serviceUnavailable, type: "application/json", body: report.readiness + "\n")
            }
        case "/metrics":
            page.completeWithTask {
                Page(status: .ok, type: "text/plain; version=0.0.4; charset=utf-8", body: Metric.text(await sources.metrics()))
            }
        default:
            if let inspect = sources.inspect, isSocket || Self.isForLoopback(head) {
                page.completeWithTask { [request] in Page(await inspect(request)) }
            } else if sources.inspect != nil {
                page.succeed(Page(.problem(403, "Host must be this machine's loopback: who watches whom is shown to nobody else")))
            } else {
                page.succeed(
                    Page(
                        .problem(
                            404,
                            "there are /health, /health/live, /health/ready and /metrics; who watches whom is shown with admin.socket or admin.inspect"
                        )))
            }
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
        if page.status == .methodNotAllowed { headers.add(name: "Allow", value: isSocket ? "GET, HEAD, POST" : "GET, HEAD") }
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
