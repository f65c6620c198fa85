import Foundation
import Testing

@testable import isthmus

@Suite struct CommandLineTests {
    @Test("usage mistakes end with 2, refused input with 1, help with 0") func exitCodes() async {
        #expect(await Isthmus.run(["no-such-command"]) == 2)
        #expect(await Isthmus.run(["check"]) == 2)
        #expect(await Isthmus.run(["check", "--config", "/no/such/file.yaml"]) == 1)
        #expect(await Isthmus.run(["serve", "--config", "x", "--drain", "-3"]) == 2)
        #expect(await Isthmus.run(["--version"]) == 0)
        #expect(await Isthmus.run(["check", "--help"]) == 0)
    }

    @Test("check looks whether the store could be opened, and makes none") func checkStore() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-check-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let configuration = directory.appendingPathComponent("isthmus.yaml")
        func check(_ store: String) async throws -> Int32 {
            let text = "listen: [ \"udp:127.0.0.1:0\" ]\ndomains: { a: { refuse: 403 } }\nstore: { sqlite: \"\(store)\" }\n"
            try Data(text.utf8).write(to: configuration)
            return await Isthmus.run(["check", "--config", configuration.path])
        }
        let place = directory.appendingPathComponent("isthmus.db").path
        #expect(try await check(place) == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["isthmus.yaml"])
        #expect(try await check(directory.appendingPathComponent("none/isthmus.db").path) == 1)
        try Data(repeating: 0x2A, count: 4_096).write(to: URL(fileURLWithPath: place))
        #expect(try await check(place) == 1)
    }

    @Test("log lines quote what needs quotes, in both forms") func logLines() {
        let fields = [(key: "call-id", value: "a b=\"c\""), (key: "leg", value: "simple")]
        #expect(
            StructuredLogHandler.line(time: "T", level: "info", message: "watcher refused", fields: fields, format: .logfmt)
                == "time=T level=info msg=\"watcher refused\" call-id=\"a b=\\\"c\\\"\" leg=simple\n")
        #expect(
            StructuredLogHandler.line(time: "T", level: "info", message: "m\n", fields: fields, format: .json)
                == "{\"time\":\"T\",\"level\":\"info\",\"msg\":\"m\\n\",\"call-id\":\"a b=\\\"c\\\"\",\"leg\":\"simple\"}\n")
    }
}
