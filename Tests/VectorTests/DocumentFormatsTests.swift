import Foundation
import GoldenVectors
import Testing

/// The list of documents that vectors and fuzz targets go through.
@Suite("Document formats") struct DocumentFormatsTests {
    private static let root = VectorSuiteTests.root.deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("every document of PresenceDocuments has a codec, and with it vectors and a fuzz target")
    func complete() throws {
        let codecs = try Self.text("Sources/GoldenVectors/DocumentFormats.swift")
        let folder = Self.root.appendingPathComponent("Sources/PresenceDocuments")
        let sources = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var documents: [String] = []
        for case let file as URL in sources where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            documents += source.matches(of: /extension (\w+): (?:MSRTCDocument|PresenceDocument)\b/).map { String($0.output.1) }
        }
        #expect(documents.count >= 33)
        for document in documents { #expect(codecs.contains(" \(document)"), "\(document) has no codec") }
    }

    @Test("Vectors/README.md names every document format", arguments: DocumentFormats.codecs.keys.sorted())
    func documented(_ name: String) throws {
        #expect(try Self.text("Vectors/README.md").contains("`\(name)`"))
    }
}
