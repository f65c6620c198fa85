import EnhancedPresence
import FederationRouting
import SIPCore
import SIPEvents

/// List services that users keep by XCAP (RFC 4826 4): a SUBSCRIBE to the URI of a service watches the members of its list.
///
///     SUBSCRIBE --members of the stored list--> watched --list changed--> members added and ended --service removed--> ended
extension PresenceSubscriptions {
    /// The list service that a SUBSCRIBE outside a dialog is sent to, with its owner; nil: none.
    func listService(of request: SIPRequest) -> (key: String, owner: String)? {
        let key = configuration.canonical(request.uri).aorKey
        return keptLists.owner(ofService: key).map { (key, $0) }
    }

    /// Reads the list of a service for a watcher.
    /// - Throws: 403 if the service is another user's, 415 if the request has a body, and what ``KeptLists/members(ofService:of:)`` throws.
    func keptList(_ service: (key: String, owner: String), for watcher: String, _ request: SIPRequest) throws(Refusal) -> ListRequest {
        guard service.owner == watcher else {
            throw Refusal.forbidden("RFC 4826 4.4.1: the list service is one of another user", errorID: 2004)
        }
        guard request.body.isEmpty || WatcherFormat.hasFilters(request) else {
            throw .unsupportedMediaType(accept: WatcherFormat.filterType)
        }
        return try keptList(service.key, of: service.owner)
    }

    private func keptList(_ service: String, of owner: String) throws(Refusal) -> ListRequest {
        try ListRequest(
            try keptLists.members(ofService: service, of: owner), limit: configuration.limits.resourcesPerBatch,
            identities: configuration.identities)
    }

    // MARK: dialogs

    /// Notes a dialog about a list service.
    func noteKeptList(_ watcher: WatcherDialog) {
        guard watcher.presence?.list?.service != nil else { return }
        keptListDialogs[watcher.watcherKey, default: []].insert(watcher.localTag)
    }

    /// Forgets a dialog about a list service.
    func forgetKeptList(_ watcher: WatcherDialog) {
        guard keptListDialogs[watcher.watcherKey]?.remove(watcher.localTag) != nil else { return }
        if keptListDialogs[watcher.watcherKey]?.isEmpty == true { keptListDialogs[watcher.watcherKey] = nil }
    }

    /// Applies changed lists of a user to live subscriptions; those whose service or list is gone end (`noresource`).
    func keptListsChanged(of owner: String, at now: Instant) {
        for tag in (keptListDialogs[owner] ?? []).sorted() {
            guard let watcher = notifier.dialogs[tag], let presence = watcher.presence, let service = presence.list?.service else {
                continue
            }
            do throws(Refusal) {
                apply(try keptList(service, of: owner), to: presence, of: watcher, at: now)
            } catch {
                log(.debug, "list service ended", ["call-id": watcher.dialog.id.callID, "rule": error.explanation])
                notifier.perform(watcher.notifier.terminate(.noresource, at: now), on: watcher, at: now)
            }
        }
    }

    private func apply(_ list: ListRequest, to presence: PresenceSubscription, of watcher: WatcherDialog, at now: Instant) {
        // Members that left the list, or did not exist, are watched again; those that refused the watcher stay refused.
        let refused = presence.rejected.filter { $0.reason != TerminationReason.noresource.rawValue }
        let known = Set(presence.resources.map(\.key)).union(refused.map(\.uri.aorKey))
        let added = list.entries.filter { !known.contains($0.key) }
        let gone = presence.keepOnly(Set(list.entries.map(\.key)))
        guard !added.isEmpty || !gone.isEmpty, let domain = configuration.domain(of: watcher.watcher) else { return }
        detachHere(gone, from: watcher)
        remote.leaveUpstreams(gone, at: now)
        for resource in gone {
            presence.changes.remove(resource)
            presence.filters?.forget(resource)
            presence.reject(
                resource, as: .init(uri: resource.uri, state: "terminated", reason: TerminationReason.noresource.rawValue),
                limit: configuration.limits.resourcesPerBatch)
        }
        presence.addToList(added)
        for entry in added {
            let resource = WatchedResource(
                CategoryRequest.Resource(uri: entry.uri, key: entry.key, categories: UpstreamSubscription.standardCategories))
            let parties = RequestScreening.Parties(
                watcher: watcher.watcher, watcherKey: watcher.watcherKey, watcherDomain: domain, presentity: entry.uri,
                presentityKey: entry.key, presentityDomain: domain, entity: entry.uri, maxForwards: 69)
            presence.add(resource)
            countWatched(resource, by: watcher)
            attach(
                resource, to: watcher, parties: parties,
                loopMarkers: HopMark(node: configuration.nodeName, presentity: entry.key).token, at: now)
            if resource.source.isKnown || resource.isPending { presence.changes.add(resource) }
        }
        remote.startUpstreams(of: watcher, at: now)
        notifier.keep(watcher)
        notifier.notifyChanges(of: watcher, at: now)
    }
}
