import Measurement

/// Compares gateways with different numbers of shards, each the home server of the same users and under the same load.
///
/// Every phase is cut into slices of equal size. A round is one slice on each gateway in turn, in a new order each round; the first
/// slice is a warm-up. A slice ends when all requests are answered and nothing more has arrived for 50 ms. Ratios are taken within a
/// round.
struct ShardComparison {
    var users: Int
    var contacts: Int
    var rounds: Int
    var isStoring: Bool
    var isStoringContacts: Bool

    /// One gateway with its clients.
    private struct Side {
        var shards: Int
        var gateway: IsthmusProgram
        var load: AnsweringProgram

        var name: String { shards == 1 ? "1 shard" : "\(shards) shards" }
    }

    /// One slice on one gateway.
    private struct Slice {
        var operations: Int
        /// Processor time of the gateway, in nanoseconds.
        var gateway: Double
        var outcome: ShardLoad.Outcome
    }

    /// Runs all phases and prints the tables; false if a request failed or the gateways showed different numbers of presentities.
    func run(_ program: String, _ shards: [Int]) -> Bool {
        var sides: [Side] = []
        defer {
            for side in sides {
                side.load.stop()
                side.gateway.stop()
            }
        }
        for count in shards {
            guard let side = start(program, shards: count) else { return false }
            sides.append(side)
        }
        var head = ["us of processor time", "operations a round"] + sides.map(\.name)
        for _ in shards.dropFirst() { head += ["ratio", "(range)"] }
        var table = Table(head: head)
        var throughput = Table(
            "publications while saturated", "a second", "shown a second", "gateway cores", "load cores", "ratio", "(range)")
        var isSound = true
        for (number, phase) in ShardPhase.all(users: users).enumerated() {
            guard let slices = measure(phase, number, sides, &isSound) else { return false }
            if phase.window == ShardPhase.window {
                let shown = median(slices[0].map { Double($0.outcome.shown) / Double($0.operations) })
                let name = phase.name + (phase.notifies ? ", \(text(shown, 1)) presentities shown" : "")
                add(name, slices, to: &table) { $0.gateway / Double($0.operations) / 1_000 }
                if phase.notifies {
                    add("the same, for each presentity shown", slices, to: &table) {
                        $0.gateway / Double(max(1, $0.outcome.shown)) / 1_000
                    }
                }
            } else {
                add(slices, sides, to: &throughput)
            }
        }
        table.show(
            title: "Gateways of \(users) users with \(contacts) contacts, \(isStoring ? "SQLite" : "in memory"), \(ShardPhase.window) "
                + "requests in flight; medians of \(rounds) rounds, ratios to the first gateway within a round")
        throughput.show(title: "Wall clock with \(ShardPhase.saturatingWindow) requests in flight; the load has one thread")
        for side in sides {
            guard let errors = side.load.ask("errors"), errors.isEmpty else {
                print("error: \(side.name): \(side.load.ask("errors") ?? "the load has ended")")
                isSound = false
                continue
            }
        }
        return isSound
    }

    private func start(_ program: String, shards: Int) -> Side? {
        // With 512 requests in flight a loop may be late by more than a second, and a refused publication shows nothing.
        let gateway = IsthmusProgram(program, shards: shards) {
            EnterpriseBenchmark.settings(isStoring: isStoring, refusesWhenLate: false, in: $0)
        }
        guard let gateway else {
            print("enterprise-benchmark: \(program) does not start with \(shards) shards")
            return nil
        }
        let values = [gateway.port, users, contacts, isStoringContacts ? 1 : 0].map(String.init)
        guard let load = AnsweringProgram("/proc/self/exe", ["--slices"] + values) else {
            print("enterprise-benchmark: the load does not start")
            gateway.stop()
            return nil
        }
        return Side(shards: shards, gateway: gateway, load: load)
    }

    /// Runs a phase; returns the slices of each gateway without the warm-up, and nil if a load has ended.
    private func measure(_ phase: ShardPhase, _ number: Int, _ sides: [Side], _ isSound: inout Bool) -> [[Slice]]? {
        var slices = [[Slice]](repeating: [], count: sides.count)
        let size = max(1, phase.operations / (rounds + 1))
        // The warm-up takes the remainder.
        let first = max(0, phase.operations - size * rounds)
        for round in 0...rounds {
            let range = round == 0 ? 0..<first : (first + (round - 1) * size)..<(first + round * size)
            for place in sides.indices {
                let index = (place + round) % sides.count
                let side = sides[index]
                let spent = processorTime(of: side.gateway.process) ?? 0
                guard let answer = side.load.ask("\(number) \(range.lowerBound) \(range.upperBound)"),
                    let outcome = ShardLoad.Outcome(answer)
                else {
                    print("error: \(side.name): the load has ended")
                    return nil
                }
                let gateway = Double((processorTime(of: side.gateway.process) ?? spent) - spent)
                if outcome.unfinished > 0 {
                    print("error: \(side.name): \(phase.name), round \(round): \(outcome.unfinished) of \(range.count) have no answer")
                    isSound = false
                }
                slices[index].append(Slice(operations: range.count, gateway: gateway, outcome: outcome))
            }
            let shown = slices.map { $0[round].outcome.shown }
            if Set(shown).count > 1 {
                let counts = shown.map(String.init).joined(separator: ", ")
                print("error: \(phase.name), round \(round): presentities shown by the gateways: \(counts)")
                isSound = false
            }
        }
        return slices.map { Array($0.dropFirst()) }
    }

    // MARK: tables

    private func add(_ name: String, _ slices: [[Slice]], to table: inout Table, _ value: (Slice) -> Double) {
        let values = slices.map { $0.map(value) }
        var row = [name, String(slices[0].first?.operations ?? 0)] + values.map { text(median($0), 1) }
        for other in values.dropFirst() { row += Self.ratio(other, to: values[0]) }
        table.add(row: row)
    }

    private func add(_ slices: [[Slice]], _ sides: [Side], to table: inout Table) {
        func rates(_ slices: [Slice]) -> [Double] { slices.map { Double($0.operations) / $0.outcome.nanoseconds * 1e9 } }
        let first = rates(slices[0])
        for (slices, side) in zip(slices, sides) {
            func middle(_ value: (Slice) -> Double) -> Double { median(slices.map { value($0) / $0.outcome.nanoseconds }) }
            table.add(
                row: [
                    side.name, text(median(rates(slices)), 0), text(middle { Double($0.outcome.shown) * 1e9 }, 0),
                    text(middle(\.gateway)), text(middle(\.outcome.load)),
                ] + Self.ratio(rates(slices), to: first))
        }
    }

    /// Median, least and greatest ratio.
    private static func ratio(_ values: [Double], to others: [Double]) -> [String] {
        let ratios = zip(values, others).map { $0 / $1 }
        return [text(median(ratios)), "\(text(ratios.min() ?? 0))-\(text(ratios.max() ?? 0))"]
    }
}
