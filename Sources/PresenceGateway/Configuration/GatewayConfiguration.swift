import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SimplePresence

/// Everything that one gateway shard needs to know, as a plain value; the program builds it from the configuration file.
public struct GatewayConfiguration: Hashable, Sendable {
    /// The host name of this node: `source` of ms-diagnostics, the agent of Warning, the own hop mark (RFC 3261 20.43).
    public var nodeName: String
    /// The addresses that are listened on, with their real ports; at least one. The first of a transport is used for Via and Contact.
    public var listeners: [TransportAddress]
    /// The host written into Via and Contact instead of the listener's own; nil: the listener's host.
    public var advertisedHost: String?
    /// What is written into Via and Contact for one listener, with its real port; before ``advertisedHost``.
    public var advertised: [TransportAddress: TransactionLayer.HostPort] = [:]
    /// Per domain name in lower case; `*` answers for every domain that is not named.
    public var domains: [String: DomainConfiguration] { didSet { identities = Self.identities(of: domains) } }
    /// Which URIs name one user, by the domains.
    public private(set) var identities: IdentityTable
    public var limits: GatewayLimits
    public var timing: GatewayTiming
    /// Per listener, with its real port: what it asks of users of hosted domains. Empty: From is believed everywhere.
    public var authentication: [TransportAddress: ListenerAuthentication] = [:]
    /// Whether contact lists may move to a mail server when a client says that it is ready (MS-PRES 3.10.4); see
    /// ``Gateway/usersAwaitingContactMigration``.
    public var allowsUnifiedContactStore = false
    /// Where watchers send lists of presentities of their own making (RFC 5367); nil: nowhere.
    public var listServer: SIPURI?
    /// How next hops are looked up; nil: names are left to the transport, and nothing is discovered.
    public var naming: NamingConfiguration?
    /// What ``Gateway/shutdown(at:)`` does to the dialogs.
    public var onStop = StopPolicy.terminate
    /// The `epid` under which categories are published on behalf of users of enterprise domains, 1 to 16 characters; the same over
    /// restarts. nil: made from ``nodeName``.
    public var publisherEPID: String?
    /// Records below this level are not made.
    public var logLevel = GatewayLog.Level.info

    public init(
        nodeName: String, listeners: [TransportAddress], advertisedHost: String? = nil, domains: [String: DomainConfiguration],
        limits: GatewayLimits = GatewayLimits(), timing: GatewayTiming = GatewayTiming()
    ) {
        self.nodeName = nodeName
        self.listeners = listeners
        self.advertisedHost = advertisedHost
        self.domains = domains
        identities = Self.identities(of: domains)
        self.limits = limits
        self.timing = timing
    }

    /// The domains as the routing room sees them: the one answer to "where does this URI go".
    public var routes: RoutingTable {
        var table = RoutingTable(domains.mapValues(\.federated), identities: identities)
        table.locatesNames = naming != nil
        return table
    }

    private static func identities(of domains: [String: DomainConfiguration]) -> IdentityTable {
        IdentityTable(domains.mapValues(\.forms))
    }

    /// Names of the domains whose home server this is.
    var hostedDomains: Set<String> {
        Set(domains.filter { $0.key != "*" && $0.value.hosted && $0.value.refuse == nil }.map { $0.key.lowercased() })
    }

    /// The entry for a host name or an alias, compared without regard to case; nil when neither it nor `*` is configured.
    public func domain(_ host: String) -> DomainConfiguration? {
        domains[host] ?? domains[host.lowercased()] ?? domains[identities.domain(host)] ?? anonymousDomain(host) ?? domains["*"]
    }

    /// The entry that speaks for a user, whichever form of his names this is.
    public func domain(of uri: SIPURI) -> DomainConfiguration? {
        domain(identities.identity(of: uri).domain)
    }

    /// The canonical form of a user's names.
    public func canonical(_ uri: SIPURI) -> SIPURI { identities.identity(of: uri).uri }

