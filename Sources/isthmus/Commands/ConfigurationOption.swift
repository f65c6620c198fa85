import ArgumentParser
import GatewayService

/// `--config FILE`, the same in every command that reads it.
struct ConfigurationOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file (YAML).", valueName: "file"))
    var config: String

    /// - Throws: `ServiceFailure` with one line per mistake.
    func read() throws(ServiceFailure) -> ProgramConfiguration { try ConfigurationReader.read(file: config) }
}
