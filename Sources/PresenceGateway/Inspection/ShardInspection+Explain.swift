import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceMapping
import Registration
import SIPCore
import SimplePresence

/// Explanations of watchers' views. They change nothing: views are rendered again by the code of notifications, and dropped.
extension ShardInspection {
    /// Explains a watcher's view of a presentity, as far as this shard knows.
    /// - Parameter includingBodies: whether to include the documents that the watcher has.
    func explain(
        watcher: SIPURI, presentity: SIPURI, includingBodies: Bool = false, at now: Instant
    ) -> Explanation {
        let route = RouteReport(routes.decide(presentity))
        let (watcher, presentity) = (configuration.canonical(watcher), configuration.canonical(presentity))
        let key = presentity.aorKey
        var explanation = Explanation(watcher: party(watcher), presentity: party(presentity), route: route)
        explanation.subscriptions = flows.subscriptions.explain(
            watcher: watcher.aorKey, presentity: key, includingBodies: includingBodies, at: now)
        if place.has(key), configuration.domain(presentity.domainKey)?.hosted == true {
            explanation.home = flows.presentities.record(key).map { report(home: $0) }
            explanation.views = remoteViews(of: presentity, for: watcher, at: now)
            if !explanation.subscriptions.contains(where: \.isPresence) { explanation.preview = preview(watcher, of: presentity, at: now) }
        }
        explanation.carried = relayedReport(of: key, at: now)
        explanation.journal = Array(
            journal.newestFirst.lazy.filter { $0.isAbout(watcher: watcher.aorKey, presentity: key) }.prefix(10))
        return explanation
    }

    private func party(_ uri: SIPURI) -> PartyReport {
        let domain = configuration.domain(uri.domainKey).flatMap { $0.refuse == nil ? $0 : nil }
        var isUser: Bool?
        if let domain, domain.hosted, domain.side == .enterprise, directory.state != .none { isUser = directory.has(uri.aorKey) }
        return PartyReport(
            uri: uri.aorKey, side: domain?.side.rawValue, network: domain?.network.rawValue, isHosted: domain?.hosted ?? false,
            isUser: isUser)
    }

    // MARK: views

    /// Renders the view of a notification sent now, with its derivation.
    func trace(
        _ resource: WatchedResource, for dialog: WatcherDialog, at now: Instant
    ) -> (ViewExplanation, RenderedPresence) {
        // The presentity's shard explains it.
        if let received = resource.received { return (ViewExplanation(origin: .nothing), received) }
        let trace = MappingNotes()
        let translator = tracing(by: trace)
        var unused = GatewayCounters()
        if let presentity = flows.presentities.record(resource.hostedKey), resource.upstream == nil {
            let plan = presentity.plan(dialog.format, resource.categories, for: dialog.identity)
            let made = presentity.make(plan, by: translator, counters: &unused, at: now)
            return (explanation(plan, presentity, dialog.identity, trace), made)
        }
        let made = translator.render(
            resource.source, as: dialog.format, entity: resource.uri, requested: resource.categories, counters: &unused, at: now)
        return (ViewExplanation(origin: .init(resource.source), notes: trace, tables: translator.mapper.tables), made)
    }

    /// The view of a watcher without a subscription, in the usual format of its domain.
    private func preview(_ watcher: SIPURI, of presentity: SIPURI, at now: Instant) -> ViewExplanation? {
        guard let domain = configuration.domain(watcher.domainKey), domain.refuse == nil else { return nil }
        guard let known = flows.presentities.record(presentity.aorKey) else { return ViewExplanation(origin: .offline) }
        let trace = MappingNotes()
        let format: WatcherFormat = domain.side == .enterprise ? .categories : .pidf(domain.profile, lossless: domain.lossless)
        let identity = WatcherIdentity(watcher.addressOfRecord(), network: domain.network)
        let record = flows.presentities.blocking.shownRecord(of: known, for: identity)
        let plan = record.plan(format, UpstreamSubscription.standardCategories, for: identity)
        var unused = GatewayCounters()
        _ = record.make(plan, by: tracing(by: trace), counters: &unused, at: now)
        return explanation(plan, record, identity, trace)
    }

    /// The views of a watcher with dialogs in other shards, by the tags of their watches; nil: it has none.
    private func remoteViews(of presentity: SIPURI, for watcher: SIPURI, at now: Instant) -> [String: ViewExplanation]? {
        guard let domain = configuration.domain(watcher.domainKey) else { return nil }
        let identity = WatcherIdentity(watcher.addressOfRecord(), network: domain.network)
        var views: [String: ViewExplanation] = [:]
        for (watch, resource) in flows.presentities.remoteWatchers.watches(of: presentity.aorKey, by: identity) {
            guard let record = flows.presentities.record(resource.hostedKey) else { continue }
            let trace = MappingNotes()
            let plan = record.plan(watch.format, watch.categories, for: watch.watcher)
            var unused = GatewayCounters()
            _ = record.make(plan, by: tracing(by: trace), counters: &unused, at: now)
            views[watch.id.tag] = explanation(plan, record, watch.watcher, trace)
        }
        return views.isEmpty ? nil : views
    }

    private func tracing(by trace: MappingNotes) -> PresenceTranslator {
        var translator = translator
        translator.note = { trace.add(rows: $0, losses: $1) }
        return translator
    }

