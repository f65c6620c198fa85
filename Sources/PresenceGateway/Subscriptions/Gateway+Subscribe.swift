import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Watchers: SUBSCRIBE outside and inside a dialog (RFC 6665 4.2, MS-PRES 3.4.5, 3.7.5).
extension Gateway {
    func receiveSubscribe(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard let event = request.headers.event else { throw .badEvent }
        if let package = HomePackage(rawValue: event.package) {
            return try receiveHomeSubscribe(request, package, event, transaction, flow, at: now)
        }
        guard event.package == EventPackage.presence.token else { throw .badEvent }
        if let tag = request.headers.toTag {
            try receiveRefresh(request, tag, event, transaction, flow, at: now)
        } else {
            try receiveInitial(request, event, transaction, flow, at: now)
        }
    }

    // MARK: outside a dialog

    private func receiveInitial(
        _ request: SIPRequest, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard !isShuttingDown else {
            throw .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
        if answerAgain(request, event, transaction, flow, at: now) { return }
        guard request.headers.contact != nil else { throw .badRequest("RFC 6665 4.2.1: a SUBSCRIBE needs a Contact") }
        guard let to = request.headers.to?.uri else { throw .badRequest("RFC 3261 20.39: To cannot be read") }
        let isList = screening.isList(request)
        if isList { try checkListHead(request.headers) }
        let isBatch = !isList && CategoryRequest.isBatch(request.headers)
        var parties = try screening.parties(request, presentity: isBatch ? to : isList ? request.headers.from?.uri : nil)
        if isList { parties.presentityKey = request.uri.aorKey }
        guard let format = WatcherFormat.negotiate(request.headers, domain: parties.watcherDomain) else { throw .notAcceptable }
        if isBatch && format != .categories || isList && !format.isListable { throw .notAcceptable }
        let list = isList ? try listRequest(request) : nil
        let wanted: [CategoryRequest.Resource]
        if let list {
            wanted = list.entries.map { .init(uri: $0.uri, key: $0.key, categories: UpstreamSubscription.standardCategories) }
        } else {
            wanted = try wantedResources(request, format, isBatch: isBatch, parties, to: to)
        }
        let loopMarkers = try HopMark(node: configuration.nodeName, presentity: parties.presentityKey).passOn(request.headers)
        if !isBatch, !isList { try checkRights(watcher: parties.watcher, presentity: parties.presentity) }
        try checkLimits(parties, isBatch || isList ? [] : wanted)
        if !isBatch, !isList { try checkPartner(of: parties.watcher, flow, watching: wanted.map(\.key)) }

        let tag = tokens.tag()
        guard let dialog = Dialog(accepting: request, localTag: tag) else {
            throw .badRequest("RFC 3261 12.1.1: no dialog can be made of this request")
        }
        try checkPath(request, of: parties.watcher, flow)
        // Only inside the enterprise, where the end of the connection shows that the watcher is gone (MS-SIP 3.5).
        let isBestEffort =
            !isList && parties.watcherDomain.side == .enterprise && parties.watcherDomain.network == .sameEnterprise
            && flow.local.transport.isReliable && request.headers.offers("ms-benotify")
        let policy = notifierConfiguration(parties, bestEffort: isBestEffort)
        var requestedExpires = request.headers.expires.map { Int(clamping: $0) }
        if case .tooBrief(let minimum) = policy.expiry.decide(requestedExpires) { throw .tooBrief(minimum) }
        try checkUsers(wanted.map(\.uri), isBatch: isBatch || isList)
        if !isBatch, !isList, let only = wanted.first {
            try noteSubscriber(request, parties, only, format, isPoll: requestedExpires == 0, at: now)
        }
        let resources = wanted.map(WatchedResource.init)
        let watcher = WatcherDialog(
            localTag: tag, dialog: dialog, notifier: Notifier(policy, isReady: false), event: event, format: format,
            isPartial: format.isPartial(request.headers), parties: parties,
            isBatch: isBatch, flow: flow, resources: resources)
        watcher.list = list.map { list in
            ListSubscription(
                uri: request.uri.description,
                written: Dictionary(list.entries.map { ($0.key, $0.written) }, uniquingKeysWith: { first, _ in first }))
        }
        if parties.watcherDomain.hosted { watcher.origin = EndpointKey(request, of: parties.watcherKey) }
        watcher.hidesIdentity = RequestScreening.hidesIdentity(request.headers)
        insert(watcher)
        keep(.dialog(tag))
        ifNotKept { [unowned self] now in takeBack(watcher, at: now) }
        if isList {
            attachList(watcher, request, parties: parties, isPoll: requestedExpires == 0, at: now)
        } else {
            for resource in resources {
                attach(resource, to: watcher, parties: parties, loopMarkers: loopMarkers, isPoll: requestedExpires == 0, at: now)
            }
        }
        if isBatch { noteSubscriber(request, parties, to: wanted, of: watcher, isPoll: requestedExpires == 0, at: now) }
        // All resources were rejected: the list reports it, and no dialog is created (MS-PRES 4.6).
        if isBatch, watcher.resources.isEmpty { requestedExpires = 0 }
        if isBatch && requestedExpires != 0 { replaceBatch(of: EndpointKey(request, of: parties.watcherKey), by: watcher, at: now) }
        watcher.notifier = Notifier(policy, isAuthorized: !watcher.isWithheld, isReady: watcher.isReady)
        let isPiggyback = isPiggyback(request, of: watcher, isPoll: requestedExpires == 0)
        if requestedExpires == 0, isPiggyback, !watcher.isReady, let transaction {
            // The 200 must carry the state: it waits for the remote domain, at most ``GatewayTiming/pollWait`` (MS-PRES 3.4.5.1.2).
            watcher.held = WatcherDialog.HeldRequest(
                transaction: transaction, request: request, until: now + configuration.timing.pollWait)
            startUpstreams(of: watcher, at: now)
            schedule(watcher)
            return
        }
        let actions = watcher.notifier.receiveSubscribe(expires: requestedExpires, piggyback: isPiggyback, at: now)
        counters.subscriptionsAccepted += 1
        log(
            .debug, "subscription accepted",
            [
                "call-id": dialog.id.callID, "watcher": parties.watcherKey, "presentity": parties.presentityKey,
                "format": format.contentType, "expires": String(requestedExpires ?? -1),
            ])
        perform(actions, on: watcher, answering: (request, transaction), at: now)
        startUpstreams(of: watcher, at: now)
        schedule(watcher)
    }

    /// Resources of the body for categories; otherwise the presentity of the Request-URI.
    private func wantedResources(
        _ request: SIPRequest, _ format: WatcherFormat, isBatch: Bool, _ parties: RequestScreening.Parties, to: SIPURI
    ) throws(Refusal) -> [CategoryRequest.Resource] {
        let type = request.headers.contentType?.essence
        guard format == .categories else {
            guard request.body.isEmpty || type == WatcherFormat.batchSubscribeType else {
                // A SIMPLE watcher may send a list (RFC 5367), but for example no filter (RFC 4660).
                let isSimple = parties.watcherDomain.side == .simple
                throw .unsupportedMediaType(accept: isSimple ? ListRequest.contentType : WatcherFormat.batchSubscribeType)
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
            document = try BatchSubscribeDocument(parsing: request.body, limits: documentLimits)
        } catch {
            if error.code == .limit { counters.limitsReached += 1 }
            throw .unreadable(error, "MS-PRES 3.4.5.3", limitID: 2012)
        }
        return try CategoryRequest(document, isBatch: isBatch, to: to, identities: configuration.identities)
    }

    private func checkLimits(_ parties: RequestScreening.Parties, _ wanted: [CategoryRequest.Resource]) throws(Refusal) {
        let limits = configuration.limits
        let retryAfter = configuration.timing.retryAfter
        func full(_ text: String, errorID: UInt32) -> Refusal {
            counters.limitsReached += 1
            return parties.watcherDomain.side == .enterprise
                ? Refusal(
                    .requestEntityTooLarge, text, errorID: errorID, headers: [Refusal.Header(.retryAfter, String(retryAfter))])
                : .unavailable(text, retryAfter: retryAfter, errorID: errorID)
        }
        if dialogs.count + home.dialogs.count >= limits.subscriptions {
            counters.limitsReached += 1
            throw .unavailable("too many subscriptions on this node", retryAfter: retryAfter, errorID: 2012)
        }
        if dialogsOfWatcher[parties.watcherKey, default: 0] >= limits.subscriptionsPerWatcher {
            throw full("too many subscriptions of this watcher", errorID: 2012)
        }
        if watchedResources + wanted.count > limits.watchedResources {
            counters.limitsReached += 1
            throw .unavailable("too many watched presentities on this node", retryAfter: retryAfter, errorID: 2012)
        }
        let identity = WatcherIdentity(parties.watcher, network: parties.watcherDomain.network)
        for resource in wanted where isCrowdedOut(resource.uri, resource.key, for: identity) {
            counters.limitsReached += 1
            throw .unavailable("too many presentities on this node", retryAfter: retryAfter, errorID: 2012)
        }
        for resource in wanted where dialogsOfPresentity[resource.key, default: 0] >= limits.subscriptionsPerPresentity {
            throw full("too many subscriptions to this presentity", errorID: 2011)
        }
    }

    /// Whether a presentity cannot be watched because the table that it would need an entry in is full.
    private func isCrowdedOut(_ uri: SIPURI, _ key: String, for watcher: WatcherIdentity) -> Bool {
        guard let domain = configuration.domain(uri.domainKey), domain.refuse == nil else { return false }
        if domain.hosted {
            return presentities.count - blocks.signOffCount >= configuration.limits.presentities && !hasHostedRecord(of: key, for: watcher)
        }
        return upstreams.count >= configuration.limits.upstreamSubscriptions
    }

    func notifierConfiguration(_ parties: RequestScreening.Parties, bestEffort: Bool) -> Notifier.Configuration {
        let timing = configuration.timing
        let range = configuration.expires(parties.watcherDomain)
        return Notifier.Configuration(
            expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum), bestEffort: bestEffort,
            grace: timing.firstNotifyGrace, fetchWait: timing.pollWait, retryPause: .seconds(timing.retryAfter),
            patience: timing.notifyPatience)
    }

    /// Whether the 200 may carry the state (MS-SIP 3.4.5.1). PIDF is always sent in a NOTIFY (MS-PRES 3.7.5.4), and msrtc.pidf while the
    /// state is unknown, because it would show "offline" where categories are empty. Exceptions: a poll waits for the state, and a restored
    /// dialog has it.
    func isPiggyback(_ request: SIPRequest, of watcher: WatcherDialog, isPoll: Bool) -> Bool {
        switch watcher.format {
        case .categories: Self.isPiggybackOffered(request)
        case .msrtc: Self.isPiggybackOffered(request) && (isPoll || watcher.isReady || watcher.resources.allSatisfy(\.isRestored))
        default: false
        }
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
            dialogsOfPresentity[resource.key, default: 0] > configuration.limits.subscriptionsPerPresentity
                || watchedResources > configuration.limits.watchedResources
                || isCrowdedOut(resource.uri, resource.key, for: watcher.identity)
        {
            counters.limitsReached += 1
            reject(resource, of: watcher, state: "terminated", reason: "quotaExceeded", statusCode: 413)
            return
        }
        if watcher.namesResources, !mayWatch(resource, watcher) { return }
        if let domain, domain.refuse == nil {
            if domain.hosted {
                if watcher.namesResources, domain.side == .enterprise, !isUser(resource.key) {
                    // Reported like a user of another deployment; the watcher then subscribes to it singly (MS-PRES 3.4.5.3).
                    reject(resource, of: watcher, state: "resubscribe")
                    return
                }
                attachHosted(resource, to: watcher, at: now)
                return
            }
            if watcher.isBatch, domain.side == .enterprise {
                // User of another deployment: the watcher subscribes there by itself.
                reject(resource, of: watcher, state: "resubscribe", poolFqdn: domain.poolFqdn)
                return
            }
            if let hop = hop(toward: resource.uri, in: domain, isSecure: resource.entity.isSecure) {
                joinUpstream(
                    resource, of: watcher, parties: parties, domain: domain, hop: hop, loopMarkers: loopMarkers, isPoll: isPoll, at: now)
                return
            }
        }
        // Not served here: the list reports it, and the watcher's single subscription is refused (MS-PRES 3.4.5.3).
        resource.source = .offline
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
        watcher.resources.removeAll { $0 === resource }
        release(resource)
        watcher.reject(
            .init(uri: resource.uri, entity: resource.entity, state: state, reason: reason, statusCode: statusCode, poolFqdn: poolFqdn),
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
                try noteSubscriber(request, parties, resource, watcher.format, isPoll: isPoll, at: now)
            } catch {
                reject(watched, of: watcher, state: "terminated", reason: "quotaExceeded", statusCode: error.status.rawValue)
                detachHosted(watched, from: watcher)
            }
        }
    }

