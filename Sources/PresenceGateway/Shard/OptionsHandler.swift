import SIPCore

/// Answers OPTIONS (RFC 3261 11.2).
final class OptionsHandler: RequestHandler {
    private unowned let gateway: Gateway
    let methods: [SIPMethod] = [.options]

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) {
        var response = SIPResponse(to: request, status: .ok, toTag: gateway.tokens.tag())
        response.headers.append(.allow, gateway.flows.handlers.allow)
        response.headers.append(.allowEvents, gateway.flows.subscriptions.packages.allowed)
        response.headers.append(.accept, ShardContext.acceptedBodies)
        response.headers.append(.acceptEncoding, ContentCoding.accepted)
        response.headers.append(.supported, Refusal.supportedTags)
        if gateway.configuration.listServer != nil { response.headers.append(.supported, ListRequest.tag) }
        gateway.respond(response, transaction, at: now)
    }
}