    private func explanation(
        _ plan: HostedPresentity.ViewPlan, _ presentity: HostedPresentity, _ identity: WatcherIdentity, _ notes: MappingNotes
    ) -> ViewExplanation {
        var view = ViewExplanation(
            origin: presentity.choose(plan).origin, notes: notes, tables: translator.mapper.tables)
        // Explain from the true presentity, so that the operator sees a block.
        let live = flows.presentities.record(presentity.owner) ?? presentity
        view.isDocumentHidden = plan.isExplicitMember || live !== presentity && !live.documents.isEmpty
        let enhanced = live.enhanced
        let resolver = enhanced.resolver
        var resolutions = enhanced.view(of: plan.requested, for: identity).categories.map {
            (name: $0.name, resolution: $0.resolution, instances: $0.instances)
        }
        if plan.format != .categories {
            let resolution = enhanced.resolveLegacyInterop(for: identity)
            resolutions.insert((.legacyInterop, resolution, [plan.legacyInterop].compactMap { $0 }), at: 0)
        }
        view.containers = resolutions.map { name, resolution, instances in
            ContainerReport(
                category: name.rawValue, container: resolution.container.map { Int($0.rawValue) }, rule: resolution.rule.rawValue,
                member: resolver.member(deciding: resolution, for: identity).map { "\($0.type)" + ($0.value.map { " \($0)" } ?? "") },
                candidates: enhanced.containers(holding: name).map { Int($0.rawValue) },
                instances: instances.map { InstanceReport($0) })
        }
        return view
    }

    // MARK: hosted presentities

    private func report(home presentity: HostedPresentity) -> HomeReport {
        let enhanced = presentity.enhanced
        let all = enhanced.pairs.flatMap { enhanced.instances(of: $0) }
        let documents = presentity.documents.standings
        let isPublished = presentity.publicationCount > 0
        return HomeReport(
            latest: !isPublished ? nil : presentity.isSimpleNewer || all.isEmpty ? "pidf" : "categories",
            documents: documents.map { DocumentReport(arrived: $0.arrived, until: $0.until) },
            published: all.filter { !$0.isComputed }.map { InstanceReport($0) },
            aggregationInputs: all.filter { !$0.isComputed && EnhancedPresentity.isAggregated($0.id.pair) }.map { InstanceReport($0) },
            watchers: (flows.presenceSubscriptions.dialogsOfPresentity[presentity.key] ?? 0)
                + flows.presentities.remoteWatchers.count(of: presentity.key),
            endpoints: flows.homeServer.home.registrar.bindings(of: presentity.key).compactMap { $0.endpoint?.description })
    }
}

/// Collects the applied mapping rows and their losses.
final class MappingNotes {
    private(set) var rows: [String] = []
    private(set) var losses: [MappingLoss] = []

    func add(rows: [String], losses: [MappingLoss]) {
        for row in rows where !self.rows.contains(row) { self.rows.append(row) }
        self.losses += losses
    }
}

extension ViewExplanation {
    init(origin: Origin, notes: MappingNotes, tables: MappingTables) {
        self.init(origin: origin)
        rows = notes.rows.map { id in
            let found = tables.row(id)
            return RowReport(id: id, table: found?.table ?? "", section: found?.row.section ?? "")
        }
        losses = notes.losses.map { LossReport(row: $0.rowID, field: $0.field, value: $0.value, reason: $0.reason) }
    }

    init(origin: Origin) {
        self.origin = origin
        containers = []
        isDocumentHidden = false
        rows = []
        losses = []
    }
}

extension ViewExplanation.Origin {
    init(_ source: PresenceSource) {
        switch source {
        case .unknown: self = .nothing
        case .offline: self = .offline
        case .categories: self = .categories
        case .pidf: self = .pidf
        case .msrtc: self = .msrtc
        }
    }
}

extension HostedPresentity.Choice {
    fileprivate var origin: ViewExplanation.Origin {
        switch self {
        case .one(.categories(let merge)): merge.all.isEmpty ? .offline : .categories
        case .one(let source): ViewExplanation.Origin(source)
        case .both: .both
        }
    }
}

extension RouteReport {
    init(_ decision: RouteDecision) {
        switch decision.outcome {
        case .local: self.init(outcome: .local, entry: decision.rule, reason: decision.reason)
        case .forward(_, let hop):
            self.init(outcome: .forward, entry: decision.rule, reason: decision.reason, nextHop: hop.description)
        case .refuse(let status):
            self.init(outcome: .refuse, entry: decision.rule, reason: decision.reason, status: status.rawValue)
        }
    }
}

extension InstanceStateReport {
    init(_ verdict: WatcherDialog.RejectedResource) {
        self.init(state: verdict.state, reason: verdict.reason, status: verdict.statusCode, pool: verdict.poolFqdn)
    }
}

extension InstanceReport {
    init(_ instance: CategoryInstance) {
        self.init(
            category: instance.id.category.rawValue, container: Int(instance.id.container.rawValue), instance: Int(instance.id.instance),
            version: Int(instance.version), publishTime: instance.publishTime, expireType: instance.expireType.rawValue,
            deadline: instance.deadline, endpoint: instance.endpointID, isComputed: instance.isComputed,
            availability: instance.availability)
    }
}

extension CategoryInstance {
    /// Availability of a state or legacyInterop instance; nil for other categories and unreadable bodies.
    fileprivate var availability: Int? {
        guard id.category == .state || id.category == .legacyInterop, let body,
            let read = try? CategoryBody.raw(body).read(as: id.category)
        else { return nil }
        switch read {
        case .state(let state): return state.availability.map { Int($0) }
        case .legacyInterop(let legacy): return legacy.availability.map { Int($0) }
        default: return nil
        }
    }
}
