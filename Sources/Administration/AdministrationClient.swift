import NIOCore
import NIOHTTP1
import NIOPosix

/// Client for one request to the administration listener of a running program.
package enum AdministrationClient {
    /// Largest accepted answer in octets: 64 MiB.
    package static let largestAnswer = 64 << 20

    /// Sends a request (POST if ``AdministrationRequest/isAction``, else GET) and returns status and body.
    /// - Parameter timeout: longest time without received data; connecting is limited to 10 s.
    /// - Throws: ``Failure``, or an error of NIO or of the system if the listener cannot be reached.
    package static func get(
        _ request: AdministrationRequest, from address: AdministrationAddress, timeout: TimeAmount = .seconds(30)
    ) async throws -> (status: Int, body: String) {
        let group = MultiThreadedEventLoopGroup.singleton
        let loop = group.next()
        let answer = loop.makePromise(of: (status: Int, body: String).self)
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(.seconds(10)).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                try channel.pipeline.syncOperations.addHandler(IdleStateHandler(readTimeout: timeout))
                try channel.pipeline.syncOperations.addHandler(AnswerHandler(request, host: address.authority, answer: answer))
            }
        }
        do {
            switch address {
            case .http(let name, let port): _ = try await bootstrap.connect(host: name, port: port).get()
            case .socket(let path): _ = try await bootstrap.connect(unixDomainSocketPath: path).get()
            }
        } catch {
            answer.fail(error)
        }
        return try await answer.futureResult.get()
    }

    /// Why a connection ended without a complete answer.
    package enum Failure: Error, CustomStringConvertible {
        case closed, silent, tooLong

        /// A message for the operator.
        package var description: String {
            switch self {
            case .closed: "the connection ended before the answer"
            case .silent: "no answer in time"
            case .tooLong: "the answer is longer than \(AdministrationClient.largestAnswer) octets"
            }
        }
    }

    private final class AnswerHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart

        private let request: AdministrationRequest
        private let host: String
        private let answer: EventLoopPromise<(status: Int, body: String)>
        private var status = 0
        private var body = ByteBuffer()

        init(_ request: AdministrationRequest, host: String, answer: EventLoopPromise<(status: Int, body: String)>) {
            self.request = request
            self.host = host
            self.answer = answer
        }

        func channelActive(context: ChannelHandlerContext) {
            var head = HTTPRequestHead(version: .http1_1, method: request.isAction ? .POST : .GET, uri: request.target)
            head.headers.add(name: "Host", value: host)
            head.headers.add(name: "Connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): status = Int(head.status.code)
            case .body(var part):
                guard body.readableBytes + part.readableBytes <= largestAnswer else { return fail(Failure.tooLong, context) }
                body.writeBuffer(&part)
            case .end:
                answer.succeed((status, String(buffer: body)))
                context.close(promise: nil)
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is IdleStateHandler.IdleStateEvent { fail(Failure.silent, context) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error, context) }

        func channelInactive(context: ChannelHandlerContext) { answer.fail(Failure.closed) }

        private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
            answer.fail(error)
            context.close(promise: nil)
        }
    }
}
