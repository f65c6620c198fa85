import EnhancedPresence
import FederationRouting
import SIPCore
import SIPEvents

/// Answers to the presence subscriptions: rights of watchers, and presentities as sources.
final class PresenceSources: FlowsMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// All flows, which own it.
    private unowned var all: Flows!

    init(_ kernel: GatewayKernel, _ context: ShardContext) {
        self.kernel = kernel
        self.context = context
    }

    var flows: Flows { all }

    /// Connects it with the flows; call it before the first request.
    func connect(_ flows: Flows) { all = flows }
}

/// Rights of watchers and limits of partners.
extension PresenceSources: WatchAdmission {
    func checkRights(watcher: SIPURI, presentity: SIPURI) throws(Refusal) {
        try flows.border.checkRights(watcher: watcher, presentity: presentity)
    }

    func checkPartner(of watcher: SIPURI, _ flow: Flow, watching keys: [String], countedFor partner: String?) throws(Refusal) {
        try flows.border.checkPartner(of: watcher, flow, watching: keys, countedFor: partner)
    }

    func watch(_ presentity: String, by partner: String) { flows.border.partners.watch(presentity, by: partner) }
    func unwatch(_ presentity: String, by partner: String) { flows.border.partners.unwatch(presentity, by: partner) }
}

/// Presentities of hosted domains: those of this shard by their records, those of others by what their shards show.
extension PresenceSources: HostedSources {
    func isElsewhere(_ presentity: SIPURI, _ key: String) -> Bool {
        !place.has(key) && configuration.domain(presentity.domainKey).map { $0.hosted && $0.refuse == nil } ?? false
    }

    func hasRoom(for presentity: String, watchedBy watcher: WatcherIdentity, hidesIdentity: Bool) -> Bool {
        !place.has(presentity) || !flows.presentities.isFull(for: watcher, hidesIdentity: hidesIdentity, of: presentity)
    }

    func remoteWatcherCount(of presentity: String) -> Int { flows.presentities.remoteWatchers.count(of: presentity) }

    func hasRecord(at key: String) -> Bool { !place.has(key) || flows.presentities.record(key) != nil }

    var decidesByRules: Bool { flows.presentities.authorization.isNeeded }

    func checkAccess(
        of watcher: WatcherIdentity, hidesIdentity: Bool, to presentity: String, _ uri: SIPURI, at now: Instant
    ) throws(Refusal) {
        guard place.has(presentity) else { return }
        try flows.presentities.checkAccess(of: watcher, hidesIdentity: hidesIdentity, to: presentity, uri, at: now)
    }

    func attachHosted(_ resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        guard place.has(resource.key) else { return flows.presenceSubscriptions.views.attach(resource, of: watcher) }
        flows.presentities.attach(
            resource, ofDialog: watcher.localTag, for: watcher.identity, hidesIdentity: watcher.hidesIdentity, at: now)
    }

    func detachHosted(_ resource: WatchedResource, from watcher: WatcherDialog) {
        guard resource.watch == nil else { return flows.presenceSubscriptions.views.detach(resource) }
        flows.presentities.detach(resource, ofDialog: watcher.localTag)
    }

    func composePublished(at key: String) { flows.presentities.composePending(key) }

    func view(
        of resource: WatchedResource, for watcher: WatcherDialog, at now: Instant
    ) -> (presence: RenderedPresence, isOwn: Bool)? {
        // The presentity's shard has recorded what it shows.
        if let received = resource.received { return (received, false) }
        return flows.presentities.rendered(resource, as: watcher.format, for: watcher.identity, at: now)
    }

    func noteShown(_ rendered: RenderedPresence, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        guard resource.watch == nil else { return }
        flows.presentities.blocking.noteShown(rendered, of: resource, as: watcher.format, to: watcher.identity, at: now)
    }

    func trace(_ resource: WatchedResource, for dialog: WatcherDialog, at now: Instant) -> (ViewExplanation, RenderedPresence) {
        flows.presentities.explainer.trace(resource, for: dialog, at: now)
    }
}

/// Presentities of other domains.
extension PresenceSources: RemoteSources {
    var hasRoom: Bool { flows.upstream.upstreams.count < configuration.limits.upstreamSubscriptions }

    func joinUpstream(
        _ resource: WatchedResource, of watcher: WatcherDialog, parties: RequestScreening.Parties, domain: DomainConfiguration,
        hop: NextHop, loopMarkers: String, isPoll: Bool, at now: Instant
    ) {
        flows.upstream.joinUpstream(
            resource, of: watcher, parties: parties, domain: domain, hop: hop, loopMarkers: loopMarkers, isPoll: isPoll, at: now)
    }

    func startUpstreams(of watcher: WatcherDialog, at now: Instant) { flows.upstream.startUpstreams(of: watcher, at: now) }
    func startLater(_ resource: WatchedResource, at now: Instant) { flows.upstream.restorer.startLater(resource, at: now) }
    func widenUpstream(of resource: WatchedResource, at now: Instant) { flows.upstream.widenUpstream(of: resource, at: now) }
    func leaveUpstreams(_ resources: [WatchedResource], at now: Instant) { flows.upstream.leaveUpstreams(resources, at: now) }
    func hopMarks(of upstream: UpstreamSubscription) -> String { flows.upstream.hopMarks(of: upstream) }
}
