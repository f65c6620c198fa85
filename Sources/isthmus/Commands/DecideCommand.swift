import ArgumentParser
import PresenceDocuments
import PresenceMapping
import PresenceRules
import SIPCore

struct DecideCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decide",
        abstract: "Decide by presence rules what a watcher sees, and name the reasons (RFC 4745, RFC 5025).",
        discussion: """
            Prints the handling (block, confirm, polite-block, allow), the granted parts of the presence document, and for each
            rule why it matches or not. With a PIDF document the decision goes to standard error and the document for the
            watcher to standard output; there is none for block and confirm.
            The lists are one resource-lists document, to which every list that a rule names belongs. A watcher of
            anonymous.invalid is anonymous. The sphere is taken from the document if there is no --sphere.
            A document that cannot be read is reported as FILE:LINE:COLUMN with the rule it breaks.

            EXAMPLES
              isthmus decide --rules alice.rules.xml --watcher sip:bob@example.com
              isthmus decide --rules alice.rules.xml --lists alice.lists.xml --watcher sip:bob@example.com \\
                --at 2026-05-04T09:00:00Z --sphere work alice.pidf.xml
            """)

    @Option(help: ArgumentHelp("The presence rules, a ruleset of RFC 4745.", valueName: "file"))
    var rules: String
    @Option(help: ArgumentHelp("The resource lists that the rules name (RFC 4826).", valueName: "file"))
    var lists: String?
    @Option(help: ArgumentHelp("The watcher, a SIP, pres or tel URI.", valueName: "uri"))
    var watcher: String
    @Option(help: ArgumentHelp("The time of the decision, as in 2026-03-02T09:15:00Z; now when not given.", valueName: "time"))
    var at: DateTime?
    @Option(help: ArgumentHelp("The sphere of the presentity, such as work.", valueName: "sphere"))
    var sphere: String?
    @Option(help: "The handling of watchers that no rule matches.")
    var unruled = UnruledHandling.block
    @Argument(help: "A PIDF document, or - for standard input.")
    var document: String?

    /// Number of rules that do not match and are printed.
    static let reasons = 100

    /// Output of the command.
    struct Output {
        /// Decision with its reasons, as text.
        var decision: String
        /// Document for the watcher; nil without an input document, for block and for confirm.
        var document: [UInt8]?
    }

    func run() throws {
        let output = try output()
        if document == nil { Terminal.write(output.decision) } else { Terminal.complainVerbatim(output.decision) }
        if let view = output.document { Terminal.write(view.last == 10 ? view : view + [10]) }
    }

    /// Reads the files and decides.
    /// - Throws: `CommandFailure` that names the file, the position and the rule.
    func output() throws(CommandFailure) -> Output {
        guard [rules, lists, document].count(where: { $0 == "-" }) <= 1 else {
            throw CommandFailure(.usage, "only one file can be standard input")
        }
        guard let watcher = SIPURI(watcher) else {
            throw CommandFailure(.inputRefused, "--watcher \(watcher): not a URI (RFC 3261 19.1)")
        }
        let rules = try read(PresenceRulesDocument.self, rules)
        let documents = if let lists { ListDocuments(only: try read(ResourceListsDocument.self, lists)) } else { ListDocuments() }
        let presence: PIDFDocument? = if let document { try read(PIDFDocument.self, document) } else { nil }
        let now = Instant(nanosecondsSince1970: (at ?? .wallClock()).nanosecondsSince1970)
        let compiled = CompiledRules(rules, lists: documents)
        let sphere = sphere.map { PresentitySphere($0) } ?? PresentitySphere(of: presence.map { [$0] } ?? [], at: now)
        let decision = compiled.decide(
            RuleWatcher(watcher), in: DecisionContext(now: now, sphere: sphere, unruled: unruled), reasons: Self.reasons)
        let lines = compiled.problems.map { "problem: \($0)" } + decision.lines
        var output = Output(decision: lines.joined(separator: "\n") + "\n")
        if let presence {
            output.document = decision.view(of: presence, neverPublished: Self.neverPublished(presence.entity))?.encode()
        }
        return output
    }

    /// Document that the gateway shows for a presentity of a simple domain that never published (MS-PRES 3.7.5.5).
    private static func neverPublished(_ entity: String) -> PIDFDocument {
        let mapper = PresenceMapper()
        let offline = mapper.canonical(from: LegacyInteropDocument(availability: 18_500), entity: entity).value
        return mapper.pidf(from: offline).value
    }

    private func read<Document: PresenceDocument>(_ type: Document.Type, _ file: String) throws(CommandFailure) -> Document {
        let bytes = try CommandInput.read(file)
        do {
            return try Document.decode(bytes)
        } catch {
            throw CommandInput.refusal(of: file, error)
        }
    }
}

extension UnruledHandling: ExpressibleByArgument {
    /// Names of all values, for the help text.
    public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}
