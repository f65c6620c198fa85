import EnhancedPresence
import FederationRouting
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
        if let known = publications.pidfBridge(parties.presentityKey) { advance(known, at: now) }
        let bridge = try pidfBridge(parties)
        defer { settle(bridge) }
        guard bridge.held.count < PIDFBridge.heldLimit else {
            counters.limitsReached += 1
            throw .unavailable("too many publications of this presentity at once", retryAfter: configuration.timing.retryAfter)
        }
        let connected = flow.connection == nil ? nil : endpoint?.description
        let publication = PIDFBridge.Request(
            request: request, transaction: transaction, document: document,
            sender: PublishingEndpoint(
                from: parties.watcher.description, to: parties.presentity.description,
                endpointID: endpoint?.description, isRegistered: flow.connection != nil),
            endpoint: connected, until: now + configuration.timing.publishWait)
        let moment = DateTime(now)
        let actions: [PIDFBridge.Action]
        do {
            actions = try bridge.publish(publication, environment(of: bridge, at: now)) { enhanced, change in
                var response = SIPResponse(to: request, status: .ok, toTag: tokens.tag())
                response.headers.append(.contentType, WatcherFormat.roamingSelfType)
                response.body = enhanced.publishAnswer(after: change, at: moment).encoded()
                return response
            }
        } catch {
            throw Refusal(error)
        }
        if let connection = flow.connection, let connected { publications.note(connected, of: bridge, over: connection) }
        bridge.follow(loopMarkers, maxForwards: parties.maxForwards)
        perform(actions, on: bridge, at: now)
    }

    private func pidfBridge(_ parties: RequestScreening.Parties) throws(Refusal) -> PIDFBridge {
        if let known = publications.pidfBridge(parties.presentityKey) { return known }
        try checkBridgeLimit()
        let timing = configuration.timing
        let bridge = PIDFBridge(
            key: parties.presentityKey, uri: parties.presentity, enhanced: relayedPresentity(parties.presentity, stored: nil),
            client: PublicationClient(
                expires: timing.publication.standard, retryPause: timing.retryMinimum, longestPause: timing.retryMaximum),
            dialogContext: DialogContext(callID: tokens.callID()))
        publications.insert(bridge)
        return bridge
    }

    func checkBridgeLimit() throws(Refusal) {
        guard publications.count < configuration.limits.publicationBridges else {
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

    /// Surroundings of an input of a relayed publication.
    func environment(of bridge: PIDFBridge, at now: Instant) -> PIDFBridge.Environment {
        let domain = configuration.domain(bridge.uri.domainKey)
        return PIDFBridge.Environment(
            now: now, connected: publications.connected(bridge.key), network: domain?.network,
            isRoutable: publishingHop(of: bridge.uri, side: .simple) != nil, retryPause: configuration.timing.retryMaximum
        ) { [unowned self] elements in
            guard let domain else { return nil }
            let format = WatcherFormat.pidf(domain.profile, lossless: domain.lossless)
            let rendered = translator.render(
                .categories(CategoryMerge(elements)), as: format, entity: bridge.uri, requested: [], counters: &counters, at: now)
            guard case .document(let view) = rendered else { return nil }
            return view.bytes
        }
    }

    /// Restores the state before a change that could not be stored.
    /// - Parameter connections: those of the endpoints, which are forgotten with an idle bridge.
    func takeBack(
        _ bridge: PIDFBridge, to before: EnhancedPresentity, over connections: [String: Set<ConnectionID>], at now: Instant
    ) {
        publications.restore(connections, of: bridge)
        publications.insert(bridge)
        perform(bridge.takeBack(to: before, environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    // MARK: time

    /// Starts the grace period of unregistered endpoints after their last connection closed (``GatewayTiming/connectionGrace``).
    func bridgeEndpointsClosed(_ connection: ConnectionID, at now: Instant) {
        for (bridge, endpoints) in publications.closed(connection) {
            bridge.endpointsLeft(endpoints, returnBy: now + configuration.timing.connectionGrace)
            schedule(bridge)
        }
    }

    func advance(_ bridge: PIDFBridge, at now: Instant) {
        perform(bridge.advance(environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    // MARK: the table

    func schedule(_ bridge: PIDFBridge) {
        guard publications.contains(bridge) else { return }
        timers.set(flows.publications.ticket(of: bridge), at: bridge.nextDeadline)
    }

    /// Drops an idle bridge, or schedules its next deadline.
    func settle(_ bridge: PIDFBridge) {
        guard publications.contains(bridge) else { return }
        guard bridge.isIdle else { return schedule(bridge) }
        publications.remove(bridge)
        flows.publications.remove(bridge)
        keep(.bridge(bridge.key))
    }
}
