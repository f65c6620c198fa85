import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SimplePresence

/// Configuration of one gateway shard, as a plain value; the program builds it from the configuration file.
public struct GatewayConfiguration: Hashable, Sendable {
    /// Host name of this node: `source` of ms-diagnostics, agent of Warning, part of the hop mark (RFC 3261 20.43).
    public var nodeName: String
    /// Listening addresses with their real ports; at least one. The first of a transport is used for Via and Contact.
    public var listeners: [TransportAddress]
    /// Host written into Via and Contact instead of the listener's; nil: the listener's.
    package var advertisedHost: String?
    /// Host and port written into Via and Contact, by listener with its real port; takes precedence over ``advertisedHost``.
    package var advertised: [TransportAddress: TransactionLayer.HostPort] = [:]
    /// Domains by name in lower case; `*` covers every domain that is not named.
    public var domains: [String: DomainConfiguration] { didSet { identities = Self.identities(of: domains) } }
    /// Canonical identities of users, derived from the domains.
    package private(set) var identities: IdentityTable
    /// Limits of the shard's tables.
    public var limits: GatewayLimits
    /// Lifetimes, pauses and waits.
    package var timing: GatewayTiming
    /// Authentication required of users of hosted domains, by listener with its real port. Empty: From is trusted everywhere.
    package var authentication: [TransportAddress: ListenerAuthentication] = [:]
    /// Whether contact lists may move to a mail server when a client reports that it is ready (MS-PRES 3.10.4); see
    /// ``Gateway/usersAwaitingContactMigration``.
    package var allowsUnifiedContactStore = false
    /// URI of the list server, to which watchers send lists of presentities (RFC 5367); nil: none.
    public var listServer: SIPURI?
    /// Lookup of next hops; nil: names are left to the transport, and no server is discovered.
    package var naming: NamingConfiguration?
    /// Treatment of the dialogs by ``Gateway/shutdown(at:)``.
    package var onStop = StopPolicy.terminate
    /// The `epid` under which categories are published for users of enterprise domains, 1 to 16 characters, unchanged over restarts;
    /// nil: derived from ``nodeName``.
    package var publisherEPID: String?
    /// Absolute URI of the XCAP root (RFC 4825 6.1); nil: no documents are served.
    package var xcapRoot: String?
    /// Lowest level of log records.
    package var logLevel = GatewayLog.Level.info

    /// Creates a configuration; by default without authentication, lists and name lookup.
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

    /// Routing table of the domains.
    package var routes: RoutingTable {
        var table = RoutingTable(domains.mapValues(\.federated), identities: identities)
        table.locatesNames = naming != nil
        return table
    }

    private static func identities(of domains: [String: DomainConfiguration]) -> IdentityTable {
        IdentityTable(domains.mapValues(\.forms))
    }

    /// Names of the hosted domains.
    var hostedDomains: Set<String> {
        Set(domains.filter { $0.key != "*" && $0.value.hosted && $0.value.refuse == nil }.map { $0.key.lowercased() })
    }

    /// Names of the hosted domains with endpoints (MS-PRES).
    var enterpriseHomes: Set<String> { hostedDomains.filter { domain($0)?.side == .enterprise } }

    /// The entry for a host name or an alias, compared case-insensitively; nil if neither it nor `*` is configured.
    package func domain(_ host: String) -> DomainConfiguration? {
        domains[host] ?? domains[host.lowercased()] ?? domains[identities.domain(host)] ?? anonymousDomain(host) ?? domains["*"]
    }

    /// The entry for a user's domain, for any form of the user's URI.
    package func domain(of uri: SIPURI) -> DomainConfiguration? {
        domain(identities.identity(of: uri).domain)
    }

    /// Canonical form of a user's URI.
    package func canonical(_ uri: SIPURI) -> SIPURI { identities.identity(of: uri).uri }

    /// Expiry range granted to a domain's watchers and requested from the domain.
    func expires(_ domain: DomainConfiguration) -> GatewayTiming.ExpiryRange {
        domain.expires ?? (domain.side == .enterprise ? timing.enterprise : timing.simple)
    }
}

/// Profile of PIDF written toward a domain; all profiles are read.
public enum DomainProfile: String, Hashable, Sendable, CaseIterable {
    case rpid
    case rpidDraft = "rpid-draft"
    case oma
}

/// Presence that watchers see while the presentity's domain is lost, until it counts as offline.
package enum LostPresence: String, Hashable, Sendable, CaseIterable {
    /// Subscriptions become pending at once (RFC 6665 4.1.3), because the state is unconfirmed.
    case pending
    /// The last state for ``GatewayTiming/staleAfter``, then offline.
    case stale
    /// Offline at once.
    case offline
}

