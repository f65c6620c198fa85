/// One mistake in a configuration file: where, which key, which value, and the rule that it breaks.
struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    /// From 1; 0 when the whole file is meant.
    var line: Int
    var column: Int
    /// The path of keys, as in `domains.example.org.side`; empty for the root.
    var key: String
    /// The value as written, when it is a scalar.
    var value: String?
    var rule: String

    var description: String {
        let subject = key.isEmpty ? "" : "\(key): "
        let quoted = value.map { "\"\($0)\" " } ?? ""
        return "\(line):\(column): \(subject)\(quoted)\(rule)"
    }
}

/// Everything that is wrong with a configuration file; always the operator's fault.
struct ConfigurationError: Error, Hashable, Sendable {
    var file: String
    var problems: [ConfigurationProblem]

    /// One line per mistake, in the order of the file.
    var lines: [String] {
        problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }.map { "\(file):\($0)" }
    }
}
