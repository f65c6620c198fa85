import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceMapping
import SIPCore
import SIPEvents
import XMLCore

/// PUBLISH of standard clients for users of enterprise domains (RFC 3903 6), relayed as SERVICE.
final class CategoryRelay: PublicationRelay {
    static let kind: UInt8 = 1
    static let side = DomainSide.enterprise

    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive it.
    unowned let ports: any PublicationsPorts
    let table = BridgeTable<CategoryBridge>(kind: kind)

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ ports: any PublicationsPorts) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
    }

    /// Accepts PIDF for a user of an enterprise domain.
    /// - Parameter others: number of bridges of the other relay.
    func relay(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ parties: RequestScreening.Parties, beside others: Int,
        at now: Instant
    ) throws(Refusal) {
        guard request.body.count <= configuration.limits.publicationBytes else { throw .bodyTooLarge }
        let loopMarkers = try HopMark(node: configuration.nodeName, presentity: parties.presentityKey).passOn(request.headers)
        let bridge = try bridge(of: parties, beside: others)
        guard bridge.queue.count < CategoryBridge.queueLimit else {
            counters.limitsReached += 1
            throw .unavailable("too many publications of this presentity at once", retryAfter: configuration.timing.retryAfter)
        }
        bridge.follow(loopMarkers, maxForwards: parties.maxForwards)
        let held = CategoryBridge.Held(request: request, transaction: transaction, until: now + configuration.timing.publishWait)
        perform(bridge.receive(held, environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    private func bridge(of parties: RequestScreening.Parties, beside others: Int) throws(Refusal) -> CategoryBridge {
        if let known = table[parties.presentityKey] { return known }
        try checkLimit(beside: others)
        let bridge = CategoryBridge(
            key: parties.presentityKey, uri: parties.presentity, publications: noPublications,
            client: client(of: parties.presentity, standings: [:]), dialogContext: DialogContext(callID: tokens.callID()))
        table.insert(bridge)
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

    func client(
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
            now: now, isRoutable: publishingHop(of: uri) != nil,
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
    func acknowledge(_ change: CategoryBridge.Change, on bridge: CategoryBridge, at now: Instant) {
        keep(.bridge(bridge.key))
        var response = SIPResponse(to: change.held.request, status: .ok, toTag: tokens.tag())
        response.headers.append(.expires, String(change.expires))
        response.headers.append(.sipETag, change.tag.value)
        counters.publicationsAccepted += 1
        respond(response, change.held.transaction, at: now)
        whenKept(at: now) { [unowned self] _ in
            bridge.changeStored()
            settle(bridge)
        }
    }

    // MARK: time

    func advance(_ bridge: CategoryBridge, at now: Instant) {
        perform(bridge.advance(environment(of: bridge, at: now)), on: bridge, at: now)
        settle(bridge)
    }

    // MARK: the table

    func remove(_ bridge: CategoryBridge) { table.remove(bridge) }

    /// Number of entries of each table, by name.
    var sizes: [String: Int] {
        ["categoryBridges": count, "queuedPublications": table.bridges.reduce(0) { $0 + $1.queue.count }]
    }
}
