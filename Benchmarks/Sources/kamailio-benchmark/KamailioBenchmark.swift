import Glibc
import LiveLoad
import Measurement
import SIPCore

/// `kamailio-benchmark ISTHMUS [--quick] [--growth]`: compares the program with Kamailio under the same load, in turn, over TCP on
/// loopback.
///
/// Measures the processor time of all processes of the measured side, including the kernel's, but not of the load.
@main
struct KamailioBenchmark {
    static func main() {
        let arguments = Arguments()
        guard let program = arguments.rest.first(where: { !$0.hasPrefix("--") }) else {
            print("usage: kamailio-benchmark PATH-OF-ISTHMUS [--quick] [--growth]")
            exit(2)
        }
        if arguments.rest.contains("--growth") {
            growth(program, isQuick: arguments.isQuick)
        } else {
            guard access(KamailioPeer.program, X_OK) == 0 else {
                print("kamailio-benchmark: the Debian packages kamailio and kamailio-presence-modules are not installed")
                exit(1)
            }
            compare(program, rounds: arguments.isQuick ? 3 : 9)
        }
    }

    // MARK: beside Kamailio

    private enum Work {
        case change(rounds: Int)
        case subscribe(Int)

        /// Processor time of one operation, in nanoseconds.
        func run(_ load: Load) -> Double {
            switch self {
            case .change(let rounds):
                let (notifications, spent) = load.run(rounds: rounds)
                return Double(spent) / Double(max(1, notifications))
            case .subscribe(let count):
                return Double(load.subscribe(count)) / Double(count)
            }
        }
    }

    private static func compare(_ program: String, rounds: Int) {
        var fanOut = LoadCase(
            name: "a change of one presentity to 1,000 watchers, per NOTIFY", transport: .tcp, isCategories: false, isBridged: false)
        (fanOut.presentities, fanOut.watchersEach, fanOut.window) = (1, 1_000, 16)
        var pairs = LoadCase(name: "PUBLISH and its NOTIFY, 200 presentities", transport: .tcp, isCategories: false, isBridged: false)
        (pairs.presentities, pairs.watchersEach, pairs.window) = (200, 1, 32)
        var subscribe = LoadCase(name: "first SUBSCRIBE and its NOTIFY", transport: .tcp, isCategories: false, isBridged: false)
        (subscribe.presentities, subscribe.watchersEach, subscribe.window) = (200, 1, 32)
        var inward = LoadCase(name: "NOTIFY carried across, PIDF to PIDF", transport: .tcp, isCategories: false, isBridged: true)
        (inward.presentities, inward.watchersEach, inward.window) = (10, 100, 1)
        var mapped = inward
        mapped.name = "the same, PIDF to categories (Kamailio: PIDF)"
        mapped.isCategories = true
        let cases: [(LoadCase, LoadCase, Work)] = [
            (fanOut, fanOut, .change(rounds: 20)), (pairs, pairs, .change(rounds: 10)), (subscribe, subscribe, .subscribe(2_000)),
            (inward, inward, .change(rounds: 2)), (mapped, inward, .change(rounds: 2)),
        ]
        var table = Table("", "isthmus us", "kamailio us", "ratio", "(range)")
        for (ours, theirs, work) in cases {
            let loads = [
                Load(ours) { IsthmusPeer(program, remotePort: $0) },
                Load(theirs) { KamailioPeer(remotePort: $0) },
            ]
            var times: [[Double]] = [[], []]
            for round in 0...rounds {
                for (index, load) in loads.enumerated() {
                    let time = work.run(load)
                    // The first round is a warm-up.
                    if round > 0 { times[index].append(time) }
                }
            }
            loads.forEach { $0.stop() }
            let ratios = zip(times[0], times[1]).map { $0 / $1 }
            table.add(
                ours.name, text(median(times[0]) / 1_000, 1), text(median(times[1]) / 1_000, 1), text(median(ratios)),
                "\(text(ratios.min() ?? 0))-\(text(ratios.max() ?? 0))")
        }
        table.show(title: "Processor time beside Kamailio, both in memory; a ratio is taken within a round, the median of \(rounds) counts")
    }

    // MARK: growth

    private static func growth(_ program: String, isQuick: Bool) {
        let steps = isQuick ? [3_000, 10_000] : [10_000, 30_000, 100_000, 300_000]
        for isBridged in [false, true] {
            var setup = LoadCase(
                name: isBridged ? "bridged PIDF to PIDF" : "hosted, PIDF", transport: .tcp, isCategories: false, isBridged: isBridged)
            (setup.presentities, setup.watchersEach, setup.window) = (1_000, 1, 32)
            var peer: IsthmusPeer?
            let load = Load(setup) {
                peer = IsthmusPeer(program, remotePort: $0)
                return peer
            }
            let start = (memory: peer?.memory ?? 0, count: load.subscriptionCount)
            var table = Table("subscriptions", "us a SUBSCRIBE", "us a NOTIFY", "octets each")
            for step in steps where !isBridged || step <= 100_000 {
                let added = step - load.subscriptionCount
                let spent = load.subscribe(added)
                let (notifications, changes) = load.run(rounds: 1)
                // Neither side keeps transactions over TCP for 30 s; buffers are freed meanwhile.
                sleep(isQuick ? 1 : 5)
                let octets = ((peer?.memory ?? 0) - start.memory) / max(1, load.subscriptionCount - start.count)
                table.add(
                    String(step), text(Double(spent) / Double(max(1, added)) / 1_000, 1),
                    text(Double(changes) / Double(max(1, notifications)) / 1_000, 1), String(octets))
            }
            load.stop()
            table.show(title: "Growth: \(setup.name), \(setup.presentities) presentities")
        }
    }
}
