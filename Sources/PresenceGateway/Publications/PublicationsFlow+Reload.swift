import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore

/// Applies new mapping tables or domains to relayed publications: publishes what they allow now and removes what they no longer allow,
/// without a client request. A domain that no longer accepts publications from this node gets no request; its state expires.
extension PublicationsFlow {
    /// - Parameter before: the previous configuration; bridges to unchanged domains are skipped unless `isAll`.
    func renew(after before: GatewayConfiguration, isAll: Bool, at now: Instant) {
        pidf.renew(after: before, isAll: isAll, at: now)
        categories.renew(after: before, isAll: isAll, at: now)
    }
}

extension PIDFRelay {
    func renew(after before: GatewayConfiguration, isAll: Bool, at now: Instant) {
        for bridge in table.inOrder where isAll || !isSame(domainOf: bridge, in: before) {
            bridge.forEachStanding { $0 = renewed($0, of: bridge.uri) }
            advance(bridge, at: now)
        }
    }

    /// The same instances, with the container members of the current tables.
    private func renewed(_ presentity: EnhancedPresentity, of uri: SIPURI) -> EnhancedPresentity {
        relayedPresentity(uri, stored: (presentity.storedDocument, Set(presentity.computedInstances.map(\.id))))
    }
}

extension CategoryRelay {
    func renew(after before: GatewayConfiguration, isAll: Bool, at now: Instant) {
        for bridge in table.inOrder {
            let isSamePlace = isSame(domainOf: bridge, in: before)
            guard isAll || !isSamePlace else { continue }
            let actions = bridge.reconfigure(isSamePlace: isSamePlace, renew: renewed, environment(of: bridge, at: now))
            perform(actions, on: bridge, at: now)
            settle(bridge)
        }
    }

    /// The same document, parsed under the current limits; one that became unreadable is no longer shown.
    private func renewed(_ known: CategoryBridge.Source) -> CategoryBridge.Source {
        known.renewed(try? PIDFDocument.decode(known.document, using: parser))
    }
}

extension PublicationRelay {
    /// Whether the configuration of the user's domain is unchanged.
    fileprivate func isSame(domainOf bridge: Bridge, in before: GatewayConfiguration) -> Bool {
        let name = bridge.uri.domainKey
        return configuration.domain(name) == before.domain(name)
    }
}

extension GatewayConfiguration {
    /// Whether the names used in relayed publications are unchanged.
    func carries(like before: GatewayConfiguration) -> Bool {
        publisherEPID == before.publisherEPID && nodeName == before.nodeName
    }
}
