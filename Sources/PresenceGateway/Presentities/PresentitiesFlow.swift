import EnhancedPresence
import PresenceRules
import Registration
import SIPCore

/// The presentities of hosted domains: their publications, endpoints and watchers, and the record that each watcher is shown.
final class PresentitiesFlow: ShardMember, KernelClient, Persistent, Inspectable {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive this one.
    unowned let ports: any PresentitiesPorts
    let table: PresentityTable
    let blocking: PoliteBlocking
    /// Rules of presentities, which decide about their watchers.
    private(set) lazy var authorization = PresenceAuthorization(kernel, context) { [unowned self] in sphere(of: $0, at: $1) }
    /// Decisions about watchers that are made again.
    private(set) lazy var review = WatchReview(self)
    /// Container memberships.
    private(set) lazy var members = ContainerMembers(self)
    /// Watchers with dialogs in other shards.
    private(set) lazy var remoteWatchers = RemoteWatchers(self)
    /// Keys of presentities that PUBLISH changed in this tick; each is composed, and its watchers are notified, when the tick ends.
    private var published: [String] = []
    /// Endpoints without a registration.
    private(set) lazy var endpoints = PresentityEndpoints(self)
    /// Reports of presentities.
    private(set) lazy var explainer = PresentityExplainer(self)

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
        if ticket.kind == PresentityEndpoints.ticketKind {
            endpoints.timerDue(ticket, at: now)
        } else if ticket.kind == PresenceAuthorization.ticketKind {
            if let key = authorization.presentity(of: ticket) { review.reviewWatchers(of: key, at: now) }
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
    func isFull(for watcher: WatcherIdentity, hidesIdentity: Bool, of key: String) -> Bool {
        guard isFull else { return false }
        let access = SIPURI(key).flatMap { uri in
            authorization.access(
                of: RuleWatcher(watcher, hidesIdentity: hidesIdentity), to: key, uri, isWatching: false, at: commitLog.now)
        }
        return !blocking.hasRecord(of: key, for: watcher, access)
    }

    private var isFull: Bool { table.count - blocking.memory.signOffCount >= configuration.limits.presentities }

    /// Drops a record that holds nothing.
    func settle(_ presentity: HostedPresentity) {
        guard table.contains(presentity) else { return }
        endpoints.settle(presentity)
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
        review.endBlockedWatches(at: now)
    }

    // MARK: endpoints

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

    // MARK: numbers

    /// Number of true presentities and of their publications.
    var publishedCounts: (presentities: Int, publications: Int) {
        table.all.lazy.filter { $0.look == nil }.reduce((0, 0)) { ($0.0 + 1, $0.1 + $1.publicationCount) }
    }
}
