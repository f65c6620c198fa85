import Foundation
import GoldenVectors
import PresenceMapping
import Testing

/// The golden vectors of `Vectors/`, each as a test of its own; the files are the tests, see `Vectors/README.md`.
@Suite("Golden vectors") struct VectorSuiteTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Vectors")
    static let report = VectorRunner.run(root.path)

    @Test("there are vectors in every suite", arguments: VectorLoader.suites)
    func notEmpty(_ suite: String) {
        #expect(Self.report.results.contains { $0.id.hasPrefix(suite + "/") })
    }

    @Test("vector", arguments: report.results)
    func vector(_ result: VectorResult) {
        if case .failed(let message) = result.outcome { Issue.record("\(result.id): \(message)") }
    }

    @Test("the last line counts")
    func summary() throws {
        let last = try #require(Self.report.text.split(separator: "\n").last)
        #expect(last == "\(Self.report.passed) passed, \(Self.report.failed) failed, \(Self.report.skipped) skipped")
    }
}
