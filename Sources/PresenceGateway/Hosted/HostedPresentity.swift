import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents
import SimplePresence
import UserDirectory
import XMLCore

/// A presentity whose home is this gateway: what was published for it in either model, and who watches it.
///
/// Both models live side by side. A watcher sees the model that spoke last, and in a category view the other one's categories where
/// that one is silent; a watcher whom the presentity itself put into a container, or into none, sees only what containers give it
/// (MS-PRES 3.2.5.3), so that a PIDF publication cannot undo a block.
final class HostedPresentity {
    let key: String
    let uri: SIPURI
    var enhanced: EnhancedPresentity
    var publications: PublicationTable
    var documents: PublicationComposer
    /// What was published by PUBLISH, by entity-tag, as it came; only when there is a store.
    var bodies: [String: [UInt8]] = [:]
    /// What the directory says of the user; nil: there is none, or he is not in it.
    var user: DirectoryUser?
    /// What the server itself published last (MS-PRES 3.2.6.2).
    var serverPublications: [(id: PublicationID, body: XMLFragment)] = []
    /// When the server publishes its data again, because a client has changed them.
    var serverPublicationsDue: Instant?
    private var watchers = WatcherList()
    /// Whether the last change came by PUBLISH.
    var isSimpleNewer = false
    private var views: [ViewKey: RenderedPresence] = [:]

    /// Two watchers with equal keys see the same octets.
    private struct ViewKey: Hashable {
        var format: WatcherFormat
        var requested: [CategoryName]
        /// nil: no category was published, so that nothing depends on who watches.
        var containers: EnhancedPresence.WatcherView.Key?
        /// Where the legacyInterop instance is that MSRTC and PIDF documents are made from.
        var legacyInterop: ContainerID?
        var isPlaced: Bool
    }

    init(key: String, uri: SIPURI, policy: EnhancedPresencePolicy, expiry: ExpiryPolicy, publicationLimit: Int) {
        self.key = key
        self.uri = uri
        enhanced = EnhancedPresentity(uri: uri.description, policy: policy)
        publications = PublicationTable(expiry: expiry, limit: publicationLimit)
        documents = PublicationComposer(entity: uri.description, maximumPublications: publicationLimit)
    }

    /// Nothing is published, nobody watches, no membership was set: the record can go.
    var isIdle: Bool { watchers.isEmpty && publications.isEmpty && !hasEnhancedState }

    /// Whether a category instance, a membership, a subscriber or a delegate is there; what the server publishes for every user is none.
    var hasEnhancedState: Bool { ownInstanceCount > 0 || enhanced.hasOwnLists }

    var publicationCount: Int { publications.count + ownInstanceCount }

    /// Whether everything that the server published stands as it was published.
    var isAsServerPublished: Bool { serverPublications.allSatisfy { isAsPublished($0.id, $0.body) } }

    /// Category instances that are there because somebody published.
    private var ownInstanceCount: Int { enhanced.instanceCount - serverPublications.count { isAsPublished($0.id, $0.body) } }

    private func isAsPublished(_ id: PublicationID, _ body: XMLFragment) -> Bool {
        enhanced[id].map { $0.body == body && $0.expireType == .static } ?? false
    }

    /// The endpoints on whose presence something published depends (MS-PRES 3.2.5.5), by their UUIDs.
    var endpoints: Set<String> {
        Set(enhanced.pairs.flatMap { enhanced.instances(of: $0) }.compactMap { $0.expireType == .endpoint ? $0.endpointID : nil })
    }

    var nextDeadline: Instant? {
        let byTime = enhanced.nextDeadline.map { Instant(nanosecondsSince1970: $0.nanosecondsSince1970) }
        return [byTime, publications.nextDeadline, serverPublicationsDue].compactMap(\.self).min()
    }

    func add(_ resource: WatchedResource, of tag: String) { watchers.add(resource, of: tag) }
    func removeWatcher(_ tag: String) { watchers.remove(tag) }

