import EnhancedPresence
import Registration
import SIPCore

/// The presentities of hosted domains: their publications, endpoints and watchers, and the record that each watcher is shown.
final class PresentitiesFlow: ShardMember, KernelClient, Persistent {
    private enum Kind {
        static let returning: UInt8 = 1
    }

    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive this one.
    unowned let ports: any PresentitiesPorts
    let table: PresentityTable
    let blocking: PoliteBlocking
    /// Watchers with dialogs in other shards.
    private(set) lazy var remoteWatchers = RemoteWatchers(self)
    /// Keys of presentities that PUBLISH changed in this tick; each is composed, and its watchers are notified, when the tick ends.
    private var published: [String] = []
    /// Connections over which unregistered endpoints published, by presentity.
    private var publishingConnections = PublishingConnections()
    /// Endpoints that published before a restart and have not come back, by presentity.
    private var returning: [String: Set<String>] = [:]
    /// Keys of presentities in ``returning``, by ticket.
    private var returningKeys = Slab<String>()

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ ports: any PresentitiesPorts) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
        table = PresentityTable(kernel, context)
        blocking = PoliteBlocking(table, ports)
    }

    func notSent(_ value: any Sendable, at now: Instant) {
        if case .views(let view) = value as? WatchMessage { remoteWatchers.notSent(view) }
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if ticket.kind == Kind.returning {
            if let key = returningKeys.remove(ticket.key) { endReturning(key, at: now) }
        } else if let presentity = table[ticket] {
            advance(presentity, at: now)
            table.schedule(presentity)
        }
    }

    // MARK: the table

    /// The record of a key; nil: there is none.
    func record(_ key: String) -> HostedPresentity? { table[key] }

    /// The record of a user, made if missing.
    /// - Throws: 503 if the table is full.
    func presentity(_ key: String, _ uri: SIPURI) throws(Refusal) -> HostedPresentity {
        if let known = table[key] { return known }
        guard !isFull else {
            counters.limitsReached += 1
            throw .unavailable("too many presentities on this node", retryAfter: configuration.timing.retryAfter)
        }
        return addRecord(key, uri)
    }

    /// Adds an empty record.
    @discardableResult
    func addRecord(_ key: String, _ uri: SIPURI) -> HostedPresentity {
        let record = table.make(key, uri)
        table.insert(record)
        return record
    }

    /// Whether the table has no room for a presentity that a watcher would need.
    func isFull(for watcher: WatcherIdentity, of key: String) -> Bool { isFull && !blocking.hasRecord(of: key, for: watcher) }

    private var isFull: Bool { table.count - blocking.memory.signOffCount >= configuration.limits.presentities }

    /// Drops a record that holds nothing.
    func settle(_ presentity: HostedPresentity) {
        guard table.contains(presentity) else { return }
        if publishingConnections.knows(presentity.key), !presentity.dependsOnEndpoints { publishingConnections.forget(presentity.key) }
        blocking.settle(presentity)
    }

    /// Drops all records that hold nothing.
    func settleAll() { table.all.filter(\.isIdle).forEach(settle) }

    // MARK: PUBLISH of a tick

    /// Notes that PUBLISH changed a presentity in this tick.
    func notePublished(_ presentity: HostedPresentity) { published.append(presentity.key) }

    /// Composes the documents of a presentity if PUBLISH changed one in this tick.
    func composePending(_ key: String) {
        if !published.isEmpty, let presentity = table[key] { composePublished(presentity) }
    }

    /// Notifies the watchers of all presentities that PUBLISH changed in this tick.
    func notifyPublished(at now: Instant) {
        let keys = published
        published = []
        for key in keys {
            guard let presentity = table[key] else { continue }
            composePublished(presentity)
            if presentity.takePendingDocument() { notifyWatchers(of: presentity, at: now) }
        }
    }

    // MARK: endpoints

    /// Notes the connection over which an unregistered endpoint published: the endpoint is present as long as one of them is open.
    func noteConnection(_ connection: ConnectionID, ofEndpoint endpoint: String, of key: String) {
        publishingConnections.note(endpoint, of: key, over: connection)
    }

    /// Whether an endpoint without a registration has published for the user over a connection that is still open.
    func hasUnregisteredEndpoints(_ key: String) -> Bool { !publishingConnections.endpoints(of: key).isEmpty }

    /// Ends the instances of unregistered endpoints that published over a closed connection (MS-PRES 3.2.5.5).
    func endpointsClosed(_ connection: ConnectionID, at now: Instant) {
        for (key, endpoints) in publishingConnections.close(connection) {
            let gone = endpoints.filter { !isRegistered($0, of: key) }
            let isLast = !hasUnregisteredEndpoints(key) && !ports.hasRegistrations(key)
            endpointsEnded(gone, of: key, isLast: isLast, at: now)
        }
    }

    private func isRegistered(_ endpoint: String, of key: String) -> Bool {
        EndpointID(endpoint).map { ports.isRegistered($0, of: key) } ?? false
    }

    /// Removes instances bound to ended endpoints, and with the last endpoint those bound to the user (MS-PRES 3.2.5.5).
    func endpointsEnded(_ endpoints: [String], of key: String, isLast: Bool, at now: Instant) {
        guard let presentity = table[key] else { return }
        let change = presentity.endpointsEnded(endpoints, isLast: isLast, at: now)
        if !change.isEmpty {
            table.keep(presentity)
            notifyAll(of: presentity, change, at: now)
        }
        settle(presentity)
    }

    /// Gives endpoints ``GatewayTiming/restartGrace`` to come back, because their connections ended with the earlier process.
    func awaitEndpoints(of presentity: HostedPresentity, at now: Instant) {
        let endpoints = presentity.endpoints
        guard !endpoints.isEmpty else { return }
        returning[presentity.key] = endpoints
        let ticket = Ticket(.presentities, kind: Kind.returning, returningKeys.insert(presentity.key))
        timers.set(ticket, at: now + configuration.timing.restartGrace)
    }

    /// Ends the endpoints that have not come back in time (MS-PRES 3.2.5.5).
    private func endReturning(_ key: String, at now: Instant) {
        guard let awaited = returning.removeValue(forKey: key) else { return }
        let present = publishingConnections.endpoints(of: key)
        let gone = awaited.filter { one in
            !present.contains { $0.lowercased() == one.lowercased() } && !isRegistered(one, of: key)
        }
        endpointsEnded(gone.sorted(), of: key, isLast: present.isEmpty && !ports.hasRegistrations(key), at: now)
    }

    // MARK: sizes

    /// Number of entries of each table.
    var sizes: [String: Int] {
        ["presentities": table.count, "returning": returning.count, "publishingConnections": publishingConnections.count]
            .merging(remoteWatchers.sizes) { $1 }
    }

    /// Number of true presentities and of their publications.
    var publishedCounts: (presentities: Int, publications: Int) {
        table.all.lazy.filter { $0.look == nil }.reduce((0, 0)) { ($0.0 + 1, $0.1 + $1.publicationCount) }
    }
}
