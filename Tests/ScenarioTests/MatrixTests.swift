import Foundation
import GatewayTesting
import Testing

/// Watchers of every format, sources of every form, and what happens meanwhile: each cell is played or says why not.
@Suite("Who watches whom") struct MatrixTests {
    @Test("is a conversation that ends as expected", arguments: MatrixCell.all.filter { $0.standing == .conversation })
    func cell(_ cell: MatrixCell) async throws {
        try await cell.play()
    }

    @Test("every cell of the matrix is there once, with a conversation or a reason")
    func whole() {
        let count = MatrixWatcher.allCases.count * MatrixSource.allCases.count * MatrixEvent.allCases.count
        #expect(Set(MatrixCell.all).count == count && MatrixCell.all.count == count)
        for case .meaningless(let reason) in MatrixCell.all.map(\.standing) { #expect(reason.count > 20) }
    }

    @Test("docs/matrix.md names every cell; ISTHMUS_WRITE_MATRIX=1 writes it")
    func document() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("docs/matrix.md")
        if ProcessInfo.processInfo.environment["ISTHMUS_WRITE_MATRIX"] != nil {
            try Data(MatrixCell.document.utf8).write(to: file)
            Issue.record("docs/matrix.md was written; run again without ISTHMUS_WRITE_MATRIX")
            return
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == MatrixCell.document)
    }
}
