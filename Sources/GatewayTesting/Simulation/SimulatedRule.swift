/// Rule by which a gateway beside its store and between its shards loses nothing and goes back to nothing; a simulation without it finds a
/// violation.
package enum SimulatedRule: Sendable, CaseIterable {
    /// Responses and notifications wait until the changes that they depend on are stored.
    case commitBeforeAnswer
    /// After a commit of unknown outcome the gateway takes over what the store holds.
    case readAfterUnknownOutcome
    /// Commits of a connection that was given up are decided before the next connection is used.
    case fencedConnections
    /// Envelopes of a shard are handed on in the order in which they were sent.
    case envelopesInOrder
    /// A view with a number that is not higher than that of the last view of its watch is ignored. Its world lets views overtake, as after a
    /// lost link.
    case viewNumbers
    /// Views leave the presentity's shard when the changes that they show are stored.
    case commitBeforeView

    /// Whether the rule applies to several shards only.
    var needsShards: Bool {
        switch self {
        case .commitBeforeAnswer, .readAfterUnknownOutcome, .fencedConnections: false
        case .envelopesInOrder, .viewNumbers, .commitBeforeView: true
        }
    }
}
