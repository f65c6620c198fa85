import EnhancedPresence
import PresenceDocuments
import FederationRouting
import SIPCore
import SIPEvents
import XMLCore

/// Watched presentities: their limits, and their sources (MS-PRES 3.4.5, 3.7.5).
extension PresenceSubscriptions {
    // MARK: the request

    /// Resources of the body for categories; otherwise the presentity of the Request-URI.
    func wantedResources(
        _ request: SIPRequest, _ format: WatcherFormat, isBatch: Bool, _ parties: RequestScreening.Parties, to: SIPURI
    ) throws(Refusal) -> [CategoryRequest.Resource] {
        let type = request.headers.contentType?.essence
        guard format == .categories else {
            guard request.body.isEmpty || type == WatcherFormat.batchSubscribeType || WatcherFormat.hasFilters(request) else {
                // A SIMPLE watcher may send a list (RFC 5367) or filters (RFC 4660).
                let isSimple = parties.watcherDomain.side == .simple
                throw .unsupportedMediaType(
                    accept: isSimple ? "\(ListRequest.contentType), \(WatcherFormat.filterType)" : WatcherFormat.batchSubscribeType)
            }
            return [
                .init(
                    uri: parties.presentity, key: parties.presentityKey, categories: UpstreamSubscription.standardCategories,
                    entity: parties.entity)
            ]
        }
        if isBatch && parties.watcherKey != configuration.canonical(to).aorKey {
            throw .forbidden("MS-PRES 3.4.5.3: From and To of a batch differ")
        }
        return try categoryRequest(request, isBatch: isBatch, to: to).applied(to: [], limits: configuration.limits)
    }

    func categoryRequest(_ request: SIPRequest, isBatch: Bool, to: SIPURI) throws(Refusal) -> CategoryRequest {
        guard !request.body.isEmpty else { throw .badRequest("MS-PRES 3.4.5.3: a category subscription needs a body", errorID: 4001) }
        guard request.headers.contentType?.essence == WatcherFormat.batchSubscribeType else {
            throw .unsupportedMediaType(accept: WatcherFormat.batchSubscribeType)
        }
        let document: BatchSubscribeDocument
        do throws(DocumentError) {
            document = try BatchSubscribeDocument(parsing: request.body, limits: parser.limits)
        } catch {
            if error.code == .limit { counters.limitsReached += 1 }
            throw .unreadable(error, "MS-PRES 3.4.5.3", limitID: 2012)
        }
        return try CategoryRequest(document, isBatch: isBatch, to: to, identities: configuration.identities)
    }

    // MARK: limits

    /// Checks the limits of the watched presentities.
    /// - Parameter hidesIdentity: whether the watcher asked for privacy of its identity (RFC 3325 9.3).
    func checkWatchLimits(
        _ parties: RequestScreening.Parties, hidesIdentity: Bool, _ wanted: [CategoryRequest.Resource]
    ) throws(Refusal) {
        let limits = configuration.limits
        if watchedResources + wanted.count > limits.watchedResources {
            throw notifier.policy.tooMany("too many watched presentities on this node")
        }
        let identity = WatcherIdentity(parties.watcher, network: parties.watcherDomain.network)
        for resource in wanted where isCrowdedOut(resource.uri, resource.key, for: identity, hidesIdentity) {
            throw notifier.policy.tooMany("too many presentities on this node")
        }
        for resource in wanted where watcherCount(of: resource) >= limits.subscriptionsPerPresentity {
            throw notifier.policy.tooMany("too many subscriptions to this presentity", of: parties.watcherDomain, errorID: 2011)
        }
    }

    /// Number of watchers of a presentity, as far as this shard knows.
    private func watcherCount(of resource: CategoryRequest.Resource) -> Int {
        dialogsOfPresentity[resource.key, default: 0] + hosted.remoteWatcherCount(of: resource.key)
    }

    /// Whether a presentity cannot be watched because the table that it would need an entry in is full.
    private func isCrowdedOut(_ uri: SIPURI, _ key: String, for watcher: WatcherIdentity, _ hidesIdentity: Bool) -> Bool {
        guard let domain = configuration.domain(uri.domainKey), domain.refuse == nil else { return false }
        return domain.hosted ? !hosted.hasRoom(for: key, watchedBy: watcher, hidesIdentity: hidesIdentity) : !remote.hasRoom
    }

    // MARK: sources

