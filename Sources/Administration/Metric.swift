/// A metric family in the text format of Prometheus (exposition format 0.0.4).
package struct Metric: Hashable, Sendable {
    /// The type in the `# TYPE` line.
    package enum Kind: String, Hashable, Sendable { case counter, gauge, histogram }

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

    /// Values of a histogram with their labels.
    package struct Distribution: Hashable, Sendable {
        /// Label values by name; `le` is not one of them.
        package var labels: [String: String]
        /// Upper bounds of the buckets, ascending; the bucket `+Inf` has none.
        package var bounds: [Double]
        /// Number of values in each bucket, not cumulative; as many as ``bounds`` and one.
        package var counts: [UInt64]
        /// Sum of all values.
        package var sum: Double

        /// Creates the values of a histogram.
        package init(_ labels: [String: String] = [:], bounds: [Double], counts: [UInt64], sum: Double) {
            (self.labels, self.bounds, self.counts, self.sum) = (labels, bounds, counts, sum)
        }
    }

    /// Name of letters, digits and underscores; names of counters end in `_total`.
    package var name: String
    /// Text of the `# HELP` line.
    package var help: String
    /// Counter, gauge or histogram.
    package var kind: Kind
    /// The samples of a counter or gauge in output order.
    package var samples: [Sample]
    /// The values of a histogram in output order.
    package var distributions: [Distribution] = []

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

    /// Creates a histogram; its unit is the end of its name, as in `_seconds`.
    package init(_ name: String, help: String, distributions: [Distribution]) {
        self.init(name, .histogram, help: help, samples: [])
        self.distributions = distributions
    }

    /// The complete page of all families, in the given order.
    package static func text(_ metrics: [Metric]) -> String {
        metrics.map(\.text).joined()
    }

    var text: String {
        var result = "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples { result += Self.line(name, sample.labels, Self.number(sample.value)) }
        for distribution in distributions {
            var total: UInt64 = 0
            for (index, count) in distribution.counts.enumerated() {
                total &+= count
                let bound = index < distribution.bounds.count ? Self.number(distribution.bounds[index]) : "+Inf"
                result += Self.line("\(name)_bucket", distribution.labels.merging(["le": bound]) { $1 }, "\(total)")
            }
            result += Self.line("\(name)_sum", distribution.labels, Self.number(distribution.sum))
            result += Self.line("\(name)_count", distribution.labels, "\(total)")
        }
        return result
    }

    private static func line(_ name: String, _ labels: [String: String], _ value: String) -> String {
        guard !labels.isEmpty else { return "\(name) \(value)\n" }
        let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value, quotes: true))\"" }
        return "\(name){\(pairs.joined(separator: ","))} \(value)\n"
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