    /// What is granted to a domain's watchers, and asked of a domain.
    func expires(_ domain: DomainConfiguration) -> GatewayTiming.ExpiryRange {
        domain.expires ?? (domain.side == .enterprise ? timing.enterprise : timing.simple)
    }
}

/// Which presence model a domain speaks: MS-PRES categories, or the PIDF family.
public enum DomainSide: String, Hashable, Sendable, CaseIterable {
    case enterprise, simple
}

/// Where a watcher counts as coming from when containers are resolved (MS-PRES 3.2.5.3).
public enum SourceNetwork: String, Hashable, Sendable, CaseIterable {
    case sameEnterprise, federated, publicCloud
}

/// The flavour of PIDF that is written toward a domain; every flavour is read.
public enum DomainProfile: String, Hashable, Sendable, CaseIterable {
    case rpid
    case rpidDraft = "rpid-draft"
    case oma
}

/// What watchers of a presentity see while its far side is lost, until it counts as offline.
public enum LostPresence: String, Hashable, Sendable, CaseIterable {
    /// Their subscriptions are pending at once (RFC 6665 4.1.3): nobody vouches for anything.
    case pending
    /// The last state, for as long as ``GatewayTiming/staleAfter``; then the presentity is offline.
    case stale
    /// Offline at once.
    case offline
}

/// The form in which an enterprise domain is asked for presence (MS-PRES 1.3.3, 3.4.5.1.1).
public enum UpstreamFormat: String, Hashable, Sendable, CaseIterable {
    /// Categories, all presentities of a watcher in one dialog.
    case batch
    /// Categories, each presentity in a dialog of its own.
    case categories
    case msrtc, pidf
}

/// What is known of one domain.
public struct DomainConfiguration: Hashable, Sendable {
    public var side: DomainSide
    /// This gateway is the home server of the domain's users.
    public var hosted: Bool
    /// Next hop toward a domain that is not hosted.
    public var route: TransportAddress?
    /// What the domain's servers prove over TLS (RFC 5922), as far as the configuration says it.
    public var certificate: PeerExpectation?
    /// Several next hops, instead of one.
    public var hops: [ListedHop] = []
    /// Its servers are looked up, where no hop is configured; nil: they are not.
    public var discovery: Discovery?
    /// Users with hops of their own; the first pattern that fits decides.
    public var userRoutes: [UserRoute] = []
    public var network: SourceNetwork
    /// PIDF written to the domain. Enterprise partners get the one tuple of MS-PRES 2.2.2.8 unless configured otherwise; PIDF watchers
    /// of a hosted domain are its users' own SIMPLE clients, which read RFC 4480.
    public var profile: DomainProfile {
        get { chosenProfile ?? (side == .enterprise && !hosted ? .rpidDraft : .rpid) }
        set { chosenProfile = newValue }
    }
    private var chosenProfile: DomainProfile?
    /// Names of categories that its users may publish besides those of ``CategoryName/registered`` (MS-PRES 3.2.5.4).
    public var categories: Set<CategoryName> = []
    /// For enterprise domains only: the form that is tried first; nil: batches inside the own enterprise, else categories.
    public var upstream: UpstreamFormat?
    /// For simple domains: differences are asked for (RFC 5263); whoever takes none is asked for whole documents.
    public var partial = true
    /// For simple domains: how all presentities of a batch watcher are had in one subscription; nil: one each.
    public var lists: UpstreamLists?
    /// Write the extension that keeps exact enterprise values in PIDF sent to this domain.
    public var lossless: Bool
    /// Pool GRUU given to batch watchers as a hint where its users live (MS-PRES 3.4.5.1.3.1), and asked first by our own batches.
    public var poolFqdn: String?
    /// For hosted enterprise domains: what is bound to an endpoint may only be published by one that is registered (MS-PRES 3.2.5.4).
    public var requiresRegistration: Bool
    /// For domains that are not hosted: their users may publish through this gateway in the other side's way: SERVICE for a simple
    /// domain, PUBLISH for an enterprise domain.
    public var publish = false
    /// For enterprise domains with ``publish``: as which instances a state is carried there.
    public var publishAs = PublishForm.automatic
    /// Refuse everything to and from this domain with this status (400-699).
    public var refuse: Int?
    /// How its users may be named besides `sip:user@domain`.
    public var forms = IdentityTable.Forms()
    /// What is granted to its watchers and asked of it; nil: that of its side.
    public var expires: GatewayTiming.ExpiryRange?
    /// What watchers of its presentities see while it is lost.
    public var whenLost = LostPresence.stale
    /// Who may speak for it, and what its servers are believed.
    public var trust = DomainTrust()
    /// How often its next hop is asked by OPTIONS whether it lives; zero: never; nil: every 60 s while something is subscribed there.
    public var keepAlive: TimeSpan?
    /// How this gateway signs in where the domain's servers ask for it; nil: it cannot.
    public var credentials: PartnerCredentials?

