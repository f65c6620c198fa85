import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore

/// Applies new mapping tables or domains to relayed publications: publishes what they allow now and removes what they no longer allow,
/// without a client request. A domain that no longer accepts publications from this node gets no request; its state expires.
extension Gateway {
    /// - Parameter before: the previous configuration; bridges to unchanged domains are skipped unless `isAll`.
    func renewBridges(after before: GatewayConfiguration, isAll: Bool, at now: Instant) {
        func concerns(_ uri: SIPURI) -> Bool {
            isAll || configuration.domain(uri.domainKey) != before.domain(uri.domainKey)
        }
        for bridge in pidfBridges.values.sorted(by: { $0.key < $1.key }) where concerns(bridge.uri) {
            bridge.forEachStanding { $0 = renewed($0, of: bridge.uri) }
            advance(bridge, at: now)
        }
        for bridge in categoryBridges.values.sorted(by: { $0.key < $1.key }) where concerns(bridge.uri) {
            let requested = bridge.client.requestedPublications.mapValues(\.body)
            bridge.sources = renewed(bridge.sources)
            if let sources = bridge.current?.sources { bridge.current?.sources = renewed(sources) }
            requestPublications(bridge, at: now)
            // The home server's pause continues unless the instances or the domain's configuration changed.
            let isSamePlace = configuration.domain(bridge.uri.domainKey) == before.domain(bridge.uri.domainKey)
            if !isSamePlace || bridge.client.requestedPublications.mapValues(\.body) != requested { bridge.client.tryNow() }
            work(bridge, at: now)
        }
    }

    /// The same instances, with the container members of the current tables.
    private func renewed(_ presentity: EnhancedPresentity, of uri: SIPURI) -> EnhancedPresentity {
        relayedPresentity(uri, stored: (presentity.storedDocument, Set(presentity.computedInstances.map(\.id))))
    }

    /// The same documents, parsed under the current limits; one that became unreadable is no longer shown.
    private func renewed(_ sources: [String: CategoryBridge.Source]) -> [String: CategoryBridge.Source] {
        sources.mapValues { known in
            var source = known
            source.presence = try? PIDFDocument.decode(known.document, using: parser)
            return source
        }
    }
}

extension GatewayConfiguration {
    /// Whether the names used in relayed publications are unchanged.
    func carries(like before: GatewayConfiguration) -> Bool {
        publisherEPID == before.publisherEPID && nodeName == before.nodeName
    }
}
