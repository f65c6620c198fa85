/// Rule by which a gateway beside its store loses nothing and goes back to nothing; a simulation without it finds a violation.
public enum SimulatedRule: Sendable, CaseIterable {
    /// Responses and notifications wait until the changes that they depend on are stored.
    case commitBeforeAnswer
    /// After a commit of unknown outcome the gateway takes over what the store holds.
    case readAfterUnknownOutcome
    /// Commits of a connection that was given up are decided before the next connection is used.
    case fencedConnections
}