    public init(
        side: DomainSide, hosted: Bool = false, route: TransportAddress? = nil, network: SourceNetwork = .federated,
        profile: DomainProfile? = nil, upstream: UpstreamFormat? = nil, lossless: Bool = false, poolFqdn: String? = nil,
        requiresRegistration: Bool = false, refuse: Int? = nil
    ) {
        self.side = side
        self.hosted = hosted
        self.route = route
        self.network = network
        chosenProfile = profile
        self.upstream = upstream
        self.lossless = lossless
        self.poolFqdn = poolFqdn
        self.requiresRegistration = requiresRegistration
        self.refuse = refuse
    }

    /// The domain as the routing room sees it.
    var federated: FederatedDomain {
        if let refuse { return .refused(SIPStatus(rawValue: refuse)) }
        var domain = FederatedDomain(
            side: side == .enterprise ? .enterprise : .simple, isHosted: hosted, route: route, certificate: certificate,
            network: FederatedDomain.Network(rawValue: network.rawValue) ?? .federated, profile: profile.rawValue, poolFQDN: poolFqdn)
        domain.hops = hops
        domain.discovery = discovery
        domain.userRoutes = userRoutes
        domain.peers = trust.peers
        domain.isEdge = trust.isEdge
        domain.assertsIdentities = trust.asserts
        domain.rights = trust.rights
        return domain
    }

    /// The next hop toward a user of the domain; nil: there is none.
    func nextHop(toward host: String, user: String?, isSecure: Bool, locatesNames: Bool) -> NextHop? {
        if let route, userRoutes.isEmpty, !locatesNames || route.isNumeric, !isSecure || route.transport == .tls { return .fixed(route) }
        return federated.nextHop(toward: host, user: user, isSecure: isSecure, locatesNames: locatesNames)
    }

    /// A domain that is answered with a status and nothing else.
    public static func refused(_ status: Int) -> DomainConfiguration {
        DomainConfiguration(side: .simple, refuse: status)
    }
}

extension GatewayConfiguration {
    /// The quotas of what users keep on this server.
    var roamingPolicy: RoamingPolicy {
        var policy = RoamingPolicy()
        policy.subscriberLimit = limits.subscribersPerUser
        policy.totalContextByteLimit = limits.contextBytesPerUser
        policy.delegateLimit = limits.delegatesPerUser
        policy.contactLimit = limits.contactsPerUser
        policy.groupLimit = limits.groupsPerUser
        policy.allowsUnifiedContactStore = allowsUnifiedContactStore
        return policy
    }
}

