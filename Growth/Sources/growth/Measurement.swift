import CGrowthCounter

/// One construct that is like a list: how to make an input with n of it, and what is done with that input.
struct Construct {
    var name: String
    /// The smallest of four sizes; the others are its doubles. The largest is within the limits.
    var smallest: Int
    /// Makes the input of a size, uncounted, and returns the work to count. The work returns false when the input was refused.
    var prepare: (Int) -> () -> Bool
    /// The limit that ends the work; nil for work that has to be linear. The smallest size is within it, the two largest are beyond.
    var bound: String?

    init(_ name: String, from smallest: Int, bounded bound: String? = nil, prepare: @escaping (Int) -> () -> Bool) {
        self.name = name
        self.smallest = smallest
        self.bound = bound
        self.prepare = prepare
    }

    /// Work that may grow beyond linear up to a limit. Its closure returns false only for the error that names the limit; beyond the
    /// limit, the largest size must not take more operations than reading it does.
    static func bounded(_ name: String, by bound: String, from smallest: Int, prepare: @escaping (Int) -> () -> Bool) -> Construct {
        Construct(name, from: smallest, bounded: bound, prepare: prepare)
    }
}

/// The operations of one construct at n, 2n, 4n and 8n.
struct Growth {
    var sizes: [Int]
    var operations: [UInt64]
    /// The sizes at which the input was refused.
    var refused: [Int]
    var bound: String?

    /// Twice the size may take this many times the operations, fixed parts aside: 2 is linear, 4 quadratic; sorting stays below 2.4.
    static let limit = 2.6

    init(of construct: Construct) {
        sizes = (0..<4).map { construct.smallest << $0 }
        operations = []
        refused = []
        bound = construct.bound
        // Once unmeasured, for what is made once and kept.
        _ = construct.prepare(construct.smallest)()
        for size in sizes {
            let work = construct.prepare(size)
            let before = isthmus_growth_operations()
            let isTaken = work()
            operations.append(isthmus_growth_operations() - before)
            if !isTaken { refused.append(size) }
        }
    }

    /// How many times more the operations grow from 2n to 4n than from n to 2n, and from 4n to 8n than from 2n to 4n. What does not
    /// depend on n falls out.
    var factors: [Double] {
        let steps = zip(operations.dropFirst(), operations).map { Double($0) - Double($1) }
        return zip(steps.dropFirst(), steps).map { $0 / max($1, 1) }
    }

    /// Both factors: a table that doubles its storage makes one of them great.
    var isBeyondLinear: Bool { factors.allSatisfy { $0 > Self.limit } }

    /// Fewer operations than elements: the work was not done, or is not seen by the counters.
    var isUnseen: Bool { operations[3] < UInt64(sizes[3]) }

    /// What is wrong; nil for linear growth, or for a limit that holds.
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
