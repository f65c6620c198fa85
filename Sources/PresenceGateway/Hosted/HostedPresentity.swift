import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents
import SimplePresence
import UserDirectory
import XMLCore

/// A presentity whose home is this gateway: what was published for it in either model, and who watches it.
///
/// Both models live side by side. A watcher sees the model that was published last, and in a category view the other one's categories
/// where that one has none; a watcher that the presentity itself put into a container, or into none, sees only what containers give it
/// (MS-PRES 3.2.5.3), so that a PIDF publication cannot undo a block. Watchers in container 32000 see another record (``BlockLook``).
final class HostedPresentity {
    /// Its key in the table of presentities.
    let key: String
    /// The `aorKey` of the user; the same as ``key``, unless it is what blocked watchers see.
    let owner: String
    /// What it shows to blocked watchers; nil: it is the true presentity.
    let look: BlockLook?
    let uri: SIPURI
    /// The side of its domain.
    var side: DomainSide
    var enhanced: EnhancedPresentity
    var publications: PublicationTable
    var documents: PublicationComposer
    /// What was published by PUBLISH, by entity-tag, as it came; only when there is a store.
    var bodies: [String: [UInt8]] = [:]
    /// What the directory says of the user; nil: there is no directory, or the user is not in it.
    var user: DirectoryUser?
    /// What the server itself published last (MS-PRES 3.2.6.2).
    var serverPublications: [(id: PublicationID, body: XMLFragment)] = []
    /// When the server publishes its data again, because a client has changed them.
    var serverPublicationsDue: Instant?
    private var watchers = WatcherList()
    /// The composition of ``documents``, as of the last ``compose()``.
    private(set) var document: PIDFDocument
    /// Whether ``document`` is the composition of ``documents``.
    private(set) var isComposed = true
    /// Next time at which an element of what is published begins or ends by itself; nil: none does.
    var nextTimedMoment: Instant?
    /// Whether a PUBLISH changed ``document`` and the watchers have not been notified yet.
    var hasUntoldDocument = false
    /// Whether the last change came by PUBLISH.
    var isSimpleNewer = false
    private var views: [ViewKey: (presence: RenderedPresence, isOwn: Bool)] = [:]

    /// Two watchers with equal keys see the same octets.
    private struct ViewKey: Hashable {
        var format: WatcherFormat
        var requested: [CategoryName]
        /// nil: no category was published, so that nothing depends on who watches.
        var containers: EnhancedPresence.WatcherView.Key?
        /// Where the legacyInterop instance is that MSRTC and PIDF documents are made from.
        var legacyInterop: ContainerID?
        var isPlaced: Bool
        /// As watchers name the presentity.
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

    /// Whether the record can go: nothing is published, nothing watched, no membership set.
    var isIdle: Bool {
        guard watchers.isEmpty else { return false }
        switch look {
        case nil: return publications.isEmpty && !hasEnhancedState
        case .neverPublished: return true
        case .signedOff: return ownInstanceCount == 0
        }
    }

    /// The record that keeps what was published by SERVICE; nil: none does.
    var storeKey: StoreKey? {
        switch look {
        case nil: .presentity(owner)
        case .neverPublished: nil
        case .signedOff(let number): .signOff(presentity: owner, number: number)
        }
    }

    /// Whether a category instance, a membership, a subscriber or a delegate is there; what the server publishes for every user is none.
    var hasEnhancedState: Bool { ownInstanceCount > 0 || enhanced.hasOwnLists }

    var publicationCount: Int { publications.count + ownInstanceCount }

    /// Whether everything that the server published stands as it was published.
    var isAsServerPublished: Bool { serverPublications.allSatisfy { isAsPublished($0.id, $0.body) } }

    /// Category instances that were published by clients or computed.
    var ownInstanceCount: Int { enhanced.instanceCount - serverPublications.count { isAsPublished($0.id, $0.body) } }

    private func isAsPublished(_ id: PublicationID, _ body: XMLFragment) -> Bool {
        enhanced[id].map { $0.body == body && $0.expireType == .static } ?? false
    }

    /// The endpoints on whose presence something published depends (MS-PRES 3.2.5.5), by their UUIDs.
    var endpoints: Set<String> {
        Set(enhanced.pairs.flatMap { enhanced.instances(of: $0) }.compactMap { $0.expireType == .endpoint ? $0.endpointID : nil })
    }

    /// Whether something published ends with an endpoint, or with the last of them.
    var dependsOnEndpoints: Bool {
        enhanced.pairs.contains { enhanced.instances(of: $0).contains { $0.expireType == .endpoint || $0.expireType == .user } }
    }

    var nextDeadline: Instant? {
        let byTime = enhanced.nextDeadline.map { Instant($0) }
        return Instant.earliest(byTime, publications.nextDeadline, serverPublicationsDue, nextTimedMoment)
    }

    func add(_ resource: WatchedResource, of tag: String) { watchers.add(resource, of: tag) }
    func removeWatcher(_ tag: String) { watchers.remove(tag) }

    /// Every watcher in the order in which they came, with the tag of its dialog.
    var watchersInOrder: [(tag: String, resource: WatchedResource)] { watchers.all }

    /// ``documents`` has changed: ``document`` is out of date until the next ``compose()``.
    func documentsChanged() { isComposed = false }

    /// Brings ``document`` up to date, where it is not.
    ///
    /// - Returns: Whether it changed.
    func compose() -> Bool {
        guard !isComposed else { return false }
        isComposed = true
        let composed = documents.document
        guard composed != document else { return false }
        document = composed
        return true
    }

