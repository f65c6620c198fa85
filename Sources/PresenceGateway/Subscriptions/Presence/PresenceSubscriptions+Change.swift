import EnhancedPresence
import PresenceDocuments
import FederationRouting
import SIPCore
import SIPEvents

/// Changes of the watched presentities by a SUBSCRIBE in the dialog (MS-PRES 3.4.5.1.3), and their undoing.
extension PresenceSubscriptions {
    /// Adds and removes resources and categories named in a SUBSCRIBE within the dialog (MS-PRES 3.4.5.1.3); a refusal changes nothing.
    func apply(
        _ change: CategoryRequest, to presence: PresenceSubscription, of watcher: WatcherDialog, _ request: SIPRequest, at now: Instant
    ) throws(Refusal) {
        let before = presence.resources.map { CategoryRequest.Resource(uri: $0.uri, key: $0.key, categories: $0.categories, context: nil) }
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
        whenKept(at: now) { [unowned self] now in remote.leaveUpstreams(gone, at: now) }
        for wanted in after {
            if let resource = known[wanted.key] {
                guard resource.categories != wanted.categories else { continue }
                resource.request(wanted.categories)
                whenKept(at: now) { [unowned self] now in remote.widenUpstream(of: resource, at: now) }
                continue
            }
            let resource = WatchedResource(wanted)
            parties.presentity = wanted.uri
            parties.presentityKey = wanted.key
            presence.add(resource)
            countWatched(resource, by: watcher)
            attach(resource, to: watcher, parties: parties, loopMarkers: loopMarkers[wanted.key] ?? "", at: now)
        }
    }

    /// Restores the presentities before a SUBSCRIBE that was not committed.
    func revert(
        _ presence: PresenceSubscription, of watcher: WatcherDialog, to before: [(resource: WatchedResource, categories: [CategoryName])],
        _ rejected: [WatcherDialog.RejectedResource], at now: Instant
    ) {
        let kept = presence.resources
        detach(presence.revert(to: before.map(\.resource), rejected), from: watcher, at: now)
        for (resource, categories) in before {
            if resource.categories != categories { resource.request(categories) }
            guard !kept.contains(where: { $0 === resource }) else { continue }
            countWatched(resource, by: watcher)
            // Subscriptions at remote domains are left only after the commit.
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
