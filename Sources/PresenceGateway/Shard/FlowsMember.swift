import SIPCore

/// A part of the shard that knows all flows.
protocol FlowsMember: ShardMember {
    var flows: Flows { get }
}

/// Base class of the parts that know all flows and are owned by them.
class FlowsPart: FlowsMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// All flows, which own it.
    unowned let flows: Flows

    init(_ flows: Flows, _ kernel: GatewayKernel, _ context: ShardContext) {
        self.flows = flows
        self.kernel = kernel
        self.context = context
    }
}

extension FlowsMember {
    /// Refuses a request.
    func refuse(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ refusal: Refusal, at now: Instant) {
        log(
            refusal.isRoutine ? .debug : .info, refusal.isRoutine ? "request challenged" : "request refused",
            [
                "method": request.method.rawValue, "status": String(refusal.status.rawValue), "rule": refusal.explanation,
                "call-id": request.headers.callID ?? "",
            ])
        note(refusal, of: request, at: now)
        switch request.method {
        case .subscribe: counters.subscriptionsRefused += 1
        case .publish, .service: counters.publicationsRefused += 1
        default: break
        }
        var response = SIPResponse(to: request, status: refusal.status, toTag: tokens.tag())
        refusal.apply(to: &response, side: screening.side(of: request), node: configuration.nodeName)
        respond(response, transaction, at: now)
    }

    /// Canonical key of a user's URI or alias.
    func canonicalKey(of uri: SIPURI) -> String { configuration.canonical(uri).aorKey }
}
