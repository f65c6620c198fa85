import GatewayTesting
import Logging
import NIOCore
import SIPCore
import SIPTransport
import ScriptedPeers
import Testing

@testable import isthmus

@Suite(.timeLimit(.minutes(10))) struct PublishEndpointTests {
    static let alice = "sip:alice@example.org"

    @Test("RFC 3903 4.1, 4.5: a kept document is refreshed, published again when it was forgotten, and removed at the end")
    func keeps() async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try await SIPServer.start(listening: [TransportAddress(.udp, "127.0.0.1", 0)], logger: quiet) {
            SimplePresenceServer(name: "server", address: $0.listeners[0], nextHop: $0.listeners[0], seed: 1)
        }
        let via = server.listeners[0]
        let (events, continuation) = AsyncStream.makeStream(of: PublishEvent.self)
        let body = Array(SimpleDocuments.pidf(of: Self.alice, "open").utf8)
        let publisher = try await SIPServer.start(listening: [TransportAddress(.udp, "127.0.0.1", 0)], logger: quiet) {
            PublishEndpoint(
                body, of: Self.alice, by: Self.alice, expires: 2, retryPause: .seconds(1), via: via, listeners: $0.listeners,
                key: .seeded(2)
            ) { continuation.yield($0) }
        }
        func documents() async throws -> [String] {
            try await server.shards[0].perform { endpoint, _ in
                (endpoint as? SimplePresenceServer)?.compositor.documents(of: Self.alice) ?? []
            }.get()
        }
        try await publisher.shards[0].perform { endpoint, now in (endpoint as? PublishEndpoint)?.start(at: now) }.get()
        var tags: [String] = []
        loop: for await event in events {
            switch event {
            case .published(let tag, _):
                tags.append(tag)
                #expect(try await documents() == [String(decoding: body, as: UTF8.self)])
                if tags.count == 2 {
                    try await server.shards[0].perform { endpoint, _ in (endpoint as? SimplePresenceServer)?.compositor.restart() }.get()
                } else if tags.count == 3 {
                    try await publisher.shards[0].perform { endpoint, now in (endpoint as? PublishEndpoint)?.stop(at: now) }.get()
                }
            case .postponed(let reason, _), .refused(let reason): Issue.record("\(reason)")
            case .over: break loop
            }
        }
        #expect(tags.count == 3 && Set(tags).count == 3)
        #expect(try await documents().isEmpty)
        await publisher.stop()
        await server.stop()
    }
}
