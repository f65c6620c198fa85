import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import SimplePresence

/// The presentities of hosted domains: PUBLISH (RFC 3903), expiry, watchers, and what the store keeps.
extension Gateway {
    // MARK: PUBLISH

    func receivePublish(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ parties: RequestScreening.Parties, at now: Instant
    ) throws(Refusal) {
        let presentity = try presentity(parties.presentityKey, parties.presentity)
        defer { settle(presentity) }
        var table = presentity.documents.entityTags
        let (operation, tag, expires) = try publish(request, in: &table, at: now)
        let until = DateTime(now + .seconds(expires))
        let isChanged = try accept(operation, table, request.body, until: until, of: presentity, at: now)
        var response = SIPResponse(to: request, status: .ok, toTag: tokens.tag())
        response.headers.append(.expires, String(expires))
        response.headers.append(.sipETag, tag.value)
        counters.publicationsAccepted += 1
        respond(response, transaction, at: now)
        if isChanged { published.append(presentity.key) }
        schedule(presentity)
    }

    /// Applies an accepted request to the documents, and stores it.
    /// - Returns: whether the composed document may have changed.
    private func accept(
        _ operation: PublicationTable.Operation, _ table: PublicationTable, _ body: [UInt8], until: DateTime,
        of presentity: HostedPresentity, at now: Instant
    ) throws(Refusal) -> Bool {
        let document = body.isEmpty ? nil : try document(body)
        do throws(CompositionError) {
            let isChanged = try presentity.accept(
                operation, table, body: body, document, until: until, keepsBodies: store != nil, at: now)
            keep(operation, of: presentity)
            return isChanged
        } catch {
            switch error.code {
            case .unknownTag: throw Refusal(.conditionalRequestFailed, "RFC 3903 6: no publication has this entity-tag")
            case .tooLarge:
                counters.limitsReached += 1
                throw Refusal(.requestEntityTooLarge, "RFC 3261 21.4.11: \(error.message)", errorID: 2010)
            default: throw .unavailable("too many publications of this presentity", retryAfter: configuration.timing.retryAfter)
            }
        }
    }

    /// Composes the published documents, once for all requests of the tick; watchers are notified at its end.
    func composePublished(_ presentity: HostedPresentity) {
        if composeAgain(presentity) { presentity.notePublished() }
    }

    /// - Returns: whether the composed document changed.
    @discardableResult
    func composeAgain(_ presentity: HostedPresentity) -> Bool {
        if !presentity.documents.isComposed { counters.documentsComposed += 1 }
        guard presentity.composeDocuments(at: commitLog.now) else { return false }
        schedule(presentity)
        return true
    }

    /// Notifies the watchers of all presentities that PUBLISH changed in this tick.
    func notifyPublished(at now: Instant) {
        let keys = published
        published = []
        for key in keys {
            guard let presentity = presentities[key] else { continue }
            composePublished(presentity)
            if presentity.takePendingDocument() { notifyWatchers(of: presentity, at: now) }
        }
    }

    private func document(_ body: [UInt8]) throws(Refusal) -> PIDFDocument {
        do throws(DocumentError) {
            return try PIDFDocument.decode(body, using: parser)
        } catch {
            throw .badRequest("the published document cannot be read: \(error)", errorID: 4001)
        }
    }

    // MARK: endpoints

    /// Ends the instances of unregistered endpoints that published over a closed connection (MS-PRES 3.2.5.5).
    func endpointsClosed(_ connection: ConnectionID, at now: Instant) {
        flows.publications.endpointsClosed(connection, at: now)
        for (key, endpoints) in publishingConnections.close(connection) {
            let gone = endpoints.filter { endpoint in
                EndpointID(endpoint).map { home.registrar.binding(of: key, endpoint: $0) == nil } ?? true
            }
            let isLast = !hasUnregisteredEndpoints(key) && home.registrar.bindings(of: key).isEmpty
            endpointsEnded(gone, of: key, isLast: isLast, at: now)
        }
    }

    /// Removes instances bound to ended endpoints, and with the last endpoint those bound to the user (MS-PRES 3.2.5.5).
    func endpointsEnded(_ endpoints: [String], of key: String, isLast: Bool, at now: Instant) {
        guard let presentity = presentities[key] else { return }
        let change = presentity.endpointsEnded(endpoints, isLast: isLast, at: now)
        if !change.isEmpty {
            keep(presentity)
            notifyAll(of: presentity, change, at: now)
        }
        settle(presentity)
    }

    // MARK: watchers

    func attachHosted(_ resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        let record = hostedRecord(of: resource.key, resource.uri, for: watcher.identity, at: now)
        record.add(resource, of: watcher.localTag)
        resource.place(at: record.key)
        resource.show(.offline)
    }

    func detachHosted(_ resource: WatchedResource, from watcher: WatcherDialog) {
        guard let presentity = presentities[resource.hostedKey] else { return }
        presentity.removeWatcher(watcher.localTag)
        settle(presentity)
    }

