import Administration
import Foundation
import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Testing
import ThrowAwayCertificates

@testable import GatewayService
@testable import isthmus

/// `check --probe` with partners on real sockets: over TCP and TLS, unreachable ones, and ones with wrong certificates.
@Suite(.timeLimit(.minutes(10))) struct ProbeTests {
    /// Runs a partner with the certificates of contoso.com, in a temporary folder.
    private static func withPartner(_ body: (_ folder: URL, _ tls: Int, _ tcp: Int) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-probe-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try ThrowAwayCertificates.partners.make(in: folder)
        let text = """
            node: { name: edge.contoso.com }
            listen: [ { address: "tls:127.0.0.1:0", authentication: none }, { address: "tcp:127.0.0.1:0", authentication: none } ]
            tls: { certificate: contoso.pem, key: contoso.key, trust: authority.pem }
            domains: { contoso.com: { side: enterprise, hosted: true } }
            """
        let partner = try await RunningGateway.start(
            try ConfigurationReader.read(text, file: folder.appendingPathComponent("partner.yaml").path), logger: RunningGatewayTests.quiet)
        try await body(folder, partner.server.listeners[0].port, partner.server.listeners[1].port)
        await partner.stop(drain: .zero)
    }

    /// Writes a configuration file in that folder.
    private static func file(_ domains: [String], showing own: String = "example", top: String = "", in folder: URL) throws -> String {
        let text = """
            node: { name: edge.example.net }
            listen: [ { address: "tls:127.0.0.1:0", authentication: none } ]
            tls: { certificate: \(own).pem, key: \(own).key, trust: authority.pem }
            \(top)
            domains:
              example.net: { side: simple, hosted: true, unruled: allow }
              \(domains.joined(separator: "\n  "))
            """
        let path = folder.appendingPathComponent("probe-\(UUID().uuidString.prefix(8)).yaml").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func reports(_ file: String) async throws -> [ProbeReport] {
        let configuration = try ConfigurationReader.read(file: file)
        let settings = try configuration.tls?.load(at: HostClock().now())
        var reports: [ProbeReport] = []
        try await PartnerProbe(configuration: configuration, settings: settings, timeout: .seconds(20)).run { reports.append($0) }
        return reports
    }

    @Test("each server of each partner has its line: up with its certificate, or down with the diagnosis of docs/tls.md")
    func verdicts() async throws {
        try await Self.withPartner { folder, tls, tcp in
            let file = try Self.file(
                [
                    "clear.example.com: { side: simple, route: \"tcp:127.0.0.1:\(tcp)\" }",
                    "contoso.com: { side: simple, route: \"tls:127.0.0.1:\(tls)\" }",
                    "dead.example.com: { side: simple, route: \"tcp:127.0.0.1:1\" }",
                    "fabrikam.com: { side: simple, route: \"tls:127.0.0.1:\(tls)\" }",
                    "several.example.com: { side: simple, routes: [ { to: \"tcp:127.0.0.1:1\", priority: 1 }, "
                        + "{ to: \"tcp:127.0.0.1:\(tcp)\", priority: 2 } ], users: { \"lab-*\": { route: \"tcp:127.0.0.1:1\" } } }",
                    "blocked.example.com: { refuse: 403 }",
                    "\"*\": { side: simple, discover: true }",
                ], in: folder)
            let reports = try await Self.reports(file)
            #expect(
                reports.map(\.name) == [
                    "clear.example.com", "contoso.com", "dead.example.com", "fabrikam.com", "several.example.com",
                    "lab-*@several.example.com",
                ])
            #expect(reports.map(\.isUp) == [true, true, false, false, true, false])
            #expect(reports[0].text.hasPrefix("clear.example.com tcp:127.0.0.1:\(tcp) up 200 in "))
            #expect(reports[1].text.hasPrefix("contoso.com tls:127.0.0.1:\(tls) up 200 in "))
            #expect(
                reports[1].text.contains("certificate CN=sip.contoso.com (sip:contoso.com, sip.contoso.com) by CN=Throw-away authority"))
            #expect(reports[1].text.hasSuffix("until 2199-12-31\n"))
            #expect(reports[2].text == "dead.example.com tcp:127.0.0.1:1 down: Connection refused\n")
            #expect(reports[3].text.contains("down: TLS: refused here: the certificate proves other names"))
            #expect(reports[3].text.contains("expected fabrikam.com; certificate CN=sip.contoso.com"))
            #expect(reports[3].servers[0].certificate == nil)
            #expect(reports[4].servers.map(\.isUp) == [false, true])
            #expect(await Isthmus.run(["check", "--config", file, "--probe", "--timeout", "20"]) == 1)
            #expect(await Isthmus.run(["check", "--config", file]) == 0)
        }
    }

    @Test("a partner that refuses our certificate is down, and the line says who refused what; all up is exit code 0")
    func refusedThere() async throws {
        try await Self.withPartner { folder, tls, tcp in
            let domain = "contoso.com: { side: simple, route: \"tls:127.0.0.1:\(tls)\" }"
            let refused = try await Self.reports(try Self.file([domain], showing: "foreign", in: folder))
            #expect(refused[0].text.contains("down: TLS: refused by the peer: "), "\(refused[0].text)")
            let good = try Self.file([domain], in: folder)
            #expect(await Isthmus.run(["check", "--config", good, "--probe", "--timeout", "20"]) == 0)
            #expect(await Isthmus.run(["check", "--config", good, "--probe", "--timeout", "0"]) == 2)
            #expect(await Isthmus.run(["check", "--config", good, "--probe", "--timeout", "61"]) == 2)
        }
    }

    @Test("a certificate that ends within tls.warn-days is warned of, by name and day") func warnings() async throws {
        try await Self.withPartner { folder, tls, _ in
            let report = try await Self.reports(
                try Self.file(["contoso.com: { side: simple, route: \"tls:127.0.0.1:\(tls)\" }"], in: folder))[0]
            let certificate = try #require(report.servers[0].certificate)
            let before = Instant(secondsSince1970: certificate.notAfter - 3 * 86_400)
            #expect(
                report.warnings(within: .seconds(30 * 86_400), at: before) == [
                    "contoso.com: the certificate \(certificate) ends in 3 days, at 2199-12-31T23:59:59Z"
                ])
            #expect(report.warnings(within: .seconds(86_400), at: before).isEmpty)
            let configuration = try ConfigurationReader.read(file: try Self.file(["contoso.com: { refuse: 403 }"], in: folder))
            var settings = try #require(try configuration.tls?.load(at: HostClock().now()))
            settings.names["sip.example.com"] = settings.identity
            let own = settings.identity.chain[0]
            #expect(
                CheckCommand.warnings(of: settings, at: Instant(secondsSince1970: own.notAfter - 3 * 86_400)) == [
                    "tls.certificate: \(own) ends in 3 days, at \(own.endText)",
                    "tls.names.sip.example.com.certificate: \(own) ends in 3 days, at \(own.endText)",
                ])
            #expect(CheckCommand.warnings(of: settings, at: HostClock().now()).isEmpty)
        }
    }

    @Test("a partner that is kept alive over TLS is up in `partners`, with the end of the certificate that it showed") func running()
        async throws
    {
        try await Self.withPartner { folder, tls, _ in
            let socket = folder.appendingPathComponent("a.sock").path
            let file = try Self.file(
                ["contoso.com: { side: simple, route: \"tls:127.0.0.1:\(tls)\", keep-alive: 10 }"],
                top: "admin: { socket: \(socket) }", in: folder)
            let gateway = try await RunningGateway.start(try ConfigurationReader.read(file: file), logger: RunningGatewayTests.quiet)
            let row = try await PartnersTests.rows(from: .socket(socket)) { $0["contoso.com"]?.state == .up }["contoso.com"]
            #expect(row?.certificate?.subject == "CN=sip.contoso.com (sip:contoso.com, sip.contoso.com)")
            #expect(row?.certificate?.notAfter.text == "2199-12-31T23:59:59Z")
            #expect(row?.certificate?.fingerprint.count == 64)
            let metrics = try await AdministrationClient.get(.init(path: "/metrics"), from: .socket(socket)).body
            #expect(metrics.contains("isthmus_partner_certificate_not_after_seconds{partner=\"contoso.com\"} 7258118399\n"))
            await gateway.stop(drain: .zero)
        }
    }

    @Test("servers of a name are found as the gateway finds them, and a partner that cannot be located is down with the reason")
    func located() async throws {
        try await Self.withPartner { folder, _, tcp in
            try Data("127.0.0.1 named.example.com\n".utf8).write(to: folder.appendingPathComponent("hosts"))
            let file = try Self.file(
                [
                    "found.example.com: { side: simple, route: \"tcp:named.example.com:\(tcp)\" }",
                    "lost.example.com: { side: enterprise, discover: true }",
                ],
                top: "dns: { servers: [ \"127.0.0.1:1\" ], timeout-ms: 100, tries: 1, hosts: hosts }", in: folder)
            let reports = try await Self.reports(file)
            #expect(reports.map(\.isUp) == [true, false])
            #expect(reports[0].text.hasPrefix("found.example.com tcp:127.0.0.1:\(tcp) up 200 in "), "\(reports[0].text)")
            #expect(reports[1].text.hasPrefix("lost.example.com down: cannot be located: lost.example.com: "), "\(reports[1].text)")
        }
    }

    @Test("watch and publish speak TLS with the certificates of a configuration, to whoever proves the presentity's domain")
    func clients() async throws {
        try await Self.withPartner { folder, tls, _ in
            let document = folder.appendingPathComponent("bob.xml").path
            try Data(RunningGatewayTests.pidf.replacingOccurrences(of: RunningGatewayTests.alice, with: "sip:bob@contoso.com").utf8)
                .write(to: URL(fileURLWithPath: document))
            func run(_ domain: String, _ command: String, _ extra: [String]) async throws -> Int32 {
                let file = try Self.file(["\(domain): { side: simple, route: \"tls:127.0.0.1:\(tls)\" }"], in: folder)
                return await Isthmus.run([command, "sip:bob@\(domain)", "--via", "tls:127.0.0.1:\(tls)", "--config", file] + extra)
            }
            #expect(try await run("contoso.com", "watch", ["--once"]) == 0)
            #expect(try await run("fabrikam.com", "watch", ["--once"]) == 3, "it does not prove fabrikam.com")
            #expect(try await run("contoso.com", "publish", [document]) == 0)
            #expect(await Isthmus.run(["watch", "sip:bob@contoso.com", "--via", "tls:127.0.0.1:\(tls)"]) == 2)
            #expect(await Isthmus.run(["watch", "sip:bob@contoso.com", "--via", "tcp:127.0.0.1:1", "--config", document]) == 2)
        }
    }
}
