import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceMapping
import PresenceRules
import SIPCore
import SimplePresence

/// Explanations of hosted presentities and of watchers' views: views are rendered again by the code of notifications, and dropped.
final class PresentityExplainer: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The flow, which owns this part.
    private unowned let flow: PresentitiesFlow

    init(_ flow: PresentitiesFlow) {
        kernel = flow.kernel
        context = flow.context
        self.flow = flow
    }

    func explain(_ question: ExplainQuestion, in explanation: inout Explanation, at now: Instant) {
        guard question.isHome else { return }
        explanation.show(
            home: flow.record(question.presentity.aorKey).map { report(home: $0) },
            views: remoteViews(of: question.presentity, for: question.watcher, at: now),
            preview: preview(question.watcher, of: question.presentity, at: now))
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
        if let presentity = flow.record(resource.hostedKey), resource.upstream == nil {
            let plan = presentity.plan(dialog.format, resource.categories, for: dialog.identity)
            let made = presentity.make(plan, for: resource.access, by: translator, counters: &unused, at: now)
            var view = explanation(plan, presentity, dialog.identity, trace)
            view.apply(resource.access)
            view.decision = decision(
                about: dialog.identity, hidesIdentity: dialog.hidesIdentity, of: presentity.owner, resource.uri, at: now)
            return (view, made)
        }
        let made = translator.render(
            resource.source, as: dialog.format, entity: resource.uri, requested: resource.categories, counters: &unused, at: now)
        return (ViewExplanation(origin: .init(resource.source), notes: trace, tables: translator.mapper.tables), made)
    }

    /// The view of a watcher without a subscription, in the usual format of its domain.
    private func preview(_ watcher: SIPURI, of presentity: SIPURI, at now: Instant) -> ViewExplanation? {
        guard let domain = configuration.domain(watcher.domainKey), domain.refuse == nil else { return nil }
        let key = presentity.aorKey
        let identity = WatcherIdentity(watcher.addressOfRecord(), network: domain.network)
        let decision = decision(about: identity, hidesIdentity: false, of: key, presentity, at: now)
        let access = flow.authorization.access(
            of: RuleWatcher(identity, hidesIdentity: false), to: key, presentity, isWatching: false, at: now)
        guard let known = flow.record(key) else {
            var view = ViewExplanation(origin: .offline)
            view.apply(access)
            view.decision = decision
            return view
        }
        let trace = MappingNotes()
        let format: WatcherFormat = domain.side == .enterprise ? .categories : .pidf(domain.profile, lossless: domain.lossless)
        let record = flow.blocking.shownRecord(of: known, for: identity, access)
        let plan = record.plan(format, UpstreamSubscription.standardCategories, for: identity)
        var unused = GatewayCounters()
        _ = record.make(plan, for: access, by: tracing(by: trace), counters: &unused, at: now)
        var view = explanation(plan, record, identity, trace)
        view.apply(access)
        view.decision = decision
        return view
    }

    /// Decision of the presentity's rules, as text; nil: they do not decide about it.
    private func decision(
        about watcher: WatcherIdentity, hidesIdentity: Bool, of key: String, _ uri: SIPURI, at now: Instant
    ) -> [String]? {
        flow.authorization.decide(
            about: RuleWatcher(watcher, hidesIdentity: hidesIdentity), of: key, uri, reasons: Self.reasons, at: now)?.lines
    }

    /// Number of rules that do not match and are reported.
    private static let reasons = 100

    /// The views of a watcher with dialogs in other shards, by the tags of their watches; nil: it has none.
    private func remoteViews(of presentity: SIPURI, for watcher: SIPURI, at now: Instant) -> [String: ViewExplanation]? {
        guard let domain = configuration.domain(watcher.domainKey) else { return nil }
        let identity = WatcherIdentity(watcher.addressOfRecord(), network: domain.network)
        var views: [String: ViewExplanation] = [:]
        for (watch, resource) in flow.remoteWatchers.watches(of: presentity.aorKey, by: identity) {
            guard let record = flow.record(resource.hostedKey) else { continue }
            let trace = MappingNotes()
            let plan = record.plan(watch.format, watch.categories, for: watch.watcher)
            var unused = GatewayCounters()
            _ = record.make(plan, for: resource.access, by: tracing(by: trace), counters: &unused, at: now)
            var view = explanation(plan, record, watch.watcher, trace)
            view.apply(resource.access)
            view.decision = decision(
                about: watch.watcher, hidesIdentity: watch.hidesIdentity, of: record.owner, watch.presentity, at: now)
            views[watch.id.tag] = view
        }
        return views.isEmpty ? nil : views
    }

    private func tracing(by trace: MappingNotes) -> PresenceTranslator { translator.noting { trace.add(rows: $0, losses: $1) } }

    private func explanation(
        _ plan: HostedPresentity.ViewPlan, _ presentity: HostedPresentity, _ identity: WatcherIdentity, _ notes: MappingNotes
    ) -> ViewExplanation {
        var view = ViewExplanation(
            origin: presentity.choose(plan).origin, notes: notes, tables: translator.mapper.tables)
        // Explain from the true presentity, so that the operator sees a block.
        let live = flow.record(presentity.owner) ?? presentity
        view.isDocumentHidden =
            plan.isExplicitMember || live !== presentity && !live.documents.isEmpty && live.enhanced.resolver.isBlocked(identity)
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
            watchers: flow.ports.dialogCount(of: presentity.key) + flow.remoteWatchers.count(of: presentity.key), endpoints: [])
    }
}

extension ViewExplanation {
    /// Notes that the presentity's rules show nothing.
    fileprivate mutating func apply(_ access: WatchAccess?) {
        if access?.isBlocked == true { origin = .refused }
        if access?.isPending == true { origin = .pending }
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
