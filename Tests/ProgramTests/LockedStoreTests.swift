import Foundation
import FoundationNetworking
import GRDB
import GatewayTesting
import PresenceGateway
import SIPCore
import SIPEvents
import SIPTransport
import Testing

@testable import GatewayService
@testable import isthmus

/// A running gateway while another process has locked its store.
@Suite(.timeLimit(.minutes(10))) struct LockedStoreTests {
    private static let bob = "sip:bob@example.org"

    /// A gateway on a store in a folder of its own.
    private struct Stage {
        let folder: URL
        let gateway: RunningGateway

        var path: String { folder.appendingPathComponent("isthmus.db").path }
        var tcp: TransportAddress { gateway.server.listeners[0] }

        init() async throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-locked-\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            gateway = try await Self.start(in: folder)
        }

        static func start(in folder: URL) async throws -> RunningGateway {
            let text = """
                node: { name: test.example.net, shards: 2 }
                listen: [ { address: "tcp:127.0.0.1:0", authentication: none } ]
                domains: { example.org: { side: simple, hosted: true, unruled: allow, peers: [ 127.0.0.1 ] } }
                store: { sqlite: "\(folder.appendingPathComponent("isthmus.db").path)" }
                admin: { http: "127.0.0.1:0" }
                """
            // Longer than any delay of the machine on which the test runs.
            return try await RunningGateway.start(
                try ConfigurationReader.read(text, file: "x"), logger: RunningGatewayTests.quiet, storePatience: .seconds(600))
        }

        /// Locks the database as another process would.
        func lock() throws -> DatabaseQueue {
            var configuration = GRDB.Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try other.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
            return other
        }

        /// A folder with a copy of the store; the process itself opens each file once.
        func copy() throws -> URL {
            let copy = folder.appendingPathComponent("copy")
            try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
            for name in ["isthmus.db", "isthmus.db-wal"] {
                let file = folder.appendingPathComponent(name)
                guard FileManager.default.fileExists(atPath: file.path) else { continue }
                try FileManager.default.copyItem(at: file, to: copy.appendingPathComponent(name))
            }
            return copy
        }

        /// The value of a metric.
        func metric(_ name: String) async throws -> Double? {
            let page = try #require(URL(string: gateway.addresses[1].replacingOccurrences(of: "http:", with: "http://") + "/metrics"))
            let text = String(decoding: try await URLSession.shared.data(from: page).0, as: UTF8.self)
            return text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
        }
    }

    /// What happened, in order.
    private actor Course {
        private(set) var steps: [String] = []

        func add(_ step: String) { steps.append(step) }
    }

    /// Status of the response to an OPTIONS.
    private static func options(_ via: TransportAddress) async throws -> Int? {
        let (answers, continuation) = AsyncStream.makeStream(of: ClientAnswer.self)
        let client = try await RunningGatewayTests.client(via) {
            RequestEndpoint(via: via, listeners: $0, key: .seeded(3)) { continuation.yield($0) }
        } start: { endpoint, now in
            endpoint.start(.options, to: "sip:example.org", from: bob, at: now) { _ in }
        }
        var status: Int?
        for await answer in answers {
            if case .response(let response) = answer { status = response.status.rawValue }
            break
        }
        await client.stop()
        return status
    }

    /// The document that a poll (SUBSCRIBE with Expires 0) shows.
    private static func poll(_ via: TransportAddress, _ presentity: String) async throws -> String {
        let (events, continuation) = AsyncStream.makeStream(of: WatchEvent.self)
        let client = try await RunningGatewayTests.client(via) {
            WatchEndpoint(
                presentity: presentity, watcher: "sip:carol@example.org", format: .pidf, expires: 0, via: via, listeners: $0,
                key: .seeded(4)
            ) { continuation.yield($0) }
        } start: { endpoint, now in
            endpoint.start(at: now)
        }
        var document = ""
        loop: for await event in events {
            guard case .notification(let notification) = event else { break }
            document = notification.documents.map { String(decoding: $0.body, as: UTF8.self) }.joined()
            if !document.isEmpty { break loop }
        }
        await client.stop()
        return document
    }

    @Test("OPTIONS and polls of others are answered while a PUBLISH waits for the lock of another process, and nothing is lost")
    func others() async throws {
        let stage = try await Stage()
        defer { try? FileManager.default.removeItem(at: stage.folder) }
        #expect(try await RunningGatewayTests.publish(stage.tcp, as: Self.bob) == 200)
        // The first poll of a watcher is kept, because blocking depends on it; later ones change nothing.
        #expect(try await Self.poll(stage.tcp, Self.bob).contains("<basic>open</basic>"))
        let lock = try stage.lock()
        let course = Course()
        let tcp = stage.tcp
        let publishing = Task {
            let status = try await RunningGatewayTests.publish(tcp)
            await course.add("PUBLISH \(status ?? 0)")
        }
        while try await stage.metric("isthmus_store_requests_waiting") == 0 {}
        let options = try await Self.options(stage.tcp)
        await course.add("OPTIONS \(options ?? 0)")
        #expect(try await Self.poll(stage.tcp, Self.bob).contains("<basic>open</basic>"))
        await course.add("poll")
        #expect(try await stage.metric("isthmus_store_requests_waiting") ?? 0 > 0)
        #expect(try await stage.metric("isthmus_store_oldest_wait_seconds") ?? 0 > 0)
        try await lock.writeWithoutTransaction { try $0.rollback() }
        await course.add("unlocked")
        try await publishing.value
        #expect(await course.steps == ["OPTIONS 200", "poll", "unlocked", "PUBLISH 200"])
        await stage.gateway.stop(drain: .seconds(5))

        let next = try await Stage.start(in: try stage.copy())
        for user in [RunningGatewayTests.alice, Self.bob] {
            #expect(try await Self.poll(next.server.listeners[0], user).contains("<basic>open</basic>"), "\(user)")
        }
        await next.stop(drain: .seconds(5))
    }

    @Test("a stop waits for the commits in flight, whose requests are answered, and leaves them in the file")
    func stop() async throws {
        let stage = try await Stage()
        defer { try? FileManager.default.removeItem(at: stage.folder) }
        let lock = try stage.lock()
        let tcp = stage.tcp
        let publishing = Task { try await RunningGatewayTests.publish(tcp) }
        while try await stage.metric("isthmus_store_requests_waiting") == 0 {}
        let gateway = stage.gateway
        let stopping = Task { await gateway.stop(drain: .seconds(600)) }
        try await lock.writeWithoutTransaction { try $0.rollback() }
        await stopping.value
        #expect(try await publishing.value == 200)
        let publications = try await lock.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM publication") }
        #expect(publications == 1)
    }

    @Test("a start on a damaged record ends, and names the store and the column")
    func damaged() async throws {
        let stage = try await Stage()
        defer { try? FileManager.default.removeItem(at: stage.folder) }
        #expect(try await RunningGatewayTests.publish(stage.tcp) == 200)
        let copy = try stage.copy()
        await stage.gateway.stop(drain: .seconds(5))
        try await DatabaseQueue(path: copy.appendingPathComponent("isthmus.db").path).write {
            try $0.execute(sql: "UPDATE publication SET expiry = 'soon'")
        }
        let failure = await #expect(throws: ServiceFailure.self) {
            try await Stage.start(in: copy).stop(drain: .zero)
        }
        #expect(failure?.lines == ["store.sqlite: the store is damaged: publication.expiry cannot be read"])
    }
}
