import Administration
import Foundation
import SIPCore
import SIPTransport
import Testing

@testable import GatewayService

@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
    @Test("exposition format 0.0.4: the buckets of a histogram are cumulative, and the last one is its count")
    func histogram() {
        let metric = Metric(
            "isthmus_x_seconds", help: "h",
            distributions: [.init(["leg": "a"], bounds: [0.5, 1], counts: [2, 0, 3], sum: 7.5)])
        #expect(
            Metric.text([metric]) == """
                # HELP isthmus_x_seconds h
                # TYPE isthmus_x_seconds histogram
                isthmus_x_seconds_bucket{le="0.5",leg="a"} 2
                isthmus_x_seconds_bucket{le="1",leg="a"} 2
                isthmus_x_seconds_bucket{le="+Inf",leg="a"} 5
                isthmus_x_seconds_sum{leg="a"} 7.5
                isthmus_x_seconds_count{leg="a"} 5

                """)
    }

    @Test("every metric has a sentence of its own, a counter's name ends in _total, and no other's does")
    func sentences() async throws {
        let page = try await Self.page()
        var names: [String: String] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("# HELP ") {
            let (name, help) = try #require(line.dropFirst(7).splitOnce(" "))
            #expect(help.hasSuffix("."), "\(line)")
            #expect(names.updateValue(help, forKey: name) == nil, "\(name) is there twice")
        }
        #expect(names.count > 100)
        let repeated = Dictionary(grouping: names.keys.sorted()) { names[$0] ?? "" }.values.filter { $0.count > 1 }
        #expect(repeated.isEmpty)
        for line in page.split(separator: "\n") where line.hasPrefix("# TYPE ") {
            let (name, kind) = try #require(line.dropFirst(7).splitOnce(" "))
            #expect(name.hasSuffix("_total") == (kind == "counter"), "\(line)")
        }
    }

    @Test("a stored change counts as a commit of some duration, and the loops' turns as delays")
    func durations() async throws {
        let page = try await Self.page(publishing: true)
        func value(_ name: String) -> Double? {
            page.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
        }
        #expect(try #require(value("isthmus_commit_seconds_count")) >= 1)
        #expect(value("isthmus_commit_seconds_bucket{le=\"+Inf\"}") == value("isthmus_commit_seconds_count"))
        #expect(try #require(value("isthmus_commit_seconds_sum")) > 0)
        #expect(try #require(value("isthmus_loop_lateness_seconds_count")) >= 1)
        #expect(try #require(value("process_resident_memory_bytes")) > 1_000_000)
        #expect(try #require(value("process_open_fds")) > 3)
        #expect(try #require(value("process_cpu_seconds_total")) > 0)
    }

    @Test("proc(5): the figures of the process are read behind its name, which may contain spaces and parentheses")
    func processFigures() throws {
        let status = "7 (a b) c) S 1 7 7 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 4 0 2000 1000000 25 18446744073709551615 1 1"
        let figures = try #require(
            ProcessFigures(status: status, system: "cpu 1\nbtime 1000\n", ticksPerSecond: 100, pageOctets: 4_096, descriptors: 9))
        #expect(figures.processorSeconds == 2)
        #expect(figures.startSeconds == 1_020)
        #expect(figures.virtualOctets == 1_000_000)
        #expect(figures.residentOctets == 25 * 4_096)
        #expect(ProcessFigures(status: "7 (x", system: "btime 1\n", ticksPerSecond: 100, pageOctets: 1, descriptors: 0) == nil)
        #expect(ProcessFigures(status: status, system: "cpu", ticksPerSecond: 100, pageOctets: 1, descriptors: 0) == nil)
    }

    /// The page of metrics of a gateway with a store.
    private static func page(publishing: Bool = false) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-metrics-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = """
            listen: [ { address: "tcp:127.0.0.1:0", authentication: none } ]
            domains: { example.org: { side: simple, hosted: true } }
            store: { sqlite: "\(folder.path)/isthmus.db" }
            """
        let gateway = try await RunningGateway.start(try ConfigurationReader.read(text, file: "x"), logger: RunningGatewayTests.quiet)
        if publishing { #expect(try await RunningGatewayTests.publish(gateway.server.listeners[0]) == 200) }
        let page = Metric.text(await gateway.pages.metrics())
        await gateway.stop(drain: .seconds(1))
        return page
    }
}

extension Substring {
    /// The parts before and after the first separator; nil: there is none.
    fileprivate func splitOnce(_ separator: Character) -> (String, String)? {
        guard let index = firstIndex(of: separator) else { return nil }
        return (String(self[..<index]), String(self[self.index(after: index)...]))
    }
}
