import FederationRouting
import Foundation
import SIPCore
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

    @Test("check warns of private keys and users that others can read, and names key, file and mode")
    func exposedSecrets() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-secrets-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        func place(_ name: String, _ mode: Int) throws -> String {
            let path = directory.appendingPathComponent(name).path
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            return path
        }
        var configuration = ProgramConfiguration()
        configuration.tls = TLSFiles(own: .init(certificate: try place("own.pem", 0o644), key: try place("own.key", 0o644)))
        configuration.tls?.names = [
            "b.example.net": .init(certificate: try place("b.pem", 0o644), key: try place("b.key", 0o600)),
            "a.example.net": .init(certificate: try place("a.pem", 0o644), key: try place("a.key", 0o640)),
        ]
        configuration.directory = .file(try place("users.yaml", 0o606))
        let found = ExposedSecrets.warnings(of: configuration)
        #expect(
            found == [
                "tls.key: \(directory.path)/own.key: every user can read or change it (mode 0644); make it 0600",
                "tls.names.a.example.net.key: \(directory.path)/a.key: its group can read or change it (mode 0640); make it 0600",
                "directory.file: \(directory.path)/users.yaml: every user can read or change it (mode 0606); make it 0600",
            ])
    }

    @Test(
        "a route names the entry that decided",
        arguments: [
            ("sip:a@contoso.com", "local (enterprise): contoso.com is configured and hosted here"),
            (
                "sip:a@EXAMPLE.org",
                "udp:127.0.0.1:5080 (simple, federated): example.org is configured with the route udp:127.0.0.1:5080"
            ),
            ("pres:a@www.example.net", "refused 403: www.example.net is covered by \"*\" and refused"),
        ])
    func route(uri: String, expected: String) throws {
        let table = try ConfigurationReader.read(ConfigurationReaderTests.example, file: "x.yaml").routingTable
        let parsed = try #require(SIPURI(uri))
        #expect(table.decide(parsed).description == expected)
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
