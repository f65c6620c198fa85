import PresenceGateway
import SIPCore
import ScriptedPeers

/// Wall clock of the gateway's machine, which is sometimes set by seconds, hours or days, forwards or backwards.
///
/// Uses its own random generator, so that the rest of a seed's run does not depend on it.
final class SimulatedWallClock {
    /// Difference to network time.
    private(set) var lead = TimeSpan.zero
    /// Number of times it was set.
    private(set) var steps = 0
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed &* 0xD1B5_4A32_D192_ED03 &+ 7) }

    /// Sets the clock with a probability of 6 %.
    /// - Returns: The change; nil when it was not set.
    func maybeSet() -> TimeSpan? {
        guard random.chance(0.06) else { return nil }
        let size: TimeSpan = [.seconds(2), .seconds(900), .seconds(3 * 3_600), .seconds(5 * 86_400)].randomElement(using: &random) ?? .zero
        let step = random.chance(0.5) ? size : .zero - size
        lead = lead + step
        steps += 1
        return step
    }
}

extension SimulatedWorld {
    /// Sets the wall clock and has the gateway read it. A process that dies before its store has recorded the change cannot know of it, so
    /// the clock is not set while a death or a store failure is pending, and a store engine has time to record it.
    func setClock() throws {
        guard !process.isDead, !process.isDoomed, storage.records.failure == nil, let step = clock.maybeSet() else { return }
        network.remark("the wall clock is set by \(step.seconds) s")
        process.receive(wallClock: network.now + clock.lead, at: network.now)
        guard storage.trouble != nil else { return }
        let isStored = try network.run(atMost: .seconds(120)) { process.isStored(wallClock: clock.lead, in: storage.records) }
        if !isStored { throw SimulationFailure("the store does not know after 120 s that the clock was set") }
    }
}
