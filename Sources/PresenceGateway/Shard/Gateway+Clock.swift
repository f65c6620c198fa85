import SIPCore

/// The wall clock, which may be set while the gateway runs.
extension Gateway {
    /// Compares the wall clock with the gateway's time; the event loop calls this regularly.
    ///
    /// The gateway's time advances evenly, so that lifetimes in memory do not change. The store keeps the amount by which the clock was
    /// set, so that the next process can shift its times (``StoredClock``).
    public func receive(wallClock wall: Instant, at now: Instant) {
        let difference = (wall - now) - commitLog.clockStep
        guard difference.isClockStep else { return }
        commitLog.noteInput(at: now)
        commitLog.noteClockStep(wall - now)
        counters.clockSteps += 1
        log(.warning, "the clock of this machine was set", ["seconds": String(difference.seconds)])
    }
}
