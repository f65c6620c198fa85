import SIPCore
import SIPTransport
import Testing

@testable import GatewayService

struct CaptureConfigurationTests {
    private func read(_ capture: String) throws -> ProgramConfiguration {
        try ConfigurationReader.read(
            "listen: [ \"udp:127.0.0.1:5060\" ]\ndomains: { a.example: { refuse: 403 } }\ncapture: \(capture)", file: "x.yaml")
    }

    @Test("a capture server is configured by address, number and password") func whole() throws {
        let options = try read("{ hep: \"udp:192.0.2.9:9060\", agent: 7, password: secret }").transport.capture
        #expect(options == CaptureOptions(collector: TransportAddress(.udp, "192.0.2.9", 9060), agent: 7, password: "secret"))
    }

    @Test(
        "what is wrong with a capture server is named by key and rule",
        arguments: [
            ("{ agent: 7 }", "`hep` is missing"), ("{ hep: \"tcp:192.0.2.9:9060\" }", "must be udp:HOST:PORT with a port"),
            ("{ hep: \"udp:192.0.2.9:0\" }", "must be udp:HOST:PORT with a port"),
            ("{ hep: \"udp:192.0.2.9:9060\", agent: -1 }", "whole number from 0 to 4294967295"), ("{ udp: x }", "udp"),
        ]) func mistakes(text: String, rule: String) throws
    {
        let error = #expect(throws: ConfigurationError.self) { _ = try read(text) }
        #expect(error.map { "\($0)" }?.contains(rule) == true, "\(String(describing: error))")
    }
}
