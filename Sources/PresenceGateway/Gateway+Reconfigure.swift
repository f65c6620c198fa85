import FederationRouting
import PresenceMapping
import SIPCore
import XMLCore

/// What an operator changes while the gateway runs (SIGHUP).
extension Gateway {
    /// Replaces domains, limits and timing; dialogs that live keep what they were granted, unless the new domains do not permit them.
    /// Publications that are carried to other domains are shown there as the new domains and tables have it.
    /// - Parameter mapper: replaces the mapping tables too; nil, or one with the same tables: they stay.
    public func reconfigure(_ configuration: GatewayConfiguration, mapper: PresenceMapper? = nil, at now: Instant) {
        desk.now = now
        let before = self.configuration
        self.configuration = configuration
        routes = configuration.routes
        configureSignIns(before: before)
        if configuration.domains != before.domains {
            // Those that are as before go on knowing which forms the far side takes.
            upstreamDomains = upstreamDomains.filter { configuration.domain($0.key.name) == $0.value.configuration }
        }
        home.reconfigure(configuration)
        blocks.bounds = configuration.limits.blocks
        journal.limit = configuration.limits.journalEntries
        if let naming = configuration.naming {
            hops.cache.bounds = naming.cache
            hops.health.policy = naming.health
        }
        transactions.configuration.take(configuration)
        if parser.limits.bytes != configuration.limits.bodyBytes { parser = Self.parser(configuration.limits) }
        let newTables = mapper.flatMap { $0.tables == translator.mapper.tables ? nil : $0 }
        if let newTables { translator = PresenceTranslator(mapper: newTables) }
        noteMappings()
        keepPartnersAlive(at: now)
        if configuration.domains != before.domains {
            withdrawRights(at: now)
            renewSides(at: now)
            placeAllWatchers(at: now)
        }
        if newTables != nil { tellAll(at: now) }
        let isOther = newTables != nil || !configuration.carries(like: before)
        if isOther || configuration.domains != before.domains { renewBridges(after: before, isAll: isOther, at: now) }
    }

    static func parser(_ limits: GatewayLimits) -> XMLParser {
        var bounds = XMLLimits.standard
        bounds.bytes = limits.bodyBytes
        return XMLParser(limits: bounds)
    }

    /// Replaces the mapping tables; watchers who are shown something else by the new ones are told.
    public func use(mapper: PresenceMapper, at now: Instant) {
        reconfigure(configuration, mapper: mapper, at: now)
    }

    private func tellAll(at now: Instant) {
        for presentity in presentities.values.sorted(by: { $0.key < $1.key }) { tellWatchers(of: presentity, at: now) }
        for watcher in dialogs.values.sorted(by: { $0.localTag < $1.localTag }) {
            for resource in watcher.resources where resource.upstream != nil { sourceChanged(resource, of: watcher, at: now) }
        }
    }
}

extension TransactionLayer.Configuration {
    /// What may change while transactions live.
    mutating func take(_ configuration: GatewayConfiguration) {
        serverLimit = configuration.limits.transactions
        clientLimit = configuration.limits.transactions
        retryAfter = UInt32(clamping: configuration.timing.retryAfter)
        homeDomains = configuration.hostedDomains
    }
}
