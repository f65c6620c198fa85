import SIPCore
import SIPEvents

/// PUBLISH (RFC 3903 6): relayed to the home server of an enterprise domain, or served by the hosted presentities.
extension PublicationsFlow {
    func receivePublish(_ request: SIPRequest, _ transaction: ServerTransactionID?, at now: Instant) throws(Refusal) {
        let parties = try screening.parties(request)
        if categories.publishingHop(of: parties.presentity) != nil {
            try checkRunning()
            try checkPublication(request, parties, types: [WatcherFormat.pidfType])
            return try categories.relay(request, transaction, parties, beside: pidf.count, at: now)
        }
        guard parties.presentityDomain.hosted else {
            throw Refusal(.notFound, "RFC 3903 6: this node is not the compositor of that presentity", errorID: 4005)
        }
        try checkPublication(request, parties, types: [WatcherFormat.pidfType, WatcherFormat.pidfDiffType])
        try ports.publish(request, transaction, parties, at: now)
    }

    /// Checks the package, the publisher and the type of the document.
    private func checkPublication(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, types: [String]
    ) throws(Refusal) {
        guard let event = request.headers.event, event.package == EventToken.presence else { throw ports.badEvent }
        guard parties.watcherKey == parties.presentityKey else {
            throw .forbidden("RFC 3903 6: only the presentity itself may publish")
        }
        if !request.body.isEmpty, !types.contains(request.headers.contentType?.essence ?? "") {
            throw .unsupportedMediaType(accept: types.joined(separator: ", "))
        }
    }

    /// Refuses new relayed publications during a stop.
    func checkRunning() throws(Refusal) {
        guard !isShuttingDown else {
            throw .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
    }
}
