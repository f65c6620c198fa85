import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceMapping
import Registration
import SIPCore
import SIPEvents

/// SERVICE of enterprise clients for users of simple domains (MS-PRES 3.2), relayed as PUBLISH.
final class PIDFRelay: PublicationRelay {
    static let kind: UInt8 = 0
    static let side = DomainSide.simple

    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive it.
    unowned let ports: any PublicationsPorts
    let table = BridgeTable<PIDFBridge>(kind: kind)
    /// Connections over which endpoints published.
    private var connections = PublishingConnections()

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ ports: any PublicationsPorts) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
    }

    /// Accepts categories for a user of a simple domain.
    /// - Parameter others: number of bridges of the other relay.
    func relay(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, _ parties: RequestScreening.Parties,
        beside others: Int, at now: Instant
    ) throws(Refusal) {
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
        if let known = table[parties.presentityKey] { advance(known, at: now) }
        let bridge = try bridge(of: parties, beside: others)
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
        if let connection = flow.connection, let connected { connections.note(connected, of: bridge.key, over: connection) }
        bridge.follow(loopMarkers, maxForwards: parties.maxForwards)
        perform(actions, on: bridge, at: now)
    }

    private func bridge(of parties: RequestScreening.Parties, beside others: Int) throws(Refusal) -> PIDFBridge {
        if let known = table[parties.presentityKey] { return known }
        try checkLimit(beside: others)
        let timing = configuration.timing
        let bridge = PIDFBridge(
            key: parties.presentityKey, uri: parties.presentity, enhanced: relayedPresentity(parties.presentity, stored: nil),
            client: PublicationClient(
                expires: timing.publication.standard, retryPause: timing.retryMinimum, longestPause: timing.retryMaximum),
            dialogContext: DialogContext(callID: tokens.callID()))
        table.insert(bridge)
        return bridge
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
        return EnhancedPresentity(
            uri: uri.description, stored: document, computed: stored?.computed ?? [], policy: configuration.presencePolicy(of: uri))
    }

    /// Surroundings of an input of a relayed publication.
    func environment(of bridge: PIDFBridge, at now: Instant) -> PIDFBridge.Environment {
        let domain = configuration.domain(bridge.uri.domainKey)
        return PIDFBridge.Environment(
            now: now, connected: connections.endpoints(of: bridge.key), network: domain?.network,
            isRoutable: publishingHop(of: bridge.uri) != nil, retryPause: configuration.timing.retryMaximum
        ) { [unowned self] elements in
            guard let domain else { return nil }
            let format = WatcherFormat.pidf(domain.profile, lossless: domain.lossless)
            let rendered = translator.render(
                .categories(CategoryMerge(elements)), as: format, entity: bridge.uri, requested: [], counters: &counters, at: now)
            guard case .document(let view) = rendered else { return nil }
            return view.bytes
        }
    }

    // MARK: time

    /// Starts the grace period of unregistered endpoints after their last connection closed (``GatewayTiming/connectionGrace``).
    func endpointsClosed(_ connection: ConnectionID, at now: Instant) {
        for (key, endpoints) in connections.close(connection) {
            guard let bridge = table[key] else { continue }
            bridge.endpointsLeft(endpoints, returnBy: now + configuration.timing.connectionGrace)
            schedule(bridge)
        }
    }

    func advance(_ bridge: PIDFBridge, at now: Instant) {
        perform(bridge.advance(environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    // MARK: the table

    /// Removes a bridge with the connections of its endpoints.
    func remove(_ bridge: PIDFBridge) {
        table.remove(bridge)
        connections.forget(bridge.key)
    }

    /// Endpoints of a user that are present, or are awaited after their connection closed.
    func endpoints(of bridge: PIDFBridge) -> Set<String> {
        bridge.endpoints.union(bridge.leaving.keys).union(connections.endpoints(of: bridge.key))
    }

    /// Applies the categories and limits of the present domains.
    func renewPolicies() {
        for bridge in table.inOrder {
            let policy = configuration.presencePolicy(of: bridge.uri)
            bridge.forEachStanding { $0.use(policy) }
        }
    }

    /// Number of entries of each table, by name.
    var sizes: [String: Int] {
        [
            "pidfBridges": count, "heldPublications": table.bridges.reduce(0) { $0 + $1.held.count },
            "bridgeConnections": connections.count,
        ]
    }
}
