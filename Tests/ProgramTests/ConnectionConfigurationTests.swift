import Foundation
import GatewayTesting
import Glibc
import PresenceGateway
import SIPCore
import SIPEvents
import SIPTransport
import Testing

@testable import GatewayService
@testable import isthmus

/// `transport`, `listen` and the address keys of `domains`, and a gateway with IPv6 only.
@Suite(.timeLimit(.minutes(10))) struct ConnectionConfigurationTests {
    private func read(_ text: String) throws -> ProgramConfiguration { try ConfigurationReader.read(text, file: "x") }

    @Test("pings, pauses and bounds become options, and what is not said keeps its default") func options() throws {
        let domains = "domains: { \"*\": { refuse: 403 } }\nlisten: [ \"udp:127.0.0.1:0\" ]\n"
        let keys =
            "ping-s: 30, reconnect-minimum-ms: 100, reconnect-maximum-ms: 900, connections-per-address: 7, "
            + "unfinished-bytes: 50000000, unfinished-bytes-per-address: 5000000"
        let options = try read(domains + "transport: { \(keys) }").transport
        #expect(options.pingInterval == .seconds(30))
        #expect(options.reconnectPause == .milliseconds(100) && options.longestReconnectPause == .milliseconds(900))
        #expect(options.connectionsPerAddress == 7)
        #expect(options.unfinishedOctets == 50_000_000 && options.unfinishedOctetsPerAddress == 5_000_000)
        let large = try read(domains + "transport: { \(keys) }\nlimits: { body-bytes: 10000000 }").transport
        #expect(large.unfinishedOctetsPerAddress == 80_000_000, "the largest body fits")
        let standard = try read(domains).transport
        #expect(standard.pingInterval == .seconds(120) && standard.pongTimeout == .seconds(10))
        #expect(standard.reconnectPause == .milliseconds(500) && standard.longestReconnectPause == .seconds(30))
        #expect(standard.connectionsPerAddress == 5_000)
        #expect(standard.unfinishedOctets == 128 << 20 && standard.unfinishedOctetsPerAddress == 16 << 20)
        #expect(throws: ConfigurationError.self) {
            try read(domains + "transport: { reconnect-minimum-ms: 900, reconnect-maximum-ms: 100 }")
        }
    }

    @Test("RFC 3261 8.1.1.7: a listener is advertised by its own name and port, whatever the node's others are called")
    func advertised() throws {
        let configuration = try read(
            """
            node: { name: edge1.example.net, advertised: node.example.net }
            listen:
              - "udp:0.0.0.0:5060"
              - { address: "tcp:0.0.0.0:5070", advertised: "edge1.example.net:443" }
              - { address: "tls:0.0.0.0:5071", advertised: "[2001:db8::1]" }
            tls: { certificate: own.pem, key: own.key, trust: roots.pem }
            domains: { example.org: { side: simple, route: "tls:sip.example.org", reuse: true } }
            """)
        #expect(configuration.advertised.map { $0?.host } == [nil, "edge1.example.net", "2001:db8::1"])
        let gateway = configuration.gateway(listeners: configuration.listeners, logLevel: .error)
        #expect(gateway.advertised[TransportAddress(.tcp, "0.0.0.0", 5_070)] == .init("edge1.example.net", 443))
        #expect(gateway.advertised[TransportAddress(.tls, "0.0.0.0", 5_071)] == .init("2001:db8::1", 5_071))
        #expect(gateway.advertisedHost == "node.example.net")
        #expect(configuration.tls?.expectations["example.org"]?.reusesConnections == true)
    }

    @Test("`check` says which address partners are given where a listener is on all addresses and nothing is advertised") func notes()
        throws
    {
        func notes(_ listen: String, node: String = "") throws -> [String] {
            // Only a listener or a route with TLS needs certificates.
            let tls = listen.contains("tls:") ? "tls: { certificate: a, key: b, trust: c }\n" : ""
            let rest = tls + "domains: { \"*\": { refuse: 403 } }\n"
            return ConfigurationNotes.addresses(of: try read("listen: [ \(listen) ]\n\(node)\(rest)"))
        }
        let tls = try notes("\"tls:0.0.0.0:5061\", \"tls:[::]:5061\"")
        #expect(tls.count == 2 && tls.allSatisfy { $0.contains("`advertised`") && $0.contains("no certificate proves an address") })
        #expect(try notes("\"tcp:0.0.0.0:5060\", \"tcp:0.0.0.0:5062\"").count == 1, "the second is named nowhere")
        #expect(try notes("\"tcp:192.0.2.1:5060\", { address: \"tls:0.0.0.0:5061\", advertised: edge.example.net }").isEmpty)
        #expect(try notes("\"tcp:0.0.0.0:5060\"", node: "node: { advertised: edge.example.net }\n").isEmpty)
    }

    @Test("`check` says that domains without TLS are refused where only \"*\" with `discover` covers them") func openFederation() throws {
        func notes(_ others: String) throws -> [String] {
            ConfigurationNotes.discovery(
                of: try read(
                    "listen: [ \"tls:192.0.2.1:5061\" ]\ntls: { certificate: a, key: b, trust: c }\ndomains: { \"*\": { \(others) } }\n"))
        }
        #expect(try notes("side: simple, discover: true").first?.contains("domains without TLS are refused") == true)
        #expect(try notes("side: simple, discover: any").count == 1)
        #expect(try notes("side: simple, discover: tls").isEmpty)
        #expect(try notes("side: simple, discover: true, peers: [ 192.0.2.0/24 ]").isEmpty)
        #expect(try notes("side: enterprise, discover: true").isEmpty)
    }

    @Test("credentials for a partner are a user and the first line of a file, and refused where no partner could ask for them")
    func credentials() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-c-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("p").path
        func domain(_ credentials: String, _ name: String = "example.org", rest: String = "route: \"udp:192.0.2.1:5060\"") throws
            -> ProgramConfiguration
        {
            try read("listen: [ \"udp:127.0.0.1:0\" ]\ndomains: { \"\(name)\": { side: simple, \(rest), credentials: \(credentials) } }\n")
        }
        let configuration = try domain("{ user: gateway, password-file: \(file) }")
        #expect(throws: ServiceFailure.self) { try configuration.withPasswords() }
        try "secret\nnot this\n".write(toFile: file, atomically: true, encoding: .utf8)
        let credentials = try configuration.withPasswords().domains["example.org"]?.credentials
        #expect(credentials == PartnerCredentials(user: "gateway", password: "secret"))
        try "secret\r\nnot this\r\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try configuration.withPasswords().domains["example.org"]?.credentials == credentials, "CR LF ends the line as LF does")
        for text in ["", "\r\n", "\nnot this\n"] {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            #expect(throws: ServiceFailure.self, "no password in the first line") { try configuration.withPasswords() }
        }
        #expect(credentials.map { "\($0)" } == "gateway", "no password in a description")
        #expect(throws: ConfigurationError.self) { try domain("{ user: gateway }") }
        #expect(throws: ConfigurationError.self) { try domain("{ user: g, password-file: p }", "*", rest: "discover: tls") }
        #expect(throws: ConfigurationError.self) { try domain("{ user: g, password-file: p }", rest: "hosted: true") }
    }

    @Test("a listener of each address family may be advertised") func advertisedFamilies() throws {
        let configuration = try read(
            """
            listen:
              - { address: "tcp:0.0.0.0:5060", advertised: "four.example.net" }
              - { address: "tcp:[::]:5060", advertised: "six.example.net:5070" }
            domains: { "*": { refuse: 403 } }
            """)
        let gateway = configuration.gateway(listeners: configuration.listeners, logLevel: .error)
        #expect(gateway.advertised[TransportAddress(.tcp, "0.0.0.0", 5_060)] == .init("four.example.net", 5_060))
        #expect(gateway.advertised[TransportAddress(.tcp, "::", 5_060)] == .init("six.example.net", 5_070))
    }

    @Test(
        "RFC 3261 12.1.1: the program at a listener on all addresses answers with a Contact that can be reached", arguments: ["udp", "tcp"])
    func wildcardProgram(_ transport: String) async throws {
        let text = """
            node: { name: test.example.net }
            listen: [ { address: "\(transport):0.0.0.0:0", authentication: none } ]
            domains:
              contoso.com: { side: simple, route: "udp:127.0.0.1:9" }
              example.org: { side: simple, hosted: true, unruled: allow, peers: [ 127.0.0.1 ] }
            """
        let gateway = try await RunningGateway.start(try read(text), logger: RunningGatewayTests.quiet)
        let port = gateway.server.listeners[0].port
        let via = TransportAddress(gateway.server.listeners[0].transport, "127.0.0.1", port)
        let (answers, continuation) = AsyncStream.makeStream(of: ClientAnswer.self)
        let client = try await RunningGatewayTests.client(via) {
            RequestEndpoint(via: via, listeners: $0, key: .seeded(1)) { continuation.yield($0) }
        } start: { endpoint, now in
            endpoint.start(.subscribe, to: RunningGatewayTests.alice, from: RunningGatewayTests.alice, at: now) { request in
                request.headers.event = Event("presence")
                request.headers.expires = 600
                request.headers.set(.contact, "<sip:alice@127.0.0.1:9>")
            }
        }
        var contact: String?
        for await answer in answers {
            if case .response(let response) = answer { contact = response.headers.contact?.uri.description }
            break
        }
        #expect(contact == "sip:127.0.0.1:\(port)\(transport == "udp" ? "" : ";transport=tcp")")
        await client.stop()
        await gateway.stop(drain: .zero)
    }

    @Test(
        "what cannot be advertised or reused is refused",
        arguments: [
            ("listen: [ { address: \"udp:0.0.0.0:5060\", advertised: 0.0.0.0 } ]\n", "nobody's address"),
            ("listen: [ { address: \"udp:0.0.0.0:5060\", advertised: \"a:b:c\" } ]\n", "brackets"),
            ("listen: [ \"udp:0.0.0.0:5060\", { address: \"udp:0.0.0.0:5062\", advertised: a.example.net } ]\n", "first listener"),
            ("listen: [ \"udp:0.0.0.0:5060\" ]\ndomains: { example.org: { side: simple, route: \"udp:a\", reuse: true } }\n", "over TLS"),
        ])
    func mistakes(text: String, words: String) throws {
        let rest = text.contains("domains") ? "" : "domains: { \"*\": { refuse: 403 } }\n"
        let error = #expect(throws: ConfigurationError.self) { try read(text + rest) }
        #expect(error?.problems.contains { $0.rule.contains(words) } == true, "\(error?.problems ?? [])")
    }

    /// Whether this machine has the loopback address of IPv6.
    private static let hasIPv6: Bool = {
        let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
    }()

    @Test(
        "RFC 3261 19.1.1: over IPv6 a watcher is answered and notified by literals in Via and Contact, over UDP and TCP",
        .enabled(if: hasIPv6), arguments: [TransportProtocol.udp, .tcp])
    func sixth(_ transport: TransportProtocol) async throws {
        let text = """
            node: { name: test.example.net }
            listen: [ { address: "udp:[::1]:0", authentication: none }, { address: "tcp:[::1]:0", authentication: none } ]
            domains:
              contoso.com: { side: enterprise, route: "udp:[::1]:9" }
              example.org: { side: simple, hosted: true, unruled: allow, peers: [ "::1" ] }
            """
        let gateway = try await RunningGateway.start(try read(text), logger: RunningGatewayTests.quiet)
        let via = try #require(gateway.server.listeners.first { $0.transport == transport })
        #expect(via.host == "::1")
        #expect(try await RunningGatewayTests.publish(via) == 200)
        let (client, events) = try await RunningGatewayTests.watch(via, expires: 600)
        var sawState = false
        for await event in events {
            guard case .notification(let notification) = event else { break }
            sawState = notification.documents.contains { String(decoding: $0.body, as: UTF8.self).contains("<availability>") }
            if sawState { break }
        }
        #expect(sawState)
        await client.stop()
        await gateway.stop(drain: .seconds(1))
    }
}
