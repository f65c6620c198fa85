import Glibc
import Measurement
import PresenceLoad

/// One side with its load.
struct Contender {
    let side: Side
    let peer: any MeasuredPeer
    let load: PresenceLoad

    /// Processor time of one operation, of the side and of the load, in microseconds. Includes what the side does after the last answer.
    func time(_ operations: Int, _ work: (PresenceLoad) -> Void) -> (side: Double, load: Double) {
        let (start, own) = (peer.spent, processorTime())
        work(load)
        let loaded = processorTime() - own
        load.quiet(100)
        return (Double(peer.spent - start) / Double(operations) / 1_000, Double(loaded) / Double(operations) / 1_000)
    }

    func stop() {
        load.stop()
        peer.stop()
    }
}

/// Sides under the same load.
struct Comparison {
    let isthmus: String
    let rounds: Int

    /// Starts the sides, each with a load of its own, and lets presentities publish.
    func contenders(_ sides: [Side], _ shape: LoadShape) -> [Contender] {
        sides.map { side in
            let load = PresenceLoad(shape)
            guard let peer = side.start(isthmus, remotePort: load.remotePort) else {
                print("kamailio-benchmark: \(side.title) does not start")
                exit(1)
            }
            load.connect(to: peer.port)
            return Contender(side: side, peer: peer, load: load)
        }
    }

    /// Measures the contenders in turn, one round more than counts as a warm-up; every second round begins with the last contender.
    /// - Returns: Results of each contender, by round.
    func inTurn<Value>(_ contenders: [Contender], _ measure: (Contender) -> Value) -> [[Value]] {
        var results = contenders.map { _ in [Value]() }
        for round in 0...rounds {
            for index in round % 2 == 0 ? Array(contenders.indices) : contenders.indices.reversed() {
                let value = measure(contenders[index])
                if round > 0 { results[index].append(value) }
            }
        }
        return results
    }

    /// Row of processor times.
    func times(
        _ name: String, _ title: String, _ contenders: [Contender], operations: Int, after: (PresenceLoad) -> Void = { _ in },
        _ work: (PresenceLoad) -> Void
    ) -> Row {
        let results = inTurn(contenders) { contender in
            let time = contender.time(operations, work)
            after(contender.load)
            return time
        }
        var row = Row(name: name, title: title, unit: "us")
        row.load = median(results[0].map(\.load))
        row.add(contenders.map(\.side), results.map { $0.map(\.side) })
        return row
    }
}
