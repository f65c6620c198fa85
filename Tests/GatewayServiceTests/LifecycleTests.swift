import Foundation
import FoundationNetworking
import GatewayService
import Logging
import SIPCore
import Testing

/// The gateway in a program that is not the command line: only what other modules see is used.
@Suite(.timeLimit(.minutes(10))) struct LifecycleTests {
    /// Passes each record on as one line.
    private struct LineHandler: LogHandler {
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        let show: @Sendable (String) -> Void

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { show("\(event.message) \(event.metadata ?? [:])") }
    }

    private static func configuration(partner: String) -> String {
        """
        node: { name: test.example.net }
        listen: [ { address: "tcp:127.0.0.1:0", authentication: none } ]
        domains: { \(partner): { side: enterprise, route: "udp:127.0.0.1:9" } }
        admin: { http: "127.0.0.1:0", inspect: true }
        """
    }

    @Test("a gateway starts, takes over a reloaded configuration, keeps it when the next one has a mistake, and stops on request")
    func lifecycle() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-life-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("isthmus.yaml")
        try Data(Self.configuration(partner: "fabrikam.com").utf8).write(to: file)

        let (signals, signal) = AsyncStream.makeStream(of: ProcessSignal.self)
        let (ready, isReady) = AsyncStream.makeStream(of: [String].self)
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let path = file.path
        let running = Task {
            defer { isReady.finish() }
            let logger = Logger(label: "test") { _ in LineHandler { line.yield($0) } }
            try await RunningGateway.run(
                logger: logger, signals: signals, drain: .seconds(1),
                reading: { () throws(ServiceFailure) in try ConfigurationReader.read(file: path) }, ready: { isReady.yield($0) })
        }
        var log = lines.makeAsyncIterator()
        func next(_ part: String) async -> String {
            while let line = await log.next() { if line.contains(part) { return line } }
            return ""
        }
        var addresses: [String] = []
        for await found in ready {
            addresses = found
            break
        }
        try #require(addresses.count == 2)
        let page = try #require(URL(string: addresses[1].replacingOccurrences(of: "http:", with: "http://") + "/partners"))
        func partners() async throws -> String { String(decoding: try await URLSession.shared.data(from: page).0, as: UTF8.self) }
        #expect(try await partners().contains("fabrikam.com"))

        try Data(Self.configuration(partner: "contoso.com").utf8).write(to: file)
        signal.yield(.reload)
        #expect(await next("configuration").hasPrefix("configuration reloaded"))
        let reloaded = try await partners()
        #expect(reloaded.contains("contoso.com") && !reloaded.contains("fabrikam.com"), "\(reloaded)")

        try Data("listen: []\n".utf8).write(to: file)
        signal.yield(.reload)
        let problem = await next("configuration")
        #expect(problem.hasPrefix("configuration not reloaded") && problem.contains("isthmus.yaml:1:"), "\(problem)")
        #expect(try await partners() == reloaded)

        signal.yield(.stop)
        try await running.value
        await #expect(throws: URLError.self) { try await partners() }
    }

    @Test("a configuration with a mistake ends the start with one line per mistake")
    func mistake() async throws {
        let failure = await #expect(throws: ServiceFailure.self) {
            try await RunningGateway.run(
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, signals: AsyncStream { $0.finish() }, drain: .zero,
                reading: { () throws(ServiceFailure) in try ConfigurationReader.read(file: "/no/such/isthmus.yaml") },
                ready: { _ in Issue.record("a gateway without a configuration is not ready") })
        }
        #expect(failure?.lines == ["/no/such/isthmus.yaml: No such file or directory"])
    }
}