    /// Attaches a resource to its source: this node, an upstream subscription, or none (MS-PRES 3.4.5.1.3.1).
    func attach(
        _ resource: WatchedResource, to watcher: WatcherDialog, parties: RequestScreening.Parties, loopMarkers: String,
        isPoll: Bool = false,
        at now: Instant
    ) {
        let domain = configuration.domain(resource.uri.domainKey)
        if watcher.namesResources,
            dialogsOfPresentity[resource.key, default: 0] + hosted.remoteWatcherCount(of: resource.key)
                > configuration.limits.subscriptionsPerPresentity
                || watchedResources > configuration.limits.watchedResources
                || isCrowdedOut(resource.uri, resource.key, for: watcher.identity, watcher.hidesIdentity)
        {
            counters.limitsReached += 1
            reject(resource, of: watcher, state: "terminated", reason: "quotaExceeded", statusCode: 413)
            return
        }
        if watcher.namesResources, !mayWatch(resource, watcher) { return }
        if watcher.namesResources, let refusal = views.refusal(of: resource.key) {
            let reason = refusal.status == .forbidden ? TerminationReason.rejected.rawValue : "quotaExceeded"
            return reject(resource, of: watcher, state: "terminated", reason: reason, statusCode: refusal.status.rawValue)
        }
        if let domain, domain.refuse == nil {
            if domain.hosted {
                if watcher.namesResources, domain.side == .enterprise, directory.has(resource.key) != true {
                    // Reported like a user of another deployment; the watcher then subscribes to it singly (MS-PRES 3.4.5.3).
                    reject(resource, of: watcher, state: "resubscribe")
                    return
                }
                if watcher.namesResources, isBlocked(resource, watcher, at: now) { return }
                hosted.attachHosted(resource, to: watcher, at: now)
                // A restored watch of another shard stays pending or not until its first view.
                if watcher.namesResources, resource.watch == nil || resource.received != nil {
                    resource.authorize(isPending: resource.access?.isPending == true)
                }
                return
            }
            if watcher.isBatch, domain.side == .enterprise {
                // User of another deployment: the watcher subscribes there by itself.
                reject(resource, of: watcher, state: "resubscribe", poolFqdn: domain.poolFqdn)
                return
            }
            if let hop = hop(toward: resource.uri, in: domain, isSecure: resource.entity.isSecure) {
                remote.joinUpstream(
                    resource, of: watcher, parties: parties, domain: domain, hop: hop, loopMarkers: loopMarkers, isPoll: isPoll, at: now)
                return
            }
        }
        // Not served here: the list reports it, and the watcher's single subscription is refused (MS-PRES 3.4.5.3).
        resource.show(.offline)
        guard watcher.namesResources else { return }
        if domain?.refuse != nil {
            reject(resource, of: watcher, state: "terminated", reason: TerminationReason.rejected.rawValue)
        } else {
            reject(resource, of: watcher, state: "resubscribe")
        }
    }

    func reject(
        _ resource: WatchedResource, of watcher: WatcherDialog, state: String, reason: String? = nil, statusCode: Int? = nil,
        poolFqdn: String? = nil, because detail: String? = nil
    ) {
        var (state, reason) = (state, reason)
        if watcher.list != nil {
            // Lists use the states and reasons of RFC 4662 5.5.
            if reason == "quotaExceeded" { reason = TerminationReason.probation.rawValue }
            state = "terminated"
            reason = reason ?? TerminationReason.noresource.rawValue
        }
        uncountWatched(resource)
        watcher.presence?.reject(
            resource,
            as: .init(uri: resource.uri, entity: resource.entity, state: state, reason: reason, statusCode: statusCode, poolFqdn: poolFqdn),
            limit: configuration.limits.resourcesPerBatch)
        note(
            .rejected, watcher: watcher.watcherKey, presentity: resource.key, callID: watcher.dialog.id.callID, status: statusCode,
            rule: detail ?? "the list said \(state)" + (reason.map { ": \($0)" } ?? "") + " (MS-PRES 3.4.5.1.3.1)", at: commitLog.now)
    }

    /// Adds the watcher to the subscriber list of every user named in a batch; a full list rejects that user (MS-PRES 3.4.5.1.3.1).
    func noteSubscriber(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, to wanted: [CategoryRequest.Resource], of watcher: WatcherDialog,
        isPoll: Bool, at now: Instant
    ) {
        for resource in wanted {
            guard let watched = watcher.resources.first(where: { $0.key == resource.key }) else { continue }
            do throws(Refusal) {
                if let refusal = views.refusal(of: resource.key) { throw refusal }
                try admission.noteSubscriber(request, parties, resource, watcher.format, isPoll: isPoll, at: now)
            } catch {
                reject(watched, of: watcher, state: "terminated", reason: "quotaExceeded", statusCode: error.status.rawValue)
                hosted.detachHosted(watched, from: watcher)
            }
        }
    }

    func detach(_ resources: [WatchedResource], from watcher: WatcherDialog, at now: Instant) {
        detachHere(resources, from: watcher)
        remote.leaveUpstreams(resources, at: now)
    }
}
