/// A metric family in the text format of Prometheus (exposition format 0.0.4).
package struct Metric: Hashable, Sendable {
    /// The type in the `# TYPE` line.
    package enum Kind: String, Hashable, Sendable { case counter, gauge }

    /// One value with its labels.
    package struct Sample: Hashable, Sendable {
        /// Label values by name; written sorted by name.
        package var labels: [String: String]
        /// The value; whole numbers below 9e15 are written without a decimal point.
        package var value: Double

        /// Creates a sample, by default without labels.
        package init(_ value: Double, _ labels: [String: String] = [:]) {
            self.labels = labels
            self.value = value
        }
    }

    /// Name of letters, digits and underscores; names of counters end in `_total`.
    package var name: String
    /// Text of the `# HELP` line.
    package var help: String
    /// Counter or gauge.
    package var kind: Kind
    /// The samples in output order.
    package var samples: [Sample]

    /// Creates a family with one or more samples.
    package init(_ name: String, _ kind: Kind, help: String, samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }

    /// Creates a family with one sample without labels.
    package init(_ name: String, _ kind: Kind, help: String, value: Double) {
        self.init(name, kind, help: help, samples: [Sample(value)])
    }

    /// The complete page of all families, in the given order.
    package static func text(_ metrics: [Metric]) -> String {
        metrics.map(\.text).joined()
    }

    var text: String {
        var result = "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            result += name
            if !sample.labels.isEmpty {
                let labels = sample.labels.sorted { $0.key < $1.key }
                result += "{" + labels.map { "\($0.key)=\"\(Self.escaped($0.value, quotes: true))\"" }.joined(separator: ",") + "}"
            }
            result += " \(Self.number(sample.value))\n"
        }
        return result
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 9e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        // By scalar: as a Character, CR LF is neither CR nor LF.
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
