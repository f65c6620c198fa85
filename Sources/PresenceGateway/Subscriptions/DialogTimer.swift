import SIPCore

/// Name of a dialog to the kernel, and the timer set under it.
struct DialogTimer {
    /// Names the dialog while it is in the gateway's tables.
    private(set) var ticket = Ticket.none
    /// Time at which the timer is due; nil: none is set.
    private(set) var at: Instant?

    mutating func name(by ticket: Ticket) { self.ticket = ticket }

    /// - Returns: whether the timer is to be set, because the next deadline is another one.
    mutating func schedule(at next: Instant?) -> Bool {
        guard next != at else { return false }
        at = next
        return true
    }

    /// Notes that the timer has fired.
    mutating func fired() { at = nil }
}
