import SIPCore

/// Unfinished work of a shard, which decides whether new work is refused.
///
/// It has no clock: the event loop reports its lateness (``SIPCore/TransportNotice/late(_:)``).
struct WorkMeasure {
    /// Limit that was exceeded, for the log.
    enum Cause: String {
        case transactions, output, lateness
    }

    /// Last reported lateness of the event loop.
    private(set) var lateness = TimeSpan.zero
    /// Rate limit for the "timers do not come to an end" error: once a minute.
    private var nextSpinReport = Instant(nanosecondsSince1970: 0)

    /// Notes the lateness that the event loop reports.
    mutating func noteLateness(_ span: TimeSpan) { lateness = span }

    /// Whether an endless series of timers is reported now; the next one is reported after a minute.
    mutating func reportsSpin(at now: Instant) -> Bool {
        guard now >= nextSpinReport else { return false }
        nextSpinReport = now + .seconds(60)
        return true
    }

    /// Reason to refuse new work; nil: none.
    /// - Parameters:
    ///   - transactions: live client or server transactions, whichever are more.
    ///   - output: messages not sent yet.
    func cause(transactions: Int, output: Int, limits: GatewayLimits, timing: GatewayTiming) -> Cause? {
        if transactions >= limits.transactionsBeforeOverload { return .transactions }
        if output >= limits.pendingOutput { return .output }
        return timing.overloadLateness > .zero && lateness >= timing.overloadLateness ? .lateness : nil
    }
}
