extension ConfigurationReader {
    /// Reads a configuration file.
    /// - Throws: `CommandFailure` (input refused) with one line per mistake.
    package static func read(file: String) throws(CommandFailure) -> ProgramConfiguration {
        let text = try InputFile.text(file)
        do {
            return try read(text, file: file)
        } catch {
            throw CommandFailure(.inputRefused, error.lines)
        }
    }
}
