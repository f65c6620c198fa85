import SIPCore
import ScriptedPeers

/// Mailboxes between the shards of a process in virtual time: each envelope arrives once, up to 50 ms later, in any order.
final class SimulatedMailboxes {
    private let network: SimulatedNetwork
    private var random: SeededRandom
    /// Number of envelopes so far.
    private(set) var carried = 0

    static let longestDelay = TimeSpan.milliseconds(50)

    init(on network: SimulatedNetwork, seed: UInt64) {
        self.network = network
        random = SeededRandom(seed: seed &* 0xBF58_476D_1CE4_E5B9 &+ 13)
    }

    /// Delivers an envelope later.
    func carry(_ envelope: ShardEnvelope, to deliver: @escaping (ShardEnvelope, Instant) -> Void) {
        carried += 1
        let delay = TimeSpan(nanoseconds: Int64.random(in: 0...Self.longestDelay.nanoseconds, using: &random))
        network.schedule(at: network.now + delay) { now in deliver(envelope, now) }
    }
}
