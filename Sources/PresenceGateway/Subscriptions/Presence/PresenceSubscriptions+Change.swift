import EnhancedPresence
import PresenceDocuments
import FederationRouting
import SIPCore
import SIPEvents

/// Changes of the watched presentities by a SUBSCRIBE in the dialog (MS-PRES 3.4.5.1.3).
extension PresenceSubscriptions {
    /// Adds and removes resources and categories named in a SUBSCRIBE within the dialog (MS-PRES 3.4.5.1.3); a refusal changes nothing.
    func apply(
        _ change: CategoryRequest, to presence: PresenceSubscription, of watcher: WatcherDialog, _ request: SIPRequest, at now: Instant
    ) throws(Refusal) {
        let before = presence.resources.map(\.asWanted)
        let after = try change.applied(to: before, limits: configuration.limits)
        if !presence.isBatch, !after.allSatisfy({ wanted in before.contains { $0.key == wanted.key } }) {
            throw .badRequest("MS-PRES 3.4.5.3: the resource differs from the dialog's")
        }
        let known = Dictionary(presence.resources.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        var parties = try screening.parties(request, presentity: request.headers.to?.uri)
        var loopMarkers: [String: String] = [:]
        for wanted in after where known[wanted.key] == nil {
            loopMarkers[wanted.key] = try HopMark(node: configuration.nodeName, presentity: wanted.key).passOn(request.headers)
        }

        let gone = presence.keepOnly(Set(after.map(\.key)))
        detachHere(gone, from: watcher)
        presence.leave(gone)
        whenKept(at: now) { [unowned self] now in
            presence.left(gone)
            remote.leaveUpstreams(gone, at: now)
        }
        for wanted in after {
            if let resource = known[wanted.key] {
                guard resource.categories != wanted.categories else { continue }
                resource.request(wanted.categories)
                if resource.watch != nil { views.attachAgain(resource, of: watcher) }
                whenKept(at: now) { [unowned self] now in remote.widenUpstream(of: resource, at: now) }
                continue
            }
            let resource = WatchedResource(wanted)
            parties.name(wanted.uri, key: wanted.key)
            presence.add(resource)
            countWatched(resource, by: watcher)
            attach(resource, to: watcher, parties: parties, loopMarkers: loopMarkers[wanted.key] ?? "", at: now)
        }
    }

    /// Takes over the stored presentities after a failed commit. One that its remote domain refused meanwhile stays refused.
    /// - Parameter hopMarks: those of the stored resources, in their order.
    func reload(
        _ presence: PresenceSubscription, of watcher: WatcherDialog, as stored: PresenceSubscription, hopMarks: [String?], at now: Instant
    ) {
        let leaving = presence.takeLeaving()
        var known = Dictionary(leaving.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        for resource in presence.resources { known[resource.key] = resource }
        presence.use(stored.filters)
        let refused = presence.rejected.filter { one in
            stored.resources.contains { $0.key == one.uri.aorKey } && known[one.uri.aorKey] == nil
        }
        let wanted = stored.resources.filter { one in !refused.contains { $0.uri.aorKey == one.key } }
        let gone = presence.reload(wanted.map { known[$0.key] ?? $0 }, stored.rejected + refused)
        detach(gone, from: watcher, at: now)
        remote.leaveUpstreams(leaving.filter { one in !presence.resources.contains { $0 === one } }, at: now)
        for (one, hopMarks) in zip(stored.resources, hopMarks) {
            guard let resource = presence.resources.first(where: { $0.key == one.key }) else { continue }
            if resource === one {
                countWatched(resource, by: watcher)
                resume(resource, of: watcher, hopMarks: hopMarks, fedBy: RestoredUpstreamSubscriptions(), at: now)
                continue
            }
            if resource.categories != one.categories {
                resource.request(one.categories)
                if resource.watch != nil { views.attachAgain(resource, of: watcher) }
            }
            guard leaving.contains(where: { $0 === resource }) else { continue }
            countWatched(resource, by: watcher)
            if resource.upstream == nil, configuration.domain(resource.uri.domainKey)?.hosted == true {
                hosted.attachHosted(resource, to: watcher, at: now)
            }
        }
    }

    /// Detaches resources without leaving the subscriptions that feed them.
    func detachHere(_ resources: [WatchedResource], from watcher: WatcherDialog) {
        for resource in resources {
            uncountWatched(resource)
            if resource.upstream == nil { hosted.detachHosted(resource, from: watcher) }
        }
    }

    /// Feeds a resource of a restored dialog: by the subscription of the earlier process, or by a new one.
    /// - Parameter hopMarks: those of the earlier subscription; nil: the presentity was hosted here.
    func resume(
        _ resource: WatchedResource, of watcher: WatcherDialog, hopMarks: String?, fedBy upstreams: RestoredUpstreamSubscriptions,
        at now: Instant
    ) {
        if let upstream = upstreams.subscription(of: resource.key, for: watcher.localTag) {
            upstream.join(resource, of: watcher)
        } else if let domain = configuration.domain(of: watcher.watcher) {
            let parties = RequestScreening.Parties(
                watcher: watcher.watcher, watcherKey: watcher.watcherKey, watcherDomain: domain, presentity: resource.uri,
                presentityKey: resource.key, presentityDomain: domain, entity: resource.uri, maxForwards: 69)
            attach(
                resource, to: watcher, parties: parties,
                loopMarkers: hopMarks ?? HopMark(node: configuration.nodeName, presentity: resource.key).token, at: now)
            remote.startLater(resource, at: now)
        }
        if resource.isPending { resource.upstream?.resource(resource.key)?.authorize(.pending) }
    }
}
