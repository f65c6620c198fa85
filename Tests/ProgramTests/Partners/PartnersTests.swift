import Administration
import FederationRouting
import Foundation
import GatewayTesting
import PresenceGateway
import SIPCore
import SIPTransport
import Testing

@testable import GatewayService
@testable import isthmus

/// `partners`, health and metrics of partners, for a gateway on real sockets.
@Suite(.timeLimit(.minutes(10))) struct PartnersTests {
    private static func start(_ text: String) async throws -> RunningGateway {
        try await RunningGateway.start(try ConfigurationReader.read(text, file: "x.yaml"), logger: RunningGatewayTests.quiet)
    }

    /// Starts a subscription of Bob at the first listener.
    private static func watch(_ presentity: String, at gateway: RunningGateway, seed: UInt64) async throws -> SIPServer {
        let via = gateway.server.listeners[0]
        return try await RunningGatewayTests.client(via) {
            WatchEndpoint(
                presentity: presentity, watcher: "sip:bob@contoso.com", format: .categories, expires: 600, via: via, listeners: $0,
                key: .seeded(seed)
            ) { _ in }
        } start: { endpoint, now in
            endpoint.start(at: now)
        }
    }

    /// Waits until a condition holds for the rows, and returns them.
    static func rows(
        from address: AdministrationAddress, until isThere: ([String: PartnerRow]) -> Bool
    ) async throws -> [String: PartnerRow] {
        while true {
            let page: InspectionPage<PartnerRow> = try await InspectionTests.get("/partners", from: address)
            let rows = Dictionary(uniqueKeysWithValues: page.rows.map { ($0.name, $0) })
            if isThere(rows) { return rows }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test("partners that answer are up, those that do not are down with the reason: on the page, in health and in metrics")
    func running() async throws {
        let home = try await Self.start(RunningGatewayTests.yaml())
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-p-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let socket = folder.appendingPathComponent("a.sock").path
        let text = RunningGatewayTests.yaml(
            example: "{ side: simple, route: \"tcp:127.0.0.1:\(home.server.listeners[1].port)\" }\n  example.com: "
                + "{ side: simple, route: \"tcp:127.0.0.1:1\" }\n  example.net: { side: simple, route: \"tcp:127.0.0.1:1\" }"
        ).replacingOccurrences(of: "admin: {", with: "admin: { socket: \(socket), ")
        let gateway = try await Self.start(text)
        let watchers = [
            try await Self.watch("sip:alice@example.org", at: gateway, seed: 1),
            try await Self.watch("sip:eva@example.com", at: gateway, seed: 2),
        ]
        let rows = try await Self.rows(from: .socket(socket)) {
            $0["example.org"]?.state == .up && $0["example.com"]?.state == .down && ($0["contoso.com"]?.received ?? 0) >= 2
        }
        #expect(rows.keys.sorted() == ["contoso.com", "example.com", "example.net", "example.org"])
        #expect(rows["example.org"]?.roundTripMs != nil)
        #expect(rows["example.org"]?.side == "simple")
        #expect(rows["example.com"]?.lastFailure?.reason == "Connection refused")
        #expect(rows["example.com"]?.since != nil)
        #expect(rows["example.net"]?.state == .unknown)
        #expect(rows["example.net"]?.sent == 0)

        let down: InspectionPage<PartnerRow> = try await InspectionTests.get("/partners", [("state", "down")], from: .socket(socket))
        #expect(down.rows.map(\.name) == ["example.com"])
        let first: InspectionPage<PartnerRow> = try await InspectionTests.get(
            "/partners", [("limit", "1"), ("after", "contoso.com")], from: .socket(socket))
        #expect(first.rows.map(\.name) == ["example.com"])
        #expect(first.next == "example.com")

        let health = try await AdministrationClient.get(.init(path: "/health"), from: .socket(socket))
        #expect(health.status == 200, "a partner's fault is not this node's")
        #expect(health.body.contains("\"name\":\"example.com\",\"state\":\"down\",\"since\":\""))
        #expect(health.body.contains("\"last_error\":\"Connection refused\""))
        let metrics = try await AdministrationClient.get(.init(path: "/metrics"), from: .socket(socket)).body
        #expect(metrics.contains("isthmus_partner_up{partner=\"example.org\"} 1\n"))
        #expect(metrics.contains("isthmus_partner_up{partner=\"example.com\"} 0\n"))
        #expect(!metrics.contains("isthmus_partner_up{partner=\"example.net\"}"))
        #expect(metrics.contains("isthmus_partner_round_trip_seconds{partner=\"example.org\"} 0."))
        #expect(metrics.contains("isthmus_partner_requests_sent_total{partner=\"example.net\"} 0\n"))
        #expect(await Isthmus.run(["partners", "--admin", "unix:\(socket)", "--json"]) == 0)
        #expect(await Isthmus.run(["partners", "--admin", "unix:\(socket)", "--state", "up"]) == 0)
        #expect(await Isthmus.run(["partners", "--admin", "unix:\(socket)", "--state", "sideways"]) == 2)
        // Connections of a partner are closed through the Unix socket only.
        let close = AdministrationRequest(path: "/partners/close", parameters: [.init("name", "example.org")], isAction: true)
        let http = gateway.addresses.compactMap { AdministrationAddress(argument: $0) }.first { if case .http = $0 { true } else { false } }
        #expect(try await AdministrationClient.get(close, from: try #require(http)).status == 405)
        let closed = try await AdministrationClient.get(close, from: .socket(socket))
        #expect(closed.status == 200 && closed.body.contains("\"closed\":1"), "\(closed)")
        let other = AdministrationRequest(path: "/partners/close", parameters: [.init("name", "example.edu")], isAction: true)
        #expect(try await AdministrationClient.get(other, from: .socket(socket)).status == 404)
        #expect(await Isthmus.run(["partners", "--admin", "unix:\(socket)", "--close", "example.org"]) == 0)
        #expect(await Isthmus.run(["partners", "--admin", "unix:\(socket)", "--close", "example.edu"]) == 1)
        for watcher in watchers { await watcher.stop() }
        await gateway.stop(drain: .zero)
        await home.stop(drain: .zero)
    }

    private func row(_ name: String, configured: Bool, messages: UInt64) -> PartnerRow {
        var report = Self.blank
        report.name = name
        report.isConfigured = configured
        report.counters.messages = messages
        return PartnerRow(report, certificate: nil)
    }

    private static let blank = Gateway(
        configuration: GatewayConfiguration(
            nodeName: "edge1.example.net", listeners: [TransportAddress(.udp, "127.0.0.1", 5060)],
            domains: ["example.org": DomainConfiguration(side: .simple, route: TransportAddress(.udp, "127.0.0.1", 9))]), key: .seeded(1)
    ).partnerReports[0]

    @Test("health and metrics tell of every configured partner, and of 200 others, those with the most messages") func shown() {
        let others = (0..<300).map { row("other\($0).example.com", configured: false, messages: UInt64($0)) }
        let shown = PartnerRow.shown(others + [row("example.org", configured: true, messages: 0)])
        #expect(shown.count == 201)
        #expect(shown.contains { $0.name == "example.org" })
        #expect(shown.contains { $0.name == "other299.example.com" })
        #expect(!shown.contains { $0.name == "other99.example.com" })
    }

    @Test("a partner without an entry of its own is known by the domain that its certificate names, its server by a host of it too")
    func discovered() {
        let names: Set = ["example.org", "sip.example.org", "example.net"]
        func found(_ proved: [String], isClient: Bool) -> [String] {
            PartnerStatus.domains(named: proved, isClient: isClient, among: names)
        }
        #expect(found(["example.org"], isClient: true) == ["example.org"])
        #expect(found(["edge.example.org", "example.net"], isClient: true) == ["example.net"])
        #expect(found(["a.sip.example.org", "other.example"], isClient: false) == ["example.org", "sip.example.org"])
        #expect(found(["badexample.org"], isClient: false).isEmpty)
    }

    @Test("the table has a line for each partner, and a dash for what is not known") func table() {
        let text = PartnersCommand.text([row("example.org", configured: true, messages: 7)], at: .wallClock())
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("PARTNER      SIDE    STATE    SINCE  ROUND TRIP"))
        #expect(
            lines[1].split(separator: " ").map(String.init) == [
                "example.org", "simple", "unknown", "-", "-", "0", "0", "7", "0", "0", "-", "-",
            ])
    }

    @Test(
        "keep-alive is seconds, for domains with a name that live elsewhere",
        arguments: [
            ("example.org: { side: simple, route: \"udp:192.0.2.20:5060\", keep-alive: 60 }", nil),
            ("example.org: { side: simple, route: \"udp:192.0.2.20:5060\", keep-alive: 9 }", "from 10 to 3600"),
            ("example.org: { side: simple, hosted: true, keep-alive: 60 }", "live elsewhere"),
            ("\"*\": { side: simple, discover: true, keep-alive: 60 }", "live elsewhere"),
        ] as [(String, String?)])
    func keepAlive(domain: String, mistake: String?) {
        do {
            let read = try ConfigurationReader.read("listen: [ \"udp:127.0.0.1:0\" ]\ndomains:\n  \(domain)\n", file: "x.yaml")
            #expect(mistake == nil)
            #expect(read.domains["example.org"]?.keepAlive == .seconds(60))
        } catch {
            #expect(
                mistake.map { text in error.lines.contains { $0.contains(text) && $0.contains("keep-alive") } } == true, "\(error.lines)")
        }
    }
}
