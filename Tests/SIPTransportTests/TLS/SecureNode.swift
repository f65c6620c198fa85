import Logging
import SIPCore
import SIPTransport
import Synchronization

/// Echo server with a TLS listener, as one of two partners.
struct SecureNode {
    let echo: EchoServer
    let tls: TLSService
    let logs: RecordedLogs

    /// - Parameter isStrict: Whether a client certificate is required.
    init(_ settings: TLSSettings, isStrict: Bool = true, options: TransportOptions = TransportOptions(), shards: Int = 1) async throws {
        let logs = RecordedLogs()
        var logger = Logger(label: "test") { _ in logs }
        logger.logLevel = .warning
        let tls = try TLSService(settings, logger: logger)
        var options = options
        if !isStrict { options.optionalCertificateListeners = [TransportAddress(.tls, "127.0.0.1", 0)] }
        echo = try await EchoServer(["tls"], shards: shards, options: options, tls: tls, selector: { _ in 0 })
        self.tls = tls
        self.logs = logs
    }

    init(_ name: String, isStrict: Bool = true, options: TransportOptions = TransportOptions()) async throws {
        try await self.init(try PartnerCertificates.made.get().settings(name), isStrict: isStrict, options: options)
    }

    /// Address of this node, with the name that it must prove.
    func address(proving name: String?) -> TransportAddress { TransportAddress(.tls, "127.0.0.1", echo.port(.tls), proving: name) }

    func send(_ text: String = request(via: "TLS"), to node: SecureNode, proving name: String?, token: UInt64 = 7) async throws {
        let target = Destination.address(node.address(proving: name), from: nil)
        _ = try await echo.look { endpoint, _ in endpoint.send(text, to: target, token: token) }
    }

    /// Outcome of the message with the token: the identity of the response's sender, or the reason of the failure.
    func outcome(token: UInt64 = 7) async throws -> (peer: PeerIdentity?, failure: String?) {
        @Sendable func failure(_ endpoint: EchoEndpoint) -> String? {
            for case .failed(token, let reason) in endpoint.notices { return reason }
            return nil
        }
        try await echo.wait { endpoint in !endpoint.received.isEmpty || failure(endpoint) != nil }
        return try await echo.look { endpoint, _ in (endpoint.received.first?.peer, failure(endpoint)) }
    }

    /// Waits for the message with the token to fail.
    func failure(token: UInt64) async throws -> String {
        try await echo.wait { $0.notices.contains { $0.isFailure(of: token) } }
        return try await echo.look { endpoint, _ in
            for case .failed(token, let reason) in endpoint.notices { return reason }
            return ""
        }
    }

    func failures(_ kind: HandshakeFailure.Kind, _ party: HandshakeFailure.Party) -> UInt64 {
        tls.statistics.failures[TLSStatistics.FailureKey(kind, party)] ?? 0
    }

    /// Waits for a handshake failure of this kind; when there is none, the test fails at its time limit.
    func waitForFailure(_ kind: HandshakeFailure.Kind, _ party: HandshakeFailure.Party) async throws {
        while failures(kind, party) == 0 { try await Task.sleep(for: .milliseconds(2)) }
    }

    func stop() async { await echo.server.stop() }
}

/// Records all log messages as text with their keys.
struct RecordedLogs: LogHandler {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private let lines = Lines()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning
    var all: [String] { lines.all.withLock { $0 } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        lines.all.withLock { $0.append("\(event.message) \(values)") }
    }
}

extension TransportNotice {
    func isFailure(of wanted: UInt64) -> Bool { if case .failed(wanted, _) = self { true } else { false } }
}
