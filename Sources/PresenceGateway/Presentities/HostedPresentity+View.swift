import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceMapping
import SIPCore

/// The view of one watcher: its inputs, the model that it shows, and its rendering.
extension HostedPresentity {
    /// The inputs of a watcher's view.
    struct ViewPlan {
        var format: WatcherFormat
        var requested: [CategoryName]
        /// nil: no category was published.
        var view: EnhancedPresence.WatcherView?
        /// Source of MSRTC and PIDF documents.
        var legacyInterop: CategoryInstance?
        /// Whether PIDF publications are hidden from the watcher.
        var isExplicitMember: Bool

        /// The instances of the view, with parsed bodies except in the categories format, which keeps them verbatim.
        var categories: CategoryMerge {
            let elements = (view?.document.categories ?? []) + [legacyInterop?.watcherElement].compactMap { $0 }
            return CategoryMerge(format == .categories ? elements : elements.map(HostedPresentity.readable))
        }
    }

    /// The model or models of a view.
    enum Choice {
        case one(PresenceSource)
        /// Both, for a category watcher: the model that was published last, and the other one in its empty categories.
        case both(CategoryMerge, PIDFDocument)

        /// The newer model alone, with parsed bodies, as permissions need it: what they remove from one is not filled from the other.
        func only(isSimpleNewer: Bool) -> PresenceSource {
            switch self {
            case .one(.categories(let merge)): .categories(CategoryMerge(merge.all.map(HostedPresentity.readable)))
            case .one(let source): source
            case .both(_, let document) where isSimpleNewer: .pidf(document)
            case .both(let merge, _): .categories(CategoryMerge(merge.all.map(HostedPresentity.readable)))
            }
        }
    }

    /// Selects the inputs of a view. MSRTC and PIDF documents use the legacyInterop of the watcher's container (MS-PRES 3.7.5.1), and the
    /// state category only if there is no legacyInterop.
    func plan(_ format: WatcherFormat, _ categories: [CategoryName], for identity: WatcherIdentity) -> ViewPlan {
        var requested = format == .categories ? categories : UpstreamSubscription.standardCategories
        var legacyInterop = format == .categories || enhanced.instanceCount == 0 ? nil : enhanced.legacyInterop(for: identity)
        if legacyInterop?.id.container == .blocked { legacyInterop = nil }
        if legacyInterop != nil { requested.removeAll { $0 == .state } }
        // Instances in container 32000 are not shown: if it decides about a category, that category looks unpublished.
        let view =
            enhanced.instanceCount == 0
            ? nil : enhanced.view(of: requested, for: identity).showingBlockedCategories { serverInstances(of: $0) }
        return ViewPlan(
            format: format, requested: requested, view: view, legacyInterop: legacyInterop,
            isExplicitMember: !documents.isEmpty && isExplicitMember(identity))
    }

    /// Whether a view contains more than what is published for every user.
    func isOwn(_ plan: ViewPlan) -> Bool {
        if !documents.isEmpty, !plan.isExplicitMember { return true }
        let instances = (plan.view?.categories.flatMap(\.instances) ?? []) + [plan.legacyInterop].compactMap { $0 }
        return instances.contains { instance in !server.list.contains { $0.id == instance.id && isAsPublished($0.id, $0.body) } }
    }

    /// The instances of a category that watchers of a user that never published see.
    private func serverInstances(of category: CategoryName) -> [CategoryInstance] {
        server.list.filter { $0.id.category == category && $0.id.container == .default && isAsPublished($0.id, $0.body) }
            .compactMap { enhanced[$0.id] }
    }

    func choose(_ plan: ViewPlan) -> Choice {
        var categories = plan.categories
        let isCategories = plan.format == .categories
        let hasCategories = categories.names.contains { categories.instances[$0]?.isEmpty == false }
        if !isCategories, hasCategories, [.state, .legacyInterop].allSatisfy({ categories.instances[$0]?.isEmpty ?? true }) {
            // A contact card without a state counts as offline (MS-PRES 3.7.5.5).
            categories.apply([
                CategoryElement(name: .legacyInterop, instance: 0, body: .legacyInterop(LegacyInteropDocument(availability: 18_500)))
            ])
        }
        guard !documents.isEmpty, !plan.isExplicitMember else {
            // Without publications, category watchers of an enterprise user get empty markers (MS-PRES 4.5). A user of a simple domain is
            // offline in every format, because clients keep the last state when they receive an empty one.
            return .one(hasCategories || isCategories && side == .enterprise ? .categories(categories) : .offline)
        }
        guard hasCategories else { return .one(.pidf(documents.document)) }
        if isCategories { return .both(categories, documents.document) }
        return .one(isSimpleNewer || ownInstanceCount == 0 ? .pidf(documents.document) : .categories(categories))
    }

    /// Renders the view without caching it.
    /// - Parameters:
    ///   - entity: URI of the presentity as used by the watcher; nil: its own URI.
    ///   - access: access by the presentity's rules; nil: everything.
    func make(
        _ plan: ViewPlan, of entity: SIPURI? = nil, for access: WatchAccess?, by translator: PresenceTranslator,
        counters: inout GatewayCounters, at now: Instant
    ) -> RenderedPresence {
        let entity = entity ?? uri
        // The record of a presentity that never published shows nothing of it; one of a sign-off keeps its static instances.
        let grants = look == .neverPublished ? nil : access?.grants
        func render(_ source: PresenceSource) -> RenderedPresence {
            translator.render(
                source, as: plan.format, entity: entity, requested: plan.requested, of: server.user, counters: &counters, at: now)
        }
        let choice = choose(plan)
        if let grants {
            return render(
                translator.part(of: choice.only(isSimpleNewer: isSimpleNewer), granted: grants, entity: uri.description, at: now))
        }
        switch choice {
        case .one(let source):
            return render(source)
        case .both(let categories, let document):
            let view = render(.pidf(document))
            guard case .categories(let mapped) = view else { return view }
            let (front, back) = isSimpleNewer ? (mapped.merge, categories) : (categories, mapped.merge)
            return .categories(CategoryView(uri: entity.description, front.filled(from: back)))
        }
    }

    /// Whether the presentity's membership lists decide about this watcher: they block it, contain it or its domain, or do not match it.
    ///
    /// All containers with members or a state are considered, so that a state that appears or ends does not change the result.
    private func isExplicitMember(_ identity: WatcherIdentity) -> Bool {
        if enhanced.instanceCount == 0, !enhanced.hasOwnLists { return false }
        if enhanced.resolver.isBlocked(identity) { return true }
        let candidates = enhanced.containerIDs.filter { container in
            !enhanced.membership(of: container).members.isEmpty
                || !enhanced.instances(of: ContainerCategory(category: .state, container: container)).isEmpty
        }
        switch enhanced.resolver.resolve(.state, heldBy: candidates, for: identity).rule {
        case .user, .domain, .noMatch: return true
        default: return false
        }
    }

    /// The element with its verbatim body parsed for the mapper.
    static func readable(_ element: CategoryElement) -> CategoryElement {
        var element = element
        if let body = element.body, let read = try? body.read(as: element.name) { element.body = read }
        return element
    }
}
