import FederationRouting
import PresenceMapping
import Registration
import SIPCore
import SIPEvents
import SIPSecurity
import UserDirectory
import XMLCore

/// One shard of the gateway: a back-to-back user agent between enterprise watchers and presentities (MS-PRES) and those of the
/// SIMPLE family (RFC 3856), without I/O and without a clock.
///
/// Bytes, notices and `now` go in through ``SIPCore/SansIOEndpoint``; messages to send come out of ``takeOutput()``. Not Sendable:
/// one event loop owns it.
///
///     bytes --SIPParser--> TransactionLayer --> screening --> SUBSCRIBE: WatcherDialog (sink) --> UpstreamSubscription
///                                                        --> NOTIFY:    UpstreamSubscription --> source --> WatcherDialog
///                                                        --> REGISTER:  Registrar --> ended endpoints
///                                                        --> PUBLISH, SERVICE: HostedPresentity --> source --> WatcherDialogs
///     WatcherDialog: source --PresenceTranslator--> view --Notifier--> NOTIFY, BENOTIFY
///
/// Every user of a hosted domain exists: one that never published is offline, so that watchers cannot find out which users have an
/// account. With a directory, only its users exist in hosted enterprise domains.
public final class Gateway: SansIOEndpoint, FlowsMember {
    /// Moves messages, time and records; knows no flow.
    let kernel: GatewayKernel
    /// Settings and tools that all flows share.
    let context: ShardContext

    let shard: Int
    let shards: Int

    /// The flows, by which timers and requests find their records.
    private(set) lazy var flows = Flows(kernel, context)
    /// The restart in progress; nil: there is none.
    var restart: ShardRestart?

    /// Creates the gateway of one shard.
    /// - Parameters:
    ///   - mapper: converts between the models; with the embedded tables by default.
    ///   - shard: index among `shards`; written into tags, branches and Call-IDs, from which ``ShardRouter`` reads it.
    ///   - key: source of all generated identifiers; unique to this gateway.
    ///   - store: keeps publications, user data, registrations and dialogs over a restart; nil: no state outlives the process.
    ///   - defersCommits: whether the caller carries out the requests to the store (``takeStoreRequests()``), so that no event loop waits
    ///     for it; otherwise ``takeOutput()`` does.
    ///   - authenticator: shared by all shards; needed if `configuration` requires authentication.
    ///   - directory: users of the hosted enterprise domains; see ``use(directory:at:)``.
    ///   - serviceURIs: shared by all shards.
    ///   - localAddresses: route lookup of the system, for listeners on all addresses; nil: they appear under the node's name.
    package init(
        configuration: GatewayConfiguration, mapper: PresenceMapper = PresenceMapper(), shard: Int = 0, shards: Int = 1, key: TokenKey,
        store: (any GatewayStore)? = nil, defersCommits: Bool = false, authenticator: Authenticator? = nil,
        directory: DirectoryState = .none,
        serviceURIs: ServiceURIs = ServiceURIs(), localAddresses: (any LocalAddressLookup)? = nil
    ) {
        context = ShardContext(
            configuration, mapper, directory, authenticator, ShardPlace(index: shard, count: shards), serviceURIs: serviceURIs)
        self.shard = shard
        self.shards = shards
        let prefix = ShardRouter.prefix(of: shard, among: shards)
        var layer = TransactionLayer.Configuration(sentBy: [:])
        layer.take(configuration)
        layer.server = GatewayKernel.product
        layer.announcesReuse = configuration.listeners.contains { $0.transport == .tls }
        if let authenticator {
            layer.finish = { authenticator.sign(&$1, to: $0, at: $2) }
        }
        kernel = GatewayKernel(
            configuration, layer, key: key, prefix: prefix, shard: shard, store: store, defersCommits: defersCommits,
            localAddresses: localAddresses)
        kernel.connect(to: flows.host, flows.clients)
        flows.border.configure(before: nil)
        noteMappings()
        transactions.configuration.allow = flows.handlers.allow
    }

    /// Creates a gateway that is the only shard and keeps no state over a restart.
    public convenience init(configuration: GatewayConfiguration, key: TokenKey) {
        self.init(configuration: configuration, key: key, store: nil)
    }

    /// Ends the references of kernel and flows to each other, so that a stopped gateway frees its store.
    deinit { kernel.disconnect() }

    /// Configuration in use; ``reconfigure(_:mapper:at:)`` replaces it.
    package var configuration: GatewayConfiguration { context.configuration }

    /// Counters since the start.
    package internal(set) var counters: GatewayCounters {
        _read { yield kernel.counters }
        _modify { yield &kernel.counters }
    }

    /// Adds a handler of requests.
    func add(_ handler: any RequestHandler) {
        flows.handlers.add(handler)
        transactions.configuration.allow = flows.handlers.allow
    }

    // MARK: SansIOEndpoint

