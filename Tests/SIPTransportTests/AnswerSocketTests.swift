import FederationRouting
import Logging
import NIOCore
import PresenceGateway
import SIPCore
import SIPTransport
import Testing

/// Responses over real sockets are accepted only when they take the path of the request.
@Suite(.timeLimit(.minutes(10))) struct AnswerSocketTests {
    /// A gateway that sends OPTIONS to one partner.
    private struct Node {
        let server: SIPServer

        init(route: TransportAddress, _ change: (inout TransportOptions) -> Void = { _ in }) async throws {
            var options = TransportOptions()
            change(&options)
            server = try await SIPServer.start(
                listening: [TransportAddress(.udp, "127.0.0.1", 0), TransportAddress(.tcp, "127.0.0.1", 0)], options: options,
                logger: .quiet,
                makeEndpoint: { context in
                    var domain = DomainConfiguration(side: .simple, route: route)
                    domain.keepAlive = .milliseconds(100)
                    let configuration = GatewayConfiguration(
                        nodeName: "edge1.example.net", listeners: context.listeners, domains: ["example.org": domain])
                    let gateway = Gateway(configuration: configuration, key: .seeded(1))
                    gateway.keepPartnersAlive(at: context.now)
                    return gateway
                })
        }

        func port(_ transport: TransportProtocol) -> Int { server.listeners.first { $0.transport == transport }?.port ?? 0 }

        /// Number of accepted and of refused responses.
        func answers() async throws -> [UInt64] {
            try await server.shards[0].perform { endpoint, _ in
                let counters = (endpoint as? Gateway)?.counters ?? GatewayCounters()
                return [counters.responsesReceived, counters.responsesRefused]
            }.get()
        }
    }

    private static func answer(to request: String, _ status: SIPStatus = .ok) throws -> [UInt8] {
        guard case .success(.request(let request)) = SIPParser.parse(Array(request.utf8)) else { throw SocketFailure(0) }
        return SIPResponse(to: request, status: status, toTag: "t").serialized()
    }

    /// Request with a response that shows that earlier input was read.
    private static func probe(_ transport: String) -> String {
        "OPTIONS sip:example.net SIP/2.0\r\nVia: SIP/2.0/\(transport) p.example.net;branch=z9hG4bK\(UInt64.random(in: 0 ... .max));rport\r\n"
            + "From: <sip:p@example.net>;tag=p\r\nTo: <sip:example.net>\r\nCall-ID: \(UInt64.random(in: 0 ... .max))\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"
    }

    /// Sends a forged response of the partner over UDP and TCP, and waits until both were read.
    private static func forge(_ bytes: [UInt8], at node: Node) async throws {
        let (udp, tcp) = (node.port(.udp), node.port(.tcp))
        try await PlainSocket.aside {
            let datagrams = try PlainSocket(.udp, from: 9)
            datagrams.send(bytes, to: udp)
            datagrams.send(probe("UDP"), to: udp)
            _ = try datagrams.receive(until: "SIP/2.0 200")
            let stream = try PlainSocket(.tcp, peer: tcp)
            stream.send(bytes)
            stream.send(probe("TCP"))
            _ = try stream.receive(until: "SIP/2.0 200")
        }
    }

    @Test("an answer over UDP counts from the host that was asked") func datagram() async throws {
        let partner = try PlainSocket(.udp)
        let node = try await Node(route: TransportAddress(.udp, "127.0.0.1", partner.port))
        let request = try await partner.arriving(until: "OPTIONS sip:example.org")
        try await Self.forge(try Self.answer(to: request, .notFound), at: node)
        #expect(try await node.answers() == [0, 2])
        partner.send(try Self.answer(to: request), to: node.port(.udp))
        // The next request follows the response to the previous one.
        while try await partner.arriving(until: "OPTIONS sip:example.org") == request {}
        #expect(try await node.answers() == [1, 2])
        await node.server.stop()
    }

    @Test("where a datagram is addressed to a name, the transport says to which host it went") func named() async throws {
        let listeners = ["127.0.0.1", "::1"].map { TransportAddress(.udp, $0, 0) }
        let echo = EchoServer(try await SIPServer.start(listening: listeners, logger: .quiet) { EchoEndpoint(index: $0.index) })
        _ = try await echo.look { endpoint, _ in
            endpoint.send("x", to: .address(TransportAddress(.udp, "localhost", 9), from: nil), token: 7)
            endpoint.send("x", to: .address(TransportAddress(.udp, "127.0.0.1", 9), from: nil), token: 8)
        }
        try await echo.wait { $0.carriers[7] != nil }
        let (named, literal) = try await echo.look { endpoint, _ in (endpoint.carriers[7], endpoint.carriers[8]) }
        #expect(named == .datagram(host: "127.0.0.1") || named == .datagram(host: "::1"))
        #expect(literal == nil, "the destination names it")
        await echo.server.stop()
    }

    @Test("an answer over TCP counts from the connection of the request, and from no other of the same host") func stream() async throws {
        let listener = try PlainSocket(.tcpListener)
        let node = try await Node(route: TransportAddress(.tcp, "127.0.0.1", listener.port))
        let partner = try await listener.nextPeer()
        let request = try await partner.arriving(until: "\r\n\r\n")
        try await Self.forge(try Self.answer(to: request, .notFound), at: node)
        #expect(try await node.answers() == [0, 2])
        partner.send(try Self.answer(to: request))
        _ = try await partner.arriving(until: "OPTIONS sip:example.org")
        #expect(try await node.answers() == [1, 2])
        await node.server.stop()
    }

    @Test("RFC 3261 18.1.1: the answer to a large request that was moved to TCP counts over TCP only") func moved() async throws {
        let listener = try PlainSocket(.tcpListener)
        let node = try await Node(route: TransportAddress(.udp, "127.0.0.1", listener.port)) { $0.largestDatagramRequest = 100 }
        let partner = try await listener.nextPeer()
        let request = try await partner.arriving(until: "\r\n\r\n")
        try await Self.forge(try Self.answer(to: request, .notFound), at: node)
        #expect(try await node.answers() == [0, 2])
        partner.send(try Self.answer(to: request))
        _ = try await partner.arriving(until: "OPTIONS sip:example.org")
        #expect(try await node.answers()[0] == 1)
        await node.server.stop()
    }

    @Test("RFC 3261 18.1.1: where TCP is refused, the answer counts over UDP") func movedBack() async throws {
        let partner = try PlainSocket(.udp)
        let node = try await Node(route: TransportAddress(.udp, "127.0.0.1", partner.port)) { $0.largestDatagramRequest = 100 }
        let request = try await partner.arriving(until: "OPTIONS sip:example.org")
        partner.send(try Self.answer(to: request), to: node.port(.udp))
        while try await partner.arriving(until: "OPTIONS sip:example.org") == request {}
        #expect(try await node.answers() == [1, 0])
        await node.server.stop()
    }
}

extension Logger {
    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
