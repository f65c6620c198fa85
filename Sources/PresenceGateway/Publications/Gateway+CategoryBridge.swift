import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceMapping
import SIPCore
import SIPEvents
import XMLCore

/// PUBLISH of standard clients for users of enterprise domains (RFC 3903 6).
extension Gateway {
    /// Accepts PIDF for a user of an enterprise domain.
    func relayPIDF(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ parties: RequestScreening.Parties, at now: Instant
    ) throws(Refusal) {
        guard !isShuttingDown else {
            throw .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
        try checkPublication(request, parties)
        guard request.body.count <= configuration.limits.publicationBytes else { throw .bodyTooLarge }
        let loopMarkers = try HopMark(node: configuration.nodeName, presentity: parties.presentityKey).passOn(request.headers)
        let bridge = try categoryBridge(parties)
        guard bridge.queue.count < CategoryBridge.queueLimit else {
            counters.limitsReached += 1
            throw .unavailable("too many publications of this presentity at once", retryAfter: configuration.timing.retryAfter)
        }
        bridge.follow(loopMarkers, maxForwards: parties.maxForwards)
        let held = CategoryBridge.Held(request: request, transaction: transaction, until: now + configuration.timing.publishWait)
        perform(bridge.receive(held, environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    private func categoryBridge(_ parties: RequestScreening.Parties) throws(Refusal) -> CategoryBridge {
        if let known = publications.categoryBridge(parties.presentityKey) { return known }
        try checkBridgeLimit()
        let bridge = CategoryBridge(
            key: parties.presentityKey, uri: parties.presentity, publications: noPublications,
            client: categoryClient(of: parties.presentity, standings: [:]), dialogContext: DialogContext(callID: tokens.callID()))
        publications.insert(bridge)
        return bridge
    }

    /// An empty table of entity-tags with the configured lifetimes and limit.
    var noPublications: CategoryBridge.Publications {
        let range = configuration.timing.publication
        return CategoryBridge.Publications(
            table: PublicationTable(
                expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum),
                limit: configuration.limits.publicationsPerPresentity))
    }

    func categoryClient(
        of uri: SIPURI, standings: [PublicationID: CategoryPublicationClient.Standing]
    ) -> CategoryPublicationClient {
        CategoryPublicationClient(
            uri: uri.description, standings: standings, shortestPause: Int64(max(1, configuration.timing.retryMinimum.seconds)),
            longestPause: Int64(max(1, configuration.timing.retryMaximum.seconds)))
    }

    /// Surroundings of an input of a relayed publication.
    func environment(of bridge: CategoryBridge, at now: Instant) -> CategoryBridge.Environment {
        let uri = bridge.uri
        return CategoryBridge.Environment(
            now: now, isRoutable: publishingHop(of: uri, side: .enterprise) != nil,
            leastLife: configuration.timing.publication.standard
        ) { [unowned self] request, table throws(Refusal) in
            let (operation, tag, expires) = try publish(request, in: &table, at: now)
            return CategoryBridge.Outcome(operation: operation, tag: tag, expires: expires)
        } read: { [unowned self] body, number, until throws(Refusal) in
            try source(body, number: number, arrived: now, until: until)
        } compose: { [unowned self] sources, homeComputesState in
            compose(sources, of: uri, homeComputesState: homeComputesState, at: now)
        }
    }

    /// Parses a published document.
    func source(
        _ body: [UInt8], number: UInt64, arrived: Instant, until: Instant
    ) throws(Refusal) -> CategoryBridge.Source {
        do throws(DocumentError) {
            let document = try PIDFDocument.decode(body, using: parser)
            return CategoryBridge.Source(number: number, arrived: arrived, document: body, presence: document, until: until)
        } catch {
            throw .badRequest("the published document cannot be read: \(error)", errorID: 4001)
        }
    }

    // MARK: answers to clients

    /// Acknowledges a PUBLISH that the home server accepted.
    func acknowledge(
        _ change: CategoryBridge.Change, on bridge: CategoryBridge, before: CategoryBridge.Publications, at now: Instant
    ) {
        ifNotKept { [unowned self] now in takeBack(bridge, to: before, at: now) }
        keep(.bridge(bridge.key))
        var response = SIPResponse(to: change.held.request, status: .ok, toTag: tokens.tag())
        response.headers.append(.expires, String(change.expires))
        response.headers.append(.sipETag, change.tag.value)
        counters.publicationsAccepted += 1
        respond(response, change.held.transaction, at: now)
    }

    /// Restores the publications before a change that could not be stored.
    private func takeBack(_ bridge: CategoryBridge, to before: CategoryBridge.Publications, at now: Instant) {
        publications.insert(bridge)
        perform(bridge.takeBack(to: before, environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    // MARK: time

    func advance(_ bridge: CategoryBridge, at now: Instant) {
        perform(bridge.advance(environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    /// Drops an idle bridge, or schedules its next deadline.
    func settle(_ bridge: CategoryBridge) {
        guard publications.contains(bridge) else { return }
        guard bridge.isIdle else { return timers.set(flows.publications.ticket(of: bridge), at: bridge.nextDeadline) }
        publications.remove(bridge)
        flows.publications.remove(bridge)
        keep(.bridge(bridge.key))
    }
}
