import ArgumentParser
import GatewayService
import GoldenVectors

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Run the golden vectors.",
        discussion: """
            One line per case that does not pass; the last line is `N passed, N failed, N skipped`. Exit code 1 when any
            case fails. --bless writes the expected file of one case and counts as a failure.

            Without --vectors the first directory is used that exists: Vectors beside the program, /usr/share/isthmus/Vectors, and Vectors in
            the current directory.

            EXAMPLES
              isthmus verify
              isthmus verify --vectors Vectors --only 'mapping/*'
              isthmus verify --bless mapping/busy-idle-001
            """)

    @Option(help: ArgumentHelp("The directory of the vectors.", valueName: "dir"))
    var vectors: String?
    @Option(help: ArgumentHelp("Only cases whose id fits; * stands for anything.", valueName: "pattern"))
    var only: String?
    @Option(help: ArgumentHelp("Write the expected file of this case from what it gives now.", valueName: "stem"))
    var bless: String?
    @Option(help: ArgumentHelp("A directory of tables that replace those compiled in.", valueName: "dir"))
    var mappings: String?

    func run() throws {
        let tables = try MappingsDirectory.tables(mappings)
        let vectors = try VectorsDirectory.find(named: vectors)
        if let bless {
            do {
                Terminal.write(try VectorRunner.bless(bless, in: vectors, tables: tables) + "\n0 passed, 1 failed, 0 skipped\n")
            } catch {
                throw CommandFailure(.inputRefused, "\(error)")
            }
            throw CommandFailure(.inputRefused, [])
        }
        let report = VectorRunner.run(vectors, only: only, tables: tables)
        Terminal.write(report.text + "\n")
        if !report.isGood { throw CommandFailure(.inputRefused, []) }
    }
}
