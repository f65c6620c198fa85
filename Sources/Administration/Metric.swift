/// One metric family in the text format that Prometheus reads (exposition format 0.0.4).
public struct Metric: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case counter, gauge }

    public struct Sample: Hashable, Sendable {
        public var labels: [String: String]
        public var value: Double

        public init(_ value: Double, _ labels: [String: String] = [:]) {
            self.labels = labels
            self.value = value
        }
    }

    /// Letters, digits and underscores; a counter's name ends in `_total`.
    public var name: String
    public var help: String
    public var kind: Kind
    public var samples: [Sample]

    public init(_ name: String, _ kind: Kind, help: String, samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }

    public init(_ name: String, _ kind: Kind, help: String, value: Double) {
        self.init(name, kind, help: help, samples: [Sample(value)])
    }

    /// The whole page.
    public static func text(_ metrics: [Metric]) -> String {
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
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.append(character)
            }
        }
        return result
    }
}
