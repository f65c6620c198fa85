import ArgumentParser

/// `--config FILE`, the same in every command that reads it.
struct ConfigurationOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file (YAML).", valueName: "file"))
    var config: String

    /// - Throws: `CommandFailure` (input refused) with one line per mistake.
    func read() throws -> ProgramConfiguration {
        let text = try InputFile.text(config)
        do {
            return try ConfigurationReader.read(text, file: config)
        } catch {
            throw CommandFailure(.inputRefused, error.lines)
        }
    }
}
