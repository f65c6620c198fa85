import FederationRouting
import SIPCore

/// Which answers are believed. The transaction layer takes one only by the carrier of its request; for a datagram, that is the host it was
/// sent to, and here is decided which others may answer in its place.
extension Gateway {
    /// Whether a host may answer a request that was sent to another host: it is where the dialog came from, another of the servers that were
    /// located for the request, or a server of the partner that was asked.
    func mayAnswer(_ transaction: ClientTransactionID, from source: MessageSource) -> Bool {
        guard let purpose = awaiting[transaction]?.purpose else { return false }
        let host = source.remote.host
        switch purpose {
        case .notify(let watcher):
            if watcher.flow.remote.transport == .udp, watcher.flow.remote.host == host { return true }
        case .homeNotify(let subscription):
            if subscription.flow.remote.transport == .udp, subscription.flow.remote.host == host { return true }
        case .subscribe, .publication, .categoryPublication, .keepAlive: break
        }
        if let goal = hops.deliveries[transaction]?.goal, case .success(let plan)? = hops.known[goal]?.result,
            plan.servers.contains(where: { $0.addresses.contains { $0.transport == .udp && $0.host == host } })
        {
            return true
        }
        return partner(of: purpose).map { peerTable.isServer(host, of: $0, at: desk.now) } ?? false
    }

    /// Counts a response that is not believed, and logs the first of each host in a minute.
    func noteRefusedAnswer(_ fault: TransactionAction.AnswerFault, from source: MessageSource, at now: Instant) {
        counters.responsesRefused += 1
        guard answerers.isNews(source.remote.host, at: now) else { return }
        log(.notice, "answer refused", ["peer": source.remote.description, "reason": fault.rawValue])
    }
}
