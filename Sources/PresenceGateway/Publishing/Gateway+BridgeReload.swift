import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore

/// Carried publications under new mapping tables or domains: what these let through is shown, what they no longer let through is taken
/// back, although no client says a word. Where a domain takes no publications over this node any more, nothing is said there: what it
/// has lapses.
extension Gateway {
    /// - Parameter before: what was configured; the bridges to domains that are as before are left alone, unless `isAll`.
    func renewBridges(after before: GatewayConfiguration, isAll: Bool, at now: Instant) {
        func concerns(_ uri: SIPURI) -> Bool {
            isAll || configuration.domain(uri.domainKey) != before.domain(uri.domainKey)
        }
        for bridge in pidfBridges.values.sorted(by: { $0.key < $1.key }) where concerns(bridge.uri) {
            bridge.forEachStanding { $0 = renewed($0, of: bridge.uri) }
            advance(bridge, at: now)
        }
        for bridge in categoryBridges.values.sorted(by: { $0.key < $1.key }) where concerns(bridge.uri) {
            let wished = bridge.client.wishes.mapValues(\.body)
            bridge.sources = renewed(bridge.sources)
            if let sources = bridge.current?.sources { bridge.current?.sources = renewed(sources) }
            wish(bridge, at: now)
            // A pause that the home server asked for is kept where nothing is new, neither what it is told nor where it is.
            let isSamePlace = configuration.domain(bridge.uri.domainKey) == before.domain(bridge.uri.domainKey)
            if !isSamePlace || bridge.client.wishes.mapValues(\.body) != wished { bridge.client.tryNow() }
            work(bridge, at: now)
        }
    }

    /// The same instances in containers with the members that the tables give them now.
    private func renewed(_ presentity: EnhancedPresentity, of uri: SIPURI) -> EnhancedPresentity {
        carriedPresentity(uri, stored: (presentity.storedDocument, Set(presentity.computedInstances.map(\.id))))
    }

    /// The same documents, read under the limits of now: one that could be read when it came, and cannot be any more, is shown no more.
    private func renewed(_ sources: [String: CategoryBridge.Source]) -> [String: CategoryBridge.Source] {
        sources.mapValues { known in
            var source = known
            source.presence = try? PIDFDocument.decode(known.document, using: parser)
            return source
        }
    }
}

extension GatewayConfiguration {
    /// Whether publications are carried to other domains under the same names as before.
    func carries(like before: GatewayConfiguration) -> Bool {
        publisherEPID == before.publisherEPID && nodeName == before.nodeName
    }
}
