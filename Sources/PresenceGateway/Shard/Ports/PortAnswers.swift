import SIPCore

/// Answers of the shard to what one flow asks of the others: each is given by the flow that knows.
final class PortAnswers: FlowsMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// All flows, which own it.
    private unowned var all: Flows!

    init(_ kernel: GatewayKernel, _ context: ShardContext) {
        self.kernel = kernel
        self.context = context
    }

    var flows: Flows { all }

    /// Connects it with the flows; call it before the first request.
    func connect(_ flows: Flows) { all = flows }
}
