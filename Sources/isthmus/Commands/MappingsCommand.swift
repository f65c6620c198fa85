import ArgumentParser
import GatewayService
import GoldenVectors
import PresenceMapping

struct MappingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mappings",
        abstract: "Work on the mapping tables.",
        subcommands: [MappingsCheckCommand.self])
}

struct MappingsCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Lint the mapping tables: no gap, no overlap, no unreachable row, each row hit by a vector.",
        discussion: """
            Without --mappings the tables that are compiled in are checked. With --vectors the rule
            "each row is hit by a golden vector" is checked too.

            EXAMPLES
              isthmus mappings check
              isthmus mappings check --mappings Mappings --vectors Vectors
            """)

    @Option(help: ArgumentHelp("A directory of tables that replace those compiled in.", valueName: "dir"))
    var mappings: String?
    @Option(help: ArgumentHelp("A directory of golden vectors.", valueName: "dir"))
    var vectors: String?

    func run() throws {
        let tables = try MappingsDirectory.tables(mappings)
        if let vectors, !BatchConversion.isDirectory(vectors) { throw CommandFailure(.inputRefused, "\(vectors): no such directory") }
        let hitRows = vectors.map { VectorRunner.run($0, tables: tables).hitRows }
        let mistakes = MappingLint.check(tables, hitRows: hitRows)
        guard mistakes.isEmpty else {
            throw CommandFailure(.inputRefused, mistakes.map { "\(mappings.map { "\($0)/" } ?? "")\($0)" })
        }
        Terminal.write("\(tables.tables.count) tables, \(tables.rowIDs.count) rows: ok\n")
    }
}
