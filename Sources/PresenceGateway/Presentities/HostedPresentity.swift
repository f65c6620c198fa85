import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents
import SimplePresence
import UserDirectory
import XMLCore

/// A presentity hosted by this gateway: its publications in both models, and its watchers.
///
/// A watcher sees the model that was published last; a category view fills empty categories from the other model. A watcher that the
/// presentity itself put into a container, or into none, sees only what containers give it (MS-PRES 3.2.5.3), so that a PIDF publication
/// cannot undo a block. Watchers in container 32000 see another record (``BlockLook``).
final class HostedPresentity {
    /// Key in the table of presentities.
    let key: String
    /// `aorKey` of the user; differs from ``key`` in a record for blocked watchers.
    let owner: String
    /// The kind of record for blocked watchers; nil: the true presentity.
    let look: BlockLook?
    let uri: SIPURI
    /// Presence model of the domain.
    var side: DomainSide
    var enhanced: EnhancedPresentity
    var publications: PublicationTable
    var documents: PublicationComposer
    /// Bodies of PUBLISH requests by entity-tag, as received; only with a store.
    var bodies: [String: [UInt8]] = [:]
    /// Directory entry of the user; nil: no directory or no such user.
    var user: DirectoryUser?
    /// The server's own last publications (MS-PRES 3.2.6.2).
    var serverPublications: [(id: PublicationID, body: XMLFragment)] = []
    /// Time at which the server repeats its publications, because a client changed them.
    var serverPublicationsDue: Instant?
    private var watchers = WatcherList()
    /// The composition of ``documents``, as of the last ``compose()``.
    private(set) var document: PIDFDocument
    /// Whether ``document`` is the composition of ``documents``.
    private(set) var isComposed = true
    /// Next time at which a published element begins or ends; nil: none does.
    var nextTimedMoment: Instant?
    /// Whether a PUBLISH changed ``document`` and the watchers have not been notified yet.
    var hasPendingDocument = false
    /// Whether the last change came by PUBLISH.
    var isSimpleNewer = false
    private var views: [ViewKey: (presence: RenderedPresence, isOwn: Bool)] = [:]

    /// Key of a shared view: equal keys give equal bytes.
    private struct ViewKey: Hashable {
        var format: WatcherFormat
        var requested: [CategoryName]
        /// nil: no category was published, so the view is the same for all watchers.
        var containers: EnhancedPresence.WatcherView.Key?
        /// Container of the legacyInterop instance from which MSRTC and PIDF documents are made.
        var legacyInterop: ContainerID?
        var isExplicitMember: Bool
        /// URI of the presentity as used by the watcher.
        var entity: SIPURI
    }

    init(
        owner: String, look: BlockLook? = nil, uri: SIPURI, side: DomainSide, policy: EnhancedPresencePolicy, expiry: ExpiryPolicy,
        limits: CompositionLimits
    ) {
        key = look?.key(of: owner) ?? owner
        self.owner = owner
        self.look = look
        self.uri = uri
        self.side = side
        enhanced = EnhancedPresentity(uri: uri.description, policy: policy)
        publications = PublicationTable(expiry: expiry, limit: limits.publications)
        documents = PublicationComposer(entity: uri.description, limits: limits)
        document = PIDFDocument(entity: uri.description)
    }

    /// Whether the record can be dropped: nothing is published or watched, and no list is set.
    var isIdle: Bool {
        guard watchers.isEmpty else { return false }
        switch look {
        case nil: return publications.isEmpty && !hasEnhancedState
        case .neverPublished: return true
        case .signedOff: return ownInstanceCount == 0
        }
    }

    /// Key of the stored record of SERVICE publications; nil: not stored.
    var storeKey: StoreKey? {
        switch look {
        case nil: .presentity(owner)
        case .neverPublished: nil
        case .signedOff(let number): .signOff(presentity: owner, number: number)
        }
    }

    /// Whether the user has a category instance, membership, subscriber or delegate; server publications do not count.
    var hasEnhancedState: Bool { ownInstanceCount > 0 || enhanced.hasOwnLists }

    var publicationCount: Int { publications.count + ownInstanceCount }

    /// Whether all server publications are unchanged.
    var isAsServerPublished: Bool { serverPublications.allSatisfy { isAsPublished($0.id, $0.body) } }

    /// Number of category instances that were published by clients or computed.
    var ownInstanceCount: Int { enhanced.instanceCount - serverPublications.count { isAsPublished($0.id, $0.body) } }

    private func isAsPublished(_ id: PublicationID, _ body: XMLFragment) -> Bool {
        enhanced[id].map { $0.body == body && $0.expireType == .static } ?? false
    }

    /// UUIDs of the endpoints on which a published instance depends (MS-PRES 3.2.5.5).
    var endpoints: Set<String> {
        Set(enhanced.pairs.flatMap { enhanced.instances(of: $0) }.compactMap { $0.expireType == .endpoint ? $0.endpointID : nil })
    }

    /// Whether a published instance ends with an endpoint, or with the user's last one.
    var dependsOnEndpoints: Bool {
        enhanced.pairs.contains { enhanced.instances(of: $0).contains { $0.expireType == .endpoint || $0.expireType == .user } }
    }

