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
///     bytes --SIPParser--> TransactionLayer --> screening --> SUBSCRIBE: WatcherDialog (sink) --> UpstreamSubscription (far leg)
///                                                        --> NOTIFY:    UpstreamSubscription --> source --> WatcherDialog
///                                                        --> REGISTER:  Registrar --> ends of endpoints
///                                                        --> PUBLISH, SERVICE: HostedPresentity --> source --> WatcherDialogs
///     WatcherDialog: source --PresenceTranslator--> view --Notifier--> NOTIFY, BENOTIFY
///
/// Users of a hosted domain exist as soon as their domain does: one that never published is offline, so that nobody can find out
/// who has an account. With a directory only its users exist in hosted enterprise domains.
public final class Gateway: SansIOEndpoint {
    public internal(set) var configuration: GatewayConfiguration {
        didSet { keptScreening = nil }
    }
    private var keptScreening: RequestScreening?
    public internal(set) var counters = GatewayCounters()

    let shard: Int
    let shards: Int
    var routes: RoutingTable {
        didSet {
            keptScreening = nil
            peerTable = PeerTable(routes)
            for (goal, known) in hops.known { peerTable.located.note(known.result, of: goal, until: known.until) }
            knownPeers = [:]
            partners.configure(Self.configuredPartners(routes))
            transactions.configuration.isAnswerPlace = peerTable.isAnswerPlace
        }
    }
    var peerTable: PeerTable
    /// Peers that were met lately.
    var knownPeers: [PeerKey: Peer] = [:]
    /// Impostors that were noted lately: a flood of them fills neither the log nor the journal.
    var impostors = RecentNotes<ImpostorKey>(limit: 256)
    /// Hosts whose answers were refused lately.
    var answerers = RecentNotes<String>(limit: 256)
    /// What they were taken and refused, and how they answer.
    var partners = PartnerTable()
    /// How this gateway signs in at partners that ask for it.
    var signIns = PartnerSignIns()
    /// Partners that are asked now and then whether they live.
    var keepAlives: [String: KeepAlive] = [:]
    /// Partners are kept alive, by default those at whom something is subscribed.
    var keepsPartnersAlive = false
    let ownAddresses: OwnAddresses
    var tokens: TokenGenerator
    var transactions: TransactionLayer
    var translator: PresenceTranslator
    var directory: HostedDirectory {
        didSet { keptScreening = nil }
    }
    /// Kept, because making one costs more than most documents.
    var parser: XMLParser
    /// Shared by all shards; nil: nobody is asked who he is.
    let authenticator: Authenticator?
    /// nil: nothing outlives the process.
    let store: (any GatewayStore)?
    var desk = StoreDesk()
    /// How far the wall clock was set since the start.
    var clockStep = TimeSpan.zero

