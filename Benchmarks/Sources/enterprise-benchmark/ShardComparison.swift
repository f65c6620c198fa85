import Glibc
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

    /// Operations in flight while processor time is compared.
    private static let window = 16
    /// Operations in flight while throughput is measured.
    private static let saturatingWindow = 512
    /// Polls for each publication.
    private static let pollFactor = 4

    /// One gateway with its clients.
    private final class Side {
        let gateway: IsthmusProgram
        let load: EnterpriseLoad

        init(_ gateway: IsthmusProgram, _ load: EnterpriseLoad) {
            (self.gateway, self.load) = (gateway, load)
        }
    }

    private struct Phase {
        var name: String
        var operations: Int
        var window = ShardComparison.window
        /// Starts an operation by its number, from 0.
        var begin: (EnterpriseLoad, Int) -> Void
        /// Number of finished operations, of this and earlier phases.
        var finished: (EnterpriseLoad) -> Int
    }

    /// One slice on one gateway.
    private struct Slice {
        var operations: Int
        var nanoseconds: Double
        /// Processor time of the gateway and of the load.
        var gateway: Double
        var load: Double
        var shown: Int
        var isComplete: Bool
    }

    /// Runs all phases and prints the tables; false if a request failed or the gateways showed different numbers of presentities.
    func run(_ program: String, _ shards: [Int]) -> Bool {
        var sides: [Side] = []
        defer { for side in sides { side.gateway.stop() } }
        for count in shards {
            let started = IsthmusProgram(program, shards: count) { EnterpriseBenchmark.settings(isStoring: isStoring, in: $0) }
            guard let started else {
                print("enterprise-benchmark: \(program) does not start with \(count) shards")
                return false
            }
            let load = EnterpriseLoad(gateway: started.port, users: users, contacts: contacts, isStoringContacts: isStoringContacts)
            load.isWatchingAtSignIn = false
            sides.append(Side(started, load))
        }
        var isSound = true
        var head = ["us of processor time", "operations a round"]
        head += shards.map { $0 == 1 ? "1 shard" : "\($0) shards" }
        for _ in shards.dropFirst() { head += ["ratio", "(range)"] }
        var table = Table(head: head)
        var throughput = Table(
            "publications while saturated", "a second", "shown a second", "gateway cores", "load cores", "ratio", "(range)")
        for phase in phases {
            let slices = measure(phase, sides, &isSound)
            if phase.window == Self.window {
                let notified = slices[0].map { Double($0.shown) / Double($0.operations) }
                let shown = phase.name.hasSuffix("notifications") ? ", \(text(median(notified), 1)) presentities shown" : ""
                add("\(phase.name)\(shown)", slices, to: &table) { $0.gateway / Double($0.operations) / 1_000 }
                if !shown.isEmpty {
                    add("the same, for each presentity shown", slices, to: &table) { $0.gateway / Double(max(1, $0.shown)) / 1_000 }
                }
            } else {
                add(slices, shards, to: &throughput)
            }
        }
        table.show(
            title: "Gateways of \(users) users with \(contacts) contacts, \(isStoring ? "SQLite" : "in memory"), \(Self.window) requests "
                + "in flight; medians of \(rounds) rounds, ratios to the first gateway within a round")
        throughput.show(title: "Wall clock with \(Self.saturatingWindow) requests in flight; the load has one thread")
        for (side, count) in zip(sides, shards) {
            for (what, number) in side.load.errors.sorted(by: { $0.key < $1.key }) {
                print("error: shards \(count): \(what): \(number)")
                isSound = false
            }
            if side.load.outstanding > 0 {
                print("error: shards \(count): \(side.load.outstanding) requests have no answer")
                isSound = false
            }
        }
        return isSound
    }

    private var phases: [Phase] {
        func publish(_ name: String, window: Int) -> Phase {
            Phase(name: name, operations: users, window: window) {
                $0.publishChange(spread($1))
            } finished: {
                $0.durations(.publish).count
            }
        }
        return [
            Phase(name: "sign-in", operations: users) {
                $0.signIn($1)
            } finished: {
                $0.signedIn
            },
            publish("publication, without watchers", window: Self.window),
            Phase(name: "batch subscription", operations: users) {
                $0.watch($1)
            } finished: {
                $0.watching
            },
            publish("publication with its notifications", window: Self.window),
            Phase(name: "poll", operations: users * Self.pollFactor) {
                $0.act(.poll, spread($1), $1)
            } finished: {
                $0.durations(.poll).count
            },
            publish("publication, saturated", window: Self.saturatingWindow),
        ]
    }

    /// User of an operation: all users once in `users` operations, without neighbors in sequence.
    private func spread(_ number: Int) -> Int { (number % users) * 7_919 % users }

    /// Runs a phase; returns the slices of each gateway without the warm-up.
    private func measure(_ phase: Phase, _ sides: [Side], _ isSound: inout Bool) -> [[Slice]] {
        var slices = [[Slice]](repeating: [], count: sides.count)
        let size = max(1, phase.operations / (rounds + 1))
        // The warm-up takes the remainder.
        let first = max(0, phase.operations - size * rounds)
        for round in 0...rounds {
            let range = round == 0 ? 0..<first : (first + (round - 1) * size)..<(first + round * size)
            for place in sides.indices {
                let index = (place + round) % sides.count
                let slice = run(phase, range, sides[index])
                if !slice.isComplete {
                    print("error: gateway \(index + 1): \(phase.name): requests have no answer")
                    isSound = false
                }
                slices[index].append(slice)
            }
            let shown = slices.map { $0[round].shown }
            if Set(shown).count > 1 {
                let counts = shown.map(String.init).joined(separator: ", ")
                print("error: \(phase.name), round \(round): presentities shown by the gateways: \(counts)")
                isSound = false
            }
        }
        return slices.map { Array($0.dropFirst()) }
    }

    private func run(_ phase: Phase, _ range: Range<Int>, _ side: Side) -> Slice {
        let load = side.load
        let already = phase.finished(load)
        let (start, own, shown) = (clockNow(), processorTime(), load.shown)
        let spent = processorTime(of: side.gateway.process) ?? 0
        var next = range.lowerBound
        var (octets, heard) = (load.octets, start)
        while true {
            let finished = phase.finished(load) - already
            while next < range.upperBound, next - range.lowerBound - finished < phase.window {
                phase.begin(load, next)
                next += 1
            }
            load.work(milliseconds: 5)
            let now = clockNow()
            if load.octets != octets { (octets, heard) = (load.octets, now) }
            let patience: UInt64 = finished == range.count ? 50_000_000 : 10_000_000_000
            if now - heard > patience { break }
        }
        return Slice(
            operations: range.count, nanoseconds: Double(heard - start),
            gateway: Double((processorTime(of: side.gateway.process) ?? spent) - spent), load: Double(processorTime() - own),
            shown: load.shown - shown, isComplete: phase.finished(load) - already == range.count)
    }

    // MARK: tables

    private func add(_ name: String, _ slices: [[Slice]], to table: inout Table, _ value: (Slice) -> Double) {
        let values = slices.map { $0.map(value) }
        var row = [name, String(slices[0].first?.operations ?? 0)] + values.map { text(median($0), 1) }
        for other in values.dropFirst() { row += Self.ratio(other, to: values[0]) }
        table.add(row: row)
    }

    private func add(_ slices: [[Slice]], _ shards: [Int], to table: inout Table) {
        func rates(_ side: [Slice]) -> [Double] { side.map { Double($0.operations) / $0.nanoseconds * 1e9 } }
        for (side, count) in zip(slices, shards) {
            func middle(_ value: (Slice) -> Double) -> Double { median(side.map { value($0) / $0.nanoseconds }) }
            table.add(
                row: [
                    count == 1 ? "1 shard" : "\(count) shards", text(median(rates(side)), 0), text(middle { Double($0.shown) * 1e9 }, 0),
                    text(middle(\.gateway)), text(middle(\.load)),
                ] + Self.ratio(rates(side), to: rates(slices[0])))
        }
    }

    /// Median, least and greatest ratio.
    private static func ratio(_ values: [Double], to others: [Double]) -> [String] {
        let ratios = zip(values, others).map { $0 / $1 }
        return [text(median(ratios)), "\(text(ratios.min() ?? 0))-\(text(ratios.max() ?? 0))"]
    }
}
