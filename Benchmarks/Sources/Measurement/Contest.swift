/// Measures entries in turn (A, B, C, A, B, C ...), so that other load of the machine affects all of them equally.
public struct Contest {
    public struct Entry {
        public var name: String
        /// Runs the entry `count` times.
        public var run: (_ count: Int) -> Void

        public init(_ name: String, _ run: @escaping (_ count: Int) -> Void) {
            self.name = name
            self.run = run
        }
    }

    public struct Result {
        public var name: String
        /// Median over the rounds of the processor time of one run, in nanoseconds.
        public var nanoseconds: Double
        /// Median over the rounds of the ratio to the first entry's time in the same round.
        public var ratio: Double
        /// Smallest and largest ratio.
        public var spread: ClosedRange<Double>
    }

    public var entries: [Entry]

    public init(_ entries: [Entry]) { self.entries = entries }

    /// - Parameter slice: Processor time per entry and round, in nanoseconds.
    public func run(rounds: Int, slice: UInt64) -> [Result] {
        let counts = entries.map { entry in
            var count = 8
            while true {
                let start = processorTime()
                entry.run(count)
                let spent = max(1, processorTime() - start)
                if spent > slice / 4 { return max(1, Int(Double(count) * Double(slice) / Double(spent))) }
                count *= 2
            }
        }
        var times = [[Double]](repeating: [], count: entries.count)
        for _ in 0..<rounds {
            for index in entries.indices {
                let start = processorTime()
                entries[index].run(counts[index])
                times[index].append(Double(processorTime() - start) / Double(counts[index]))
            }
        }
        return entries.indices.map { index in
            let ratios = zip(times[index], times[0]).map { $0 / $1 }
            return Result(
                name: entries[index].name, nanoseconds: median(times[index]), ratio: median(ratios),
                spread: (ratios.min() ?? 0)...(ratios.max() ?? 0))
        }
    }
}

public func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted.count % 2 == 1 ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
}

extension Contest {
    /// Runs 15 rounds of 100 ms for each entry, or 5 of 40 ms.
    public func run(quick: Bool) -> [Result] { quick ? run(rounds: 5, slice: 40_000_000) : run(rounds: 15, slice: 100_000_000) }
}
