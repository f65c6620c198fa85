import PresenceGateway
import SIPCore
import ScriptedPeers

/// Plays some minutes of a small world with random failures chosen by a seed, then a quiet period in which everything recovers, then checks
/// the result.
///
///     seed --> world --> operations on a bad network --> quiet, recovery --> every live watcher has the current presence
///                                                                    --> all subscriptions end --> no state is left
///
/// The same seed gives the same run, message by message.
package struct Simulation {
    /// Figures of a successful run.
    package struct Summary: Sendable {
        /// Requests and responses that the last gateway process received and sent.
        package var messages: UInt64 = 0
        /// Number of times the gateway was killed.
        package var kills = 0
        /// Number of live watchers at the end, all with the correct presence.
        package var live = 0
        /// Number of commits to the store.
        package var commits = 0
        /// Number of forged responses; none was accepted.
        package var forged: UInt64 = 0
        /// Troubles of the store engine.
        package var store = SimulatedStore.Counts()
        /// Number of envelopes between shards.
        package var envelopes = 0
        /// Number of blocks that were acknowledged during the run.
        package var blocks = 0
        /// Number of times the gateway's wall clock was set.
        package var clockSteps = 0
        /// Duration of the run in virtual time.
        package var virtualTime = TimeSpan.zero
    }

    /// Seed of the run.
    package let seed: UInt64
    private let world: SimulatedWorld
    private var kills = 0
    private let begin: Instant

    private init(seed: UInt64, isRecorded: Bool, _ shape: SimulatedWorld.Shape? = nil) {
        self.seed = seed
        world = SimulatedWorld(seed: seed, isRecorded: isRecorded, shape ?? SimulatedWorld.Shape(of: seed))
        begin = world.network.now
    }

    /// Plays one seed; equal seeds give equal runs.
    /// - Throws: ``SimulationFailure`` with the seed, the faults and the transcript of a second, recorded run.
    @discardableResult
    package static func play(seed: UInt64) throws -> Summary {
        do {
            return try attempt(seed: seed, isRecorded: false)
        } catch {
            let recorded = Simulation(seed: seed, isRecorded: true)
            var simulation = recorded
            let again: String
            do {
                _ = try simulation.run()
                again = "it did not happen again: the run is not repeatable"
            } catch let second {
                again = "\(second)" == "\(error)" ? "\(error)" : "\(error)\nand when played again: \(second)"
            }
            throw SimulationFailure("seed \(seed): \(again)\n\(recorded.world.network.transcript.ladder)")
        }
    }

    private static func attempt(seed: UInt64, isRecorded: Bool) throws -> Summary {
        var simulation = Simulation(seed: seed, isRecorded: isRecorded)
        return try simulation.run()
    }

    /// Plays one seed in the world of a rule.
    /// - Parameter isMissing: Whether the rule is switched off.
    /// - Returns: The faults; nil when none was found.
    package static func violation(seed: UInt64, of rule: SimulatedRule, isMissing: Bool) -> String? {
        var simulation = Simulation(seed: seed, isRecorded: false, SimulatedWorld.Shape(of: rule, isMissing: isMissing))
        do {
            _ = try simulation.run()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private mutating func run() throws -> Summary {
        try world.begin()
        for _ in 0..<Int.random(in: 15...45, using: &world.random) {
            kills += try world.disturb()
            try world.setClock()
            world.strikeStore()
            world.servers.pair.maybeStrike(world.network)
            try world.live(for: Self.pause(&world.random))
        }
        try world.heal()
        let live = try world.judge()
        try world.judgeFlaws()
        try world.end()
        var summary = Summary()
        summary.messages = world.gateway.messages
        summary.kills = kills
        summary.live = live
        summary.commits = world.storage.records.commits
        summary.store = world.storage.trouble?.engine.counts ?? SimulatedStore.Counts()
        summary.envelopes = world.mailboxes?.carried ?? 0
        summary.blocks = world.users.blocks.count(where: \.isAcknowledged)
        summary.forged = world.witnesses.forger.forged
        summary.clockSteps = world.clock.steps
        summary.virtualTime = world.network.now - begin
        return summary
    }

    /// Random pause between events: mostly short, so that failures overlap; sometimes long enough for timers.
    private static func pause(_ random: inout SeededRandom) -> TimeSpan {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<10: .milliseconds(Int.random(in: 0...400, using: &random))
        case 10..<16: .milliseconds(Int.random(in: 400...5000, using: &random))
        case 16..<19: .seconds(Int.random(in: 5...60, using: &random))
        default: .seconds(Int.random(in: 60...400, using: &random))
        }
    }
}
