import Administration
import Foundation
import FoundationNetworking
import Glibc
import Logging
import Testing

@Suite(.timeLimit(.minutes(10))) struct AdministrationTests {
    @Test("health and metrics answer GET and nothing else") func pages() async throws {
        let sources = AdministrationServer.Sources(
            health: {
                HealthReport(
                    status: .ok, node: "n\"1", version: "1", uptimeSeconds: 3, listeners: ["udp:a:1"], counts: ["watcher_dialogs": 2],
                    partners: [
                        .init(
                            name: "example.org", state: "down", since: "2026-11-22T10:13:00Z", lastError: "no answer",
                            roundTripMilliseconds: nil),
                        .init(name: "example.com", state: "up", since: nil, lastError: nil, roundTripMilliseconds: 1.5),
                    ])
            },
            metrics: { [Metric("isthmus_x_total", .counter, help: "h", samples: [.init(1.5, ["leg": "a\"b"]), .init(7)])] })
        let server = try await AdministrationServer.start(
            on: .http(host: "127.0.0.1", port: 0), sources: sources, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        func get(_ path: String) async throws -> (Int, String) {
            guard case .http(_, let port) = server.address else { throw URLError(.badURL) }
            let url = URL(string: "http://127.0.0.1:\(port)\(path)")!
            let (data, response) = try await URLSession.shared.data(from: url)
            return ((response as! HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))
        }
        let health = try await get("/health?x=1")
        #expect(health.0 == 200)
        #expect(
            health.1 == "{\"status\":\"ok\",\"reasons\":[],\"node\":\"n\\\"1\",\"version\":\"1\",\"uptime_seconds\":3,"
                + "\"listeners\":[\"udp:a:1\"],\"counts\":{\"watcher_dialogs\":2},"
                + "\"partners\":[{\"name\":\"example.org\",\"state\":\"down\",\"since\":\"2026-11-22T10:13:00Z\",\"last_error\":\"no answer\"},"
                + "{\"name\":\"example.com\",\"state\":\"up\",\"round_trip_ms\":1.5}]}\n")
        let metrics = try await get("/metrics")
        #expect(
            metrics.1
                == "# HELP isthmus_x_total h\n# TYPE isthmus_x_total counter\nisthmus_x_total{leg=\"a\\\"b\"} 1.5\nisthmus_x_total 7\n")
        #expect(try await get("/health/live") == (200, "{\"live\":true}\n"))
        #expect(try await get("/health/ready") == (200, "{\"ready\":true,\"reasons\":[]}\n"))
        #expect(try await get("/other").0 == 404)
        await server.stop()
    }

    @Test(
        "a node that stands still is not alive, and one that accepts no new work is not ready; each is 503, and the other page tells more")
    func illNode() async throws {
        let sources = AdministrationServer.Sources(
            health: {
                HealthReport(
                    status: .ok, reasons: ["overload: new work is refused"], node: "n", version: "1", uptimeSeconds: 0, listeners: [],
                    counts: [:])
            }, isAlive: { false }, metrics: { [] })
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-\(UUID().uuidString.prefix(8)).sock").path
        let server = try await AdministrationServer.start(
            on: .socket(path), sources: sources, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        func get(_ target: String) async throws -> (status: Int, body: String) {
            try await AdministrationClient.get(.init(path: target), from: .socket(path))
        }
        #expect(try await get("/health/live") == (503, "{\"live\":false}\n"))
        #expect(try await get("/health/ready") == (503, "{\"ready\":false,\"reasons\":[\"overload: new work is refused\"]}\n"))
        // Requests are served, so the sum of the node's health is good.
        #expect(try await get("/health").status == 200)
        await server.stop()
    }

    @Test("exposition format 0.0.4: a line end within a label or a help text is escaped, CR LF too")
    func lineEnds() {
        let metric = Metric("isthmus_x_total", .counter, help: "a\r\nb\n", samples: [.init(1, ["leg": "c\r\nd\n\"\\"])])
        let text = Metric.text([metric])
        #expect(
            text == "# HELP isthmus_x_total a\r\\nb\\n\n# TYPE isthmus_x_total counter\n"
                + "isthmus_x_total{leg=\"c\r\\nd\\n\\\"\\\\\"} 1\n")
        #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == 3)
    }

    @Test("RFC 9110 15.5.6: Allow of a 405 names the methods of the listener: POST is one of them over a Unix socket only")
    func allowedMethods() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-\(UUID().uuidString.prefix(8)).sock").path
        let local = try await Self.start(.socket(path))
        #expect(try Self.allow(try Self.ask("DELETE /health", at: path)) == "GET, HEAD, POST")
        #expect(try Self.ask("POST /health", at: path).hasPrefix("HTTP/1.1 200 "))
        await local.stop()
        let remote = try await Self.start(.http(host: "127.0.0.1", port: 0))
        guard case .http(_, let port) = remote.address else { throw URLError(.badURL) }
        for method in ["DELETE", "POST"] {
            var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)/health")!)
            request.httpMethod = method
            let (_, response) = try await URLSession.shared.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 405)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Allow") == "GET, HEAD")
        }
        await remote.stop()
    }

    /// The answer to a request over a Unix socket, with its head.
    static func ask(_ request: String, at path: String) throws -> String {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        guard withAddress(path, { connect(descriptor, $0, $1) }) == 0 else { throw URLError(.cannotConnectToHost) }
        let bytes = Array("\(request) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else { throw URLError(.badURL) }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }

    /// The value of Allow in an answer with status 405; nil if the answer has none.
    static func allow(_ answer: String) throws -> String? {
        try #require(answer.hasPrefix("HTTP/1.1 405 "))
        return answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix("allow: ") }.map { String($0.dropFirst(7)) }
    }

    @Test("a question's target is read and written back: escapes, plus signs, values with equals signs") func targets() throws {
        let request = try #require(AdministrationRequest(target: "/explain?watcher=sip%3A%2B49%40a.example&x=a=b&flag&n=%C3%A9+1"))
        #expect(request.path == "/explain")
        #expect(request.parameters.map(\.name) == ["watcher", "x", "flag", "n"])
        #expect(request.parameters.map(\.value) == ["sip:+49@a.example", "a=b", "", "é+1"])
        #expect(AdministrationRequest(target: request.target) == request)
        #expect(AdministrationRequest(path: "/health").target == "/health")
        for bad in ["/x?a=%", "/x?a=%4", "/x?a=%zz", "/x?a=%FF", "/%"] { #expect(AdministrationRequest(target: bad) == nil, "\(bad)") }
    }

    @Test(
        "an address of the loopback, and no other, is local",
        arguments: [
            ("127.0.0.1", true), ("127.8.0.9", true), ("::1", true), ("localhost", true), ("0.0.0.0", false), ("::", false),
            ("192.0.2.1", false), ("127.0.0.1.example.org", false), ("example.org", false), ("", false),
        ]) func loopback(host: String, isLocal: Bool)
    {
        #expect(AdministrationAddress.http(host: host, port: 1).isLocal == isLocal)
    }

    static let silent = AdministrationServer.Sources(
        health: { HealthReport(status: .ok, node: "n", version: "1", uptimeSeconds: 0, listeners: [], counts: [:]) }, metrics: { [] })

    static func start(
        _ address: AdministrationAddress, inspect: (@Sendable (AdministrationRequest) async -> AdministrationAnswer)? = nil
    ) async throws -> AdministrationServer {
        var sources = silent
        sources.inspect = inspect
        return try await AdministrationServer.start(
            on: address, sources: sources, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("who watches whom is shown where that was asked for, and over TCP to nobody who came by another name") func rebinding()
        async throws
    {
        let closed = try await Self.start(.http(host: "127.0.0.1", port: 0))
        #expect(try await AdministrationClient.get(.init(path: "/subscriptions"), from: closed.address).status == 404)
        await closed.stop()
        let open = try await Self.start(.http(host: "127.0.0.1", port: 0)) { .init(json: "\"\($0.path)\"") }
        #expect(try await AdministrationClient.get(.init(path: "/subscriptions"), from: open.address).body == "\"/subscriptions\"\n")
        guard case .http(_, let port) = open.address else { return }
        for (host, status) in [("rebound.example.org", 403), ("127.0.0.1:\(port)", 200), ("[::1]:80", 200), ("localhost", 200)] {
            var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)/explain")!)
            request.setValue(host, forHTTPHeaderField: "Host")
            let (_, response) = try await URLSession.shared.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == status, "\(host)")
        }
        await open.stop()
    }

    @Test("a Unix socket is its owner's alone, replaces one that a dead process left, and nothing else") func socket() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-socket-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("a.sock").path
        func mode() throws -> Int? { try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int }

        let first = try await Self.start(.socket(path)) { _ in .init(json: "1") }
        #expect(try mode() == 0o600)
        #expect(try await AdministrationClient.get(.init(path: "/x"), from: .socket(path)).body == "1\n")
        let taken = await #expect(throws: AdministrationError.self) { _ = try await Self.start(.socket(path)) }
        #expect(taken?.reason == "another process listens there")
        await first.stop()
        #expect(!FileManager.default.fileExists(atPath: path))

        // A socket without a process.
        let dead = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #expect(Self.withAddress(path) { bind(dead, $0, $1) } == 0)
        close(dead)
        let second = try await Self.start(.socket(path)) { _ in .init(json: "2") }
        #expect(try await AdministrationClient.get(.init(path: "/x"), from: .socket(path)).body == "2\n")
        await second.stop()

        // A socket with a busy process: it listens, accepts no connection, and its backlog is full.
        let busy = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #expect(Self.withAddress(path) { bind(busy, $0, $1) } == 0 && listen(busy, 0) == 0)
        var waiting: [Int32] = []
        repeat {
            waiting.append(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0))
        } while waiting.count < 100 && Self.withAddress(path) { connect(waiting[waiting.count - 1], $0, $1) } == 0
        #expect(waiting.count < 100)
        let alive = await #expect(throws: AdministrationError.self) { _ = try await Self.start(.socket(path)) }
        #expect(alive?.reason == "another process listens there")
        for descriptor in waiting + [busy] { close(descriptor) }
        unlink(path)

        try Data("important".utf8).write(to: URL(fileURLWithPath: path))
        await #expect(throws: AdministrationError.self) { _ = try await Self.start(.socket(path)) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "important")
        let long = folder.appendingPathComponent(String(repeating: "x", count: 120)).path
        await #expect(throws: AdministrationError.self) { _ = try await Self.start(.socket(long)) }
    }

    /// Calls `body` with the address of a Unix socket.
    static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
