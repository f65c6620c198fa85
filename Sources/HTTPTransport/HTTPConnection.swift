import NIOCore
import NIOHTTP1

/// One connection of an ``HTTPServer``: collects a request, passes it to the service, and writes the response. Confined to the loop of
/// its table.
///
///     idle --head--> receiving --end--> answering --answer--> sending --taken by the client--> idle
///       any of these --refusal, error, stop--> closing
final class HTTPConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// No request, or header fields that are not complete.
        case idle
        case receiving(HTTPRequestHead)
        case answering(HTTPRequestHead)
        /// The client has not taken the whole response; the next request waits, so that one response of a connection is held at most.
        case sending
        /// The last response was written; what the client still sends is discarded.
        case closing
    }

    fileprivate let table: HTTPConnectionTable
    private let channel: any Channel
    private var state = State.idle
    private var body: [UInt8] = []
    private var deadline: Scheduled<Void>?
    /// Number of the present request; a late answer to an earlier one is dropped.
    private var number = 0
    /// Octets received since the last complete head.
    var headOctets = 0
    /// Number of requests received whole.
    var requestsEnded = 0
    /// Whether header fields of the next request are awaited.
    var awaitsHead = true

    private static let linger = TimeAmount.seconds(1)

    init(_ table: HTTPConnectionTable, _ channel: any Channel) {
        self.table = table
        self.channel = channel
    }

    private var options: HTTPOptions { table.options }

    // MARK: deadlines

    private func setDeadline(_ milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
        deadline?.cancel()
        deadline = table.loop.scheduleTask(in: .milliseconds(Int64(milliseconds)), body)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        setDeadline(options.headerMilliseconds) {
            self.table.statistics.tooSlow += 1
            self.close()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        forgetBody()
        context.fireChannelInactive()
    }

    /// Closes the connection after an error of TLS or of the parser, which has answered 400.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        deadline?.cancel()
        forgetBody()
        state = .closing
        close()
    }

    private func forgetBody() {
        table.unfinishedOctets -= body.count
        body = []
    }

    // MARK: requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .idle): begin(head)
        case (.body(let part), .receiving): take(part)
        case (.end, .receiving(let head)): dispatch(head)
        default: break
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        state = .receiving(head)
        number += 1
        setDeadline(options.bodyMilliseconds) {
            self.table.statistics.tooSlow += 1
            self.refuse(408)
        }
        if let length = head.headers["content-length"].first.flatMap({ Int($0) }), length > options.bodyBytes { return refuseLarge() }
        guard head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) else { return }
        channel.writeAndFlush(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .continue)), promise: nil)
    }

    private func take(_ part: ByteBuffer) {
        guard body.count + part.readableBytes <= options.bodyBytes else { return refuseLarge() }
        guard table.unfinishedOctets + part.readableBytes <= options.unfinishedBytes else { return refuse(503) }
        table.unfinishedOctets += part.readableBytes
        body.append(contentsOf: part.readableBytesView)
    }

    private func dispatch(_ head: HTTPRequestHead) {
        state = .answering(head)
        table.statistics.requests += 1
        let request = HTTPRequest(
            method: head.method.rawValue, target: head.uri, headers: head.headers.map { ($0.name, $0.value) }, body: body,
            remoteHost: channel.remoteAddress?.ipAddress ?? "", remotePort: channel.remoteAddress?.port ?? 0)
        forgetBody()
        setDeadline(options.answerMilliseconds) { self.refuse(503) }
        let current = number
        table.service(request) { answer in
            self.table.loop.execute {
                guard self.number == current, case .answering = self.state else { return }
                self.write(answer, closes: false)
            }
        }
    }

    private func refuseLarge() {
        table.statistics.tooLarge += 1
        refuse(413)
    }

    /// Answers without reading the rest of the request, and closes the connection.
    private func refuse(_ status: Int) {
        forgetBody()
        write(HTTPAnswer(status: status), closes: true)
    }

    /// Refuses header fields that are too large; the response is written below the encoder, which knows no request yet.
    func refuseHead() {
        if case .closing = state { return }
        guard case .idle = state else { return close() }
        table.statistics.tooLarge += 1
        state = .closing
        var buffer = channel.allocator.buffer(capacity: 96)
        buffer.writeString("HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        headRefusal?(buffer)
        closeLater()
    }

    /// Writes octets below the encoder; set by ``HTTPHeadMeter``.
    var headRefusal: ((ByteBuffer) -> Void)?

    // MARK: responses

    private func write(_ answer: HTTPAnswer, closes: Bool) {
        let head: HTTPRequestHead
        switch state {
        case .receiving(let present), .answering(let present): head = present
        case .idle, .sending, .closing: return
        }
        let keepsAlive = head.isKeepAlive && !closes && !table.isStopping
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        if answer.status != 304 { headers.add(name: "Content-Length", value: String(answer.body.count)) }
        if !keepsAlive { headers.add(name: "Connection", value: "close") }
        let response = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        state = keepsAlive ? .sending : .closing
        setDeadline(options.idleMilliseconds) { self.close() }
        var taken = channel.write(HTTPServerResponsePart.head(response))
        if !answer.omitsBody, head.method != .HEAD, !answer.body.isEmpty {
            taken = channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))))
        }
        channel.flush()
        let isWhole = !closes
        taken.hop(to: table.loop).whenSuccess { self.sent(keepsAlive: keepsAlive, isWhole: isWhole) }
    }

    /// Ends a response that the client has taken, which lets its next request through.
    private func sent(keepsAlive: Bool, isWhole: Bool) {
        if case .sending = state { state = .idle }
        if keepsAlive { setDeadline(options.idleMilliseconds) { self.close() } }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        guard !keepsAlive || table.isStopping else { return }
        if isWhole { close() } else { closeLater() }
    }

    /// Closes after the client had time to read the response: closing with unread input resets the connection.
    private func closeLater() { setDeadline(Int(Self.linger.nanoseconds / 1_000_000)) { self.close() } }

    // MARK: end

    func close() { channel.close(promise: nil) }

    /// Closes the connection now or after the response to the present request.
    func stop() { if case .idle = state { close() } }
}

/// Counts the octets of header fields before they are parsed.
final class HTTPHeadMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let connection: HTTPConnection

    init(_ connection: HTTPConnection) { self.connection = connection }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        connection.headRefusal = { buffer in bound.value.writeAndFlush(NIOAny(buffer), promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { connection.headRefusal = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let octets = unwrapInboundIn(data).readableBytes
        let ended = connection.requestsEnded
        context.fireChannelRead(data)
        // The rest of a read in which a request ended is less than one read, and is not counted.
        guard connection.awaitsHead, connection.requestsEnded == ended else { return }
        connection.headOctets += octets
        if connection.headOctets > connection.headLimit { connection.refuseHead() }
    }
}

/// Notes complete header fields and ends of requests, before pipelined requests are held back.
final class HTTPHeadWatch: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let connection: HTTPConnection

    init(_ connection: HTTPConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: connection.awaitsHead = false
        case .body: break
        case .end:
            connection.awaitsHead = true
            connection.headOctets = 0
            connection.requestsEnded += 1
        }
        context.fireChannelRead(data)
    }
}

extension HTTPConnection {
    var headLimit: Int { table.options.headerBytes }
}
