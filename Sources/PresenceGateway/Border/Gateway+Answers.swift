import FederationRouting
import SIPCore

/// Responses from unexpected hosts. The transaction layer accepts the connection or host that the request was sent to; this extension
/// decides which other hosts may answer a datagram.
extension Gateway {
    /// Whether a host may answer a request sent to another host: as the source of the dialog, another server located for the request, or a
    /// server of the asked partner.
    func mayAnswer(_ transaction: ClientTransactionID, from source: MessageSource) -> Bool {
        guard let origin = pendingRequests[transaction]?.origin else { return false }
        let host = source.remote.host
        if origin.sourceHost == host || client(of: origin.ticket)?.isSource(host, of: origin.ticket) == true { return true }
        if let hopTarget = hops.deliveries[transaction]?.hopTarget, case .success(let plan)? = hops.known[hopTarget]?.result,
            plan.servers.contains(where: { $0.addresses.contains { $0.transport == .udp && $0.host == host } })
        {
            return true
        }
        return origin.partner.map { peers.table.isServer(host, of: $0, at: commitLog.now) } ?? false
    }

    /// Counts a refused response, and logs at most one per host and minute.
    func noteRefusedAnswer(_ fault: TransactionAction.AnswerFault, from source: MessageSource, at now: Instant) {
        counters.responsesRefused += 1
        guard answerers.isNews(source.remote.host, at: now) else { return }
        log(.notice, "answer refused", ["peer": source.remote.description, "reason": fault.rawValue])
    }
}
