import EnhancedPresence
import FederationRouting
import PresenceFilters
import PresenceDocuments
import SIPCore
import SIPEvents

extension PresenceSubscription: PackageSubscription {
    var presentity: String { namesResources ? "" : resources.first?.key ?? "" }
    /// Lists, and categories even of one presentity (MS-PRES 3.4.5.1.3).
    var requiresEventList: Bool { format == .categories || list != nil }
    var allowsBestEffort: Bool { list == nil }
    var isOnlyOfEndpoint: Bool { isBatch }
    var assertedIdentity: SIPURI? { namesResources ? nil : resources.first?.uri }
    var nextChange: Instant? { changes.isEmpty ? nil : changes.nextDeadline(listSpacedUntil: list?.spacedUntil) }

    func hasDueChange(at now: Instant) -> Bool {
        changes.hasDue(at: now, listSpacedUntil: list?.spacedUntil) || hasPendingInstanceStates
    }

    /// PIDF is always sent in a NOTIFY (MS-PRES 3.7.5.4), and msrtc.pidf while the state is unknown, because it would show "offline" where
    /// categories are empty. Exceptions: a poll waits for the state, and a restored dialog has it.
    func allowsPiggyback(isPoll: Bool) -> Bool {
        switch format {
        case .categories: true
        case .msrtc: isPoll || isReady || resources.allSatisfy(\.isRestored)
        case .pidf, .xpidf: false
        }
    }

    // MARK: SUBSCRIBE

    func admit(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool, at now: Instant
    ) throws(Refusal) {
        try flow.admission.checkUsers(wanted.map(\.uri), isBatch: namesResources)
        guard !namesResources, let only = wanted.first else { return }
        if let refusal = flow.views.refusal(of: only.key) { throw refusal }
        if flow.hosted.decidesByRules {
            try flow.hosted.checkAccess(
                of: WatcherIdentity(parties.watcher, network: parties.watcherDomain.network),
                hidesIdentity: RequestScreening.hidesIdentity(request.headers), to: only.key, only.uri, at: now)
        }
        try flow.admission.noteSubscriber(request, parties, only, format, isPoll: isPoll, at: now)
    }

    func begin(
        _ dialog: WatcherDialog, _ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool, at now: Instant
    ) -> Bool {
        for resource in resources { flow.countWatched(resource, by: dialog) }
        guard let opening = takeOpening() else { return true }
        if list != nil {
            flow.attachList(dialog, request, parties: parties, isPoll: isPoll, at: now)
            flow.noteKeptList(dialog)
            return true
        }
        for resource in resources {
            flow.attach(resource, to: dialog, parties: parties, loopMarkers: opening.loopMarkers, isPoll: isPoll, at: now)
        }
        guard isBatch else { return true }
        flow.noteSubscriber(request, parties, to: opening.wanted, of: dialog, isPoll: isPoll, at: now)
        // All resources were rejected: the list reports it, and no dialog is created (MS-PRES 4.6).
        return !resources.isEmpty
    }

    func proceed(_ dialog: WatcherDialog, at now: Instant) { flow.remote.startUpstreams(of: dialog, at: now) }

    func change(
        by request: SIPRequest, isUnsubscribe: Bool, of dialog: WatcherDialog, at now: Instant
    ) throws(Refusal) -> [String]? {
        guard !request.body.isEmpty else { return nil }
        if WatcherFormat.hasFilters(request), !isBatch {
            try flow.changeFilters(by: request, isUnsubscribe: isUnsubscribe, of: self)
            return nil
        }
        if list != nil {
            throw Refusal(
                .unsupportedMediaType, "RFC 5367 4: a list stays as it is for the life of its subscription",
                headers: [.init(.accept, "")])
        }
        guard format == .categories, let to = request.headers.to?.uri else {
            guard request.headers.contentType?.essence == WatcherFormat.batchSubscribeType else {
                throw .unsupportedMediaType(accept: WatcherFormat.batchSubscribeType)
            }
            return nil
        }
        let change = try flow.categoryRequest(request, isBatch: isBatch, to: to)
        // Ignore resource changes in an unsubscribe.
        if !isUnsubscribe {
            try flow.apply(change, to: self, of: dialog, request, at: now)
            if isBatch {
                let parties = try flow.screening.parties(request, presentity: to)
                flow.noteSubscriber(request, parties, to: change.named, of: dialog, isPoll: false, at: now)
            }
        }
        return change.named.map(\.key)
    }

    func end(_ dialog: WatcherDialog, at now: Instant) {
        flow.forgetKeptList(dialog)
        flow.detach(removeAll(), from: dialog, at: now)
        flow.remote.leaveUpstreams(takeLeaving(), at: now)
    }