    // MARK: the table

    func insert(_ watcher: WatcherDialog) {
        dialogs[watcher.localTag] = watcher
        flows.subscriptions.add(watcher)
        bind(watcher)
        if let origin = watcher.origin { dialogsOfEndpoint[origin, default: []].insert(watcher.localTag) }
        dialogsOfWatcher[watcher.watcherKey, default: 0] += 1
        for resource in watcher.resources { countWatched(resource, by: watcher) }
    }

    /// Binds a watcher with BENOTIFY to its connection: the watcher is gone when the connection is (MS-SIP 3.5).
    func bind(_ watcher: WatcherDialog) {
        guard let connection = watcher.flow.connection, watcher.notifier.configuration.bestEffort else { return }
        dialogsOfConnection[connection, default: []].insert(watcher.localTag)
    }

    func unbind(_ watcher: WatcherDialog) {
        guard let connection = watcher.flow.connection, dialogsOfConnection[connection] != nil else { return }
        dialogsOfConnection[connection]?.remove(watcher.localTag)
        if dialogsOfConnection[connection]?.isEmpty == true { dialogsOfConnection[connection] = nil }
    }

    /// Removes a dialog and releases its resources.
    func remove(_ watcher: WatcherDialog, at now: Instant) {
        guard dialogs.removeValue(forKey: watcher.localTag) != nil else { return }
        unbind(watcher)
        unanswered.forget(watcher.ticket)
        if let origin = watcher.origin {
            dialogsOfEndpoint[origin]?.remove(watcher.localTag)
            if dialogsOfEndpoint[origin]?.isEmpty == true { dialogsOfEndpoint[origin] = nil }
        }
        if let endpoint = watcher.endpoint, batchOfEndpoint[endpoint] == watcher.localTag { batchOfEndpoint[endpoint] = nil }
        counters.subscriptionsEnded += 1
        Self.decrement(&dialogsOfWatcher, watcher.watcherKey)
        detach(watcher.resources, from: watcher, at: now)
        watcher.resources = []
        keep(.dialog(watcher.localTag))
        flows.subscriptions.remove(watcher)
    }

