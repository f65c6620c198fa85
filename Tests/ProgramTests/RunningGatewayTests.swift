import Foundation
import FoundationNetworking
import GatewayTesting
import Logging
import NIOCore
import SIPCore
import SIPEvents
import SIPTransport
import Testing

@testable import GatewayService
@testable import isthmus

@Suite(.timeLimit(.minutes(10))) struct RunningGatewayTests {
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    static let alice = "sip:alice@example.org"

    static func yaml(example: String = "{ side: simple, hosted: true, unruled: allow, peers: [ 127.0.0.1 ] }") -> String {
        """
        node: { name: test.example.net, shards: 2 }
        listen: [ { address: "udp:127.0.0.1:0", authentication: none }, { address: "tcp:127.0.0.1:0", authentication: none } ]
        domains:
          contoso.com: { side: enterprise, route: "udp:127.0.0.1:9" }
          example.org: \(example)
        admin: { http: "127.0.0.1:0" }
        """
    }

    static let pidf = """
        <presence xmlns="urn:ietf:params:xml:ns:pidf" entity="\(alice)"><tuple id="t"><status><basic>open</basic></status></tuple></presence>
        """

    /// Starts a client endpoint on the loopback address of the same family.
    static func client<Endpoint: ClientEndpoint>(
        _ via: TransportAddress, _ make: @escaping @Sendable ([TransportAddress]) -> Endpoint,
        start: @escaping @Sendable (Endpoint, Instant) -> Void
    ) async throws -> SIPServer {
        let host = via.host.contains(":") ? "::1" : "127.0.0.1"
        let server = try await SIPServer.start(listening: [TransportAddress(via.transport, host, 0)], logger: quiet) {
            make($0.listeners)
        }
        try await server.shards[0].perform { endpoint, now in
            if let endpoint = endpoint as? Endpoint { start(endpoint, now) }
        }.get()
        return server
    }

    /// Status of a publication for, and by, this user.
    static func publish(_ via: TransportAddress, as user: String = alice) async throws -> Int? {
        let (answers, continuation) = AsyncStream.makeStream(of: ClientAnswer.self)
        let client = try await client(via) {
            RequestEndpoint(via: via, listeners: $0, key: .seeded(1)) { continuation.yield($0) }
        } start: { endpoint, now in
            endpoint.start(.publish, to: user, from: user, at: now) { request in
                request.headers.event = Event("presence")
                request.headers.expires = 600
                request.headers.set(.contentType, "application/pidf+xml")
                request.body = Array(pidf.replacingOccurrences(of: alice, with: user).utf8)
            }
        }
        var status: Int?
        for await answer in answers {
            if case .response(let response) = answer { status = response.status.rawValue }
            break
        }
        await client.stop()
        return status
    }

    static func watch(_ via: TransportAddress, expires: Int) async throws -> (SIPServer, AsyncStream<WatchEvent>) {
        let (events, continuation) = AsyncStream.makeStream(of: WatchEvent.self)
        let client = try await client(via) {
            WatchEndpoint(
                presentity: alice, watcher: "sip:bob@contoso.com", format: .categories, expires: expires, via: via, listeners: $0,
                key: .seeded(2)
            ) { continuation.yield($0) }
        } start: { endpoint, now in
            endpoint.start(at: now)
        }
        return (client, events)
    }

    @Test("a running gateway serves on both transports, shows its numbers, and tells its watchers that it stops")
    func serves() async throws {
        let gateway = try await RunningGateway.start(try ConfigurationReader.read(Self.yaml(), file: "x"), logger: Self.quiet)
        let (udp, tcp) = (gateway.server.listeners[0], gateway.server.listeners[1])
        #expect(gateway.addresses.count == 3)
        #expect(try await Self.publish(tcp) == 200)
        let (client, events) = try await Self.watch(udp, expires: 600)
        var isStopping = false
        var sawState = false
        var isNotified = false
        loop: for await event in events {
            switch event {
            case .notification(let notification):
                sawState =
                    sawState || notification.documents.contains { String(decoding: $0.body, as: UTF8.self).contains("<availability>") }
                isNotified = isNotified || notification.state.hasPrefix("terminated")
                if sawState, !isStopping {
                    isStopping = true
                    let health = try #require(
                        URL(string: gateway.addresses[2].replacingOccurrences(of: "http:", with: "http://") + "/health"))
                    let (data, _) = try await URLSession.shared.data(from: health)
                    #expect(String(decoding: data, as: UTF8.self).contains("\"watcher_dialogs\":1"))
                    await gateway.stop(drain: .seconds(5))
                }
            case .lost, .ended: break loop
            }
        }
        #expect(sawState)
        #expect(isNotified)
        await client.stop()
    }

    @Test("a reload changes what domains may do without touching the sockets") func reloads() async throws {
        let gateway = try await RunningGateway.start(try ConfigurationReader.read(Self.yaml(), file: "x"), logger: Self.quiet)
        let tcp = gateway.server.listeners[1]
        #expect(try await Self.publish(tcp) == 200)
        try await gateway.reload(ConfigurationReader.read(Self.yaml(example: "{ refuse: 403 }"), file: "x"))
        #expect(try await Self.publish(tcp) == 403)
        await gateway.stop(drain: .seconds(1))
    }

    @Test("users of a file exist, others do not, and a reload takes over the file as it is then, or nothing of a bad one")
    func directory() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-serve-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let users = folder.appendingPathComponent("users.yaml").path
        let add = ["user", "add", "--file", users, "--no-password"]
        #expect(await Isthmus.run(add + ["sip:bob@contoso.com"]) == 0)
        let text = """
            listen: [ { address: "tcp:127.0.0.1:0", authentication: none } ]
            domains: { contoso.com: { side: enterprise, hosted: true } }
            directory: { file: users.yaml }
            """
        let read = { try ConfigurationReader.read(text, file: folder.appendingPathComponent("isthmus.yaml").path) }
        let gateway = try await RunningGateway.start(try read(), logger: Self.quiet)
        let tcp = gateway.server.listeners[0]
        #expect(try await Self.publish(tcp, as: "sip:bob@contoso.com") == 200)
        #expect(try await Self.publish(tcp, as: "sip:carol@contoso.com") == 404)
        #expect(await Isthmus.run(add + ["sip:carol@contoso.com"]) == 0)
        try await gateway.reload(read())
        #expect(try await Self.publish(tcp, as: "sip:carol@contoso.com") == 200)
        #expect(await Isthmus.run(add + ["sip:dan@fabrikam.com"]) == 0)
        let failure = await #expect(throws: ServiceFailure.self) { try await gateway.reload(read()) }
        #expect(failure?.lines == ["\(users):4: sip:dan@fabrikam.com: \"fabrikam.com\" is no hosted domain"])
        #expect(try await Self.publish(tcp, as: "sip:carol@contoso.com") == 200)
        await gateway.stop(drain: .seconds(1))
    }

    @Test("a reload reads the mapping tables anew, and takes nothing over with a bad one")
    func mappings() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-mappings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tables = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Mappings")
            .standardizedFileURL
        let copy = folder.appendingPathComponent("tables")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        for table in try FileManager.default.contentsOfDirectory(at: tables, includingPropertiesForKeys: nil)
        where table.pathExtension == "json" {
            try FileManager.default.copyItem(at: table, to: copy.appendingPathComponent(table.lastPathComponent))
        }
        let text = """
            listen: [ { address: "tcp:127.0.0.1:0", authentication: none } ]
            domains: { contoso.com: { side: enterprise, hosted: true, registration: optional }, example.org: { side: simple, hosted: true, unruled: allow } }
            mappings: \(copy.path)
            """
        let read = { try ConfigurationReader.read(text, file: "x") }
        let gateway = try await RunningGateway.start(try read(), logger: Self.quiet)
        let changed = copy.appendingPathComponent("availability-to-pidf.json")
        let good = try String(contentsOf: changed, encoding: .utf8)
        try Data(good.replacingOccurrences(of: "A2P-02", with: "A2P-92").utf8).write(to: changed)
        try await gateway.reload(try read())
        try Data("{".utf8).write(to: changed)
        let failure = await #expect(throws: ServiceFailure.self) { try await gateway.reload(try read()) }
        #expect(failure?.lines.first?.contains("availability-to-pidf.json") == true)
        #expect(try await Self.publish(gateway.server.listeners[0], as: "sip:ann@example.org") == 200)
        await gateway.stop(drain: .seconds(1))
    }

    @Test("the demonstration shows both flows and ends with 0") func demonstration() async {
        #expect(await Isthmus.run(["demo", "--brief"]) == 0)
    }
}
