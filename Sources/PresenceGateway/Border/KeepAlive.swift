import SIPCore

/// OPTIONS to one domain, so that a partner that is down is noticed.
///
///     resting --time, or another request was not answered--> open (one request per server) --all ended--> resting
///
/// An input that would send while a request is open only plans the next time.
struct KeepAlive: Equatable {
    /// Names the domain to the kernel.
    let ticket: Ticket
    let interval: TimeSpan
    /// OPTIONS without a response yet.
    private(set) var open = 0
    /// Whether the domain is asked by default, while it has upstream subscriptions.
    let isDefault: Bool
    /// Time of the next OPTIONS.
    private(set) var dueAt: Instant
    /// Earliest time at which another unanswered request may cause OPTIONS.
    private var asksFrom = Instant(nanosecondsSince1970: 0)

    init(ticket: Ticket, interval: TimeSpan, isDefault: Bool = false, dueAt: Instant) {
        self.ticket = ticket
        self.interval = interval
        self.isDefault = isDefault
        self.dueAt = dueAt
    }

    /// Changes the interval; requests that are open stay so.
    init(ticket: Ticket, interval: TimeSpan, isDefault: Bool = false, dueAt: Instant, after before: KeepAlive?) {
        self.init(ticket: ticket, interval: interval, isDefault: isDefault, dueAt: dueAt)
        open = before?.open ?? 0
    }

    /// Whether no request is open.
    var isResting: Bool { open == 0 }

    /// Plans the next OPTIONS.
    mutating func plan(at moment: Instant) { dueAt = moment }

    /// Plans the next OPTIONS earlier.
    /// - Returns: whether it moved.
    mutating func planSooner(at moment: Instant) -> Bool {
        guard moment < dueAt else { return false }
        dueAt = moment
        return true
    }

    /// Notes that OPTIONS are sent to a number of servers; ignored while requests are open.
    mutating func ask(_ servers: Int) {
        if isResting { open = max(servers, 1) }
    }

    /// Asks because another request was not answered, at most once in `pause`.
    /// - Returns: whether to send OPTIONS now.
    mutating func askNow(pause: TimeSpan, at now: Instant) -> Bool {
        guard isResting, now >= asksFrom else { return false }
        open = 1
        asksFrom = now + pause
        return true
    }

    /// Notes the end of one request; ignored if none is open.
    mutating func ended() {
        if open > 0 { open -= 1 }
    }
}
