import FederationRouting
import PresenceMapping
import SIPCore
import XMLCore

/// Changes of configuration while the gateway runs (SIGHUP).
extension Gateway {
    /// Replaces domains, limits and timing. Live dialogs keep their granted lifetimes, but end if the new domains do not permit them;
    /// relayed publications are updated.
    /// - Parameters:
    ///   - mapper: new mapping tables; nil, or equal tables, changes nothing.
    ///   - documents: changed documents of users by `aorKey`; nil: the user has none any more. They and the defaults of the domains take
    ///     effect together, so that no watcher is notified by new rules under old defaults, or the other way round.
    package func reconfigure(
        _ configuration: GatewayConfiguration, mapper: PresenceMapper? = nil, documents: [(user: String, documents: UserDocuments?)] = [],
        at now: Instant
    ) {
        commitLog.noteInput(at: now)
        let before = self.configuration
        context.use(configuration)
        kernel.use(configuration)
        for change in documents { flows.decidingDocuments.configure(change.documents, of: change.user) }
        flows.border.configure(before: before)
        if configuration.domains != before.domains {
            // Unchanged domains keep the forms that were learned for them.
            flows.upstream.upstreams.reconfigure { configuration.domain($0) }
        }
        flows.homeServer.use(configuration)
        flows.presentities.blocking.use(BlockMemory.Bounds(configuration.limits))
        let newTables = mapper.flatMap { $0.tables == translator.mapper.tables ? nil : $0 }
        if let newTables { context.use(newTables) }
        noteMappings()
        keepPartnersAlive(at: now)
        if configuration.domains != before.domains {
            flows.withdrawnRights.withdraw(at: now)
            // Before anything else notifies watchers.
            flows.presentities.review.reviewAllWatchers(at: now)
            flows.presentities.renewDomains(at: now)
            flows.publications.pidf.renewPolicies()
            flows.presentities.blocking.placeAllWatchers(at: now)
        } else {
            for change in documents { flows.presentities.review.reviewWatchers(of: change.user, at: now) }
        }
        if newTables != nil { notifyAll(at: now) }
        let isOther = newTables != nil || !configuration.carries(like: before)
        if isOther || configuration.domains != before.domains { flows.publications.renew(after: before, isAll: isOther, at: now) }
    }

    /// Replaces the mapping tables and notifies the watchers that see a difference.
    package func use(mapper: PresenceMapper, at now: Instant) {
        reconfigure(configuration, mapper: mapper, at: now)
    }

    private func notifyAll(at now: Instant) {
        flows.presentities.notifyAllWatchers(at: now)
        for watcher in flows.subscriptions.dialogs.inOrder {
            for resource in watcher.resources where resource.upstream != nil {
                flows.presenceSubscriptions.sourceChanged(resource, of: watcher, at: now)
            }
        }
    }
}