    // MARK: notifications

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        flow.presenceBody(of: self, dialog, naming: named, isFull: isFull, at: now)
    }

    func skipChanges(at now: Instant) { dueChanges(at: now).forEach { changes.remove($0) } }

    func dropChanges() { changes.removeAll() }

    func advance(_ dialog: WatcherDialog, at now: Instant) {
        // A list is sent with the presentities known so far; it marks the others.
        if list != nil { dialog.notifier.becameReady() }
    }

    // MARK: failed commits

    func reload(_ dialog: WatcherDialog, as stored: any PackageSubscription, hopMarks: [String?], at now: Instant) {
        if let stored = stored as? PresenceSubscription { flow.reload(self, of: dialog, as: stored, hopMarks: hopMarks, at: now) }
    }

    // MARK: store and restart

    var documentVersion: UInt32 { list?.version ?? resources.first?.partialVersion ?? 0 }

    func store(in stored: inout StoredDialog) {
        stored.isBatch = isBatch
        stored.listVersion = documentVersion
        stored.resources = resources.map { resource in
            StoredDialog.Resource(
                uri: list?.written(resource.uri) ?? resource.entity.description, categories: resource.categories.map(\.rawValue),
                delivered: resource.deliveredDigests, hopMarks: resource.upstream?.hopMarks)
        }
        stored.rejected = instanceStates.map {
            StoredDialog.Rejected(
                uri: list?.written($0.uri) ?? ($0.entity ?? $0.uri).description, state: $0.state, reason: $0.reason,
                statusCode: $0.statusCode, poolFqdn: $0.poolFqdn, isNotified: $0.isNotified)
        }
        stored.details[StoredDialog.listDetail] = list?.uri
        stored.details[StoredDialog.filterDetail] = filters.map { String(decoding: $0.table.octets, as: UTF8.self) }
    }

    func resume(
        _ dialog: WatcherDialog, from stored: StoredDialog, fedBy upstreams: RestoredUpstreamSubscriptions, at now: Instant
    ) {
        for resource in resources { flow.countWatched(resource, by: dialog) }
        for (resource, hopMarks) in zip(resources, stored.resources.map(\.hopMarks)) {
            flow.resume(resource, of: dialog, hopMarks: hopMarks, fedBy: upstreams, at: now)
        }
        flow.noteKeptList(dialog)
        guard isAwaitingConfirmation else { return }
        dialog.notifier.restorePending(isNotified: !stored.wasNotifiedActive && !stored.isUnsettled)
    }

    func isBehind(_ dialog: WatcherDialog, isUnsettled: Bool, at now: Instant) -> Bool {
        // A list is notified when all of its entries are known again.
        if list != nil, !isReady { return false }
        let differing = resources.filter { resource in
            resource.source.isKnown && resource.access?.isPending != true
                && (!dialog.wasNotifiedActive || !resource.isKnown(flow.rendered(resource, for: dialog, at: now)))
        }
        for resource in resources where resource.upstream == nil && resource.isRenderedOwn && resource.isNotified {
            // Stores of earlier versions have no record of it.
            let rendered = flow.rendered(resource, for: dialog, at: now)
            flow.hosted.noteShown(filters?.whole(of: resource) ?? rendered, of: resource, to: dialog, at: now)
        }
        let owesInstanceStates = hasPendingInstanceStates || isUnsettled && !instanceStates.isEmpty
        guard !dialog.isAway, !differing.isEmpty || owesInstanceStates else { return false }
        differing.forEach { changes.add($0) }
        return true
    }

    // MARK: inspection

    func rows(of dialog: WatcherDialog) -> [SubscriptionRow] {
        resources.isEmpty
            ? [SubscriptionRow(presentity: "")] : resources.map { SubscriptionRow(presentity: $0.key, resource: $0) }
    }

    func describe(_ row: SubscriptionRow, in report: inout SubscriptionReport, of dialog: WatcherDialog) {
        let resource = row.resource
        let isHosted = resource.map { flow.hosted.hasRecord(at: $0.hostedKey) && $0.upstream == nil } ?? false
        let upstream = resource?.upstream
        report.format = formatName
        report.categories = format == .categories ? resource?.categories.map(\.rawValue) ?? [] : []
        report.shape = list != nil ? .list : isBatch ? .batch : .single
        report.source = isHosted ? .hosted : upstream != nil ? .far : .none
        report.knowledge = isHosted ? .known : resource?.knowledge ?? .unknown
        report.leg = upstream.map { upstream in
            UpstreamReport(upstream, resource.flatMap { upstream.resource($0.key) }, hopMarks: flow.remote.hopMarks(of: upstream))
        }
    }

    private var formatName: String {
        guard case .pidf(let profile, let lossless) = format else { return contentType }
        return "\(contentType) (\(profile.rawValue)\(lossless ? ", lossless" : "")\(filters == nil ? "" : ", filtered"))"
    }

    func explain(
        _ dialog: WatcherDialog, presentity: String, includingBodies: Bool, at now: Instant
    ) -> [SubscriptionExplanation] {
        let watched = resources.filter { $0.key == presentity }.map {
            flow.explain(dialog, $0, includingBodies: includingBodies, at: now)
        }
        return watched
            + instanceStates.filter { $0.uri.aorKey == presentity }.map { verdict in
                SubscriptionExplanation(
                    subscription: dialog.report(SubscriptionRow(presentity: ""), at: now),
                    delivery: verdict.isNotified ? .current : .waiting,
                    view: ViewExplanation(origin: .nothing), verdict: InstanceStateReport(verdict))
            }
    }
}
