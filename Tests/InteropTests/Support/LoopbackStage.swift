import Foundation
import GatewayTesting
import Logging
import NIOCore
import SIPCore
import SIPTransport

/// Stage with real sockets: every endpoint of a conversation has its own `SIPServer` on 127.0.0.1.
///
/// One lock protects all endpoints, so that a script may read its peers while their event loops run.
final class LoopbackStage: Stage {
    let seed: UInt64
    private let lock = NSLock()
    private let clock = HostClock()
    private let notes = Notes()
    private var servers: [SIPServer] = []
    private let started = ContinuousClock.now

    /// Observed start lines, for a failure report.
    private final class Notes: @unchecked Sendable {
        var lines: [String] = []
    }

    private final class GuardedEndpoint: SansIOEndpoint {
        let inner: any SansIOEndpoint
        let name: String
        let lock: NSLock
        let notes: Notes

        init(_ inner: any SansIOEndpoint, name: String, lock: NSLock, notes: Notes) {
            (self.inner, self.name, self.lock, self.notes) = (inner, name, lock, notes)
        }

        func receive(_ message: InboundMessage, at now: Instant) {
            lock.withLock {
                let line = String(decoding: message.bytes.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
                notes.lines.append("\(message.local.transport.rawValue) from port \(message.remote.port) -> \(name) \(line)")
                inner.receive(message, at: now)
            }
        }
        func receive(_ notice: TransportNotice, at now: Instant) { lock.withLock { inner.receive(notice, at: now) } }
        func advance(to now: Instant) { lock.withLock { inner.advance(to: now) } }
        var nextDeadline: Instant? { lock.withLock { inner.nextDeadline } }
        func takeOutput() -> [OutboundMessage] { lock.withLock { inner.takeOutput() } }
    }

    /// Transfers an endpoint to its event loop.
    private struct Handover: @unchecked Sendable {
        var endpoint: any SansIOEndpoint
    }

    init(seed: UInt64) {
        self.seed = seed
    }

    func place(_ name: String, _ transport: TransportProtocol) throws -> TransportAddress {
        TransportAddress(transport, "127.0.0.1", try Loopback.freePort())
    }

    func attach(_ endpoint: any SansIOEndpoint, name: String, at address: TransportAddress) async throws {
        let handover = Handover(endpoint: GuardedEndpoint(endpoint, name: name, lock: lock, notes: notes))
        let addresses = [TransportProtocol.udp, .tcp].map { TransportAddress($0, address.host, address.port) }
        var options = TransportOptions()
        options.largestDatagramRequest = nil
        let server = try await SIPServer.start(
            listening: addresses, options: options, logger: Logger(label: name, factory: { _ in SwiftLogNoOpLogHandler() })
        ) { _ in handover.endpoint }
        servers.append(server)
    }

    func act(_ body: (Instant) -> Void) async throws {
        lock.withLock { body(clock.now()) }
        for server in servers { try await server.shards[0].perform { _, _ in }.get() }
    }

    func wait(atMost span: TimeSpan, until condition: () -> Bool) async throws -> Bool {
        await eventually(within: min(30, Double(span.nanoseconds) / 1e9)) { lock.withLock { condition() } }
    }

    /// Reads state under the lock.
    func look<Value>(_ body: () -> Value) async throws -> Value { lock.withLock(body) }

    func pass(_ span: TimeSpan) async throws {
        throw PeerError(description: "a script for loopback waits for an event, not for time to pass")
    }

    var account: String { lock.withLock { notes.lines.joined(separator: "\n") } }

    func finish() async {
        for server in servers { await server.stop() }
        servers = []
    }
}