/// Form of the subscriptions to an enterprise domain (MS-PRES 1.3.3, 3.4.5.1.1).
public enum UpstreamFormat: String, Hashable, Sendable, CaseIterable {
    /// Categories, all presentities of a watcher in one dialog.
    case batch
    /// Categories, each presentity in a dialog of its own.
    case categories
    case msrtc, pidf
}

extension GatewayConfiguration {
    /// Quotas of the data that users keep on this server.
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

/// Limits of all growing tables; beyond a limit the response is 413, or 503 with Retry-After, or `terminated;reason=...`.
public struct GatewayLimits: Hashable, Sendable {
    /// Live watcher dialogs of one watcher; beyond it 503, toward enterprise watchers 413 (MS-PRES 3.4.5.1.3).
    public var subscriptionsPerWatcher = 1_000
    /// Live watcher dialogs of one presentity; beyond it 503, toward enterprise watchers 413 (MS-PRES 3.4.5.1.3.1).
    public var subscriptionsPerPresentity = 10_000
    /// Live dialogs of this shard with watchers and users' own endpoints; beyond it 503.
    package var subscriptions = 200_000
    /// Resources of all watcher dialogs of this shard; beyond it 503, in a batch or list `terminated` for the resource.
    package var watchedResources = 1_000_000
    /// Upstream subscriptions of this shard; beyond it 503, in a batch or list `terminated` for the resource.
    package var upstreamSubscriptions = 400_000
    /// Unsent messages of this shard; beyond it 503 for new work.
    package var pendingOutput = 50_000
    /// Octets of a body; beyond it 413.
    public var bodyBytes = 262_144
    /// Client transactions, and server transactions; beyond it 503, and from four fifths of it 503 for new work.
    package var transactions = 100_000
    /// Hosted presentities with a record; beyond it 503.
    package var presentities = 200_000
    /// Remembered watchers that were shown presence, 10,000 per presentity; a full table drops unused ones or takes no more (``BlockMemory``).
    package var shownWatchers = 500_000
    /// Sign-offs that blocked watchers see, 100 per presentity; beyond it those watchers see a user that never published.
    package var signOffs = 20_000
    /// Live publications of one presentity, of either model; beyond it 413 (SERVICE) or 503 (PUBLISH).
    package var publicationsPerPresentity = 200
    /// Octets of all PUBLISH documents of one presentity, as written to watchers; beyond it 413 (RFC 3903 4.5).
    package var composedBytes = 262_144
    /// Elements of all PUBLISH documents of one presentity; beyond it 413.
    package var composedElements = 5_000
    /// Notes in these documents; beyond it 413.
    package var composedNotes = 1_000
    /// Elements of unknown vocabularies in these documents; beyond it 413.
    package var composedExtensions = 1_000
    /// Octets of the body of one published instance; beyond it 413 (MS-PRES 3.2.5.4).
    package var publicationBytes = 65_536
    /// Octets of all instances of one category of a user; beyond it 413 (MS-PRES 3.2.5.4).
    package var categoryBytes = 262_144
    /// Members of all containers of one user; beyond it 413 (MS-PRES 3.5.5.5).
    package var membersPerUser = 1_000
    /// Endpoints that one user has registered; beyond it 403 (MS-SIPREGE).
    public var registrationsPerUser = 16
    /// Registrations of this shard; beyond it 503.
    public var registrations = 200_000
    /// Resources named in one batch subscription (MS-PRES 3.4.5.1.3), or in one list (RFC 5367); beyond it 413.
    package var resourcesPerBatch = 200
    /// Filters of one subscription; beyond it 488 (RFC 4660 5.2).
    package var filtersPerSubscription = 8
    /// Octets of a filter document; beyond it 413.
    package var filterBytes = 8_192
    /// Categories named in one subscription; beyond it 413.
    package var categoriesPerSubscription = 32
    /// Entries of one user's subscriber list; beyond it 413 (MS-PRES 3.6.5.3).
    package var subscribersPerUser = 10_000
    /// Octets of all subscription contexts on one user's list; beyond it 413 (MS-PRES 3.6.5.3).
    package var contextBytesPerUser = 262_144
    /// Delegates of one user; beyond it 413 (MS-PRES 3.9.5.4).
    package var delegatesPerUser = 25
    /// Contacts of one user; beyond it 413 (MS-SIP 3.7.1).
    package var contactsPerUser = 1_000
    /// Groups of one user, 64 at most; beyond it 413 (MS-SIP 9.1).
    package var groupsPerUser = 64
    /// Users returned by one directory search; beyond it the response states that there are more (MS-PRES 3.1.5.2).
    package var directorySearchResults = 100
    /// Conditions of one directory search; beyond it 400 with Client.BadCall (MS-PRES 3.1.5.4).
    package var directorySearchConditions = 16
    /// Directory searches of one user in one second; beyond it 503 with Server.Unavailable.Busy (MS-PRES 3.1.5.4) and Retry-After.
    package var directorySearchesPerSecond = 10
    /// Rows of one watcher information document; beyond it watchers that wait for a decision are shown first (RFC 3857 6).
    package var watcherRows = 1_000
    /// Watchers of one presentity that wait for a decision after their subscriptions ended; beyond it the oldest is given up.
    package var waitingWatchersPerPresentity = 100
    /// Such watchers of this shard; beyond it further ones are not remembered.
    package var waitingWatchers = 10_000
    /// XCAP documents of one user; beyond it 413.
    package var documentsPerUser = 100
    /// Octets of all XCAP documents of one user; beyond it 413.
    package var documentBytesPerUser = 1_048_576
    /// XCAP documents of this shard; beyond it 503.
    package var documents = 200_000
    /// XCAP requests of one user in one second; beyond it 429 with Retry-After.
    package var documentRequestsPerSecond = 50
    /// Identities with publications relayed to another domain; beyond it 503.
    package var publicationBridges = 100_000
    /// Log records kept until they are taken; beyond it new records are dropped and counted.
    package var logRecords = 4_096
    /// Journal entries (refusals, losses and ends); beyond it the oldest are dropped.
    package var journalEntries = 1_000

