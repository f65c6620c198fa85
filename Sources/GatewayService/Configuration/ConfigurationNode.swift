import Yams

/// Collects all mistakes of one file, so that they are reported together.
final class ConfigurationProblems {
    private(set) var all: [ConfigurationProblem] = []

    func add(_ problem: ConfigurationProblem) {
        all.append(problem)
    }
}

/// One value of the file with its path; accessors return the value or record a mistake.
struct ConfigurationNode {
    let node: Node
    let key: String
    let problems: ConfigurationProblems

    /// Records a mistake at this value.
    /// - Parameter quotesValue: Whether the report quotes the value; false for secrets.
    func refuse(_ rule: String, quotesValue: Bool = true) {
        problems.add(
            ConfigurationProblem(
                line: node.mark?.line ?? 0, column: node.mark?.column ?? 0, key: key, value: quotesValue ? node.scalar?.string : nil,
                rule: rule))
    }

    /// Whether the key has no value.
    var isEmpty: Bool { node.scalar.map { $0.style == .plain && ["", "~", "null"].contains($0.string) } ?? false }

    private func child(_ name: String, _ node: Node) -> ConfigurationNode {
        ConfigurationNode(node: node, key: key.isEmpty ? name : "\(key).\(name)", problems: problems)
    }

    /// Entries of a mapping, in the order of the file; records a mistake and returns nil for any other value.
    func entries() -> [(name: String, keyNode: ConfigurationNode, value: ConfigurationNode)]? {
        guard let mapping = node.mapping else {
            refuse("must be a mapping: { key: value, ... }")
            return nil
        }
        return mapping.compactMap { name, value in
            guard let text = name.scalar?.string else {
                child("?", name).refuse("a key must be a word")
                return nil
            }
            return (text, child(text, name), child(text, value))
        }
    }

    /// Values of a mapping with known keys; any other key is a mistake, reported with the known ones and the likely one.
    func fields(_ known: [String]) -> [String: ConfigurationNode]? {
        guard let entries = entries() else { return nil }
        var fields: [String: ConfigurationNode] = [:]
        for entry in entries {
            if known.contains(entry.name) {
                fields[entry.name] = entry.value
            } else {
                let guess = SpellingGuess.nearest(to: entry.name, among: known).map { "did you mean `\($0)`? Known" } ?? "known"
                problems.add(
                    ConfigurationProblem(
                        line: entry.keyNode.node.mark?.line ?? 0, column: entry.keyNode.node.mark?.column ?? 0, key: entry.keyNode.key,
                        value: nil, rule: "unknown key; \(guess) here: \(known.joined(separator: ", "))"))
            }
        }
        return fields
    }

    func elements() -> [ConfigurationNode]? {
        guard let sequence = node.sequence else {
            refuse("must be a list: [ a, b ]")
            return nil
        }
        return sequence.enumerated().map { child("\($0.offset + 1)", $0.element) }
    }

    func string() -> String? {
        guard let scalar = node.scalar, !scalar.string.isEmpty else {
            refuse("must be a text")
            return nil
        }
        return scalar.string
    }

    func bool() -> Bool? {
        switch node.scalar.map({ $0.style == .plain ? $0.string : "" }) {
        case "true": return true
        case "false": return false
        default:
            refuse("must be true or false")
            return nil
        }
    }

    /// Whether the value is 0, for keys where 0 means never.
    var isZero: Bool { node.scalar?.string == "0" }

    func integer(_ range: ClosedRange<Int>) -> Int? {
        guard let text = node.scalar?.string, let value = Int(text), range.contains(value) else {
            refuse("must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return value
    }

    /// Case of an enumeration, by its raw value.
    func choice<Value: RawRepresentable & CaseIterable>(_ type: Value.Type) -> Value? where Value.RawValue == String {
        if let text = node.scalar?.string, let value = Value(rawValue: text) { return value }
        let known = Value.allCases.map(\.rawValue)
        let guess = node.scalar.flatMap { SpellingGuess.nearest(to: $0.string, among: known) }.map { "; did you mean `\($0)`?" } ?? ""
        refuse("must be one of \(known.joined(separator: ", "))\(guess)")
        return nil
    }
}
