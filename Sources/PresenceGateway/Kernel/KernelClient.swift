import SIPCore

/// A flow as the kernel sees it: the kernel moves messages and time for it, and names its records by tickets.
protocol KernelClient: AnyObject {
    /// Handles a timer that is due.
    func timerDue(_ ticket: Ticket, at now: Instant)
}