    func detach(_ resources: [WatchedResource], from watcher: WatcherDialog, at now: Instant) {
        detachHere(resources, from: watcher)
        leaveUpstreams(resources, at: now)
    }

    /// Releases one resource that left a batch.
    func release(_ resource: WatchedResource) {
        uncountWatched(resource)
    }

    func countWatched(_ resource: WatchedResource, by watcher: WatcherDialog) {
        dialogsOfPresentity[resource.key, default: 0] += 1
        watchedResources += 1
        resource.partner = partnerName(of: watcher.watcher)
        watcher.partner = resource.partner
        if let partner = resource.partner { partners.watch(resource.key, by: partner) }
    }

    func uncountWatched(_ resource: WatchedResource) {
        Self.decrement(&dialogsOfPresentity, resource.key)
        watchedResources -= 1
        if let partner = resource.partner { partners.unwatch(resource.key, by: partner) }
        resource.partner = nil
    }

    private static func decrement(_ table: inout [String: Int], _ key: String) {
        guard let count = table[key] else { return }
        table[key] = count > 1 ? count - 1 : nil
    }

    // MARK: time

    func advance(_ watcher: WatcherDialog, at now: Instant) {
        if let held = watcher.held, now >= held.until { answerHeld(watcher, at: now) }
        if let returnsBy = watcher.returnsBy, now >= returnsBy {
            watcher.returnsBy = nil
            if watcher.notifier.configuration.bestEffort {
                // A BENOTIFY has no response that would show the watcher's absence.
                perform(watcher.notifier.watcherGone(), on: watcher, at: now)
                return
            }
        }
        notifyChanges(of: watcher, at: now)
        // A list is sent with the presentities known so far; it marks the others.
        if watcher.list != nil { watcher.notifier.becameReady() }
        perform(watcher.notifier.advance(to: now), on: watcher, at: now)
    }

    /// Answers the held poll.
    func answerHeld(_ watcher: WatcherDialog, at now: Instant) {
        guard let held = watcher.held else { return }
        watcher.held = nil
        counters.subscriptionsAccepted += 1
        let actions = watcher.notifier.receiveSubscribe(expires: 0, piggyback: true, at: now)
        perform(actions, on: watcher, answering: (held.request, held.transaction), at: now)
    }
}
