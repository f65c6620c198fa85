import Administration
import Foundation
import Logging
import PresenceGateway
import SIPCore
import SIPTransport
import Testing

@testable import GatewayService
@testable import isthmus

/// `explain`, `subscriptions` and `presentities` against a gateway on real sockets.
@Suite(.timeLimit(.minutes(10))) struct InspectionTests {
    static let alice = RunningGatewayTests.alice
    static let bob = "sip:bob@contoso.com"

    /// Runs a gateway of two shards with a presentity and a watcher, with its Unix socket.
    static func withGateway(_ body: (AdministrationAddress, String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-ask-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("isthmus.yaml").path
        let text = RunningGatewayTests.yaml().replacingOccurrences(of: "admin: {", with: "admin: { socket: a.sock, ")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let gateway = try await RunningGateway.start(try ConfigurationReader.read(text, file: file), logger: RunningGatewayTests.quiet)
        let (udp, tcp) = (gateway.server.listeners[0], gateway.server.listeners[1])
        #expect(try await RunningGatewayTests.publish(tcp) == 200)
        let (client, events) = try await RunningGatewayTests.watch(udp, expires: 600)
        for await event in events {
            // The 200 carries the state.
            if case .notification = event { break }
        }
        try await body(.socket(folder.appendingPathComponent("a.sock").path), file)
        await client.stop()
        await gateway.stop(drain: .seconds(0))
    }

    static func get<Value: Decodable>(
        _ path: String, _ parameters: [(String, String)] = [], from address: AdministrationAddress, as type: Value.Type = Value.self
    ) async throws -> Value {
        let request = AdministrationRequest(path: path, parameters: parameters.map { .init($0.0, $0.1) })
        let answer = try await AdministrationClient.get(request, from: address)
        #expect(answer.status == 200, "\(answer.body)")
        return try InspectionJSON.read(answer.body)
    }

    @Test("a watcher is found on its shard, and explained down to the rows of the tables") func explains() async throws {
        try await Self.withGateway { address, _ in
            let list: InspectionPage<SubscriptionReport> = try await Self.get("/subscriptions", from: address)
            #expect(list.rows.map(\.watcher) == [Self.bob])
            #expect(list.rows.map(\.presentity) == [Self.alice])
            #expect(list.next == nil)
            let presentities: InspectionPage<PresentityReport> = try await Self.get(
                "/presentities", [("state", "published")], from: address)
            #expect(presentities.rows.map(\.presentity) == [Self.alice])
            #expect(presentities.rows.first?.watchers == 1)
            let explanation: Explanation = try await Self.get(
                "/explain", [("watcher", Self.bob), ("presentity", "alice@example.org"), ("body", "true")], from: address)
            let only = try #require(explanation.subscriptions.first)
            #expect(explanation.subscriptions.count == 1)
            #expect(only.view.origin == .pidf)
            #expect(only.view.rows.contains { $0.table == "rpid-to-availability" })
            #expect(only.body?.contains("<availability>3500</availability>") == true)
            let text = ExplanationText(explanation, at: .wallClock()).text
            #expect(text.hasPrefix("\(Self.bob) (enterprise, federated) watches \(Self.alice) (simple, hosted here)\n\n"))
            for line in [
                "route         answered here: example.org is configured and hosted here\n", "has           exactly what is known now\n",
                "presence      PIDF published here\n", "rpid-to-availability", "<availability>3500</availability>",
            ] {
                #expect(text.contains(line), "\(line) in:\n\(text)")
            }
            let journal: [JournalEntry] = try await Self.get("/journal", [("call-id", "none")], from: address)
            #expect(journal.isEmpty)
        }
    }

    @Test("questions that make no sense are 400 with the parameter and what it may be, and other pages are 404")
    func badQuestions() async throws {
        try await Self.withGateway { address, _ in
            for (target, status, text) in [
                ("/explain?watcher=sip:a@example.org", 400, "presentity: is missing"),
                ("/explain?watcher=example.org&presentity=b@example.org", 400, "watcher: \\\"example.org\\\" is no address of a user"),
                ("/subscriptions?limit=0", 400, "limit: must be a whole number from 1 to 1000"),
                ("/subscriptions?state=happy", 400, "state: must be one of active, pending, polling, away, ending"),
                ("/subscriptions?watchers=x", 400, "watchers: unknown parameter; known here: watcher, presentity, domain, state"),
                ("/subscriptions?limit=1&limit=2", 400, "limit: is given more than once"),
                ("/presentities?watcher=a@example.org", 400, "watcher: unknown parameter"),
                ("/explain?watcher=a@example.org&presentity=b@example.org&body=yes", 400, "body: must be true or false"),
                ("/journal", 400, "call-id: is missing"), ("/nothing", 404, "there are /health"),
            ] {
                let request = try #require(AdministrationRequest(target: target))
                let answer = try await AdministrationClient.get(request, from: address)
                #expect(answer.status == status)
                #expect(answer.body.contains(text), "\(answer.body)")
            }
        }
    }

    @Test("exit codes: 0 answered, 1 refused, 2 usage, 3 nobody there") func exitCodes() async throws {
        try await Self.withGateway { address, file in
            let admin = ["--admin", address.description]
            #expect(await Isthmus.run(["explain", Self.bob, Self.alice] + admin) == 0)
            #expect(await Isthmus.run(["explain", Self.bob, Self.alice, "--config", file, "--json"]) == 0)
            #expect(await Isthmus.run(["explain", "--call-id", "none"] + admin) == 0)
            #expect(await Isthmus.run(["subscriptions", "--config", file, "--watcher", "bob@contoso.com", "--state", "active"]) == 0)
            #expect(await Isthmus.run(["presentities", "--domain", "example.org", "--json"] + admin) == 0)
            #expect(await Isthmus.run(["explain", "nobody", Self.alice] + admin) == 1)
            #expect(await Isthmus.run(["explain", Self.bob] + admin) == 2)
            #expect(await Isthmus.run(["subscriptions"]) == 2)
            #expect(await Isthmus.run(["subscriptions", "--limit", "0"] + admin) == 2)
            #expect(await Isthmus.run(["subscriptions", "--state", "happy"] + admin) == 2)
            #expect(await Isthmus.run(["subscriptions", "--admin", "tcp:127.0.0.1:1"]) == 2)
            #expect(await Isthmus.run(["subscriptions", "--admin", "unix:\(file).sock"]) == 3)
            #expect(await Isthmus.run(["subscriptions", "--admin", "http://127.0.0.1:1"]) == 3)
        }
        let closed = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-\(UUID().uuidString).yaml").path
        try Data(RunningGatewayTests.yaml().utf8).write(to: URL(fileURLWithPath: closed))
        defer { try? FileManager.default.removeItem(atPath: closed) }
        // Its listener shows no subscriptions.
        #expect(await Isthmus.run(["subscriptions", "--config", closed]) == 1)
    }

    @Test("the page of metrics has every table's entries beside its limit") func tables() async throws {
        try await Self.withGateway { address, _ in
            let page = try await AdministrationClient.get(.init(path: "/metrics"), from: address).body
            #expect(page.contains("isthmus_table_entries{table=\"subscriptions\"} 1\n"))
            #expect(page.contains("isthmus_table_limit{table=\"subscriptions\"} 400000\n"))
            #expect(page.contains("isthmus_table_limit{table=\"presentities\"} 400000\n"))
            for (table, limit) in [("watched_resources", 2_000_000), ("upstream_subscriptions", 800_000), ("publication_bridges", 200_000)]
            {
                #expect(page.contains("isthmus_table_limit{table=\"\(table)\"} \(limit)\n"))
            }
            #expect(page.contains("isthmus_table_entries{table=\"watched_resources\"} 1\n"))
            #expect(page.contains("isthmus_table_entries{table=\"pending_output\"} 0\n"))
            #expect(page.contains("isthmus_tls_handshakes 0\n"))
        }
    }

    @Test("addresses of a listener as they are written on a command line") func addresses() {
        for (text, address) in [
            ("http://127.0.0.1:8080", AdministrationAddress.http(host: "127.0.0.1", port: 8080)),
            ("http://localhost:8080/", .http(host: "localhost", port: 8080)), ("http:127.0.0.1:8080", .http(host: "127.0.0.1", port: 8080)),
            ("http:[::1]:80", .http(host: "::1", port: 80)), ("unix:./a.sock", .socket("./a.sock")),
        ] {
            #expect(AdministrationAddress(argument: text) == address, "\(text)")
        }
        for bad in ["", "unix:", "127.0.0.1:8080", "https://a:1", "http://a", "http://a:0", "http://a:1/x", "http://u@a:1"] {
            #expect(AdministrationAddress(argument: bad) == nil, "\(bad)")
        }
    }
}
