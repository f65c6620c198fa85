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
    var lateness = TimeSpan.zero

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
