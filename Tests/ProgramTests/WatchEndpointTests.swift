import GatewayTesting
import Logging
import NIOCore
import SIPCore
import SIPEvents
import SIPTransport
import ScriptedPeers
import Testing

@testable import isthmus

@Suite(.timeLimit(.minutes(10))) struct WatchEndpointTests {
    static let alice = "sip:alice@example.org"

    /// Presence server on a loopback socket, and a watcher.
    struct Pair {
        let server: SIPServer
        let watcher: SIPServer
        let events: AsyncStream<WatchEvent>

        init(
            _ transport: TransportProtocol, expires: Int, manners: @escaping @Sendable (SimplePresenceServer) -> Void = { _ in }
        ) async throws {
            let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            server = try await SIPServer.start(listening: [TransportAddress(transport, "127.0.0.1", 0)], logger: quiet) {
                let server = SimplePresenceServer(name: "server", address: $0.listeners[0], nextHop: $0.listeners[0], seed: 1)
                server.set(WatchEndpointTests.alice, SimpleDocuments.pidf(of: WatchEndpointTests.alice, "open"), at: $0.now)
                manners(server)
                return server
            }
            let via = server.listeners[0]
            let (events, continuation) = AsyncStream.makeStream(of: WatchEvent.self)
            self.events = events
            watcher = try await SIPServer.start(listening: [TransportAddress(transport, "127.0.0.1", 0)], logger: quiet) {
                WatchEndpoint(
                    presentity: WatchEndpointTests.alice, watcher: "sip:bob@example.org", format: .pidf, expires: expires, via: via,
                    listeners: $0.listeners, key: .seeded(2)
                ) { continuation.yield($0) }
            }
            try await watcher.shards[0].perform { endpoint, now in (endpoint as? WatchEndpoint)?.start(at: now) }.get()
        }

        func serve(_ body: @escaping @Sendable (SimplePresenceServer, Instant) -> Void) async throws {
            try await server.shards[0].perform { endpoint, now in
                if let peer = endpoint as? SimplePresenceServer { body(peer, now) }
            }.get()
        }

        func stop() async {
            await watcher.stop()
            await server.stop()
        }
    }

    @Test("RFC 6665 4.1 a watcher sees the state, each change, and the end", arguments: [TransportProtocol.udp, .tcp])
    func watches(transport: TransportProtocol) async throws {
        let pair = try await Pair(transport, expires: 600)
        var bodies: [String] = []
        loop: for await event in pair.events {
            switch event {
            case .notification(let notification):
                bodies += notification.documents.map { String(decoding: $0.body, as: UTF8.self) }
                if notification.state.hasPrefix("terminated") { continue }
                if bodies.count == 1 {
                    try await pair.serve { $0.set(Self.alice, SimpleDocuments.pidf(of: Self.alice, "closed"), at: $1) }
                } else {
                    try await pair.watcher.shards[0].perform { endpoint, now in (endpoint as? WatchEndpoint)?.stop(at: now) }.get()
                }
            case .lost(let reason, _): Issue.record("lost: \(reason)")
            case .ended(let failure, _):
                #expect(failure == nil)
                break loop
            }
        }
        #expect(bodies.count >= 2)
        #expect(bodies[0].contains("<basic>open</basic>"))
        #expect(bodies[1].contains("<basic>closed</basic>"))
        let faults = try await pair.server.shards[0].perform { endpoint, _ in (endpoint as? SimplePresenceServer)?.faults ?? [] }.get()
        #expect(faults.isEmpty)
        await pair.stop()
    }

    @Test("RFC 6665 4.4.3 a fetch ends after one notification") func fetch() async throws {
        let pair = try await Pair(.tcp, expires: 0)
        var count = 0
        for await event in pair.events {
            if case .notification = event { count += 1 }
            if case .ended(let failure, _) = event {
                #expect(failure == nil)
                break
            }
        }
        #expect(count == 1)
        await pair.stop()
    }

    @Test("a refusal is final and says what the other side said") func refused() async throws {
        let pair = try await Pair(.udp, expires: 600) { $0.manners.answer = .refuse(.forbidden) }
        for await event in pair.events {
            if case .ended(let failure, let reason) = event {
                #expect(failure == .refused(status: 403))
                #expect(reason.hasPrefix("refused: 403"))
                break
            }
        }
        await pair.stop()
    }

    @Test("a watch of a dead address ends with 3, as its help says", arguments: [[], ["--once"]])
    func deadAddress(_ flags: [String]) async {
        #expect(await Isthmus.run(["watch", Self.alice, "--via", "tcp:127.0.0.1:9"] + flags) == 3)
    }

    @Test("a watch of a silent server ends after timer F, one that was answered once tries again") func silence() throws {
        let via = TransportAddress(.udp, "192.0.2.1", 5060)
        for isAnswered in [false, true] {
            var events: [WatchEvent] = []
            let endpoint = WatchEndpoint(
                presentity: Self.alice, watcher: "sip:bob@example.org", format: .pidf, expires: 600, via: via,
                listeners: [TransportAddress(.udp, "192.0.2.2", 5060)], key: .seeded(2)
            ) { events.append($0) }
            var now = Instant(nanosecondsSince1970: 0)
            endpoint.start(at: now)
            let sent = try #require(endpoint.takeOutput().first)
            if isAnswered {
                guard case .success(.request(let request)) = SIPParser.parse(sent.bytes) else {
                    Issue.record("no request")
                    return
                }
                var response = SIPResponse(to: request, status: .ok, toTag: "server")
                response.headers.expires = 600
                response.headers.contact = NameAddr("<sip:192.0.2.1>")
                endpoint.receive(
                    InboundMessage(
                        bytes: response.serialized(), local: endpoint.local, remote: via), at: now)
            }
            while events.isEmpty, let deadline = endpoint.nextDeadline {
                now = deadline
                endpoint.advance(to: now)
                _ = endpoint.takeOutput()
            }
            switch (try #require(events.first), isAnswered) {
            case (.ended(let failure, _), false): #expect(failure == .silent && endpoint.nextDeadline == nil)
            case (.lost, true): #expect(!endpoint.isOver)
            default: Issue.record("\(events), answered: \(isAnswered)")
            }
        }
    }

    @Test("a name that cannot be resolved is named", arguments: [TransportProtocol.udp, .tcp]) func unknownName(
        _ transport: TransportProtocol
    ) async throws {
        let via = TransportAddress(transport, "no-such-host.invalid", 5060)
        let (answers, continuation) = AsyncStream.makeStream(of: ClientAnswer.self)
        let client = try await RunningGatewayTests.client(via) {
            RequestEndpoint(via: via, listeners: $0, key: .seeded(1)) { continuation.yield($0) }
        } start: { endpoint, now in
            endpoint.start(.options, to: Self.alice, from: Self.alice, at: now) { _ in }
        }
        for await answer in answers {
            guard case .none(let reason) = answer else { Issue.record("answered"); break }
            #expect(reason.hasPrefix("no-such-host.invalid: "), "\(reason)")
            break
        }
        await client.stop()
    }

    @Test("what is printed of a message has one element per line and adds nothing") func messageText() {
        let text = "NOTIFY sip:a SIP/2.0\r\nEvent: presence\r\n\r\n<?xml version=\"1.0\"?>\n<a x=\"1\"><b>t &amp; u</b><c/><d><e/></d></a>"
        #expect(
            MessageText.lines(Array(text.utf8)) == [
                "NOTIFY sip:a SIP/2.0", "Event: presence", "", "<?xml version=\"1.0\"?>", "<a x=\"1\">", "  <b>t &amp; u</b>", "  <c/>",
                "  <d>", "    <e/>", "  </d>", "</a>",
            ])
    }
}