    /// By our tag.
    var dialogs: [String: WatcherDialog] = [:]
    var upstreams = UpstreamTable()
    /// By our tag of the current attempt; between two attempts by that of the last.
    var upstreamsByTag: [String: UpstreamSubscription] = [:]
    var lastUpstream: UInt64 = 0
    var upstreamDomains: [UpstreamDomain.Key: UpstreamDomain] = [:]
    /// Batches that presentities can be added to; several where one is full.
    var batches: [UpstreamBatchKey: [UpstreamSubscription]] = [:]
    var redirects: RedirectGuard
    /// By ``HostedPresentity/key``.
    var presentities: [String: HostedPresentity] = [:]
    /// Watchers that were shown presence, and the sign-offs that blocked ones see.
    var blocks: BlockMemory
    /// Keys of presentities that PUBLISH changed in this tick; each is composed, and its watchers are notified, when the tick ends.
    var published: [String] = []
    var dialogsOfWatcher: [String: Int] = [:]
    var dialogsOfPresentity: [String: Int] = [:]
    /// The resources of all dialogs.
    var watchedResources = 0
    /// The batch dialog of each endpoint that has one, by our tag.
    var batchOfEndpoint: [EndpointKey: String] = [:]
    /// Tags of the dialogs of one endpoint, which end with its registration.
    var dialogsOfEndpoint: [EndpointKey: Set<String>] = [:]
    var dialogsOfConnection: [ConnectionID: Set<String>] = [:]
    /// Which endpoints published over which connection, by presentity.
    var publishingConnections = PublishingConnections()
    var home: HomeServer
    var searchRates = SearchRates()
    /// What clients publish for identities of simple domains, and for identities of enterprise domains.
    var pidfBridges: [String: PIDFBridge] = [:]
    var categoryBridges: [String: CategoryBridge] = [:]
    /// Which endpoints published over which connection for identities of simple domains.
    var bridgeConnections = PublishingConnections()
    /// Endpoints that published before a restart and have not come back, by presentity.
    var returning: [String: Set<String>] = [:]
    /// When the next far leg may be made anew after a restart.
    var nextFarLeg = Instant(nanosecondsSince1970: 0)
    /// Dialogs of an earlier process whose SUBSCRIBE may come once more, because its answer was lost with that process.
    var resumedCalls = ResumedCalls()
    /// Where the next hops are, and which are down.
    var hops: HopDesk
    /// What each request of ours is for.
    var awaiting: [ClientTransactionID: Awaited] = [:]
    var wakes = DeadlineQueue<Sleeper>()
    /// Upstream subscriptions to verify, with the events at their partners.
    var doubts = DoubtQueue()
    /// Far legs by the connections over which they are heard.
    var legsOfConnection: [ConnectionID: Set<UInt64>] = [:]
    /// BENOTIFYs of which the transport may say that it could not send them.
    var unanswered = UnansweredNotifications()
    /// What ended with a connection and waits for its turn.
    var losses: ArraySlice<Loss> = []
    var output: [OutboundMessage] = []
    var work = WorkMeasure()
    var logs: [GatewayLog] = []
    /// What was refused, lost or ended lately, for an operator who asks why.
    var journal: Journal
    var isShuttingDown = false
    /// Timers that come to no end go on like that; it is reported once a minute.
    private var nextSpinReport = Instant(nanosecondsSince1970: 0)

    /// Whose answer it is.
    enum Awaiting {
        case notify(WatcherDialog)
        case homeNotify(HomeDialog)
        case subscribe(UpstreamSubscription, attempt: Subscriber.Attempt)
        case publication(PIDFBridge, attempt: UInt64)
        case categoryPublication(CategoryBridge, attempt: UInt64)
        /// OPTIONS, of this domain; to one of its servers, or to whichever answers.
        case keepAlive(String, TransportAddress?)
    }

    /// Who wants to be woken, by the key of its table.
    enum Sleeper: Hashable {
        case dialog(String)
        case upstream(UInt64)
        case presentity(String)
        case homeDialog(String)
        case registrar
        case pidfBridge(String)
        case categoryBridge(String)
        /// Whose endpoints were known before a restart.
        case returning(String)
        /// One lookup took too long.
        case lookup(HopGoal)
        /// A server had its share of the time.
        case delivery(ClientTransactionID)
        /// Requests that have nowhere to go.
        case undeliverable
        /// A domain is asked whether it lives.
        case keepAlive(String)
        /// The rest of what ended with a connection.
        case losses
        /// Far legs that are to be verified.
        case doubts
        /// Tries again to keep what the store refused.
        case store
    }

