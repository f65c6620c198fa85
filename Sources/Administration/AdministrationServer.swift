import Glibc
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An administration listener: `GET /health`, `/health/live`, `/health/ready` (JSON) and `GET /metrics` (Prometheus text), all without
/// identities of users, and the inspection pages if ``Sources/inspect`` is set. POST that changes state is accepted on a Unix socket only,
/// because a web page in a browser can send a POST to any loopback port; ``Sources/submissions`` change nothing, and are accepted from the
/// listener's own pages and from programs.
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
        /// Paths of ``inspect`` whose POST changes nothing.
        package var submissions: Set<String> = []

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
    private let streams: AnswerStreams

    /// Starts a listener on its own thread. Idle connections are closed after 30 s.
    /// - Parameter address: port 0 picks a free port; a Unix socket gets mode 0600 and replaces the file of a process that
    ///   has ended.
    /// - Throws: `IOError` or ``AdministrationError`` if the address cannot be bound.
    package static func start(on address: AdministrationAddress, sources: Sources, logger: Logger) async throws -> AdministrationServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let isSocket: Bool
        if case .socket = address { isSocket = true } else { isSocket = false }
        let streams = AnswerStreams()
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.backlog, value: 64)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(readTimeout: .seconds(30)))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(AdministrationHandler(sources: sources, isSocket: isSocket, streams: streams))
                }
            }
        do {
            switch address {
            case .http(let host, let port):
                let channel = try await bootstrap.serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: host, port: port).get()
                return AdministrationServer(
                    .http(host: host, port: channel.localAddress?.port ?? port), channel: channel, group: group, streams: streams)
            case .socket(let path):
                let channel = try await bootstrap.withBoundSocket(try PrivateSocket.bind(path)).get()
                return AdministrationServer(address, channel: channel, group: group, streams: streams)
            }
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private init(
        _ address: AdministrationAddress, channel: any Channel, group: MultiThreadedEventLoopGroup, streams: AnswerStreams
    ) {
        self.streams = streams
        self.address = address
        self.channel = channel
        self.group = group
    }

    /// Stops listening, removes the file of a Unix socket, and ends the listener's thread.
    package func stop() async {
        // Safe to unlink: while this process listens, no other process can have replaced the socket.
        if case .socket(let path) = address { unlink(path) }
        try? await channel.close()
        await streams.end()
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
    private var content: [UInt8] = []
    private let streams: AnswerStreams
    private var isStreaming = false

    /// Octets of content that a POST may have.
    private static let contentLimit = 1 << 20

    init(sources: AdministrationServer.Sources, isSocket: Bool, streams: AnswerStreams) {
        self.streams = streams
        self.sources = sources
        self.isSocket = isSocket
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            content = []
        case .body(let part):
            // One octet beyond the limit shows that the content is too long.
            if head?.method == .POST { content += part.readableBytesView.prefix(max(0, Self.contentLimit + 1 - content.count)) }
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context: context)
            content = []
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent, !isStreaming { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
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

    /// Whether a request comes from a page of this listener, or from a program that is no browser (Fetch 3.2, Fetch Metadata 2.3).
    private static func isSameOrigin(_ head: HTTPRequestHead) -> Bool {
        let (origins, sites) = (head.headers["origin"], head.headers["sec-fetch-site"])
        let own = head.headers["host"].map { "http://" + $0 }
        return (origins.isEmpty || origins == own) && (sites.isEmpty || sites == ["same-origin"] || sites == ["none"])
    }

    private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        guard var request = AdministrationRequest(target: head.uri) else {
            return write(.problem(400, "RFC 3986 2.1: the request's URI has an escape that cannot be read"), to: head, context: context)
        }
        let isPost = head.method == .POST
        let isSubmission = isPost && sources.inspect != nil && sources.submissions.contains(request.path)
        request.isAction = isPost && isSocket && !isSubmission
        guard head.method == .GET || head.method == .HEAD || request.isAction || isSubmission else {
            let words = isSocket ? "only GET, HEAD and POST\n" : "only GET and HEAD; POST is taken over admin.socket\n"
            return write(AdministrationAnswer(status: 405, type: "text/plain", body: words), to: head, context: context)
        }
        if isPost {
            guard content.count <= Self.contentLimit else {
                let text = "the content is longer than \(Self.contentLimit) octets"
                return write(.problem(413, text), to: head, context: context)
            }
            guard isSocket || Self.isSameOrigin(head) else {
                return write(.problem(403, "Origin must be this listener: pages of others submit nothing"), to: head, context: context)
            }
            request.body = content
        }
        let page = context.eventLoop.makePromise(of: AdministrationAnswer.self)
        page.completeWithTask { [sources, isSocket, request] in
            await Self.page(request, isTrusted: isSocket || Self.isForLoopback(head), from: sources)
        }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        page.futureResult.whenSuccess { page in
            let (handler, context) = bound.value
            handler.write(page, to: head, context: context)
        }
    }

    /// - Parameter isTrusted: whether the client may see identities of users.
    private static func page(
        _ request: AdministrationRequest, isTrusted: Bool, from sources: AdministrationServer.Sources
    ) async -> AdministrationAnswer {
        switch request.path {
        case "/health":
            let report = await sources.health()
            return AdministrationAnswer(status: report.status == .ok ? 200 : 503, json: report.json)
        case "/health/live":
            let isAlive = await sources.isAlive()
            return AdministrationAnswer(status: isAlive ? 200 : 503, json: "{\"live\":\(isAlive)}")
        case "/health/ready":
            let report = await sources.health()
            return AdministrationAnswer(status: report.reasons.isEmpty ? 200 : 503, json: report.readiness)
        case "/metrics":
            return AdministrationAnswer(
                type: "text/plain; version=0.0.4; charset=utf-8", body: Metric.text(await sources.metrics()))
        default:
            guard let inspect = sources.inspect else {
                return .problem(
                    404,
                    "there are /health, /health/live, /health/ready and /metrics; who watches whom is shown with admin.socket or admin.inspect"
                )
            }
            guard isTrusted else {
                return .problem(403, "Host must be this machine's loopback: who watches whom is shown to nobody else")
            }
            return await inspect(request)
        }
    }

    private func write(_ answer: AdministrationAnswer, to request: HTTPRequestHead, context: ChannelHandlerContext) {
        let body = ByteBuffer(string: answer.body)
        var headers = HTTPHeaders(answer.fields.map { ($0.name, $0.value) })
        headers.add(name: "Content-Type", value: answer.type)
        headers.add(name: "Cache-Control", value: "no-store")
        let isEndless = answer.stream != nil && request.method != .HEAD
        let isLast = !request.isKeepAlive || isEndless
        if answer.stream == nil { headers.add(name: "Content-Length", value: "\(body.readableBytes)") }
        if answer.status == 405 { headers.add(name: "Allow", value: isSocket ? "GET, HEAD, POST" : "GET, HEAD") }
        if isLast { headers.add(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: request.version, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if isEndless, let stream = answer.stream { return write(stream, context: context) }
        if request.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        let channel = context.channel
        let done = context.eventLoop.makePromise(of: Void.self)
        if isLast { done.futureResult.whenComplete { _ in channel.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    }

    /// Writes the pieces of an endless answer until the client or the stream ends, or the listener stops.
    private func write(_ stream: AsyncStream<String>, context: ChannelHandlerContext) {
        isStreaming = true
        context.flush()
        streams.run(stream, to: context.channel)
    }
}

/// Endless answers that are being written. None is written once ``end()`` has returned, so that the event loop can end.
private final class AnswerStreams: Sendable {
    private struct State {
        var isEnded = false
        var lastID = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    func run(_ stream: AsyncStream<String>, to channel: any Channel) {
        let task: Task<Void, Never>? = state.withLock { state in
            guard !state.isEnded else { return nil }
            state.lastID += 1
            let id = state.lastID
            let task = Task {
                await withTaskCancellationHandler {
                    await Self.write(stream, to: channel)
                } onCancel: {
                    channel.close(promise: nil)
                }
                self.state.withLock { $0.tasks[id] = nil }
            }
            state.tasks[id] = task
            return task
        }
        if let task { channel.closeFuture.whenComplete { _ in task.cancel() } } else { channel.close(promise: nil) }
    }

    private static func write(_ stream: AsyncStream<String>, to channel: any Channel) async {
        for await piece in stream where !Task.isCancelled {
            do {
                try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: piece))))
            } catch {
                return
            }
        }
        if !Task.isCancelled { channel.close(promise: nil) }
    }

    /// Ends all answers.
    func end() async {
        let tasks = state.withLock { state in
            state.isEnded = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
