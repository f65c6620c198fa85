import ArgumentParser
import GatewayService

/// `--config FILE`, the same in every command that reads it.
struct ConfigurationOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file (YAML).", valueName: "file"))
    var config: String

    /// - Throws: `CommandFailure` (input refused) with one line per mistake.
    func read() throws -> ProgramConfiguration { try Self.read(config) }

    /// - Throws: `CommandFailure` (input refused) with one line per mistake.
    static func read(_ file: String) throws -> ProgramConfiguration {
        let text = try InputFile.text(file)
        do {
            return try ConfigurationReader.read(text, file: file)
        } catch {
            throw CommandFailure(.inputRefused, error.lines)
        }
    }
}