    /// - Parameters:
    ///   - mapper: converts between the models; by the embedded tables unless told otherwise.
    ///   - shard: which of `shards` this is; written into tags, branches and Call-IDs so that ``ShardRouter`` finds it again.
    ///   - authenticator: one for all shards; needed where `configuration` asks users to sign in.
    ///   - store: keeps publications, user data, registrations and dialogs over a restart; nil: the tables are all there is.
    ///   - directory: the users of the hosted enterprise domains; see ``use(directory:at:)``.
    ///   - key: of every identifier that is made, and of no other gateway.
    ///   - localAddresses: the system's routes, for listeners on all addresses; nil: those are named by the node's name.
    public init(
        configuration: GatewayConfiguration, mapper: PresenceMapper = PresenceMapper(), shard: Int = 0, shards: Int = 1, key: TokenKey,
        store: (any GatewayStore)? = nil, authenticator: Authenticator? = nil, directory: DirectoryState = .none,
        localAddresses: (any LocalAddressLookup)? = nil
    ) {
        self.configuration = configuration
        self.authenticator = authenticator
        self.directory = HostedDirectory(directory)
        self.shard = shard
        self.shards = shards
        routes = configuration.routes
        peerTable = PeerTable(routes)
        ownAddresses = OwnAddresses(configuration, lookup: localAddresses)
        let prefix = ShardRouter.prefix(of: shard, among: shards)
        tokens = TokenGenerator(key: key.derived(for: "gateway"), prefix: prefix)
        var layer = TransactionLayer.Configuration(sentBy: [:])
        layer.take(configuration)
        layer.allow = Refusal.allowedMethods
        layer.server = Self.product
        layer.isAnswerPlace = peerTable.isAnswerPlace
        layer.announcesReuse = configuration.listeners.contains { $0.transport == .tls }
        if let authenticator {
            layer.finish = { authenticator.sign(&$1, to: $0, at: $2) }
        }
        transactions = TransactionLayer(
            configuration: layer, tokens: TokenGenerator(key: key.derived(for: "transactions"), prefix: prefix))
        translator = PresenceTranslator(mapper: mapper)
        journal = Journal(limit: configuration.limits.journalEntries)
        redirects = RedirectGuard(random: TokenGenerator(key: key.derived(for: "redirects")))
        hops = HopDesk(configuration.naming ?? NamingConfiguration(), random: TokenGenerator(key: key.derived(for: "hops")))
        home = HomeServer(configuration: configuration)
        blocks = BlockMemory(bounds: configuration.limits.blocks)
        partners.configure(Self.configuredPartners(routes))
        parser = Self.parser(configuration.limits)
        self.store = store
        configureSignIns(before: nil)
        noteMappings()
    }

    /// Kept until what it is made of changes.
    var screening: RequestScreening {
        if let keptScreening { return keptScreening }
        let made = RequestScreening(configuration: configuration, routes: routes, directory: directory)
        keptScreening = made
        return made
    }

    // MARK: SansIOEndpoint

    public func receive(_ message: InboundMessage, at now: Instant) {
        desk.now = now
        let actions = transactions.receive(message, at: now) {
            admission(of: $0, from: $1, in: message, at: now)
        } believing: {
            mayAnswer($0, from: $1)
        }
        perform(actions, at: now)
        counters.limitsReached += transactions.takeTurnedAway()
    }

    public func receive(_ notice: TransportNotice, at now: Instant) {
        desk.now = now
        let actions = transactions.receive(notice, at: now)
        switch notice {
        case .closed(let connection, let end): connectionClosed(connection, end, actions, at: now)
        case .late(let span): work.lateness = span
        case .answered(let question, let answer): receive(answer, to: question, at: now)
        case .carried: perform(actions, at: now)
        case .failed(let token, let reason):
            perform(actions, at: now)
            unansweredFailed(token, reason, at: now)
        }
    }

    public func advance(to now: Instant) {
        desk.now = now
        perform(transactions.advance(to: now), at: now)
        var turns = Self.turnsPerSleeper * wakes.count + Self.leastTurns
        while turns > 0, let sleeper = wakes.popDue(at: now) {
            wake(sleeper, at: now)
            turns -= 1
        }
        if turns == 0, now >= nextSpinReport {
            nextSpinReport = now + .seconds(60)
            log(.error, "timers do not come to an end", ["timers": String(wakes.count)])
        }
    }

    /// How often timers fire at one moment before the caller gets control back: a fault that sets one again and again for the same moment
    /// is to be seen, and not to stop everything else.
    private static let turnsPerSleeper = 16
    private static let leastTurns = 10_000

    public var nextDeadline: Instant? {
        switch (transactions.nextDeadline, wakes.next) {
        case (let one?, let other?): min(one, other)
        case (let one, let other): one ?? other
        }
    }

    public func takeOutput() -> [OutboundMessage] {
        tellPublished(at: desk.now)
        settleStore()
        let taken = output
        output.removeAll(keepingCapacity: true)
        return taken
    }

