import Foundation
import GatewayService
import Logging
import NIOCore
import SIPCore
import SIPSecurity
import SIPTransport

/// Sends OPTIONS (RFC 3261 11) to one server of a partner over a new connection.
struct ServerProbe {
    enum Verdict: Hashable, Sendable {
        /// The server answered with this status; the time includes the connection setup.
        case up(Int, milliseconds: Int)
        case down(String)
    }

    struct Result: Hashable, Sendable {
        var server: TransportAddress
        var verdict: Verdict
        /// Certificate of the server when TLS accepted it; nil otherwise.
        var certificate: Certificate?

        var isUp: Bool { if case .up = verdict { true } else { false } }
    }

    let configuration: ProgramConfiguration
    /// TLS settings; nil without TLS.
    let settings: TLSSettings?
    /// Time limit for one server, from the first packet to the response.
    let timeout: TimeSpan

    /// Sends the request and waits for its result.
    /// - Parameter domain: Domain in the Request-URI and To; From names this node.
    func ask(_ server: TransportAddress, of domain: String) async -> Result {
        var result = Result(server: server, verdict: .down("TLS is not configured"))
        let silent = Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() }
        var tls: TLSService?
        if server.transport == .tls {
            guard let settings else { return result }
            do {
                tls = try TLSService(settings, logger: silent)
            } catch {
                result.verdict = .down("TLS: \(error)")
                return result
            }
        }
        var options = TransportOptions()
        options.connectTimeout = timeout
        let (answers, continuation) = AsyncStream.makeStream(of: ClientAnswer?.self)
        // Responses arrive on a stream's own connection; UDP needs a socket.
        let ownHost = LocalAddress.toward(server)
        let port = configuration.listeners.first { $0.transport == server.transport && $0.port > 0 }?.port ?? server.transport.defaultPort
        let own = TransportAddress(server.transport, ownHost, port)
        let client: SIPServer
        do {
            client = try await SIPServer.start(
                listening: server.transport == .udp ? [TransportAddress(.udp, ownHost, 0)] : [], options: options, logger: silent, tls: tls
            ) {
                RequestEndpoint(
                    via: server, listeners: $0.listeners.isEmpty ? [own] : $0.listeners, key: .system()
                ) { continuation.yield($0) }
            }
        } catch {
            result.verdict = .down("\(error)")
            return result
        }
        let began = client.clock.now()
        let from = "sip:\(configuration.node.name)"
        try? await client.shards[0].perform { endpoint, now in
            (endpoint as? RequestEndpoint)?.start(.options, to: "sip:\(domain)", from: from, at: now) { request in
                request.headers.set(.accept, "application/pidf+xml")
            }
        }.get()
        let patience = Task {
            try? await Task.sleep(for: .nanoseconds(timeout.nanoseconds))
            continuation.yield(nil)
        }
        var answer: ClientAnswer?
        for await first in answers {
            answer = first
            break
        }
        patience.cancel()
        let milliseconds = Int((client.clock.now() - began).nanoseconds / 1_000_000)
        await client.stop()
        result.certificate = tls?.statistics.peers.first?.certificate
        result.verdict = verdict(on: answer, milliseconds, isSecured: tls.map { $0.statistics.handshakesWithServers > 0 } ?? true)
        return result
    }

    private func verdict(on answer: ClientAnswer?, _ milliseconds: Int, isSecured: Bool) -> Verdict {
        switch answer {
        case .response(let response) where response.status == .requestTimeout || response.status == .serviceUnavailable:
            .down("answered \(response.status.rawValue)")
        case .response(let response): .up(response.status.rawValue, milliseconds: milliseconds)
        case .none(let reason)?: .down(reason)
        case nil where isSecured: .down("no answer within \(timeout.seconds) s")
        case nil: .down("TLS: the handshake was not over after \(timeout.seconds) s")
        }
    }
}