    var nextDeadline: Instant? {
        let byTime = enhanced.nextDeadline.map { Instant($0) }
        return Instant.earliest(byTime, publications.nextDeadline, serverPublicationsDue, nextTimedMoment)
    }

    func add(_ resource: WatchedResource, of tag: String) { watchers.add(resource, of: tag) }
    func removeWatcher(_ tag: String) { watchers.remove(tag) }

    /// All watchers in order of arrival, with the tags of their dialogs.
    var watchersInOrder: [(tag: String, resource: WatchedResource)] { watchers.all }

    /// Marks ``document`` as outdated until the next ``compose()``, because ``documents`` changed.
    func documentsChanged() { isComposed = false }

    /// Updates ``document`` if it is outdated.
    /// - Returns: whether it changed.
    func compose() -> Bool {
        guard !isComposed else { return false }
        isComposed = true
        let composed = documents.document
        guard composed != document else { return false }
        document = composed
        return true
    }

    /// Drops all cached views after a change.
    func changed() {
        views.removeAll(keepingCapacity: true)
        for (_, resource) in watchers.all { resource.rendered = nil }
    }

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
    }

    /// Selects the inputs of a view. MSRTC and PIDF documents use the legacyInterop of the watcher's container (MS-PRES 3.7.5.1), and the
    /// state category only if there is no legacyInterop.
    func plan(_ format: WatcherFormat, _ categories: [CategoryName], for identity: WatcherIdentity) -> ViewPlan {
        var requested = format == .categories ? categories : UpstreamSubscription.standardCategories
        var legacyInterop = format == .categories ? nil : enhanced.legacyInterop(for: identity)
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

    /// The presentity in a watcher's format, cached by format and containers.
    func rendered(
        _ resource: WatchedResource, for watcher: WatcherDialog, by translator: PresenceTranslator, counters: inout GatewayCounters,
        at now: Instant
    ) -> (presence: RenderedPresence, isOwn: Bool) {
        let plan = plan(watcher.format, resource.categories, for: watcher.identity)
        let viewKey = ViewKey(
            format: plan.format, requested: plan.requested, containers: plan.view?.key,
            legacyInterop: plan.legacyInterop?.id.container, isExplicitMember: plan.isExplicitMember, entity: resource.entity)
        if let made = views[viewKey] {
            counters.bodiesShared += 1
            return made
        }
        let made = (
            presence: make(plan, of: resource.entity, by: translator, counters: &counters, at: now), isOwn: look == nil && isOwn(plan)
        )
        if views.count >= CategoryView.formLimit { views.removeAll() }
        views[viewKey] = made
        return made
    }

    /// Whether a view contains more than what is published for every user.
    private func isOwn(_ plan: ViewPlan) -> Bool {
        if !documents.isEmpty, !plan.isExplicitMember { return true }
        let instances = (plan.view?.categories.flatMap(\.instances) ?? []) + [plan.legacyInterop].compactMap { $0 }
        return instances.contains { instance in !serverPublications.contains { $0.id == instance.id && isAsPublished($0.id, $0.body) } }
    }

    /// The instances of a category that watchers of a user that never published see.
    private func serverInstances(of category: CategoryName) -> [CategoryInstance] {
        serverPublications.filter { $0.id.category == category && $0.id.container == .default && isAsPublished($0.id, $0.body) }
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
        guard hasCategories else { return .one(.pidf(document)) }
        if isCategories { return .both(categories, document) }
        return .one(isSimpleNewer || ownInstanceCount == 0 ? .pidf(document) : .categories(categories))
    }

    /// Renders the view without caching it.
    /// - Parameter entity: URI of the presentity as used by the watcher; nil: its own URI.
    func make(
        _ plan: ViewPlan, of entity: SIPURI? = nil, by translator: PresenceTranslator, counters: inout GatewayCounters, at now: Instant
    ) -> RenderedPresence {
        let entity = entity ?? uri
        func render(_ source: PresenceSource) -> RenderedPresence {
            translator.render(source, as: plan.format, entity: entity, requested: plan.requested, of: user, counters: &counters, at: now)
        }
        switch choose(plan) {
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

/// Watchers by tag in order of arrival, so that runs are reproducible.
private struct WatcherList {
    private var slots: [(tag: String, resource: WatchedResource)?] = []
    private var places: [String: Int] = [:]

    var isEmpty: Bool { places.isEmpty }
    var all: [(tag: String, resource: WatchedResource)] { slots.compactMap { $0 } }

    mutating func add(_ resource: WatchedResource, of tag: String) {
        if let place = places[tag] {
            slots[place] = (tag, resource)
        } else {
            places[tag] = slots.count
            slots.append((tag, resource))
        }
    }

    mutating func remove(_ tag: String) {
        guard let place = places.removeValue(forKey: tag) else { return }
        slots[place] = nil
        guard slots.count > 32, slots.count > 2 * places.count else { return }
        slots.removeAll { $0 == nil }
        for (place, slot) in slots.enumerated() {
            if let slot { places[slot.tag] = place }
        }
    }
}
