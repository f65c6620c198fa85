/// Mistake in a configuration file: position, key, value and the rule that is broken.
struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    /// Line number from 1; 0 for the whole file.
    var line: Int
    var column: Int
    /// Path of keys, such as `domains.example.org.side`; empty for the root.
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

/// All mistakes of a configuration file.
package struct ConfigurationError: Error, Hashable, Sendable {
    var file: String
    var problems: [ConfigurationProblem]

    /// One line per mistake, in the order of the file.
    package var lines: [String] {
        problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }.map { "\(file):\($0)" }
    }
}
