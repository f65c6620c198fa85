import PresenceGateway
import SIPCore
import ScriptedPeers

/// Failures of the store engine of a simulated world.
///
/// Uses its own random generator, so that the rest of a seed's run depends on it only through its effects.
final class SimulatedStoreTrouble {
    let engine: SimulatedStore
    private var network: SimulatedNetwork { engine.network }
    var random: SeededRandom
    private let missingRule: SimulatedRule?
    /// Number of stalls and other changes so far.
    private var strikes = 0

    /// - Parameter rule: rule that is switched off; nil: none.
    init(_ engine: SimulatedStore, seed: UInt64, without rule: SimulatedRule? = nil) {
        self.engine = engine
        missingRule = rule
        engine.fencesConnections = rule != .fencedConnections
        random = SeededRandom(seed: seed &* 0x94D0_49BB_1331_11EB &+ 5)
    }

    /// Path to the engine for a new process.
    func connect() -> any StoreLink {
        let connection = engine.connect()
        return switch missingRule {
        case .commitBeforeAnswer: HastyStoreLink(connection, on: network)
        case .readAfterUnknownOutcome: ForgetfulStoreLink(connection, on: network, engine.table.records)
        default: connection
        }
    }

    /// With a probability of 30 %, changes the delays and losses, stalls the engine for up to 20 s, or ends its connections.
    func maybeStrike() {
        guard random.chance(0.3) else { return }
        strikes += 1
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: set(.prompt, "prompt")
        case 3..<5: set(.slow, "slow")
        case 5..<8: set(.unreliable, "unreliable")
        case 8:
            let span = TimeSpan.milliseconds(Int.random(in: 100...20_000, using: &random))
            network.remark("the store engine stalls for \(span.nanoseconds / 1_000_000) ms")
            engine.isStalled = true
            network.schedule(at: network.now + span) { [self, strikes] _ in
                if strikes == self.strikes { engine.isStalled = false }
            }
        default:
            network.remark("the store engine ends its connections")
            engine.isStalled = false
            engine.endConnections()
        }
    }

    /// Ends the failures.
    func heal() {
        strikes += 1
        engine.conditions = .prompt
        engine.isStalled = false
    }

    private func set(_ conditions: StoreConditions, _ name: String) {
        network.remark("the store engine is \(name)")
        engine.conditions = conditions
        engine.isStalled = false
    }
}
