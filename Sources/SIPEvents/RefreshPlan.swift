import SIPCore

/// Times of the next refresh of a subscription.
struct RefreshPlan: Hashable, Sendable {
    /// Time of the next refresh by the granted lifetime; nil when none is planned.
    private(set) var plannedAt: Instant?
    /// Time of the refresh that verifies the subscription; a lifetime in a NOTIFY moves ``plannedAt`` only, and a 2xx clears it.
    private(set) var verifiesAt: Instant?
    /// Earliest time to repeat a refused refresh, whatever lifetime a NOTIFY reports.
    private var notBefore: Instant?

    init() {}

    /// The plan of a subscription of an earlier process, which is verified at `moment`.
    init(resumedAt moment: Instant) {
        plannedAt = moment
        verifiesAt = moment
    }

    /// Time of the next refresh, planned or to verify.
    var next: Instant? { .earliest(plannedAt, verifiesAt) }

    /// Plans the refresh of a granted lifetime; not before a refused one may be repeated.
    mutating func plan(_ moment: Instant) { plannedAt = notBefore.map { max($0, moment) } ?? moment }

    /// Cancels the planned refresh; a verification stays.
    mutating func cancel() { plannedAt = nil }

    /// Repeats a refused or unsent refresh at `moment`.
    mutating func refused(until moment: Instant) {
        notBefore = moment
        plannedAt = moment
        if verifiesAt != nil { verifiesAt = moment }
    }

    /// Notes an accepted refresh.
    mutating func accepted() {
        notBefore = nil
        verifiesAt = nil
    }

    /// Whether a refresh has to wait, because one was refused; it is planned for the end of the wait then.
    mutating func isPostponed(at now: Instant) -> Bool {
        guard let notBefore, now < notBefore else { return false }
        plannedAt = notBefore
        return true
    }

    /// Time of a verification that is requested for `moment`.
    func verification(at moment: Instant) -> Instant { max(moment, notBefore ?? moment) }

    /// Moves the refresh forward to verify the subscription.
    mutating func verify(at moment: Instant) { verifiesAt = .earliest(next, verification(at: moment)) }
}
