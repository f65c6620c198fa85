import FederationRouting
import SIPCore
import SIPEvents

/// PUBLISH and SERVICE: the relayed publications of users of other domains; requests about hosted users are passed on.
final class PublicationsFlow: ShardMember, KernelClient, RequestHandler, Persistent, Inspectable {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive it.
    unowned let ports: any PublicationsPorts
    /// SERVICE for users of simple domains.
    let pidf: PIDFRelay
    /// PUBLISH for users of enterprise domains.
    let categories: CategoryRelay

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ ports: any PublicationsPorts) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
        pidf = PIDFRelay(kernel, context, ports)
        categories = CategoryRelay(kernel, context, ports)
    }

    // MARK: requests of clients

    let methods: [SIPMethod] = [.publish, .service]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        if request.method == .publish {
            try receivePublish(request, transaction, at: now)
        } else {
            try receiveService(request, transaction, flow, at: now)
        }
    }

    // MARK: own requests

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        if isPIDF(pendingRequest.origin.ticket) {
            pidf.receive(response, to: pendingRequest, at: now)
        } else {
            categories.receive(response, to: pendingRequest, at: now)
        }
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        if isPIDF(origin.ticket) {
            pidf.notDelivered(origin, reason, at: now)
        } else {
            categories.notDelivered(origin, reason, at: now)
        }
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        if isPIDF(origin.ticket) {
            pidf.notSent(origin, at: now)
        } else {
            categories.notDelivered(origin, GatewayKernel.notKeptReason, at: now)
        }
    }

    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool {
        isPIDF(origin.ticket) ? pidf.sender(of: origin) != nil : categories.sender(of: origin) != nil
    }

    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool {
        isPIDF(origin.ticket) ? pidf.renumber(&request, of: origin) : categories.renumber(&request, of: origin)
    }

    func exists(_ ticket: Ticket) -> Bool { pidf.table[ticket] != nil || categories.table[ticket] != nil }

    func concernsPartner(_ failure: DeliveryFailure, of origin: RequestOrigin) -> Bool {
        guard failure == .transport else { return false }
        return isPIDF(origin.ticket) ? pidf.asksDomain(origin.ticket) : categories.asksDomain(origin.ticket)
    }

    private func isPIDF(_ ticket: Ticket) -> Bool { ticket.kind == PIDFRelay.kind }

    // MARK: time

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if isPIDF(ticket) { pidf.timerDue(ticket, at: now) } else { categories.timerDue(ticket, at: now) }
    }

    /// Starts the grace period of unregistered endpoints after their last connection closed.
    func endpointsClosed(_ connection: ConnectionID, at now: Instant) { pidf.endpointsClosed(connection, at: now) }

    /// Answers waiting requests and, without a store, removes all relayed publications.
    func stop(at now: Instant) {
        pidf.stop(at: now)
        categories.stop(at: now)
    }

    // MARK: store

    func record(of key: StoreKey) -> StoreRecord? {
        guard case .bridge(let user) = key else { return nil }
        let stored = pidf.table[user].flatMap { pidf.stored($0) } ?? categories.table[user].flatMap { categories.stored($0) }
        return stored.map(StoreRecord.bridge)
    }

    func rank(of record: StoreRecord, at now: Instant) -> RestoreRank? {
        if case .bridge = record { RestoreRank(phase: .users) } else { nil }
    }

    /// Restores a relayed publication.
    /// - Returns: false if the record cannot be read, or the user's domain no longer accepts publications.
    func restore(_ record: StoreRecord, _ restart: inout Restart, at now: Instant) -> Bool {
        guard case .bridge(let stored) = record, let uri = SIPURI(stored.uri) else { return false }
        return switch stored.way {
        case .publish: pidf.restore(stored, uri, at: now)
        case .service: categories.restore(stored, uri, at: now)
        }
    }

    /// Takes the stored publications in place of those of a failed commit.
    func reload(_ stored: StoredRecords, at now: Instant) -> (() -> Void)? {
        for user in stored.users.keys.sorted() where stored.users[user]?.contains(.bridge(user)) == true {
            var record: StoredBridge?
            if case .bridge(let bridge)? = stored[.bridge(user)] { record = bridge }
            pidf.reload(user, record, at: now)
            categories.reload(user, record, at: now)
        }
        return nil
    }

    // MARK: numbers

    /// Number of relayed publications.
    var count: Int { pidf.count + categories.count }

    /// Number of entries of each table, by name.
    var sizes: [String: Int] { pidf.sizes.merging(categories.sizes) { $1 } }
}
