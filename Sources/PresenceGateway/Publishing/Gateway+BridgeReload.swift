import EnhancedPresence
import PresenceMapping
import SIPCore

/// Carried publications under new mapping tables or domains: what these let through is shown, what they no longer let through is taken
/// back, although no client says a word.
extension Gateway {
    func renewBridges(at now: Instant) {
        for bridge in pidfBridges.values.sorted(by: { $0.key < $1.key }) {
            bridge.forEachStanding { $0 = renewed($0, of: bridge.uri) }
            advance(bridge, at: now)
        }
        for bridge in categoryBridges.values.sorted(by: { $0.key < $1.key }) {
            bridge.sources = renewed(bridge.sources, of: bridge.uri, at: now)
            if let sources = bridge.current?.sources { bridge.current?.sources = renewed(sources, of: bridge.uri, at: now) }
            wish(bridge, at: now)
            bridge.client.tryNow()
            work(bridge, at: now)
        }
    }

    /// The same instances in containers with the members that the tables give them now.
    private func renewed(_ presentity: EnhancedPresentity, of uri: SIPURI) -> EnhancedPresentity {
        carriedPresentity(uri, stored: (presentity.storedDocument, Set(presentity.computedInstances.map(\.id))))
    }

    /// The same documents as the instances that the tables make of them now.
    private func renewed(_ sources: [String: CategoryBridge.Source], of uri: SIPURI, at now: Instant) -> [String: CategoryBridge.Source] {
        sources.mapValues { known in
            // It could be read when it came.
            (try? source(known.document, of: uri, lineage: known.lineage, until: known.until, at: now)) ?? known
        }
    }
}

extension GatewayConfiguration {
    /// Whether publications are carried to other domains in the same way as before.
    func carries(like before: GatewayConfiguration) -> Bool {
        domains == before.domains && publisherEPID == before.publisherEPID && nodeName == before.nodeName
    }
}