/// Limits of everything that grows. At each of them the answer is defined: 413, 503 with Retry-After, or `terminated;reason=...`.
public struct GatewayLimits: Hashable, Sendable {
    /// Live watcher dialogs of one watcher; beyond it 503 (toward the enterprise 413, MS-PRES 3.4.5.1.3).
    public var subscriptionsPerWatcher = 1_000
    /// Live watcher dialogs of one presentity; beyond it 503 (MS-PRES 3.4.5.1.3.1).
    public var subscriptionsPerPresentity = 10_000
    /// Live watcher dialogs of this shard; beyond it 503.
    public var subscriptions = 200_000
    /// Resources of all watcher dialogs of this shard; beyond it 503, in a batch or list a verdict.
    public var watchedResources = 1_000_000
    /// Far legs of this shard; beyond it 503, in a batch or list a verdict.
    public var upstreamSubscriptions = 400_000
    /// Messages of this shard that have not left; beyond it new work is 503.
    public var pendingOutput = 50_000
    /// Octets of a body; beyond it 413.
    public var bodyBytes = 262_144
    /// Transactions of either kind; beyond it 503, and 503 for new work when four fifths of it are live.
    public var transactions = 100_000
    /// Hosted presentities with a record; beyond it 503.
    public var presentities = 200_000
    /// Watchers that presentities of this shard were shown to, of one presentity 5,000; beyond it the first are forgotten.
    public var shownWatchers = 500_000
    /// What blocked watchers of this shard see of those that block them, of one presentity 100; beyond it users that never published.
    public var signOffs = 20_000
    /// Live publications of one presentity, of either model; beyond it 413 (SERVICE) or 503 (PUBLISH).
    public var publicationsPerPresentity = 200
    /// Octets of all documents that one presentity published by PUBLISH, as they are written to watchers; beyond it 413 (RFC 3903 4.5).
    public var composedBytes = 262_144
    /// Elements in them; beyond it 413.
    public var composedElements = 5_000
    /// Notes in them; beyond it 413.
    public var composedNotes = 1_000
    /// Elements of unknown vocabularies in them; beyond it 413.
    public var composedExtensions = 1_000
    /// Octets of the body of one published instance; beyond it 413 (MS-PRES 3.2.5.4).
    public var publicationBytes = 65_536
    /// Octets of all instances of one category of a user; beyond it 413 (MS-PRES 3.2.5.4).
    public var categoryBytes = 262_144
    /// Members of all containers of one user; beyond it 413 (MS-PRES 3.5.5.5).
    public var membersPerUser = 1_000
    /// Endpoints that one user has registered; beyond it 403 (MS-SIPREGE).
    public var registrationsPerUser = 16
    /// Registrations of this shard; beyond it 503.
    public var registrations = 200_000
    /// Resources named in one batch subscription (MS-PRES 3.4.5.1.3), or in one list (RFC 5367); beyond it 413.
    public var resourcesPerBatch = 200
    /// Categories named in one subscription; beyond it 413.
    public var categoriesPerSubscription = 32
    /// Entries of one user's subscriber list; beyond it 413 (MS-PRES 3.6.5.3).
    public var subscribersPerUser = 10_000
    /// Octets of all subscription contexts on one user's list; beyond it 413 (MS-PRES 3.6.5.3).
    public var contextBytesPerUser = 262_144
    /// Delegates of one user; beyond it 413 (MS-PRES 3.9.5.4).
    public var delegatesPerUser = 25
    /// Contacts of one user; beyond it 413 (MS-SIP 3.7.1).
    public var contactsPerUser = 1_000
    /// Groups of one user, 64 at most; beyond it 413 (MS-SIP 9.1).
    public var groupsPerUser = 64
    /// Users found by one search in the directory; beyond it the answer says that there are more (MS-PRES 3.1.5.2).
    public var directorySearchResults = 100
    /// Most conditions of one directory search; beyond it 400 with Client.BadCall (MS-PRES 3.1.5.4).
    public var directorySearchConditions = 16
    /// Directory searches of one user in one second; beyond it 503 with Server.Unavailable.Busy (MS-PRES 3.1.5.4) and Retry-After.
    public var directorySearchesPerSecond = 10
    /// Identities for which publications are carried to another domain; beyond it 503.
    public var publicationBridges = 100_000
    /// Structured log records kept until they are taken; older ones are dropped and counted.
    public var logRecords = 4_096
    /// Refusals and ends of subscriptions that are kept in mind for an operator; the oldest are forgotten.
    public var journalEntries = 1_000