    /// Drops every view, because something was published or withdrawn.
    func changed() {
        views.removeAll(keepingCapacity: true)
        for (_, resource) in watchers.all { resource.rendered = nil }
    }

    /// What a watcher's view is made of, before it is made.
    struct ViewPlan {
        var format: WatcherFormat
        var requested: [CategoryName]
        /// nil: no category was published.
        var view: EnhancedPresence.WatcherView?
        /// Where MSRTC and PIDF documents are made from.
        var legacyInterop: CategoryInstance?
        /// PIDF publications are hidden from the watcher.
        var isPlaced: Bool

        /// Category watchers get every body as it was published.
        var categories: CategoryMerge {
            let elements = (view?.document.categories ?? []) + [legacyInterop?.watcherElement].compactMap { $0 }
            return CategoryMerge(format == .categories ? elements : elements.map(HostedPresentity.readable))
        }
    }

    /// Which of the two models a view is made from.
    enum Choice {
        case one(PresenceSource)
        /// A category watcher sees the model that was published last, and the other one's categories where that has none.
        case both(CategoryMerge, PIDFDocument)
    }

    /// MSRTC and PIDF documents show the legacyInterop of the watcher's container (MS-PRES 3.7.5.1), the state category only where
    /// nobody computes or publishes that.
    func plan(_ format: WatcherFormat, _ categories: [CategoryName], for identity: WatcherIdentity) -> ViewPlan {
        var requested = format == .categories ? categories : UpstreamSubscription.standardCategories
        var legacyInterop = format == .categories ? nil : enhanced.legacyInterop(for: identity)
        if legacyInterop?.id.container == .blocked { legacyInterop = nil }
        if legacyInterop != nil { requested.removeAll { $0 == .state } }
        // What is in container 32000 is seen by no watcher: where that decides about a category, it is as if nothing were published.
        let view =
            enhanced.instanceCount == 0
            ? nil : enhanced.view(of: requested, for: identity).showingBlockedCategories { serverInstances(of: $0) }
        return ViewPlan(
            format: format, requested: requested, view: view, legacyInterop: legacyInterop,
            isPlaced: !documents.isEmpty && isPlaced(identity))
    }

    /// The presentity in a watcher's format; made once per format and set of containers.
    func rendered(
        _ resource: WatchedResource, for watcher: WatcherDialog, by translator: PresenceTranslator, counters: inout GatewayCounters,
        at now: Instant
    ) -> (presence: RenderedPresence, isOwn: Bool) {
        let plan = plan(watcher.format, resource.categories, for: watcher.identity)
        let viewKey = ViewKey(
            format: plan.format, requested: plan.requested, containers: plan.view?.key,
            legacyInterop: plan.legacyInterop?.id.container, isPlaced: plan.isPlaced, entity: resource.entity)
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

    /// Whether a view has something that is not published for every user.
    private func isOwn(_ plan: ViewPlan) -> Bool {
        if !documents.isEmpty, !plan.isPlaced { return true }
        let instances = (plan.view?.categories.flatMap(\.instances) ?? []) + [plan.legacyInterop].compactMap { $0 }
        return instances.contains { instance in !serverPublications.contains { $0.id == instance.id && isAsPublished($0.id, $0.body) } }
    }

    /// What watchers of a user that never published see of a category.
    private func serverInstances(of category: CategoryName) -> [CategoryInstance] {
        serverPublications.filter { $0.id.category == category && $0.id.container == .default && isAsPublished($0.id, $0.body) }
            .compactMap { enhanced[$0.id] }
    }

    func choose(_ plan: ViewPlan) -> Choice {
        var categories = plan.categories
        let isCategories = plan.format == .categories
        let hasCategories = categories.names.contains { categories.instances[$0]?.isEmpty == false }
        if !isCategories, hasCategories, [.state, .legacyInterop].allSatisfy({ categories.instances[$0]?.isEmpty ?? true }) {
            // A card without a state is somebody offline (MS-PRES 3.7.5.5).
            categories.apply([
                CategoryElement(name: .legacyInterop, instance: 0, body: .legacyInterop(LegacyInteropDocument(availability: 18_500)))
            ])
        }
        guard !documents.isEmpty, !plan.isPlaced else {
            // Without any publication a category watcher of an enterprise user sees empty markers (MS-PRES 4.5); a user of a simple domain
            // is offline in every format, because a client keeps the last state when it gets an empty one.
            return .one(hasCategories || isCategories && side == .enterprise ? .categories(categories) : .offline)
        }
        guard hasCategories else { return .one(.pidf(document)) }
        if isCategories { return .both(categories, document) }
        return .one(isSimpleNewer || ownInstanceCount == 0 ? .pidf(document) : .categories(categories))
    }

    /// Makes the view; nothing is kept of it here.
    /// - Parameter entity: as the watcher names the presentity; nil: by its own URI.
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

    /// Whether the presentity's own membership lists decide about this very watcher: it is in one by name or domain, or in none.
    ///
    /// Asked of every container that has members or a state, so that a state that comes and goes moves nobody.
    private func isPlaced(_ identity: WatcherIdentity) -> Bool {
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

    /// Instances are stored verbatim; the mapper wants to read them.
    static func readable(_ element: CategoryElement) -> CategoryElement {
        var element = element
        if let body = element.body, let read = try? body.read(as: element.name) { element.body = read }
        return element
    }
}

/// Watchers by tag, in the order in which they came, so that a run can be repeated exactly.
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
