import Foundation
import Testing

@testable import isthmus

@Suite struct ConvertCommandTests {
    /// Temporary directory, removed at the end.
    final class Scratch {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-\(UUID().uuidString)").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        }

        func read(_ name: String) -> String? {
            FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
        }
    }

    static let pidf = """
        <presence xmlns="urn:ietf:params:xml:ns:pidf" entity="sip:a@example.org"><tuple id="t"><status><basic>open</basic></status></tuple></presence>
        """

    @Test("a directory goes on past bad files and ends with 1") func directory() async throws {
        let scratch = try Scratch()
        try scratch.write(Self.pidf, "good.xml")
        try scratch.write("<presence", "bad.xml")
        try scratch.write(Self.pidf, "good2.xml")
        try scratch.write("not a document", "notes.txt")
        let code = await Isthmus.run([
            "convert", "--from", "pidf", "--to", "msrtc", "--report", "none", "--out", "\(scratch.path)/out", scratch.path,
        ])
        #expect(code == 1)
        #expect(scratch.read("out/good.xml")?.contains("<presentity") == true)
        #expect(scratch.read("out/good2.xml")?.contains("<presentity") == true)
        #expect(scratch.read("out/bad.xml") == nil)
        #expect(scratch.read("out/notes.txt") == nil)
    }

    @Test("several files without --out, a result over its source, and two results of one name are usage mistakes")
    func usage() async throws {
        let scratch = try Scratch()
        try scratch.write(Self.pidf, "a.xml")
        try FileManager.default.createDirectory(atPath: "\(scratch.path)/b", withIntermediateDirectories: true)
        try scratch.write(Self.pidf, "b/a.xml")
        let convert = ["convert", "--from", "pidf", "--to", "msrtc"]
        #expect(await Isthmus.run(convert + ["\(scratch.path)/a.xml", "\(scratch.path)/b/a.xml"]) == 2)
        #expect(await Isthmus.run(convert + [scratch.path]) == 2)
        #expect(await Isthmus.run(convert + ["--out", scratch.path, "\(scratch.path)/a.xml"]) == 2)
        #expect(await Isthmus.run(convert + ["--out", "\(scratch.path)/o", "\(scratch.path)/a.xml", "\(scratch.path)/b/a.xml"]) == 2)
        #expect(scratch.read("a.xml") == Self.pidf)
    }

    @Test("a flawed part is left out and the rest converted; with --strict it refuses the document, as before")
    func strictness() async throws {
        let scratch = try Scratch()
        let flawed = Self.pidf.replacing(
            "</status>", with: "</status><contact priority=\"0.800000\">sip:a@example.org</contact><timestamp/>")
        try scratch.write(flawed, "a.xml")
        let convert = ["convert", "--from", "pidf", "--to", "msrtc", "--out", "\(scratch.path)/o", "\(scratch.path)/a.xml"]
        #expect(await Isthmus.run(convert + ["--strict"]) == 1)
        #expect(scratch.read("o/a.xml") == nil)
        #expect(await Isthmus.run(convert) == 0)
        #expect(scratch.read("o/a.xml")?.contains("<presentity") == true)
    }

    @Test("a document without an owner asks for --entity") func entity() async throws {
        let scratch = try Scratch()
        try scratch.write(
            "<legacyInterop xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" availability=\"3500\"/>", "a.xml")
        let convert = ["convert", "--report", "none", "--from", "legacy-interop", "--to", "pidf", "--out", "\(scratch.path)/o"]
        #expect(await Isthmus.run(convert + ["\(scratch.path)/a.xml"]) == 1)
        #expect(await Isthmus.run(convert + ["--entity", "sip:b@contoso.com", "\(scratch.path)/a.xml"]) == 0)
        #expect(scratch.read("o/a.xml")?.contains("entity=\"sip:b@contoso.com\"") == true)
    }

    @Test("publish tells PIDF from category publications and names anything else") func publishKinds() throws {
        #expect(try !PublishCommand.isCategoryPublication(Array(Self.pidf.utf8), file: "a"))
        let publication = "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"/>"
        #expect(try PublishCommand.isCategoryPublication(Array(publication.utf8), file: "a"))
        let other = #expect(throws: CommandFailure.self) { try PublishCommand.isCategoryPublication(Array("<a/>".utf8), file: "a") }
        #expect(other?.lines.first?.hasPrefix("a:1:1: <a> is neither") == true)
        let broken = #expect(throws: CommandFailure.self) { try PublishCommand.isCategoryPublication(Array("<a".utf8), file: "a") }
        #expect(broken?.lines.first?.hasPrefix("a:1:") == true)
    }
}
