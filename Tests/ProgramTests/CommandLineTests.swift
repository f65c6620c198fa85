import PresenceGateway
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

    @Test(
        "a route names the entry that decided",
        arguments: [
            ("contoso.com", "hosted, enterprise (domains.contoso.com.hosted)"),
            ("EXAMPLE.org", "udp:127.0.0.1:5080, simple, federated (domains.example.org.route)"),
            ("elsewhere.net", "refuse 403 (domains.*.refuse)"),
        ])
    func route(host: String, expected: String) throws {
        let configuration = try ConfigurationReader.read(ConfigurationReaderTests.example, file: "x.yaml").gateway(listeners: [])
        #expect(RouteCommand.decision(host: host, configuration) == expected)
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
