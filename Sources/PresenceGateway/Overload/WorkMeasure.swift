import SIPCore

/// How much a shard has taken on and not finished: what decides that new work is refused before it is begun.
///
/// It counts, and has no clock: how late the event loop is, the edge reports (``SIPCore/TransportNotice/late(_:)``).
struct WorkMeasure {
    /// What was exceeded, for the log.
    enum Cause: String {
        case transactions, output, lateness
    }

    /// How late the loop was when it last came round.
    var lateness = TimeSpan.zero

    /// Why no new work may be begun; nil: it may.
    /// - Parameters:
    ///   - transactions: live ones of the kind that has more.
    ///   - output: messages that have not left yet.
    func cause(transactions: Int, output: Int, limits: GatewayLimits, timing: GatewayTiming) -> Cause? {
        if transactions >= limits.transactionsBeforeOverload { return .transactions }
        if output >= limits.pendingOutput { return .output }
        return timing.overloadLateness > .zero && lateness >= timing.overloadLateness ? .lateness : nil
    }
}