    /// The log records since the last call, oldest first.
    public func takeLogs() -> [GatewayLog] {
        let taken = logs
        logs.removeAll(keepingCapacity: true)
        return taken
    }

    /// What is alive now.
    public var counts: GatewayCounts {
        var counts = GatewayCounts()
        counts.watcherDialogs = dialogs.count
        counts.upstreamSubscriptions = upstreams.count
        (counts.presentities, counts.publications) = publishedCounts
        counts.publicationBridges = pidfBridges.count + categoryBridges.count
        counts.homeDialogs = home.dialogs.count
        counts.registrations = home.registrar.count
        counts.transactions = transactions.clientCount + transactions.serverCount
        counts.timers = wakes.count
        counts.watchedResources = watchedResources
        counts.pendingOutput = output.count + desk.staged.count
        counts.latenessMilliseconds = Int(work.lateness.nanoseconds / 1_000_000)
        if shard == 0, let authenticator {
            counts.securityAssociations = authenticator.associationCount
            counts.tlsHandshakes = authenticator.handshakeCount
        }
        counts.hopsDown = hops.health.downCount(at: desk.now)
        counts.requestsWaiting = hops.waiting
        counts.unverifiedLegs = upstreams.values.count(where: { $0.unverifiedSince != nil })
        counts.storesFailing = desk.failingUntil == nil ? 0 : 1
        return counts
    }

    // MARK: time

    private func wake(_ sleeper: Sleeper, at now: Instant) {
        switch sleeper {
        case .dialog(let tag):
            guard let dialog = dialogs[tag] else { return }
            dialog.wakesAt = nil
            advance(dialog, at: now)
            schedule(dialog)
        case .upstream(let id):
            guard let upstream = upstreams[id] else { return }
            advance(upstream, at: now)
            schedule(upstream)
        case .returning(let key):
            endReturning(key, at: now)
        case .lookup(let goal):
            abandonLookup(goal, at: now)
        case .delivery(let transaction):
            patienceEnds(transaction, at: now)
        case .undeliverable:
            tellUndeliverable(at: now)
        case .keepAlive(let name):
            wakeKeepAlive(name, at: now)
        case .losses:
            workOffLosses(at: now)
        case .doubts:
            workOffDoubts(at: now)
        case .store:
            // The next takeOutput() tries.
            break
        case .presentity(let key):
            guard let presentity = presentities[key] else { return }
            advance(presentity, at: now)
            schedule(presentity)
        case .homeDialog(let tag):
            guard let subscription = home.dialogs[tag] else { return }
            advance(subscription, at: now)
        case .registrar:
            advanceRegistrar(at: now)
        case .pidfBridge(let key):
            if let bridge = pidfBridges[key] { advance(bridge, at: now) }
        case .categoryBridge(let key):
            if let bridge = categoryBridges[key] { advance(bridge, at: now) }
        }
    }

    func schedule(_ dialog: WatcherDialog) {
        let next = dialog.nextDeadline
        guard next != dialog.wakesAt, dialogs[dialog.localTag] === dialog else { return }
        dialog.wakesAt = next
        wakes.set(.dialog(dialog.localTag), at: next)
    }

    func schedule(_ upstream: UpstreamSubscription) {
        guard upstreams[upstream.id] != nil else { return }
        wakes.set(.upstream(upstream.id), at: upstream.nextDeadline)
    }

    func schedule(_ presentity: HostedPresentity) {
        guard presentities[presentity.key] === presentity else { return }
        wakes.set(.presentity(presentity.key), at: presentity.nextDeadline)
    }

    // MARK: log

    func noteMappings() {
        guard configuration.logLevel <= .debug else {
            translator.note = nil
            return
        }
        translator.note = { [weak self] rows, losses in
            self?.log(.debug, "presence mapped", ["row": rows.joined(separator: ","), "losses": String(losses.count)])
        }
    }

    func log(
        _ level: GatewayLog.Level, _ message: GatewayLog.StaticMessage, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard level >= configuration.logLevel else { return }
        if logs.count >= configuration.limits.logRecords {
            counters.logRecordsDropped += 1
            return
        }
        logs.append(GatewayLog(level, message, fields().map { GatewayLog.Field($0.key, $0.value) }))
    }
}
