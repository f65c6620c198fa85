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
        for bridge in publications.allPIDFBridges where concerns(bridge.uri) {
            bridge.forEachStanding { $0 = renewed($0, of: bridge.uri) }
            advance(bridge, at: now)
        }
        for bridge in publications.allCategoryBridges where concerns(bridge.uri) {
            let isSamePlace = configuration.domain(bridge.uri.domainKey) == before.domain(bridge.uri.domainKey)
            let actions = bridge.reconfigure(isSamePlace: isSamePlace, renew: renewed, environment(of: bridge, at: now))
            perform(actions, on: bridge, at: now)
            settle(bridge)
        }
    }

    /// The same instances, with the container members of the current tables.
    private func renewed(_ presentity: EnhancedPresentity, of uri: SIPURI) -> EnhancedPresentity {
        relayedPresentity(uri, stored: (presentity.storedDocument, Set(presentity.computedInstances.map(\.id))))
    }

    /// The same document, parsed under the current limits; one that became unreadable is no longer shown.
    private func renewed(_ known: CategoryBridge.Source) -> CategoryBridge.Source {
        known.renewed(try? PIDFDocument.decode(known.document, using: parser))
    }
}

extension GatewayConfiguration {
    /// Whether the names used in relayed publications are unchanged.
    func carries(like before: GatewayConfiguration) -> Bool {
        publisherEPID == before.publisherEPID && nodeName == before.nodeName
    }
}
