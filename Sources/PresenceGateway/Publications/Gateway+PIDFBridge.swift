import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import Registration
import SIPCore
import SIPEvents

/// SERVICE of enterprise clients for users of simple domains (MS-PRES 3.2).
extension Gateway {
    /// Accepts categories for a user of a simple domain.
    func relayCategories(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, _ parties: RequestScreening.Parties, at now: Instant
    ) throws(Refusal) {
        guard !isShuttingDown else {
            throw .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
        let loopMarkers = try HopMark(node: configuration.nodeName, presentity: parties.presentityKey).passOn(request.headers)
        let endpoint = EndpointID(of: request.headers)
        let document: CategoryPublishDocument
        do throws(DocumentError) {
            document = try categoryPublish(request.body)
        } catch {
            throw .unreadable(error, "the request's document cannot be read")
        }
        if flow.connection == nil || endpoint == nil, document.publications.contains(where: { $0.expireType == .user && !$0.isRemoval }) {
            throw Refusal(.notAcceptableHere, "MS-PRES 3.2.5.4: an endpoint without a connection cannot be seen to end")
        }
        // Expire old state first: it has ended even if this request is refused.
        if let known = pidfBridges[parties.presentityKey] { advance(known, at: now) }
        let bridge = try pidfBridge(parties)
        defer { settle(bridge) }
        guard bridge.held.count < PIDFBridge.heldLimit else {
            counters.limitsReached += 1
            throw .unavailable("too many publications of this presentity at once", retryAfter: configuration.timing.retryAfter)
        }
        let sender = PublishingEndpoint(
            from: parties.watcher.description, to: parties.presentity.description,
            endpointID: endpoint?.description, isRegistered: flow.connection != nil)
        let before = bridge.enhanced
        let moment = DateTime(now)
        let change: PresentityChange
        do {
            change = try bridge.enhanced.publish(document, by: sender, at: moment)
        } catch {
            throw Refusal(error)
        }
        if let connection = flow.connection, let id = endpoint?.description {
            bridgeConnections.note(id, of: bridge.key, over: connection)
            bridge.leaving[id] = nil
        }
        bridge.dialogContext.follow(loopMarkers, parties)
        var response = SIPResponse(to: request, status: .ok, toTag: tokens.tag())
        response.headers.append(.contentType, WatcherFormat.roamingSelfType)
        response.body = bridge.enhanced.publishAnswer(after: change, at: moment).encoded()
        keep(.bridge(bridge.key))
        let generation = bridge.generation
        compose(bridge, at: now)
        if bridge.isSettled {
            bridge.accepted = bridge.enhanced
            let connections = bridgeConnections.connections(of: bridge.key)
            ifNotKept { [unowned self] now in takeBack(bridge, to: before, over: connections, at: now) }
            counters.publicationsAccepted += 1
            respond(response, transaction, at: now)
            return
        }
        bridge.held.append(
            PIDFBridge.Held(
                request: request, transaction: transaction, response: response, enhanced: bridge.enhanced,
                generation: bridge.generation, until: now + configuration.timing.publishWait))
        if generation != bridge.generation || !bridge.client.isAsking { drive(bridge, at: now) }
    }

    private func pidfBridge(_ parties: RequestScreening.Parties) throws(Refusal) -> PIDFBridge {
        if let known = pidfBridges[parties.presentityKey] { return known }
        try checkBridgeLimit()
        let timing = configuration.timing
        let bridge = PIDFBridge(
            key: parties.presentityKey, uri: parties.presentity, enhanced: relayedPresentity(parties.presentity, stored: nil),
            client: PublicationClient(
                expires: timing.publication.standard, retryPause: timing.retryMinimum, longestPause: timing.retryMaximum))
        bridge.dialogContext.callID = tokens.callID()
        pidfBridges[bridge.key] = bridge
        return bridge
    }

    func checkBridgeLimit() throws(Refusal) {
        guard pidfBridges.count + categoryBridges.count < configuration.limits.publicationBridges else {
            counters.limitsReached += 1
            throw .unavailable("too many publications are carried to other domains", retryAfter: configuration.timing.retryAfter)
        }
    }

    /// Creates a presentity with the container members of the table `container-policy`; no client manages others for it.
    /// - Parameter stored: the existing instances.
    func relayedPresentity(
        _ uri: SIPURI, stored: (document: RoamingDataDocument, computed: Set<PublicationID>)?
    ) -> EnhancedPresentity {
        var document = stored?.document ?? RoamingDataDocument()
        document.containers = ContainersDocument(
            containers: translator.mapper.tables.containerPolicies.compactMap { row in
                guard !row.members.isEmpty, let id = ContainerID(row.container) else { return nil }
                return ContainerElement(
                    id: id, version: 0, members: row.members.map { ContainerMember(ContainerMemberType(rawValue: $0)) })
            })
        return EnhancedPresentity(uri: uri.description, stored: document, computed: stored?.computed ?? [], policy: presencePolicy(of: uri))
    }

    // MARK: published document

    /// Renders the document; a difference starts a new generation.
    func compose(_ bridge: PIDFBridge, at now: Instant) {
        guard let domain = configuration.domain(bridge.uri.domainKey) else { return }
        let elements = bridge.shown(to: domain.network)
        var document: [UInt8]?
        if !elements.isEmpty {
            let format = WatcherFormat.pidf(domain.profile, lossless: domain.lossless)
            let rendered = translator.render(
                .categories(CategoryMerge(elements)), as: format, entity: bridge.uri, requested: [], counters: &counters, at: now)
            if case .document(let view) = rendered { document = view.bytes }
        }
        guard document != bridge.document else { return }
        bridge.document = document
        bridge.generation += 1
    }

    // MARK: answers to clients

    /// Answers every held request up to a generation with its 200.
    func answerHeld(_ bridge: PIDFBridge, upTo generation: UInt64, at now: Instant) {
        let ready = bridge.held.filter { $0.generation <= generation }
        bridge.held.removeAll { $0.generation <= generation }
        if let last = ready.last { bridge.accepted = last.enhanced }
        for held in ready {
            counters.publicationsAccepted += 1
            respond(held.response, held.transaction, at: now)
        }
    }

    /// Answers all held requests: their changes are kept, and published as soon as the compositor accepts.
    func promiseHeld(_ bridge: PIDFBridge, at now: Instant) {
        answerHeld(bridge, upTo: bridge.generation, at: now)
    }

    /// Undoes the changes that were not acknowledged, and refuses all held requests.
    func refuseHeld(_ bridge: PIDFBridge, _ refusal: Refusal, at now: Instant) {
        let waiting = bridge.held
        bridge.held = []
        bridge.enhanced = bridge.accepted
        endLives(of: bridge, at: now)
        compose(bridge, at: now)
        for held in waiting { refuse(held.request, held.transaction, refusal, at: now) }
    }

    /// Restores the state before a change that could not be stored.
    /// - Parameter connections: those of the endpoints, which are forgotten with an idle bridge.
    private func takeBack(
        _ bridge: PIDFBridge, to before: EnhancedPresentity, over connections: [String: Set<ConnectionID>], at now: Instant
    ) {
        for (endpoint, connection) in connections.flatMap({ endpoint, all in all.map { (endpoint, $0) } }) {
            bridgeConnections.note(endpoint, of: bridge.key, over: connection)
        }
        bridge.enhanced = before
        bridge.accepted = before
        pidfBridges[bridge.key] = bridge
        endLives(of: bridge, at: now)
        compose(bridge, at: now)
        drive(bridge, at: now)
        settle(bridge)
    }

    // MARK: expiry

    /// Removes expired instances, and those of endpoints that did not return in time (MS-PRES 3.2.5.5, 3.2.6.1).
    func endLives(of bridge: PIDFBridge, at now: Instant) {
        let moment = DateTime(now)
        var isChanged = false
        bridge.forEachStanding { if !$0.expire(at: moment).isEmpty { isChanged = true } }
        let gone = bridge.leaving.filter { $0.value <= now }.keys.sorted()
        for endpoint in gone {
            bridge.leaving[endpoint] = nil
            let isLast = bridge.leaving.isEmpty && bridgeConnections.endpoints(of: bridge.key).isEmpty
            bridge.forEachStanding { _ = $0.endpointEnded(endpoint, isLast: isLast, at: moment) }
        }
        if isChanged || !gone.isEmpty { keep(.bridge(bridge.key)) }
    }

    /// Starts the grace period of unregistered endpoints after their last connection closed (``GatewayTiming/connectionGrace``).
    func bridgeEndpointsClosed(_ connection: ConnectionID, at now: Instant) {
        for (key, endpoints) in bridgeConnections.close(connection) {
            guard let bridge = pidfBridges[key] else { continue }
            for endpoint in endpoints { bridge.leaving[endpoint] = now + configuration.timing.connectionGrace }
            schedule(bridge)
        }
    }

    func advance(_ bridge: PIDFBridge, at now: Instant) {
        endLives(of: bridge, at: now)
        let generation = bridge.generation
        compose(bridge, at: now)
        if let due = bridge.held.map(\.until).min(), due <= now { promiseHeld(bridge, at: now) }
        if let retryAt = bridge.retryAt, retryAt <= now {
            bridge.retryAt = nil
            drive(bridge, at: now)
        } else if generation != bridge.generation {
            drive(bridge, at: now)
        } else {
            perform(bridge.client.advance(to: now), on: bridge, at: now)
        }
        settle(bridge)
    }

    // MARK: the table

    func schedule(_ bridge: PIDFBridge) {
        guard pidfBridges[bridge.key] === bridge else { return }
        timers.set(flows.publications.ticket(of: bridge), at: bridge.nextDeadline)
    }

    /// Drops an idle bridge, or schedules its next deadline.
    func settle(_ bridge: PIDFBridge) {
        guard pidfBridges[bridge.key] === bridge else { return }
        guard bridge.isIdle else { return schedule(bridge) }
        pidfBridges[bridge.key] = nil
        bridgeConnections.forget(bridge.key)
        flows.publications.remove(bridge)
        keep(.bridge(bridge.key))
    }
}
