import Foundation
import GatewayTesting
import Testing

/// Watchers of every format, sources of every form, and what happens meanwhile: each cell is played or says why not.
@Suite("Who watches whom") struct MatrixTests {
    @Test("is a conversation that ends as expected", arguments: MatrixCell.all.filter { $0.standing == .conversation })
    func cell(_ cell: MatrixCell) async throws {
        try await cell.play()
    }

    @Test("every format and every form is played through every event", arguments: MatrixEvent.allCases)
    func whole(event: MatrixEvent) {
        let played = MatrixCell.all.filter { $0.event == event && $0.standing == .conversation }
        #expect(Set(played.map(\.watcher)) == Set(MatrixWatcher.allCases))
        #expect(Set(played.map(\.source)) == Set(MatrixSource.allCases))
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
