import Glibc
import Measurement

/// The clients of one gateway of a comparison, in a process of their own, because each user has a connection and a process only so many.
///
/// Answers `PHASE FIRST END` by running these operations of a phase, and `errors` with what failed.
struct ShardLoad {
    /// Outcome of a slice of operations.
    struct Outcome {
        /// From the first request to the last octet received.
        var nanoseconds: Double
        /// Processor time of the load, in nanoseconds.
        var load: Double
        /// Presentities shown in notifications and responses.
        var shown: Int
        /// Operations without an answer.
        var unfinished: Int

        init(nanoseconds: Double, load: Double, shown: Int, unfinished: Int) {
            (self.nanoseconds, self.load, self.shown, self.unfinished) = (nanoseconds, load, shown, unfinished)
        }

        /// Reads ``text``; nil if it is malformed.
        init?(_ text: String) {
            let parts = text.split(separator: " ").compactMap { Int($0) }
            guard parts.count == 4 else { return nil }
            self.init(nanoseconds: Double(parts[0]), load: Double(parts[1]), shown: parts[2], unfinished: parts[3])
        }

        var text: String { "\(Int(nanoseconds)) \(Int(load)) \(shown) \(unfinished)" }
    }

    private let load: EnterpriseLoad
    private let phases: [ShardPhase]

    /// Silence after which a slice ends, and after which unanswered requests are given up.
    private static let silence: UInt64 = 50_000_000
    private static let patience: UInt64 = 10_000_000_000

    /// Creates the clients.
    /// - Parameter arguments: Port, users, contacts, and 1 if contact lists are stored.
    init?(_ arguments: some Sequence<String>) {
        let values = arguments.compactMap { Int($0) }
        guard values.count == 4 else { return nil }
        load = EnterpriseLoad(gateway: values[0], users: values[1], contacts: values[2], isStoringContacts: values[3] == 1)
        load.isWatchingAtSignIn = false
        phases = ShardPhase.all(users: values[1])
    }

    /// Answers lines of standard input until it ends.
    func serve() {
        while let line = readLine() {
            let parts = line.split(separator: " ").compactMap { Int($0) }
            if parts.count == 3, phases.indices.contains(parts[0]), parts[1] <= parts[2] {
                print(run(phases[parts[0]], parts[1]..<parts[2]).text)
            } else {
                let errors = load.errors.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
                let open = load.outstanding > 0 ? ["\(load.outstanding) requests have no answer"] : []
                print((errors + open).joined(separator: "; "))
            }
            fflush(nil)
        }
    }

    private func run(_ phase: ShardPhase, _ range: Range<Int>) -> Outcome {
        let already = phase.finished(load)
        let (start, own, shown) = (clockNow(), processorTime(), load.shown)
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
            if now - heard > (finished >= range.count ? Self.silence : Self.patience) { break }
        }
        return Outcome(
            nanoseconds: Double(heard - start), load: Double(processorTime() - own), shown: load.shown - shown,
            unfinished: range.count - (phase.finished(load) - already))
    }
}
