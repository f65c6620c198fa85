import Administration
import ArgumentParser
import GatewayService
import PresenceDocuments
import PresenceGateway

struct PartnersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "partners",
        abstract: "List the partner domains of a running gateway: which are up, and what was exchanged with them.",
        discussion: """
            One line for each domain of the configuration that lives elsewhere, and for each that was met under "*".
            up: the last request was answered; down: nobody answered it, or with 408 or 503; unknown: nothing was asked yet.
            SENT and FAILED are requests to its servers, TAKEN and REFUSED those from there. CERTIFICATE is when the first of its
            certificates ends. To ask partners themselves, see `isthmus check --probe`.

            With --close all connections with the servers of one partner are closed, by whichever side opened; new ones are made when
            something is to be sent. That needs `admin.socket`.

            EXAMPLES
              isthmus partners --config isthmus.yaml
              isthmus partners --config isthmus.yaml --close fabrikam.com
              isthmus partners --admin unix:./isthmus.sock --state down --json
            """)

    @OptionGroup var gateway: AdminOptions
    @Option(help: "Only in this state: \(PartnerContact.State.allCases.map(\.rawValue).joined(separator: ", ")).")
    var state: PartnerContact.State?
    @Option(help: ArgumentHelp("At most so many lines.", valueName: "number"))
    var limit = 100

    @Option(help: ArgumentHelp("Close the connections with this partner.", valueName: "name"))
    var close: String?

    func validate() throws { try PagedList.check(limit) }

    func run() async throws {
        if let close {
            let request = AdministrationRequest(path: "/partners/close", parameters: [.init("name", close)], isAction: true)
            let (answer, json) = try await gateway.get(request, as: ClosedConnections.self)
            return Terminal.write(gateway.json ? json : "\(answer.closed) connections with \(answer.partner) closed\n")
        }
        let list = PagedList(path: "/partners", parameters: [("state", state?.rawValue)], limit: limit)
        try await list.show(from: gateway) { Self.text($0, at: .wallClock()) }
    }

    static func text(_ rows: [PartnerRow], at now: DateTime) -> String {
        let time = RelativeTime(now: now)
        var table = TextTable(
            "PARTNER", "SIDE", "STATE", "SINCE", "ROUND TRIP", "SENT", "FAILED", "TAKEN", "REFUSED", "WATCHED", "CERTIFICATE",
            "LAST FAILURE")
        for row in rows {
            let refused = row.refused.rate + row.refused.uris + row.refused.rights + row.refused.impostor
            table.add(
                row.name, row.side ?? "-", row.state.rawValue + Self.doubt(row, time), row.since.map(time.ago) ?? "-",
                row.smoothedRoundTripMs.map { "\(Self.milliseconds($0)) ms" } ?? "-", "\(row.sent)", "\(row.failed)", "\(row.received)",
                "\(refused)", "\(row.watched)", row.certificate.map { "ends \(time.ahead($0.notAfter))" } ?? "-",
                row.lastFailure.map { "\(time.ago($0.at)): \($0.reason)" } ?? "-")
        }
        return table.text
    }

    /// Text about upstream subscriptions that must be verified.
    private static func doubt(_ row: PartnerRow, _ time: RelativeTime) -> String {
        guard let count = row.unverified, let since = row.unverifiedSince else { return "" }
        return ", \(count) unverified since \(time.ago(since))"
    }

    /// Milliseconds with one decimal below 10 ms.
    private static func milliseconds(_ value: Double) -> String {
        value < 10 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
    }
}

extension PartnerContact.State: ExpressibleByArgument {}
