import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore
import SIPEvents
import XMLCore

/// F3, the near side: PUBLISH of standard clients for identities of enterprise domains (RFC 3903 6).
extension Gateway {
    /// Publishes PIDF for an identity whose home is an enterprise domain.
    func carryPIDF(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ parties: RequestScreening.Parties, at now: Instant
    ) throws(Refusal) {
        guard !isShuttingDown else {
            throw .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
        try checkPublication(request, parties)
        guard request.body.count <= configuration.limits.publicationBytes else { throw .bodyTooLarge }
        let marks = try HopMark(node: configuration.nodeName, presentity: parties.presentityKey).passOn(request.headers)
        let bridge = try categoryBridge(parties)
        guard bridge.queue.count < CategoryBridge.queueLimit else {
            counters.limitsReached += 1
            throw .unavailable("too many publications of this presentity at once", retryAfter: configuration.timing.retryAfter)
        }
        bridge.passage.follow(marks, parties)
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
        bridge.passage.callID = tokens.callID()
        return bridge
    }

    // MARK: one PUBLISH after the other

    /// Goes on with whatever can be done now.
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
            wish(bridge, at: now)
            bridge.client.tryNow()
            reconcile(bridge, at: now)
        }
        if bridge.current == nil { reconcile(bridge, at: now) }
        settle(bridge)
    }

    /// What the request makes of the tables (RFC 3903 6).
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

    /// A published document, read.
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

    /// The home server has what the PUBLISH says.
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

    /// The client is told 503 and never hears of its entity-tag: the tables are as before, and the home server is to be so too.
    private func takeBack(_ bridge: CategoryBridge, to table: PublicationTable, _ sources: [String: CategoryBridge.Source], at now: Instant)
    {
        bridge.table = table
        bridge.sources = sources
        // What is being worked on was made of the tables that are void.
        if let current = bridge.current { bridge.queue.insert(current.held, at: 0) }
        bridge.current = nil
        categoryBridges[bridge.key] = bridge
        wish(bridge, at: now)
        work(bridge, at: now)
    }

    /// The home server has not, or nobody knows: the tables stay as they are. A source that goes is let go all the same, and what it
    /// leaves behind is taken back as soon as that can be.
    func giveUp(_ bridge: CategoryBridge, _ refusal: Refusal, at now: Instant) {
        guard let change = bridge.current else { return }
        if change.expires == 0 { return commit(bridge, change, at: now) }
        bridge.current = nil
        wish(bridge, at: now)
        refuse(change.held.request, change.held.transaction, refusal, at: now)
    }

    /// Tells the client what the tables want, those of the request that is being worked on before the others.
    func wish(_ bridge: CategoryBridge, at now: Instant) {
        let sources = bridge.current?.sources ?? bridge.sources
        bridge.client.wishes = bridge.wishes(
            compose(sources, of: bridge, at: now), of: sources, atLeast: configuration.timing.publication.standard, at: now)
    }

    // MARK: lives

    /// Publications that nobody refreshed are over (RFC 3903 6.4); what was made of them goes with them.
    private func lapse(_ bridge: CategoryBridge, at now: Instant) {
        guard bridge.current == nil else { return }
        let lapsed = bridge.table.advance(to: now)
        guard !lapsed.isEmpty else { return }
        for tag in lapsed { bridge.sources[tag.value] = nil }
        keep(.bridge(bridge.key))
        wish(bridge, at: now)
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
        if let moment = bridge.nextTimedMoment, moment <= now { wish(bridge, at: now) }
        work(bridge, at: now)
    }

    /// Drops a bridge over which nothing goes.
    func settle(_ bridge: CategoryBridge) {
        guard categoryBridges[bridge.key] === bridge else { return }
        guard bridge.isIdle else { return wakes.set(.categoryBridge(bridge.key), at: bridge.nextDeadline) }
        categoryBridges[bridge.key] = nil
        wakes.set(.categoryBridge(bridge.key), at: nil)
        keep(.bridge(bridge.key))
    }
}