    /// Creates the default limits.
    public init() {}

    var composition: CompositionLimits {
        CompositionLimits(
            publications: publicationsPerPresentity,
            size: PublicationSize(octets: composedBytes, elements: composedElements, notes: composedNotes, extensions: composedExtensions))
    }

    /// Live transactions from which new work is refused.
    var transactionsBeforeOverload: Int { max(transactions - transactions / 5, 1) }
}

/// Configurable times; the timers of the protocol are fixed by their standards.
public struct GatewayTiming: Hashable, Sendable {
    /// Bounds of subscription lifetimes granted to watchers and requested from remote domains.
    package struct ExpiryRange: Hashable, Sendable {
        /// Seconds; a shorter request (but not 0) is refused with 423, unless it is at least 3600 (RFC 6665 4.2.1.1).
        package var minimum: Int
        /// Seconds granted without an Expires in the request.
        package var standard: Int
        /// Seconds; a longer request is shortened to it.
        package var maximum: Int

        /// Creates a range, in seconds.
        package init(minimum: Int, standard: Int, maximum: Int) {
            self.minimum = minimum
            self.standard = standard
            self.maximum = maximum
        }
    }

    /// Expiry range of enterprise domains.
    package var enterprise = ExpiryRange(minimum: 60, standard: 28_800, maximum: 43_200)
    /// Expiry range of simple domains.
    package var simple = ExpiryRange(minimum: 60, standard: 3_600, maximum: 7_200)
    /// Expiry range of PUBLISH.
    package var publication = ExpiryRange(minimum: 60, standard: 3_600, maximum: 86_400)
    /// Expiry range of registrations.
    package var registration = ExpiryRange(minimum: 60, standard: 7_200, maximum: 86_400)
    /// Time that a registration, or a client's dialog with BENOTIFY, outlives its connection.
    package var connectionGrace: TimeSpan = .seconds(30)
    /// Least time between notified changes of one presentity in one dialog, for lists between any two changes (RFC 3856 6.10 recommends
    /// 5 s). The newest state is sent in the end; first states and ends are not delayed.
    package var notifySpacing: TimeSpan = .zero
    /// Longest series of unanswered NOTIFYs (Timer F) before the subscription ends, if it does not expire before. Transport failures do
    /// not end it.
    package var notifyPatience: TimeSpan = .seconds(600)
    /// Longest wait of the first NOTIFY for upstream state; after it the NOTIFY is sent as `pending`.
    package var firstNotifyGrace: TimeSpan = .milliseconds(500)
    /// Longest wait of a poll for upstream state; after it the known state is sent.
    package var pollWait: TimeSpan = .seconds(3)
    /// Longest wait of a relayed publication for the response of the other domain.
    package var publishWait: TimeSpan = .seconds(4)
    /// First pause before a lost upstream subscription is restarted; it doubles up to ``retryMaximum``.
    package var retryMinimum: TimeSpan = .seconds(5)
    /// Longest pause before a lost upstream subscription is restarted.
    package var retryMaximum: TimeSpan = .seconds(300)
    /// Time that the last state of a lost upstream subscription is shown before the presentity counts as offline.
    package var staleAfter: TimeSpan = .seconds(180)
    /// Time after a restart in which endpoints, and watchers with BENOTIFY, that were reached over a connection only may come back.
    package var restartGrace: TimeSpan = .seconds(120)
    /// Pause between the starts of two upstream subscriptions after a restart.
    package var restorePace: TimeSpan = .milliseconds(5)
    /// Retry-After of a 503 in seconds; for overload a random value from it to less than twice as much.
    package var retryAfter = 30
    /// Lateness of the event loop from which new work is refused with 503; zero: no check.
    package var overloadLateness: TimeSpan = .seconds(1)

    /// Creates the default times.
    public init() {}
}
