import Administration
import ArgumentParser
import GatewayService
import PresenceDocuments
import PresenceGateway

struct SubscriptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "List the live subscriptions of a running gateway.",
        discussion: """
            One line for each watcher and presentity; a batch or list has one for each of its presentities. Filters narrow the list together.
            The gateway must show it: `admin: { socket: PATH }`, or on loopback `admin: { http: ..., inspect: true }`.

            EXAMPLES
              isthmus subscriptions --config isthmus.yaml
              isthmus subscriptions --admin unix:./isthmus.sock --presentity sip:alice@example.org --state pending
              isthmus subscriptions --admin http://127.0.0.1:8080 --domain contoso.com --limit 1000 --json
            """)

    @OptionGroup var gateway: AdminOptions
    @Option(help: ArgumentHelp("Only of this watcher.", valueName: "uri"))
    var watcher: String?
    @Option(help: ArgumentHelp("Only to this presentity.", valueName: "uri"))
    var presentity: String?
    @Option(help: ArgumentHelp("Only where the watcher or the presentity is of this domain.", valueName: "name"))
    var domain: String?
    @Option(help: "Only in this state: \(SubscriptionReport.State.allCases.map(\.rawValue).joined(separator: ", ")).")
    var state: SubscriptionReport.State?
    @Option(help: ArgumentHelp("Only with this Call-ID, of the watcher's dialog or of the far leg's.", valueName: "id"))
    var callID: String?
    @Option(help: ArgumentHelp("At most so many lines.", valueName: "number"))
    var limit = 100

    func validate() throws { try PagedList.check(limit) }

    func run() async throws {
        let list = PagedList(
            path: "/subscriptions",
            parameters: [
                ("watcher", watcher), ("presentity", presentity), ("domain", domain), ("state", state?.rawValue), ("call-id", callID),
            ], limit: limit)
        try await list.show(from: gateway) { Self.text($0, at: .wallClock()) }
    }

    static func text(_ rows: [SubscriptionReport], at now: DateTime) -> String {
        let time = RelativeTime(now: now)
        var table = TextTable("WATCHER", "PRESENTITY", "FORMAT", "STATE", "SOURCE", "PRESENCE", "TOLD", "ENDS", "LEG")
        for row in rows {
            table.add(
                row.watcher, row.presentity.isEmpty ? "-" : row.presentity,
                (row.shape == .single ? "" : "\(row.shape.rawValue) ") + row.shortFormat,
                row.state.rawValue, row.source.rawValue,
                row.knowledge.rawValue + (row.leg?.unverifiedSince.map { ", unverified since \(time.ago($0))" } ?? ""),
                row.redelivery.map { "failing since \(time.ago($0.since)) (\($0.failures))" }
                    ?? row.notification.map { "\(time.ago($0.at)) (\($0.cause.rawValue))" } ?? "-", time.ahead(row.expires),
                row.leg?.state.rawValue ?? "-")
        }
        return table.text
    }
}

struct PresentitiesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "presentities",
        abstract: "List the presentities that a running gateway serves or watches.",
        discussion: """
            published: this node is the home, and something is published; silent: nothing is; carried: the home is elsewhere,
            and what is published here goes there; far: the home is elsewhere.

            EXAMPLES
              isthmus presentities --config isthmus.yaml
              isthmus presentities --admin http://127.0.0.1:8080 --domain example.org --state far
            """)

    @OptionGroup var gateway: AdminOptions
    @Option(help: ArgumentHelp("Only this presentity.", valueName: "uri"))
    var presentity: String?
    @Option(help: ArgumentHelp("Only of this domain.", valueName: "name"))
    var domain: String?
    @Option(help: "Only in this state: \(PresentityReport.State.allCases.map(\.rawValue).joined(separator: ", ")).")
    var state: PresentityReport.State?
    @Option(help: ArgumentHelp("At most so many lines.", valueName: "number"))
    var limit = 100

    func validate() throws { try PagedList.check(limit) }

    func run() async throws {
        let list = PagedList(
            path: "/presentities", parameters: [("presentity", presentity), ("domain", domain), ("state", state?.rawValue)], limit: limit)
        try await list.show(from: gateway) { Self.text($0) }
    }

    static func text(_ rows: [PresentityReport]) -> String {
        var table = TextTable("PRESENTITY", "STATE", "WATCHERS", "PUBLICATIONS", "ENDPOINTS", "OWN DIALOGS")
        for row in rows {
            table.add(row.presentity, row.state.rawValue, "\(row.watchers)", "\(row.publications)", "\(row.endpoints)", "\(row.ownDialogs)")
        }
        return table.text
    }
}

/// List that is fetched page by page.
struct PagedList {
    let path: String
    let parameters: [(name: String, value: String?)]
    let limit: Int

    static func check(_ limit: Int) throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 1000000") }
    }

    /// Prints the list as text or JSON, and whether there are more entries.
    func show<Row: Codable & Hashable & Sendable>(from gateway: AdminOptions, text: ([Row]) -> String) async throws {
        let page: InspectionPage<Row> = try await get(from: gateway)
        if gateway.json { return Terminal.write(try InspectionJSON.text(page) + "\n") }
        Terminal.write(text(page.rows))
        if page.next != nil { Terminal.complain("there are more; raise --limit \(limit)") }
    }

    private func get<Row>(from gateway: AdminOptions) async throws -> InspectionPage<Row> {
        var page = InspectionPage<Row>(rows: [])
        repeat {
            var request = AdministrationRequest(path: path)
            for (name, value) in parameters + [("limit", "\(min(limit - page.rows.count, inspectionPageLimit))"), ("after", page.next)] {
                if let value { request.parameters.append(.init(name, value)) }
            }
            let more = try await gateway.get(request, as: InspectionPage<Row>.self).value
            page.rows += more.rows
            page.next = more.next
        } while page.next != nil && page.rows.count < limit
        return page
    }
}

extension SubscriptionReport.State: ExpressibleByArgument {}
extension PresentityReport.State: ExpressibleByArgument {}

extension SubscriptionReport {
    /// Distinctive part of the media type.
    var shortFormat: String {
        let type = format.prefix { $0 != " " }
        switch type {
        case "application/msrtc-event-categories+xml": return "categories"
        case "text/xml+msrtc.pidf": return "msrtc.pidf"
        case "application/pidf+xml": return "pidf"
        case "application/pidf-diff+xml": return "partial pidf"
        case "application/xpidf+xml": return "xpidf"
        default: return String(source == .own ? event.prefix { $0 != ";" } : type)
        }
    }
}
