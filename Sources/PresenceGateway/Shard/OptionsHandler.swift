import SIPCore

/// Answers OPTIONS (RFC 3261 11.2).
final class OptionsHandler: RequestHandler {
    private unowned let shard: PortAnswers
    let methods: [SIPMethod] = [.options]

    init(_ shard: PortAnswers) {
        self.shard = shard
    }

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) {
        var response = SIPResponse(to: request, status: .ok, toTag: shard.tokens.tag())
        response.headers.append(.allow, shard.flows.handlers.allow)
        response.headers.append(.allowEvents, shard.flows.subscriptions.packages.allowed)
        response.headers.append(.accept, ShardContext.acceptedBodies)
        response.headers.append(.acceptEncoding, ContentCoding.accepted)
        response.headers.append(.supported, Refusal.supportedTags)
        if shard.configuration.listServer != nil { response.headers.append(.supported, ListRequest.tag) }
        shard.respond(response, transaction, at: now)
    }
}
