import SIPCore

extension GatewayKernel {
    /// Reason for which new work is refused now; nil: none.
    var overload: WorkMeasure.Cause? {
        work.cause(
            transactions: max(transactions.clientCount, transactions.serverCount), output: output.count + commitLog.waitingMessages,
            limits: configuration.limits, timing: configuration.timing)
    }
}
