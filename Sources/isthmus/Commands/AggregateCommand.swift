import ArgumentParser
import EnhancedPresence
import PresenceDocuments

struct AggregateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aggregate",
        abstract: "Say what an enhanced presence server computes of published states and devices (MS-PRES 3.8.5).",
        discussion: """
            The input is a categories document with container attributes, or a roamingData document, as a user's own endpoints
            get them: states in containers 2 and 3, devices in container 2, calendarData in container 1. The computed
            instances go to standard output: aggregates, legacyInterop, services, workingHours, dndState. Computed instances
            that the input has already, and that say the same, keep their version and publishTime.
            A document that cannot be read is reported as FILE:LINE:COLUMN with the rule it breaks.

            EXAMPLES
              isthmus aggregate bob.states.xml
              isthmus aggregate --at 2026-11-22T12:00:00Z - < bob.states.xml
            """)

    @Option(help: ArgumentHelp("The time of the computation, as in 2026-03-02T09:15:00Z; now when not given.", valueName: "time"))
    var at: DateTime?
    @Flag(inversion: .prefixedNo, help: "Indent the document for people; on a terminal unless told otherwise.")
    var pretty: Bool?
    @Argument(help: "A file, or - for standard input.")
    var file = "-"

    func run() throws {
        Terminal.write(document: try computed(), isPretty: pretty)
    }

    /// Returns the document with the computed instances.
    func computed() throws(CommandFailure) -> [UInt8] {
        let bytes = try CommandInput.read(file)
        do {
            return try EnhancedPresentity.computedCategories(of: bytes, bodies: .strict, at: at ?? .wallClock())
                .encoded(declaration: true)
        } catch {
            throw CommandInput.refusal(of: file, error)
        }
    }
}
