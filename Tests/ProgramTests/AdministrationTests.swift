import Administration
import Foundation
import FoundationNetworking
import Logging
import Testing

@Suite(.timeLimit(.minutes(1))) struct AdministrationTests {
    @Test("health and metrics answer GET and nothing else") func pages() async throws {
        let sources = AdministrationServer.Sources(
            health: {
                HealthReport(
                    status: .ok, node: "n\"1", version: "1", uptimeSeconds: 3, listeners: ["udp:a:1"], counts: ["watcher_dialogs": 2])
            },
            metrics: { [Metric("isthmus_x_total", .counter, help: "h", samples: [.init(1.5, ["leg": "a\"b"]), .init(7)])] })
        let server = try await AdministrationServer.start(
            host: "127.0.0.1", port: 0, sources: sources, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        func get(_ path: String) async throws -> (Int, String) {
            let url = URL(string: "http://127.0.0.1:\(server.port)\(path)")!
            let (data, response) = try await URLSession.shared.data(from: url)
            return ((response as! HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))
        }
        let health = try await get("/health?x=1")
        #expect(health.0 == 200)
        #expect(
            health.1 == "{\"status\":\"ok\",\"node\":\"n\\\"1\",\"version\":\"1\",\"uptime_seconds\":3,"
                + "\"listeners\":[\"udp:a:1\"],\"counts\":{\"watcher_dialogs\":2}}\n")
        let metrics = try await get("/metrics")
        #expect(
            metrics.1
                == "# HELP isthmus_x_total h\n# TYPE isthmus_x_total counter\nisthmus_x_total{leg=\"a\\\"b\"} 1.5\nisthmus_x_total 7\n")
        #expect(try await get("/other").0 == 404)
        await server.stop()
    }
}
