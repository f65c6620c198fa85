import Glibc
import Logging
import NIOCore
import SIPCore
import SIPTransport
import Synchronization

/// Answers every request on its path and records all events. Confined to its loop.
final class EchoEndpoint: SansIOEndpoint {
    let index: Int
    var received: [InboundMessage] = []
    /// All notices except `carried`.
    var notices: [TransportNotice] = []
    /// Carriers by message token.
    var carriers: [UInt64: Carrier] = [:]
    var firings: [Instant] = []
    var nextDeadline: Instant?
    /// Destination of messages about the loop's delay; nil for none.
    var latenessReader: Destination?
    /// Reported wall-clock times, each with the time of the report.
    var wallClocks: [(wall: Instant, now: Instant)] = []
    /// Whether requests are answered.
    var answers = true
    /// Lock on which the next message blocks the loop; nil for none.
    var hold: Hold?
    /// Events in order: `message`, `late`, `in time`.
    var events: [String] = []
    private var output: [OutboundMessage] = []

    init(index: Int = 0) { self.index = index }

    func receive(_ message: InboundMessage, at now: Instant) {
        received.append(message)
        events.append("message")
        hold?.pass()
        hold = nil
        guard answers, !message.bytes.starts(with: Array("SIP/2.0".utf8)) else { return }
        let answer = "SIP/2.0 200 OK\r\nX-Shard: \(index)\r\nContent-Length: 0\r\n\r\n"
        let destination: Destination =
            message.connection.map { .connection($0, fallback: nil) } ?? .address(message.remote, from: message.local)
        send(answer, to: destination)
    }

    func receive(_ notice: TransportNotice, at now: Instant) {
        if case .carried(let token, let carrier) = notice {
            carriers[token] = carrier
            return
        }
        notices.append(notice)
        if case .late(let span) = notice { events.append(span == .zero ? "in time" : "late") }
        if case .late(let span) = notice, let latenessReader { send(span == .zero ? "in time" : "late", to: latenessReader) }
    }

    func receive(wallClock: Instant, at now: Instant) { wallClocks.append((wallClock, now)) }

    func advance(to now: Instant) {
        guard let deadline = nextDeadline, deadline <= now else { return }
        firings.append(now)
        nextDeadline = nil
    }

    func takeOutput() -> [OutboundMessage] {
        defer { output = [] }
        return output
    }

    func send(_ text: String, to destination: Destination, token: UInt64 = 0, patience: TimeSpan? = nil) {
        output.append(OutboundMessage(bytes: Array(text.utf8), destination: destination, token: token, connectPatience: patience))
    }
}

/// Blocks a loop until it is released.
final class Hold: Sendable {
    private let begun = Atomic(false)
    private let isOver = Atomic(false)

    var isHolding: Bool { begun.load(ordering: .acquiring) }

    /// Blocks until released; called on the loop.
    func pass() {
        begun.store(true, ordering: .releasing)
        while !isOver.load(ordering: .acquiring) { usleep(1_000) }
    }

    func letGo() { isOver.store(true, ordering: .releasing) }
}

/// Server of echo endpoints, with access to their state.
struct EchoServer {
    let server: SIPServer

    init(
        _ listeners: [String] = ["udp", "tcp"], shards: Int = 1, options: TransportOptions = TransportOptions(),
        tls: TLSService? = nil, selector: ShardSelector? = nil
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        server = try await SIPServer.start(
            listening: listeners.map { TransportAddress(TransportProtocol(rawValue: $0)!, "127.0.0.1", 0) }, shardCount: shards,
            options: options, logger: logger, tls: tls, selector: selector
        ) { EchoEndpoint(index: $0.index) }
    }

    init(_ server: SIPServer) { self.server = server }

    func port(_ transport: TransportProtocol) -> Int {
        server.listeners.first { $0.transport == transport }?.port ?? 0
    }

    func look<Value: Sendable>(shard: Int = 0, _ body: @escaping @Sendable (EchoEndpoint, Instant) -> Value) async throws -> Value {
        try await server.shards[shard].perform { body($0 as! EchoEndpoint, $1) }.get()
    }

    /// Waits until a condition holds; when it never does, the test fails at its time limit.
    func wait(shard: Int = 0, for condition: @escaping @Sendable (EchoEndpoint) -> Bool) async throws {
        while try await !look(shard: shard, { endpoint, _ in condition(endpoint) }) { try await Task.sleep(for: .milliseconds(2)) }
    }
}

func request(_ method: String = "OPTIONS", body: String = "", via: String = "UDP") -> String {
    "\(method) sip:alice@example.org SIP/2.0\r\nVia: SIP/2.0/\(via) 192.0.2.1:5060;branch=z9hG4bKa\r\nMax-Forwards: 70\r\n"
        + "From: <sip:bob@contoso.com>;tag=1\r\nTo: <sip:alice@example.org>\r\nCall-ID: a@example.org\r\nCSeq: 1 \(method)\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}
