import Logging
import NIOCore
import SIPCore
import SIPTransport
import ScriptedPeers

/// Scripted peer on a real socket; all of its messages are printed.
final class DemoParty<Peer: SIPPeer>: Sendable {
    private let server: SIPServer
    let address: TransportAddress

    /// - Parameter make: Creates the peer once its address is known; runs on its loop.
    init(
        _ party: String, leg: String, _ transport: TransportProtocol, transcript: DemoTranscript,
        make: @escaping @Sendable (TransportAddress) -> Peer
    ) async throws {
        server = try await SIPServer.start(
            listening: [TransportAddress(transport, "127.0.0.1", 0)], logger: Logger(label: party) { _ in SwiftLogNoOpLogHandler() }
        ) { context in
            PrintingEndpoint(make(context.listeners[0]), party: party, leg: leg, transcript: transcript)
        }
        address = server.listeners[0]
    }

    /// Runs `body` with the peer on its loop.
    @discardableResult
    func ask<Value: Sendable>(_ body: @escaping @Sendable (Peer, Instant) -> Value) async throws -> Value {
        try await server.shards[0].perform { endpoint, now in
            guard let printing = endpoint as? PrintingEndpoint, let peer = printing.peer as? Peer else {
                preconditionFailure("a party holds the peer that it was made with")
            }
            return body(peer, now)
        }.get()
    }

    /// Waits until a condition holds; returns false after 10 s.
    func wait(until condition: @escaping @Sendable (Peer) -> Bool) async throws -> Bool {
        for _ in 0..<1_000 {
            if try await ask({ peer, _ in condition(peer) }) { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    func stop() async {
        await server.stop(drain: .milliseconds(200))
    }
}

/// Passes all messages to a peer and prints them.
private final class PrintingEndpoint: SansIOEndpoint {
    let peer: SIPPeer
    private let party: String
    private let leg: String
    private let transcript: DemoTranscript
    private let clock = HostClock()

    init(_ peer: SIPPeer, party: String, leg: String, transcript: DemoTranscript) {
        self.peer = peer
        self.party = party
        self.leg = leg
        self.transcript = transcript
    }

    func receive(_ message: InboundMessage, at now: Instant) {
        transcript.message(message.bytes, party: party, leg: leg, .fromGateway, at: now)
        peer.receive(message, at: now)
    }

    func receive(_ notice: TransportNotice, at now: Instant) { peer.receive(notice, at: now) }
    func advance(to now: Instant) { peer.advance(to: now) }
    var nextDeadline: Instant? { peer.nextDeadline }

    func takeOutput() -> [OutboundMessage] {
        let output = peer.takeOutput()
        for message in output { transcript.message(message.bytes, party: party, leg: leg, .toGateway, at: clock.now()) }
        return output
    }
}
