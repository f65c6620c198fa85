/// Rule that a simulation switches off, to show that the rule is needed.
extension Gateway {
    /// Lets views leave for other shards before the changes that they show are stored.
    package func sendViewsBeforeCommits() { flows.presentities.remoteWatchers.waitsForCommits = false }
}
