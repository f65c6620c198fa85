import Foundation
import FoundationNetworking
import GRDB
import SIPCore
import SIPTransport
import Testing

@testable import GatewayService
@testable import isthmus

@Suite(.timeLimit(.minutes(10))) struct StoreHealthTests {
    @Test("GET /health is 503 and not ok while the store refuses changes, and ok again when it keeps them")
    func health() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-health-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("isthmus.db").path
        let text = """
            listen: [ { address: "tcp:127.0.0.1:0", authentication: none } ]
            domains: { example.org: { side: simple, hosted: true, unruled: allow } }
            store: { sqlite: "\(path)" }
            admin: { http: "127.0.0.1:0" }
            """
        let gateway = try await RunningGateway.start(try ConfigurationReader.read(text, file: "x"), logger: RunningGatewayTests.quiet)
        let tcp = gateway.server.listeners[0]
        let page = try #require(URL(string: gateway.addresses[1].replacingOccurrences(of: "http:", with: "http://") + "/health"))
        func health(_ part: String = "") async throws -> (status: Int?, text: String) {
            let (data, response) = try await URLSession.shared.data(from: part.isEmpty ? page : page.appendingPathComponent(part))
            return ((response as? HTTPURLResponse)?.statusCode, String(decoding: data, as: UTF8.self))
        }
        #expect(try await RunningGatewayTests.publish(tcp) == 200)
        #expect(try await health().status == 200)
        #expect(try await health("ready") == (200, "{\"ready\":true,\"reasons\":[]}\n"))

        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
        #expect(try await RunningGatewayTests.publish(tcp) == 503)
        let ill = try await health()
        #expect(ill.status == 503)
        #expect(ill.text.contains("\"status\":\"store failing\""), "\(ill.text)")
        #expect(try await health("ready") == (503, "{\"ready\":false,\"reasons\":[\"store: the last commit failed\"]}\n"))
        // The loops turn, and a restart would not help.
        #expect(try await health("live") == (200, "{\"live\":true}\n"))

        try await other.writeWithoutTransaction { try $0.commit() }
        // Refused during the store's pause of one second.
        while try await RunningGatewayTests.publish(tcp) == 503 {}
        let well = try await health()
        #expect(well.status == 200)
        #expect(well.text.contains("\"status\":\"ok\""), "\(well.text)")
        await gateway.stop(drain: .seconds(1))
    }
}
