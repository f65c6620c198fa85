import FederationRouting
import SIPCore

/// State of remote domains and their servers, by their upstream subscriptions.
extension UpstreamFlow {
    /// Whether a domain has upstream subscriptions with watchers.
    func hasSubscriptions(atDomain name: String) -> Bool {
        upstreams.numbers(ofDomain: name).contains { upstreams[$0]?.hasSink == true }
    }

    /// The servers of a next hop at which a domain has upstream subscriptions with watchers; empty for a next hop with one server.
    func subscribedServers(ofDomain name: String, at hop: NextHop) -> [TransportAddress] {
        let known = verifier.servers(of: hop)
        guard known.count > 1 else { return [] }
        let subscribed = upstreams.numbers(ofDomain: name).compactMap { upstreams[$0] }.filter(\.hasSink).compactMap(\.verification.server)
        return known.filter { one in subscribed.contains { $0.isSame(as: one) } }
    }

    /// Number of unverified upstream subscriptions by domain, and the time of the first doubt.
    var unverifiedByDomain: [String: (count: Int, since: Instant)] {
        var byDomain: [String: (count: Int, since: Instant)] = [:]
        for subscription in upstreams.values {
            guard let since = subscription.doubtedSince else { continue }
            let (count, first) = byDomain[subscription.domain.name] ?? (0, since)
            byDomain[subscription.domain.name] = (count + 1, min(first, since))
        }
        return byDomain
    }

    /// Refreshes one upstream subscription of a domain, which decides about the others.
    func sampleSubscriptions(ofDomain name: String, at now: Instant) {
        verifier.sample(upstreams.numbers(ofDomain: name), at: now)
    }
}
