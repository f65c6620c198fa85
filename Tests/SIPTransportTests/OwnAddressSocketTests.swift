import FederationRouting
import Glibc
import PresenceGateway
import PresenceRules
import SIPCore
import SIPTransport
import Testing

/// Own addresses in Via and Contact toward partners, over real sockets.
@Suite(.timeLimit(.minutes(10))) struct OwnAddressSocketTests {
    /// Whether this machine has the loopback address of IPv6.
    private static let hasIPv6 = RouteLookup().localAddress(toward: "::1") == "::1"

    /// A gateway that sends OPTIONS to one partner.
    private static func node(
        _ listeners: [TransportAddress], asking route: TransportAddress,
        _ change: @escaping @Sendable (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws -> SIPServer {
        try await SIPServer.start(
            listening: listeners, logger: .quiet,
            makeEndpoint: { context in
                var domain = DomainConfiguration(side: .simple, route: route)
                domain.keepAlive = .milliseconds(100)
                var configuration = GatewayConfiguration(
                    nodeName: "edge1.example.net", listeners: context.listeners, domains: ["example.org": domain])
                change(&configuration)
                let gateway = Gateway(configuration: configuration, key: .seeded(1), localAddresses: RouteLookup())
                gateway.keepPartnersAlive(at: context.now)
                return gateway
            })
    }

    private static func request(_ bytes: String) throws -> SIPRequest {
        guard case .success(.request(let request)) = SIPParser.parse(Array(bytes.utf8)) else { throw SocketFailure(0) }
        return request
    }

    @Test(
        "RFC 3261 18.1.1, 8.1.1.8: a listener on all addresses gives partners the local address of the flow, never 0.0.0.0",
        arguments: [TransportProtocol.udp, .tcp])
    func wildcard(_ transport: TransportProtocol) async throws {
        let partner = try PlainSocket(transport == .udp ? .udp : .tcpListener)
        let server = try await Self.node(
            [TransportAddress(transport, "0.0.0.0", 0)], asking: TransportAddress(transport, "127.0.0.1", partner.port))
        let stream = transport == .udp ? partner : try await partner.nextPeer()
        let request = try Self.request(try await stream.arriving(until: "\r\n\r\n"))
        let port = server.listeners[0].port
        #expect(request.headers.topVia?.sentBy == "127.0.0.1:\(port)")
        let parameter = transport == .udp ? "" : ";transport=tcp"
        #expect(request.headers.contact?.uri.description == "sip:127.0.0.1:\(port)\(parameter)")
        await server.stop()
    }

    @Test("RFC 3261 12.1.1: the Contact of an answer names the address that the client connected to, at a listener on all addresses")
    func accepted() async throws {
        let server = try await Self.node(
            [TransportAddress(.tcp, "0.0.0.0", 0)], asking: TransportAddress(.tcp, "127.0.0.1", 9)
        ) {
            $0.domains["example.org"] = DomainConfiguration(side: .simple, hosted: true, unruled: .allow)
            $0.domains["contoso.com"] = DomainConfiguration(side: .simple, route: TransportAddress(.tcp, "127.0.0.1", 9))
        }
        let port = server.listeners[0].port
        let client = try PlainSocket(.tcp, peer: port, at: 7)
        client.send(
            "SUBSCRIBE sip:alice@example.org SIP/2.0\r\nVia: SIP/2.0/TCP p.example.net;branch=z9hG4bKo;rport\r\nMax-Forwards: 70\r\n"
                + "From: <sip:bob@contoso.com>;tag=p\r\nTo: <sip:alice@example.org>\r\nCall-ID: own-address\r\nCSeq: 1 SUBSCRIBE\r\n"
                + "Contact: <sip:bob@127.0.0.1:9;transport=tcp>\r\nEvent: presence\r\nExpires: 600\r\nContent-Length: 0\r\n\r\n")
        // The NOTIFY follows over the same connection; each names the address once in Contact, the NOTIFY once more in Via.
        let text = try await client.arriving(until: "Content-Length:", count: 2)
        #expect(text.contains("SIP/2.0 200") && text.contains("NOTIFY sip:bob@"), "\(text)")
        #expect(text.components(of: "<sip:127.0.0.7:\(port);transport=tcp>") == 2, "\(text)")
        #expect(text.components(of: "SIP/2.0/TCP 127.0.0.7:\(port);branch=") == 1, "\(text)")
        await server.stop()
    }

    @Test(
        "RFC 3261 8.1.1.8: of listeners of both families a partner is given the first of its own, as that one is advertised",
        .enabled(if: hasIPv6), arguments: [(false, "[::1]"), (true, "six.example.net")])
    func families(isAdvertised: Bool, host: String) async throws {
        let partner = try PlainSocket(.udp)
        let six = try SixSocket()
        let listeners = [TransportAddress(.udp, "127.0.0.1", 0), TransportAddress(.udp, "::1", 0)]
        for (route, named) in [
            (TransportAddress(.udp, "127.0.0.1", partner.port), isAdvertised ? "four.example.net" : "127.0.0.1"),
            (TransportAddress(.udp, "::1", six.port), host),
        ] {
            let server = try await Self.node(listeners, asking: route) { configuration in
                guard isAdvertised else { return }
                for listener in configuration.listeners {
                    configuration.advertised[listener] = .init(
                        listener.family == .ipv6 ? "six.example.net" : "four.example.net", listener.port)
                }
            }
            let bytes = route.family == .ipv6 ? try await six.arriving() : try await partner.arriving(until: "\r\n\r\n")
            let request = try Self.request(bytes)
            let port = server.listeners.first { $0.family == route.family }?.port ?? 0
            #expect(request.headers.topVia?.sentBy == "\(named):\(port)")
            #expect(request.headers.contact?.uri.description == "sip:\(named):\(port)")
            await server.stop()
        }
    }

    @Test(
        "RFC 3493 5.3: listeners on all addresses of IPv6 and of IPv4 stand side by side on one port",
        .enabled(if: hasIPv6), arguments: [TransportProtocol.udp, .tcp])
    func sideBySide(_ transport: TransportProtocol) async throws {
        // Another socket of this machine may take the port between two starts; ten ports are not taken.
        for attempt in 1...10 {
            do {
                return try await listenInBothOrders(transport)
            } catch {
                if attempt == 10 { throw error }
            }
        }
    }

    private func listenInBothOrders(_ transport: TransportProtocol) async throws {
        let first = try await SIPServer.start(listening: [TransportAddress(transport, "::", 0)], logger: .quiet) {
            EchoEndpoint(index: $0.index)
        }
        let port = first.listeners[0].port
        await first.stop()
        for hosts in [["::", "0.0.0.0"], ["0.0.0.0", "::"]] {
            let listeners = hosts.map { TransportAddress(transport, $0, port) }
            let both = try await SIPServer.start(listening: listeners, logger: .quiet) { EchoEndpoint(index: $0.index) }
            #expect(both.listeners == listeners)
            await both.stop()
        }
    }
}

/// A UDP socket at the loopback address of IPv6.
private final class SixSocket: @unchecked Sendable {
    private let descriptor: Int32
    let port: Int

    init() throws {
        descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw SocketFailure(errno) }
        port = Int(UInt16(bigEndian: address.sin6_port))
    }

    deinit { close(descriptor) }

    func arriving() async throws -> String {
        try await PlainSocket.aside { [descriptor] in
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { throw SocketFailure(errno) }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
    }
}
