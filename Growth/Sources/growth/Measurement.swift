import CGrowthCounter

/// Construct with a list: creates an input with n entries, and the work on it.
struct Construct {
    var name: String
    /// Smallest of four sizes, each twice the previous one. The largest is within the limits.
    var smallest: Int
    /// Creates an input, which is not counted, and returns the work to count; the work returns false when the input was refused.
    var prepare: (Int) -> () -> Bool
    /// Name of the limit that ends the work; nil for work that must be linear. The smallest size is within the limit, the two largest are
    /// beyond it.
    var bound: String?

    init(_ name: String, from smallest: Int, bounded bound: String? = nil, prepare: @escaping (Int) -> () -> Bool) {
        self.name = name
        self.smallest = smallest
        self.bound = bound
        self.prepare = prepare
    }

    /// Creates a construct for work that may grow faster than linear up to a limit. Its closure returns false only for the error of that
    /// limit; beyond the limit, the largest size must not take more operations than reading it.
    static func bounded(_ name: String, by bound: String, from smallest: Int, prepare: @escaping (Int) -> () -> Bool) -> Construct {
        Construct(name, from: smallest, bounded: bound, prepare: prepare)
    }
}

/// Operations of one construct at n, 2n, 4n and 8n.
struct Growth {
    var sizes: [Int]
    var operations: [UInt64]
    /// Sizes at which the input was refused.
    var refused: [Int]
    var bound: String?

    /// Maximum factor of operations for twice the size, without fixed parts: 2 is linear, 4 is quadratic; sorting stays below 2.4.
    static let limit = 2.6

    init(of construct: Construct) {
        sizes = (0..<4).map { construct.smallest << $0 }
        operations = []
        refused = []
        bound = construct.bound
        // One unmeasured run, for values that are created once.
        _ = construct.prepare(construct.smallest)()
        for size in sizes {
            let work = construct.prepare(size)
            let before = isthmus_growth_operations()
            let isTaken = work()
            operations.append(isthmus_growth_operations() - before)
            if !isTaken { refused.append(size) }
        }
    }

    /// Factors by which the growth of operations increases: from n..2n to 2n..4n, and from 2n..4n to 4n..8n. Fixed parts cancel out.
    var factors: [Double] {
        let steps = zip(operations.dropFirst(), operations).map { Double($0) - Double($1) }
        return zip(steps.dropFirst(), steps).map { $0 / max($1, 1) }
    }

    /// Whether both factors exceed the limit; a table that doubles its storage increases only one of them.
    var isBeyondLinear: Bool { factors.allSatisfy { $0 > Self.limit } }

    /// Whether there were fewer operations than elements: the work was not done, or not counted.
    var isUnseen: Bool { operations[3] < UInt64(sizes[3]) }

    /// Fault of the construct; nil for linear growth, or for an effective limit.
    var fault: String? {
        if let bound {
            if refused.contains(sizes[0]) { return "refused at \(sizes[0]), within \(bound)" }
            let taken = sizes.suffix(2).filter { !refused.contains($0) }
            if !taken.isEmpty { return "taken at \(taken.map(String.init).joined(separator: ", ")), beyond \(bound)" }
            return Double(operations[3]) > Double(operations[2]) * Self.limit ? "work goes on beyond \(bound)" : nil
        }
        if !refused.isEmpty { return "refused at \(refused.map(String.init).joined(separator: ", "))" }
        if isUnseen { return "only \(operations[3]) operations at \(sizes[3])" }
        return isBeyondLinear ? "beyond linear" : nil
    }
}
