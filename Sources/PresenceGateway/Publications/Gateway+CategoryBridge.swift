import EnhancedPresence
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
        bridge.dialogContext.follow(loopMarkers, parties)
        bridge.queue.append(
            CategoryBridge.Held(request: request, transaction: transaction, until: now + configuration.timing.publishWait))
        work(bridge, at: now)
    }

    private func categoryBridge(_ parties: RequestScreening.Parties) throws(Refusal) -> CategoryBridge {
        if let known = categoryBridges[parties.presentityKey] { return known }
        try checkBridgeLimit()
        let bridge = makeCategoryBridge(parties.presentityKey, parties.presentity, standings: [:])
        categoryBridges[bridge.key] = bridge
        return bridge
    }

    func makeCategoryBridge(
        _ key: String, _ uri: SIPURI, standings: [PublicationID: CategoryPublicationClient.Standing]
    ) -> CategoryBridge {
        let range = configuration.timing.publication
        let bridge = CategoryBridge(
            key: key, uri: uri,
            table: PublicationTable(
                expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum),
                limit: configuration.limits.publicationsPerPresentity),
            client: CategoryPublicationClient(
                uri: uri.description, standings: standings, shortestPause: Int64(max(1, configuration.timing.retryMinimum.seconds)),
                longestPause: Int64(max(1, configuration.timing.retryMaximum.seconds))))
        bridge.dialogContext.callID = tokens.callID()
        return bridge
    }

    // MARK: queue

    /// Processes expired publications and queued requests as far as possible now.
    func work(_ bridge: CategoryBridge, at now: Instant) {
        lapse(bridge, at: now)
        while bridge.current == nil, !bridge.queue.isEmpty {
            let held = bridge.queue.removeFirst()
            do throws(Refusal) {
                bridge.current = try change(bridge, held, at: now)
            } catch {
                refuse(held.request, held.transaction, error, at: now)
                continue
            }
            requestPublications(bridge, at: now)
            bridge.client.tryNow()
            reconcile(bridge, at: now)
        }
        if bridge.current == nil { reconcile(bridge, at: now) }
        settle(bridge)
    }

    /// Computes the tables after the request (RFC 3903 6).
    private func change(
        _ bridge: CategoryBridge, _ held: CategoryBridge.Held, at now: Instant
    ) throws(Refusal) -> CategoryBridge.Change {
        let request = held.request
        var table = bridge.table
        let (operation, tag, expires) = try publish(request, in: &table, at: now)
        var sources = bridge.sources
        let until = now + .seconds(expires)
        func put() throws(Refusal) {
            let number = (bridge.sources.values.map(\.number).max() ?? 0) + 1
            sources[tag.value] = try source(request.body, number: number, arrived: now, until: until)
        }
        switch operation {
        case .create: try put()
        case .modify(let old, _):
            sources[old.value] = nil
            try put()
        case .refresh(let old, _):
            sources[tag.value] = sources.removeValue(forKey: old.value)
            sources[tag.value]?.until = until
        case .remove(let old): sources[old.value] = nil
        case .nothing: break
        }
        return CategoryBridge.Change(held: held, table: table, sources: sources, tag: tag, expires: expires)
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

    /// Applies and acknowledges a PUBLISH that the home server accepted.
    func commit(_ bridge: CategoryBridge, _ change: CategoryBridge.Change, at now: Instant) {
        let before = (table: bridge.table, sources: bridge.sources)
        ifNotKept { [unowned self] now in takeBack(bridge, to: before.table, before.sources, at: now) }
        bridge.current = nil
        bridge.table = change.table
        bridge.sources = change.sources
        keep(.bridge(bridge.key))
        var response = SIPResponse(to: change.held.request, status: .ok, toTag: tokens.tag())
        response.headers.append(.expires, String(change.expires))
        response.headers.append(.sipETag, change.tag.value)
        counters.publicationsAccepted += 1
        respond(response, change.held.transaction, at: now)
    }

    /// Restores the tables after a change that could not be stored; the client got 503, and the home server is brought back to the old
    /// state.
    private func takeBack(_ bridge: CategoryBridge, to table: PublicationTable, _ sources: [String: CategoryBridge.Source], at now: Instant)
    {
        bridge.table = table
        bridge.sources = sources
        // The current request is repeated, because it is based on the discarded tables.
        if let current = bridge.current { bridge.queue.insert(current.held, at: 0) }
        bridge.current = nil
        categoryBridges[bridge.key] = bridge
        requestPublications(bridge, at: now)
        work(bridge, at: now)
    }

    /// Refuses the current PUBLISH without changing the tables, because the home server refused or its state is unknown. A removal is
    /// committed all the same, and the remaining instances are removed as soon as possible.
    func giveUp(_ bridge: CategoryBridge, _ refusal: Refusal, at now: Instant) {
        guard let change = bridge.current else { return }
        if change.expires == 0 { return commit(bridge, change, at: now) }
        bridge.current = nil
        requestPublications(bridge, at: now)
        refuse(change.held.request, change.held.transaction, refusal, at: now)
    }

    /// Passes the wanted instances to the publication client, those of the request in progress first.
    func requestPublications(_ bridge: CategoryBridge, at now: Instant) {
        let sources = bridge.current?.sources ?? bridge.sources
        bridge.client.requestedPublications = bridge.requestedPublications(
            compose(sources, of: bridge, at: now), of: sources, atLeast: configuration.timing.publication.standard, at: now)
    }

    // MARK: expiry

    /// Removes expired publications and their instances (RFC 3903 6.4).
    private func lapse(_ bridge: CategoryBridge, at now: Instant) {
        guard bridge.current == nil else { return }
        let lapsed = bridge.table.advance(to: now)
        guard !lapsed.isEmpty else { return }
        for tag in lapsed { bridge.sources[tag.value] = nil }
        keep(.bridge(bridge.key))
        requestPublications(bridge, at: now)
        bridge.client.tryNow()
    }

    func advance(_ bridge: CategoryBridge, at now: Instant) {
        if let current = bridge.current, current.held.until <= now {
            giveUp(bridge, Refusal(.serverTimeout, "the identity's home server did not answer in time"), at: now)
        }
        let late = bridge.queue.filter { $0.until <= now }
        bridge.queue.removeAll { $0.until <= now }
        for held in late {
            refuse(held.request, held.transaction, Refusal(.serverTimeout, "the identity's home server did not answer in time"), at: now)
        }
        if let moment = bridge.nextTimedMoment, moment <= now { requestPublications(bridge, at: now) }
        work(bridge, at: now)
    }

    /// Drops an idle bridge, or schedules its next deadline.
    func settle(_ bridge: CategoryBridge) {
        guard categoryBridges[bridge.key] === bridge else { return }
        guard bridge.isIdle else { return timers.set(flows.publications.ticket(of: bridge), at: bridge.nextDeadline) }
        categoryBridges[bridge.key] = nil
        flows.publications.remove(bridge)
        keep(.bridge(bridge.key))
    }
}
