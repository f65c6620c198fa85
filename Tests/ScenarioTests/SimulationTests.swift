import Foundation
import GatewayTesting
import Testing

/// A thousand small worlds in which everything fails that can; in every second one a store engine carries out the commits, and fails too;
/// every fourth has two or three event loops. `ISTHMUS_SEED=n` plays one, `ISTHMUS_SEEDS=n` the first n.
@Suite("A simulated world") struct SimulationTests {
    private static let shards = 16

    private static var seeds: Range<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["ISTHMUS_SEED"].flatMap({ UInt64($0) }) { return seed..<seed + 1 }
        return 1..<(environment["ISTHMUS_SEEDS"].flatMap { UInt64($0) } ?? 1000) + 1
    }

    @Test(
        "after loss, forged answers, restarts of peers, flawed documents, clock steps and kill -9 every live watcher sees what is so, and nothing is left",
        arguments: 0..<shards)
    func seeds(shard: Int) async {
        var (kills, live, clockSteps, forged, blocks, envelopes) = (0, 0, 0, UInt64(0), 0, 0)
        var store = SimulatedStore.Counts()
        for seed in Self.seeds where Int(seed % UInt64(Self.shards)) == shard {
            // The other tests want their turn too.
            await Task.yield()
            do {
                let summary = try Simulation.play(seed: seed)
                kills += summary.kills
                live += summary.live
                forged += summary.forged
                clockSteps += summary.clockSteps
                blocks += summary.blocks
                envelopes += summary.envelopes
                store += summary.store
            } catch {
                Issue.record("\(error)")
            }
        }
        // Of few seeds nothing is promised.
        guard Self.seeds.count >= 1000 else { return }
        #expect(kills > 0 && live > 0 && forged > 0 && clockSteps > 0)
        // An odd number selects seeds without an engine, and a multiple of 4 those with several loops.
        if shard % 4 == 0 { #expect(envelopes > 0) }
        guard shard % 2 == 0 else { return }
        #expect(blocks > 0)
        #expect(store.reconnections > 0 && store.storedUnknown > 0 && store.lost > 0 && store.storedAfterEnd > 0)
    }
}
