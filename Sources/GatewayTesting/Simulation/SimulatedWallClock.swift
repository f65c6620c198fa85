import PresenceGateway
import SIPCore

/// The wall clock of the gateway's machine, which somebody sets now and then: by seconds, hours or days, forward or back.
///
/// It draws from its own generator, so that the rest of a seed's history does not depend on it.
final class SimulatedWallClock {
    /// How far it is ahead of the network's time.
    private(set) var lead = TimeSpan.zero
    /// How often it was set.
    private(set) var steps = 0
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed &* 0xD1B5_4A32_D192_ED03 &+ 7) }

    /// Sets it, sometimes.
    /// - Returns: by how much.
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
    /// The wall clock is set, and the gateway reads it. A process that dies before its store has taken the step knows nothing of it; that is
    /// a loss which no gateway can make good, and none that is played here.
    func setClock() {
        guard !process.isDead, !process.isDoomed, store.failure == nil, let step = clock.maybeSet() else { return }
        network.remark("the wall clock is set by \(step.seconds) s")
        process.receive(wallClock: network.now + clock.lead, at: network.now)
    }
}
