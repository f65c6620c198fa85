import SIPCore

/// The wall clock, which may be set while the gateway runs.
extension Gateway {
    /// Takes in what the wall clock says; the edge reads it regularly.
    ///
    /// The gateway's own time goes on evenly, so that all lifetimes in memory stay as they were granted. The store is told how far the
    /// clock was set, so that the next process finds them so too (``StoredClock``).
    public func receive(wallClock wall: Instant, at now: Instant) {
        let difference = (wall - now) - clockStep
        guard difference.isClockStep else { return }
        clockStep = wall - now
        desk.now = now
        desk.isClockDue = store != nil
        counters.clockSteps += 1
        log(.warning, "the clock of this machine was set", ["seconds": String(difference.seconds)])
    }
}