    public init() {}

    var blocks: BlockMemory.Bounds { BlockMemory.Bounds(watchers: shownWatchers, signOffs: signOffs) }

    var composition: CompositionLimits {
        CompositionLimits(
            publications: publicationsPerPresentity,
            size: PublicationSize(octets: composedBytes, elements: composedElements, notes: composedNotes, extensions: composedExtensions))
    }

    /// From so many live transactions on only what was begun is carried on.
    var transactionsBeforeOverload: Int { max(transactions - transactions / 5, 1) }
}

/// Spans of time that an operator may set; the protocol's own timers are fixed by their standards.
public struct GatewayTiming: Hashable, Sendable {
    /// Bounds of what is granted to watchers, and asked of the far side.
    public struct ExpiryRange: Hashable, Sendable {
        /// Seconds; a wish below it (but not 0) is refused with 423, unless it is at least 3600 (RFC 6665 4.2.1.1).
        public var minimum: Int
        /// Seconds granted when nothing is asked.
        public var standard: Int
        /// Seconds; a longer wish is shortened to it.
        public var maximum: Int

        public init(minimum: Int, standard: Int, maximum: Int) {
            self.minimum = minimum
            self.standard = standard
            self.maximum = maximum
        }
    }

    public var enterprise = ExpiryRange(minimum: 60, standard: 28_800, maximum: 43_200)
    public var simple = ExpiryRange(minimum: 60, standard: 3_600, maximum: 7_200)
    public var publication = ExpiryRange(minimum: 60, standard: 3_600, maximum: 86_400)
    public var registration = ExpiryRange(minimum: 60, standard: 7_200, maximum: 86_400)
    /// How long a registration, and a client's dialog with BENOTIFY, outlives the connection that it was made over.
    public var connectionGrace: TimeSpan = .seconds(30)
    /// Least time between two changes of one presentity that one dialog is notified of, between any two changes for the dialog of a
    /// list (RFC 3856 6.10 recommends 5 s). The newest state is always sent; first states and ends are not delayed.
    public var notifySpacing: TimeSpan = .zero
    /// How long NOTIFYs in a row may go unanswered (Timer F) before the subscription ends; it never outlives its expiry. Faults of the
    /// transport never end it.
    public var notifyPatience: TimeSpan = .seconds(600)
    /// How long the first NOTIFY waits for state from the far side before it says `pending`.
    public var firstNotifyGrace: TimeSpan = .milliseconds(500)
    /// How long a poll waits for the far side before it is answered with what is known.
    public var pollWait: TimeSpan = .seconds(3)
    /// How long a publication that is carried to another domain waits for that domain's answer.
    public var publishWait: TimeSpan = .seconds(4)
    /// First pause before a dead upstream leg is made anew; it doubles up to `retryMaximum`.
    public var retryMinimum: TimeSpan = .seconds(5)
    public var retryMaximum: TimeSpan = .seconds(300)
    /// How long the last state of a lost upstream leg is shown before the presentity counts as offline.
    public var staleAfter: TimeSpan = .seconds(180)
    /// How long after a restart those may come back who were reached over a connection only: endpoints, and watchers with BENOTIFY.
    public var restartGrace: TimeSpan = .seconds(120)
    /// Pause between two far legs that are asked for anew after a restart.
    public var restorePace: TimeSpan = .milliseconds(5)
    /// Retry-After, in seconds, of a 503; of one for overload, up to twice as long.
    public var retryAfter = 30
    /// New work is 503 while the event loop is so late; zero: however late it is.
    public var overloadLateness: TimeSpan = .seconds(1)

    public init() {}
}
