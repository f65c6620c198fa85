import SIPCore
import ScriptedPeers

/// Mailboxes between the shards of a process in virtual time: each envelope arrives once, up to 50 ms later, in any order.
final class SimulatedMailboxes {
    private let network: SimulatedNetwork
    private var random: SeededRandom
    private let makePath: () -> EnvelopePath
    /// The envelopes of the present process.
    private var path: EnvelopePath
    private let longestDelay: TimeSpan
    /// Number of envelopes so far.
    private(set) var carried = 0

    /// - Parameters:
    ///   - viewsOvertake: whether views overtake all others, and take up to 2 s.
    ///   - rule: rule that is switched off; nil: none.
    init(on network: SimulatedNetwork, seed: UInt64, viewsOvertake: Bool = false, without rule: SimulatedRule? = nil) {
        self.network = network
        random = SeededRandom(seed: seed &* 0xBF58_476D_1CE4_E5B9 &+ 13)
        longestDelay = viewsOvertake ? .seconds(2) : .milliseconds(50)
        makePath = { EnvelopePath(viewsOvertake: viewsOvertake, without: rule) }
        path = makePath()
    }

    /// Forgets the envelopes of the previous process.
    func beginProcess() { path = makePath() }

    /// Delivers an envelope later.
    func carry(_ envelope: ShardEnvelope, to deliver: @escaping (ShardEnvelope, Instant) -> Void) {
        carried += 1
        let delay = TimeSpan(nanoseconds: Int64.random(in: 0...longestDelay.nanoseconds, using: &random))
        let parcel = path.leave(envelope)
        network.schedule(at: network.now + delay) { [path] now in
            for envelope in path.arrive(parcel) { deliver(envelope, now) }
        }
    }
}
