import Administration
import ArgumentParser
import GatewayService
import PresenceDocuments
import PresenceGateway

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why a watcher of a running gateway sees of a presentity what it sees.",
        discussion: """
            Names the route, the dialogs of both legs, the container and the rule, the rows of Mappings/ that made what the watcher has, what
            they lost, and what was refused lately. With --call-id instead: which dialog that is, or what became of it.
            The gateway must show it: `admin: { socket: PATH }`, or on loopback `admin: { http: ..., inspect: true }`.

            EXAMPLES
              isthmus explain sip:ulla@contoso.com sip:alice@example.org --config isthmus.yaml
              isthmus explain bob@contoso.com alice@example.org --admin unix:./isthmus.sock --body
              isthmus explain bob@contoso.com alice@example.org --config isthmus.yaml --ladder
              isthmus explain --call-id 3848276298220188511@192.0.2.1 --admin http://127.0.0.1:8080
            """)

    @OptionGroup var gateway: AdminOptions
    @Argument(help: "The watcher, as in sip:ulla@contoso.com.")
    var watcher: String?
    @Argument(help: "The presentity, as in sip:alice@example.org.")
    var presentity: String?
    @Option(help: ArgumentHelp("Instead of the two: the dialogs with this Call-ID.", valueName: "id"))
    var callID: String?
    @Flag(help: "Print the document that the watcher has, too.")
    var body = false
    @Flag(help: "Draw the messages of both dialogs instead, as far as the gateway holds them (admin.recall).")
    var ladder = false

    func validate() throws {
        guard callID == nil ? presentity != nil : watcher == nil else {
            throw ValidationError("give a watcher and a presentity, or --call-id")
        }
        guard !ladder || !body && callID == nil else { throw ValidationError("--ladder goes with a watcher and a presentity alone") }
    }

    func run() async throws {
        if let callID { return try await explain(callID: callID) }
        var request = AdministrationRequest(
            path: "/explain", parameters: [.init("watcher", watcher ?? ""), .init("presentity", presentity ?? "")])
        if ladder {
            request.path = "/ladder"
            let (ladder, json) = try await gateway.get(request, as: Ladder.self)
            return Terminal.write(gateway.json ? json : ladder.text)
        }
        if body { request.parameters.append(.init("body", "true")) }
        let (explanation, json) = try await gateway.get(request, as: Explanation.self)
        Terminal.write(gateway.json ? json : ExplanationText(explanation, at: .wallClock()).text)
    }

    private func explain(callID: String) async throws {
        let alive = try await gateway.get(
            AdministrationRequest(path: "/subscriptions", parameters: [.init("call-id", callID)]),
            as: InspectionPage<SubscriptionReport>.self
        ).value.rows
        let journal = try await gateway.get(
            AdministrationRequest(path: "/journal", parameters: [.init("call-id", callID)]), as: [JournalEntry].self
        ).value
        if gateway.json {
            return Terminal.write(try InspectionJSON.text(DialogsOfCallID(subscriptions: alive, journal: journal)) + "\n")
        }
        var text = alive.isEmpty ? "No live dialog has this Call-ID.\n" : SubscriptionsCommand.text(alive, at: .wallClock())
        text += journal.isEmpty ? "Nothing was refused, lost or ended under it lately.\n" : ""
        for entry in journal { text += ExplanationText.line(of: entry, at: .wallClock()) + "\n" }
        Terminal.write(text)
    }

    private struct DialogsOfCallID: Encodable {
        var subscriptions: [SubscriptionReport]
        var journal: [JournalEntry]
    }
}
