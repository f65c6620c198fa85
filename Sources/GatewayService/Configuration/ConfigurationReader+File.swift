extension ConfigurationReader {
    /// Reads a configuration file.
    /// - Throws: `ServiceFailure` with one line per mistake.
    package static func read(file: String) throws(ServiceFailure) -> ProgramConfiguration {
        let text = try InputFile.text(file)
        do {
            return try read(text, file: file)
        } catch {
            throw ServiceFailure(error.lines)
        }
    }
}
