import EnhancedPresence
import PresenceDocuments
import PresenceFilters
import FederationRouting
import SIPCore
import SIPEvents

/// Presence: single subscriptions, batches and lists (RFC 3856, RFC 5367, MS-PRES 3.4, 3.7).
final class PresencePackage: EventPackage {
    let token = EventToken.presence
    let storedKind = StoredDialog.Kind.watcher
    let mediaTypes = [WatcherFormat.pidfType, WatcherFormat.categoriesType, WatcherFormat.msrtcType, WatcherFormat.xpidfType]
    let hasStateAtOnce = false
    private unowned let presence: PresenceSubscriptions

    init(_ presence: PresenceSubscriptions) { self.presence = presence }

    func open(
        _ request: SIPRequest, to: SIPURI, over flow: Flow, by screening: RequestScreening, at now: Instant
    ) throws(Refusal) -> OpenedSubscription {
        let service = presence.listService(of: request)
        let isList = service != nil || screening.isList(request)
        if isList { try presence.checkListHead(request.headers, isKept: service != nil) }
        let isBatch = !isList && CategoryRequest.isBatch(request.headers)
        var parties = try screening.parties(request, presentity: isBatch ? to : isList ? request.headers.from?.uri : nil)
        if isList { parties.name(parties.presentity, key: request.uri.aorKey) }
        guard let format = WatcherFormat.negotiate(request.headers, domain: parties.watcherDomain) else { throw .notAcceptable }
        if isBatch && format != .categories || isList && !format.isListable { throw .notAcceptable }
        let list: ListRequest?
        if let service {
            list = try presence.keptList(service, for: parties.watcherKey, request)
        } else {
            list = isList ? try presence.listRequest(request) : nil
        }
        let filters = isBatch ? nil : try presence.filters(of: request, format)
        let wanted: [CategoryRequest.Resource]
        if let list {
            wanted = list.entries.map { .init(uri: $0.uri, key: $0.key, categories: UpstreamSubscription.standardCategories) }
        } else {
            wanted = try presence.wantedResources(request, format, isBatch: isBatch, parties, to: to)
        }
        let loopMarkers = try HopMark(node: presence.configuration.nodeName, presentity: parties.presentityKey).passOn(request.headers)
        if !isBatch, !isList { try presence.admission.checkRights(watcher: parties.watcher, presentity: parties.presentity) }
        try presence.checkWatchLimits(
            parties, hidesIdentity: RequestScreening.hidesIdentity(request.headers), isBatch || isList ? [] : wanted)
        if !isBatch, !isList {
            try presence.admission.checkPartner(of: parties.watcher, flow, watching: wanted.map(\.key), countedFor: nil)
        }
        let subscription = PresenceSubscription(
            presence, format: format, isPartial: format.isPartial(request.headers), isBatch: isBatch,
            list: list.map { list in
                ListSubscription(
                    uri: request.uri.description, service: service?.key,
                    written: Dictionary(list.entries.map { ($0.key, $0.written) }, uniquingKeysWith: { first, _ in first }))
            },
            opening: .init(wanted: wanted, loopMarkers: loopMarkers))
        subscription.use(filters)
        return OpenedSubscription(parties: parties, subscription: subscription)
    }

    func restore(
        _ stored: StoredDialog, of watcher: SIPURI, in domain: DomainConfiguration
    ) -> OpenedSubscription? {
        let isPartial = stored.contentType == WatcherFormat.pidfDiffType
        guard let format = WatcherFormat(contentType: isPartial ? WatcherFormat.pidfType : stored.contentType, domain: domain) else {
            return nil
        }
        let configuration = presence.configuration
        let isUncertain = presence.notifier.restored.isUncertain(stored, of: watcher)
        let resources = stored.resources.compactMap { one in
            SIPURI(one.uri).map { written in
                let identity = configuration.canonical(written)
                // The version of a part of a list is at most that of the list.
                return WatchedResource(
                    restored: identity, key: identity.aorKey, categories: one.categories.map { CategoryName(rawValue: $0) },
                    entity: written.entityForm, remembered: isUncertain ? [:] : one.delivered, version: stored.listVersion)
            }
        }
        guard resources.count == stored.resources.count, let first = resources.first?.uri ?? SIPURI(stored.owner) else { return nil }
        var list: ListSubscription?
        if let uri = stored.details[StoredDialog.listDetail] {
            let written = (stored.resources.map(\.uri) + stored.rejected.map(\.uri)).compactMap { text in
                SIPURI(text).map { (configuration.canonical($0).aorKey, text) }
            }
            let key = SIPURI(uri).map { configuration.canonical($0).aorKey }
            list = ListSubscription(
                uri: uri, service: key.flatMap { presence.keptLists.owner(ofService: $0) == nil ? nil : $0 },
                written: Dictionary(written, uniquingKeysWith: { first, _ in first }), version: stored.listVersion)
        }
        let subscription = PresenceSubscription(
            presence, format: format, isPartial: isPartial, isBatch: stored.isBatch, list: list, resources: resources,
            rejected: rejected(stored.rejected, resources, configuration))
        if let text = stored.details[StoredDialog.filterDetail], let table = try? FilterTable(octets: Array(text.utf8)) {
            subscription.use(WatcherFilters(table))
        }
        return OpenedSubscription(
            parties: RequestScreening.Parties(
                watcher: watcher, watcherKey: watcher.aorKey, watcherDomain: domain, presentity: first, presentityKey: stored.owner,
                presentityDomain: domain, entity: first, maxForwards: 69),
            subscription: subscription)
    }

    /// Restores pending resources, which are watched, and returns the rejected ones, which are not.
    private func rejected(
        _ stored: [StoredDialog.Rejected], _ resources: [WatchedResource], _ configuration: GatewayConfiguration
    ) -> [WatcherDialog.RejectedResource] {
        var rejected: [WatcherDialog.RejectedResource] = []
        for instanceState in stored {
            guard let written = SIPURI(instanceState.uri) else { continue }
            let uri = configuration.canonical(written)
            if instanceState.state == "pending", let resource = resources.first(where: { $0.key == uri.aorKey }) {
                resource.restorePending(isNotified: instanceState.isNotified)
                continue
            }
            rejected.append(
                .init(
                    uri: uri, entity: written.entityForm, state: instanceState.state, reason: instanceState.reason,
                    statusCode: instanceState.statusCode,
                    poolFqdn: instanceState.poolFqdn, isNotified: instanceState.isNotified))
        }
        return rejected
    }
}
