import EnhancedPresence
import FederationRouting
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
    /// Names the presentity to the kernel; nil: it never had a timer.
    private(set) var ticket: Ticket?
    /// Presence model of the domain.
    private(set) var side: DomainSide
    /// Instances and lists that the user's clients published by SERVICE (MS-PRES 3.2).
    private(set) var enhanced: EnhancedPresentity
    /// Documents that the user's clients published by PUBLISH (RFC 3903).
    private(set) var documents: PublishedDocuments
    /// The server's own publications.
    private(set) var server = ServerPublications()
    private var watchers = WatcherList()
    /// Next time at which a published element begins or ends; nil: none does.
    private(set) var nextTimedMoment: Instant?
    /// Whether the last change came by PUBLISH.
    private(set) var isSimpleNewer = false
    private var views: [ViewKey: (presence: RenderedPresence, isOwn: Bool)] = [:]
    /// The view of ``views`` that was used last: most watchers of a change see the same.
    private var lastView: (key: ViewKey, made: (presence: RenderedPresence, isOwn: Bool))?

    /// Key of a shared view: equal keys give equal bytes.
    private struct ViewKey: Hashable {
        var format: WatcherFormat
        var requested: [CategoryName]
        /// nil: no category was published, so the view is the same for all watchers.
        var containers: EnhancedPresence.WatcherView.Key?
        /// Container of the legacyInterop instance from which MSRTC and PIDF documents are made.
        var legacyInterop: ContainerID?
        var isExplicitMember: Bool
        /// Access by the presentity's rules; nil: everything.
        var access: WatchAccess?
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
        documents = PublishedDocuments(entity: uri.description, expiry: expiry, limits: limits)
    }

    /// Whether the record can be dropped: nothing is published or watched, and no list is set.
    var isIdle: Bool {
        guard watchers.isEmpty else { return false }
        switch look {
        case nil: return documents.count == 0 && !hasEnhancedState
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

    var publicationCount: Int { documents.count + ownInstanceCount }

    /// Whether all server publications are unchanged.
    private var isAsServerPublished: Bool { server.list.allSatisfy { isAsPublished($0.id, $0.body) } }

    /// Number of category instances that were published by clients or computed.
    var ownInstanceCount: Int { enhanced.instanceCount - server.list.count { isAsPublished($0.id, $0.body) } }

    func isAsPublished(_ id: PublicationID, _ body: XMLFragment) -> Bool {
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
        return Instant.earliest(byTime, documents.nextDeadline, server.due, nextTimedMoment)
    }

    func add(_ resource: WatchedResource, of tag: String) { watchers.add(resource, of: tag) }
    func removeWatcher(_ tag: String) { watchers.remove(tag) }

    /// All watchers in order of arrival, with the tags of their dialogs.
    var watchersInOrder: [(tag: String, resource: WatchedResource)] { watchers.all }

    /// Drops all cached views after a change.
    func changed() {
        views.removeAll(keepingCapacity: true)
        lastView = nil
        for (_, resource) in watchers.all { resource.dropRendered() }
    }

    /// The presentity in a watcher's format, cached by format, containers and access.
    func rendered(
        _ resource: WatchedResource, as format: WatcherFormat, for identity: WatcherIdentity, by translator: PresenceTranslator,
        counters: inout GatewayCounters, at now: Instant
    ) -> (presence: RenderedPresence, isOwn: Bool) {
        let plan = plan(format, resource.categories, for: identity)
        let viewKey = ViewKey(
            format: plan.format, requested: plan.requested, containers: plan.view?.key,
            legacyInterop: plan.legacyInterop?.id.container, isExplicitMember: plan.isExplicitMember, access: resource.access,
            entity: resource.entity)
        if let lastView, lastView.key == viewKey {
            counters.bodiesShared += 1
            return lastView.made
        }
        if let made = views[viewKey] {
            counters.bodiesShared += 1
            lastView = (viewKey, made)
            return made
        }
        let made = (
            presence: make(plan, of: resource.entity, for: resource.access, by: translator, counters: &counters, at: now),
            isOwn: look == nil && isOwn(plan)
        )
        if views.count >= CategoryView.formLimit { views.removeAll() }
        views[viewKey] = made
        lastView = (viewKey, made)
        return made
    }

    // MARK: changes

    // Each change returns what the caller has to store or to notify.

    // MARK: SERVICE

    /// Changes the instances and lists of the user, all or nothing.
    func change<Failure: Error>(
        _ body: (inout EnhancedPresentity) throws(Failure) -> PresentityChange
    ) throws(Failure) -> PresentityChange {
        try body(&enhanced)
    }

    /// Notes whether the model of a change by SERVICE is the newer one. Instances in container 32000 do not count.
    func noteEnhanced(_ change: PresentityChange) {
        if change.pairs.contains(where: { $0.container != .blocked }) { isSimpleNewer = false }
    }

    /// Ends what expired.
    func expireInstances(at now: Instant) -> PresentityChange { enhanced.expire(at: DateTime(now)) }

    /// Ends the instances of endpoints, and with the last one those of the user (MS-PRES 3.2.5.5).
    func endpointsEnded(_ endpoints: [String], isLast: Bool, at now: Instant) -> PresentityChange {
        var change = PresentityChange()
        for endpoint in endpoints { change.formUnion(enhanced.endpointEnded(endpoint, isLast: isLast, at: DateTime(now))) }
        return change
    }

    // MARK: PUBLISH

    /// Applies an accepted PUBLISH (``PublishedDocuments/accept(_:_:body:_:until:keepsBodies:at:)``).
    func accept(
        _ operation: PublicationTable.Operation, _ table: PublicationTable, body: [UInt8], _ document: PIDFDocument?, until: DateTime,
        keepsBody: Bool, at now: Instant
    ) throws(CompositionError) -> Bool {
        try documents.accept(operation, table, body: body, document, until: until, keepsBody: keepsBody, at: now)
    }

    /// Ends the publications that expired.
    /// - Returns: their entity-tags.
    func expireDocuments(at now: Instant) -> [EntityTag] { documents.expire(at: now) }

    /// Composes the documents again, after a change by time or by a failed commit.
    /// - Returns: whether the composition changed.
    func composeDocuments(at now: Instant) -> Bool {
        guard documents.compose() else { return false }
        noteTimedMoment(at: now)
        return true
    }

    /// Notes that the composition was changed by PUBLISH, and that watchers are notified at the end of the tick.
    func notePublished() {
        isSimpleNewer = true
        documents.notePending()
        changed()
    }

    /// - Returns: whether watchers are to be notified of a PUBLISH; false until the next one.
    func takePendingDocument() -> Bool { documents.takePending() }

    // MARK: time

    /// Updates ``nextTimedMoment`` from the composed document and the published notes.
    func noteTimedMoment(at now: Instant) {
        let notes = enhanced.pairs.filter { $0.category == .note }.flatMap { enhanced.instances(of: $0) }.map(\.readableElement)
        nextTimedMoment = .earliest(
            PresenceSource.pidf(documents.document).nextTimedMoment(after: now),
            PresenceSource.categories(CategoryMerge(notes)).nextTimedMoment(after: now))
    }

    /// Passes the next moment if it has come.
    /// - Returns: whether a published element began or ended.
    func passTimedMoment(at now: Instant) -> Bool {
        guard let moment = nextTimedMoment, moment <= now else { return false }
        noteTimedMoment(at: now)
        return true
    }

    // MARK: the server's publications

    /// Publishes the directory data of the user; unchanged data is left alone.
    /// - Parameters:
    ///   - user: nil: there is no entry, or the directory does not decide about the user.
    ///   - time: publish time of new instances.
    func publishByServer(_ user: DirectoryUser?, at time: DateTime) -> PresentityChange {
        guard let user else {
            server.noEntry()
            return PresentityChange()
        }
        server.use(user)
        return enhanced.publishByServer(server.list, at: time)
    }

    /// Starts the server publication timer if a client changed a server publication.
    func noteServerPublications(_ change: PresentityChange, at now: Instant) {
        server.changed(change, isUnchanged: isAsServerPublished, at: now)
    }

    /// Notes that the user was removed or disabled.
    func userEnded() { server.userEnded() }

    // MARK: the table

    /// Takes the ticket of its timer, once it needs one.
    func name(by ticket: Ticket) { self.ticket = ticket }

    /// Gives its ticket back; nil: it had none.
    func takeTicket() -> Ticket? {
        defer { ticket = nil }
        return ticket
    }

    // MARK: configuration

    /// Applies the presence model and policy of the present domain.
    /// - Returns: whether the model changed.
    func use(_ side: DomainSide, _ policy: EnhancedPresencePolicy) -> Bool {
        enhanced.use(policy)
        defer { self.side = side }
        return self.side != side
    }

    // MARK: stored state

    /// Shows the instances of another moment to blocked watchers, with the timer of the true presentity.
    func show(_ enhanced: EnhancedPresentity, timerOf live: HostedPresentity?) {
        self.enhanced = enhanced
        if let live { server.takeTimer(of: live.server) }
    }

    /// Restores stored instances and lists.
    func restore(_ data: RoamingDataDocument, computed: [String], isSimpleNewer: Bool = false) {
        enhanced = EnhancedPresentity(
            uri: enhanced.uri, stored: data, computed: Set(computed.compactMap { PublicationID(stored: $0) }), policy: enhanced.policy)
        self.isSimpleNewer = isSimpleNewer
    }

    /// Restores a stored PUBLISH.
    func restore(_ stored: StoredPublication, _ document: PIDFDocument) {
        let standing = PublicationComposer.Standing(
            number: stored.number, arrived: DateTime(stored.arrived), until: DateTime(stored.expiry), ids: stored.ids)
        documents.restore(document, body: stored.document, tag: stored.tag, standing)
    }

    /// Removes a PUBLISH that is read again.
    func forget(_ tag: String) { documents.forget(tag) }
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
