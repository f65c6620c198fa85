import EnhancedPresence
import FederationRouting
import SIPCore

/// Views of hosted presentities in other shards that a SUBSCRIBE needs before it is served.
extension PresenceSubscription {
    func neededViews(_ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool) -> [WatchDraft] {
        drafts(of: wanted, request, parties, WatcherIdentity(parties.watcher, network: parties.watcherDomain.network), isPoll: isPoll)
    }

    func neededViews(changedBy request: SIPRequest, of dialog: WatcherDialog) -> [WatchDraft] {
        guard format == .categories, !request.body.isEmpty, request.headers.expires != 0, flow.place.count > 1,
            let to = request.headers.to?.uri,
            // A request that cannot be read is refused when it is served.
            let change = try? flow.categoryRequest(request, isBatch: isBatch, to: to),
            let parties = try? flow.screening.parties(request, presentity: to),
            let after = try? change.applied(to: resources.map(\.asWanted), limits: flow.configuration.limits)
        else { return [] }
        let known = Dictionary(resources.map { ($0.key, $0.categories) }, uniquingKeysWith: { first, _ in first })
        let contexts = Dictionary(change.named.map { ($0.key, $0.context) }, uniquingKeysWith: { first, _ in first })
        let changed = after.compactMap { wanted -> CategoryRequest.Resource? in
            var wanted = wanted
            wanted.context = contexts[wanted.key] ?? nil
            return wanted.context != nil || known[wanted.key] != wanted.categories ? wanted : nil
        }
        return drafts(of: changed, request, parties, dialog.identity, isPoll: false)
    }

    /// Orders for the presentities of other shards that the watcher may watch.
    private func drafts(
        of wanted: [CategoryRequest.Resource], _ request: SIPRequest, _ parties: RequestScreening.Parties, _ identity: WatcherIdentity,
        isPoll: Bool
    ) -> [WatchDraft] {
        guard flow.place.count > 1 else { return [] }
        return wanted.compactMap { resource in
            guard flow.hosted.isElsewhere(resource.uri, resource.key),
                flow.routes.rightsRefusal(watcher: parties.watcher, presentity: resource.uri) == nil,
                flow.directory.has(resource.key) == true || !flow.isInDirectory(resource.uri)
            else { return nil }
            return WatchDraft(
                resource, as: format, for: identity, hidesIdentity: RequestScreening.hidesIdentity(request.headers),
                subscriber: flow.admission.newSubscriber(request, parties, resource, format, isPoll: isPoll), isPoll: isPoll)
        }
    }
}

extension WatchedResource {
    /// The resource as a request would name it.
    var asWanted: CategoryRequest.Resource { .init(uri: uri, key: key, categories: categories, entity: entity) }
}