    /// Every watcher in the order in which they came, with the tag of its dialog.
    var watchersInOrder: [(tag: String, resource: WatchedResource)] { watchers.all }

    /// Something was published or withdrawn: every view is to be made anew.
    func changed() {
        views.removeAll(keepingCapacity: true)
        for (_, resource) in watchers.all { resource.rendered = nil }
    }

    /// The presentity in a watcher's format; made once per format and set of containers.
    ///
    /// MSRTC and PIDF documents show the legacyInterop of the watcher's container (MS-PRES 3.7.5.1), the state category only where
    /// nobody computes or publishes that.
    func rendered(
        _ resource: WatchedResource, for watcher: WatcherDialog, by translator: PresenceTranslator, counters: inout GatewayCounters,
        at now: Instant
    ) -> RenderedPresence {
        var requested = watcher.format == .categories ? resource.categories : UpstreamSubscription.standardCategories
        let legacyInterop = watcher.format == .categories ? nil : enhanced.legacyInterop(for: watcher.identity)
        if legacyInterop != nil { requested.removeAll { $0 == .state } }
        let view = enhanced.instanceCount == 0 ? nil : enhanced.view(of: requested, for: watcher.identity)
        let isPlaced = !documents.isEmpty && self.isPlaced(watcher.identity)
        let viewKey = ViewKey(
            format: watcher.format, requested: requested, containers: view?.key, legacyInterop: legacyInterop?.id.container,
            isPlaced: isPlaced)
        if let made = views[viewKey] {
            counters.bodiesShared += 1
            return made
        }
        let elements = (view?.document.categories ?? []) + [legacyInterop?.watcherElement].compactMap { $0 }
        let made = make(elements, requested, as: watcher.format, isPlaced: isPlaced, by: translator, counters: &counters, at: now)
        views[viewKey] = made
        return made
    }

    private func make(
        _ elements: [CategoryElement], _ requested: [CategoryName], as format: WatcherFormat, isPlaced: Bool,
        by translator: PresenceTranslator, counters: inout GatewayCounters, at now: Instant
    ) -> RenderedPresence {
        func render(_ source: PresenceSource) -> RenderedPresence {
            translator.render(source, as: format, entity: uri, requested: requested, of: user, counters: &counters, at: now)
        }
        // Category watchers get every body as it was published.
        var categories = CategoryMerge(format == .categories ? elements : elements.map(Self.readable))
        let hasCategories = categories.names.contains { categories.instances[$0]?.isEmpty == false }
        if format != .categories, hasCategories, [.state, .legacyInterop].allSatisfy({ categories.instances[$0]?.isEmpty ?? true }) {
            // A card without a state is somebody offline (MS-PRES 3.7.5.5).
            categories.apply([
                CategoryElement(name: .legacyInterop, instance: 0, body: .legacyInterop(LegacyInteropDocument(availability: 18_500)))
            ])
        }
        let composed = documents.document
        guard !documents.isEmpty, !isPlaced else {
            // A category watcher sees empty markers, everybody else somebody offline.
            return render(hasCategories || format == .categories ? .categories(categories) : .offline)
        }
        guard hasCategories else { return render(.pidf(composed)) }
        guard format == .categories, case .categories(let mapped) = render(.pidf(composed)) else {
            return render(isSimpleNewer || ownInstanceCount == 0 ? .pidf(composed) : .categories(categories))
        }
        let (front, back) = isSimpleNewer ? (mapped.merge, categories) : (categories, mapped.merge)
        return .categories(CategoryView(uri: uri.description, front.filled(from: back)))
    }

    /// Whether the presentity's own membership lists decide about this very watcher: it is in one by name or domain, or in none.
    ///
    /// Asked of every container that has members or a state, so that a state that comes and goes moves nobody.
    private func isPlaced(_ identity: WatcherIdentity) -> Bool {
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
    private static func readable(_ element: CategoryElement) -> CategoryElement {
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