    /// Processes a message; the resulting messages are returned by ``takeOutput()``.
    public func receive(_ message: InboundMessage, at now: Instant) {
        if restart?.hold(.message(message)) != true { kernel.receive(message, at: now) }
    }

    /// Processes a notice of the transport.
    public func receive(_ notice: TransportNotice, at now: Instant) {
        if restart?.hold(.notice(notice)) != true { kernel.receive(notice, at: now) }
    }

    /// Fires the timers that are due; an endless series of timers for the same moment is cut off and logged.
    public func advance(to now: Instant) {
        if restart == nil { kernel.advance(to: now) }
    }

    /// Time at which ``advance(to:)`` must be called; nil: no timer runs.
    public var nextDeadline: Instant? { restart == nil ? kernel.nextDeadline : nil }

    /// Notifies watchers of publications, submits the changes to the store, and returns the messages to send, in order.
    public func takeOutput() -> [OutboundMessage] {
        guard restart == nil else { return kernel.takeOutput() }
        flows.presentities.notifyPublished(at: commitLog.now)
        flows.watcherInformation.notifyChanged(at: commitLog.now)
        flows.presentities.remoteWatchers.sendViews(at: commitLog.now)
        var output = kernel.takeOutput()
        // Steps of a commit may change presentities; the rest waits for the next tick.
        for _ in 0..<8 where flows.presentities.remoteWatchers.hasDue {
            flows.presentities.remoteWatchers.sendViews(at: commitLog.now)
            output += kernel.takeOutput()
        }
        return output
    }

    /// The requests to the store since the last call, if the caller carries them out; take them after ``takeOutput()``.
    package func takeStoreRequests() -> [StoreRequest] { commitLog.takeRequests() }

    /// Processes the result of a request to the store, in the order of the requests.
    package func receive(_ result: StoreResult, at now: Instant) { kernel.receive(result, at: now) }

    /// Processes a value of another shard.
    public func receive(_ envelope: ShardEnvelope, at now: Instant) {
        if restart?.hold(.envelope(envelope)) == true { return }
        commitLog.noteInput(at: now)
        for value in kernel.mailboxes.receive(envelope) { flows.receive(value, at: now) }
    }

    /// The values for other shards since the last call, in order; take them after ``takeOutput()``.
    public func takeEnvelopes() -> [ShardEnvelope] { kernel.mailboxes.takeOutgoing() }

    /// Returns the log records since the last call, oldest first.
    public func takeLogs() -> [GatewayLog] { kernel.takeLogs() }

    /// The DNS questions since the last call, to be asked by the caller.
    public func takeQuestions() -> [NameQuestion] { kernel.delivery.takeQuestions() }

    // MARK: inspection

    /// Numbers of live dialogs, publications and other entries.
    public var counts: GatewayCounts { flows.inspection.counts }

    /// Counters, counts and table sizes of this shard at one moment.
    package var numbers: GatewayNumbers { flows.inspection.numbers }

    /// Number of entries of each table, by name, for tests of growth. All tables are empty when all dialogs, publications and
    /// transactions have ended and no user data is kept.
    package var tableSizes: [String: Int] { flows.inspection.tableSizes }

    /// Explains a watcher's view of a presentity, as far as this shard knows.
    /// - Parameter includingBodies: whether to include the documents that the watcher has.
    package func explain(watcher: SIPURI, presentity: SIPURI, includingBodies: Bool = false, at now: Instant) -> Explanation {
        flows.inspection.explain(watcher: watcher, presentity: presentity, includingBodies: includingBodies, at: now)
    }

    /// The live subscriptions of this shard, ordered by watcher, presentity and dialog; a batch or list has one row per resource.
    /// - Parameters:
    ///   - limit: maximum number of rows, 1 to ``inspectionPageLimit``.
    ///   - after: `next` of the previous page; an invalid cursor starts from the beginning.
    package func subscriptions(
        matching filter: SubscriptionFilter = SubscriptionFilter(), limit: Int = 100, after cursor: String? = nil, at now: Instant
    ) -> InspectionPage<SubscriptionReport> {
        flows.inspection.subscriptions(matching: filter, limit: limit, after: cursor, at: now)
    }

    /// The presentities of this shard, ordered by address: those with a record here, and those that are watched elsewhere.
    package func presentities(
        matching filter: PresentityFilter = PresentityFilter(), limit: Int = 100, after cursor: String? = nil, at now: Instant
    ) -> InspectionPage<PresentityReport> {
        flows.inspection.presentities(matching: filter, limit: limit, after: cursor, at: now)
    }

    /// Recent entries of dialogs with this Call-ID, newest first.
    package func journal(ofCallID callID: String) -> [JournalEntry] { journal.newestFirst.filter { $0.callID == callID } }

    // MARK: log

    func noteMappings() {
        guard configuration.logLevel <= .debug else { return context.noteMappings(nil) }
        context.noteMappings { [weak self] rows, losses in
            self?.log(.debug, "presence mapped", ["row": rows.joined(separator: ","), "losses": String(losses.count)])
        }
    }
}