    /// Notifies the user's own endpoints and the watchers of a change.
    func notifyAll(of presentity: HostedPresentity, _ change: PresentityChange, at now: Instant) {
        guard !change.isEmpty else { return }
        notifyOwner(of: presentity, change, at: now)
        presentity.noteServerPublications(change, at: now)
        if !change.pairs.isEmpty { presentity.noteTimedMoment(at: now) }
        if !change.pairs.isEmpty || !change.containers.isEmpty { notifyWatchers(of: presentity, at: now) }
        schedule(presentity)
    }

    /// Notifies the watchers that see a difference.
    func notifyWatchers(of presentity: HostedPresentity, at now: Instant) {
        presentity.changed()
        for (tag, resource) in presentity.watchersInOrder {
            guard let watcher = dialogs[tag] else { continue }
            sourceChanged(resource, of: watcher, at: now)
        }
    }

    func advance(_ presentity: HostedPresentity, at now: Instant) {
        var change = presentity.expireInstances(at: now)
        if let due = presentity.server.due, due <= now { change.formUnion(publishForServer(presentity)) }
        composePublished(presentity)
        let lapsed = presentity.expireDocuments(at: now)
        composeAgain(presentity)
        let isOtherTime = presentity.passTimedMoment(at: now)
        for tag in lapsed { keep(.publication(presentity: presentity.key, tag: tag.value)) }
        if !change.isEmpty {
            keep(presentity)
            notifyAll(of: presentity, change, at: now)
        } else if !lapsed.isEmpty || isOtherTime {
            notifyWatchers(of: presentity, at: now)
        }
        settle(presentity)
    }

    // MARK: the store

    /// Marks the presentity's SERVICE publications, or those of a sign-off that blocked watchers see, as changed in the store.
    func keep(_ presentity: HostedPresentity) {
        if let key = presentity.storeKey { keep(key) }
    }

    /// Stores a PUBLISH; a replaced or removed entity-tag is removed from the store.
    private func keep(_ operation: PublicationTable.Operation, of presentity: HostedPresentity) {
        guard store != nil else { return }
        let tags = operation.entityTags
        for tag in [tags.old, tags.new].compactMap(\.self) { keep(.publication(presentity: presentity.key, tag: tag.value)) }
        // The presentity's record holds the order of the two models.
        if presentity.hasEnhancedState { keep(presentity) }
    }

    // MARK: the table

    func presentity(_ key: String, _ uri: SIPURI) throws(Refusal) -> HostedPresentity {
        if let known = presentities[key] { return known }
        guard presentities.count - blocks.signOffCount < configuration.limits.presentities else {
            counters.limitsReached += 1
            throw .unavailable("too many presentities on this node", retryAfter: configuration.timing.retryAfter)
        }
        let record = makePresentity(key, uri)
        presentities[key] = record
        return record
    }

    func makePresentity(_ key: String, _ uri: SIPURI, _ look: BlockLook? = nil) -> HostedPresentity {
        let range = configuration.timing.publication
        let record = HostedPresentity(
            owner: key, look: look, uri: uri, side: side(of: uri), policy: presencePolicy(of: uri),
            expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum),
            limits: configuration.limits.composition)
        publishForServer(record)
        return record
    }

    private func side(of uri: SIPURI) -> DomainSide { configuration.domain(uri.domainKey)?.side ?? .enterprise }

    /// Applies the sides and registered categories of the present domains.
    func renewSides(at now: Instant) {
        for presentity in presentities.values.sorted(by: { $0.key < $1.key }) {
            let isOther = presentity.use(side(of: presentity.uri), presencePolicy(of: presentity.uri))
            if isOther { notifyWatchers(of: presentity, at: now) }
        }
        flows.publications.pidf.renewPolicies()
    }

    func presencePolicy(of uri: SIPURI) -> EnhancedPresencePolicy {
        var policy = EnhancedPresencePolicy.standard
        policy.registeredCategories?.formUnion(configuration.domain(uri.domainKey)?.categories ?? [])
        policy.instanceLimit = configuration.limits.publicationsPerPresentity
        policy.roaming = configuration.roamingPolicy
        policy.publicationByteLimit = configuration.limits.publicationBytes
        policy.categoryByteLimit = configuration.limits.categoryBytes
        policy.memberLimit = configuration.limits.membersPerUser
        return policy
    }

    /// Drops a record that holds nothing.
    func settle(_ presentity: HostedPresentity) {
        guard presentities[presentity.key] === presentity else { return }
        if publishingConnections.knows(presentity.key), !presentity.dependsOnEndpoints { publishingConnections.forget(presentity.key) }
        guard presentity.isIdle else { return }
        presentities[presentity.key] = nil
        flows.presentities.remove(presentity)
        if case .signedOff(let number) = presentity.look { end(signOff: number, of: presentity.owner) }
    }
}
