/// Structured log record: a constant message and keyed values; the driver of the gateway writes it.
public struct GatewayLog: Hashable, Sendable {
    /// Level of a record; identities of people (presentity, watcher) appear only at `.debug`.
    public enum Level: Int, Hashable, Sendable, Comparable {
        case debug, info, notice, warning, error

        /// Orders levels by severity.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Level of the record.
    public var level: Level
    /// Constant message.
    public var message: StaticMessage
    /// Keyed values.
    public var metadata: [Field]

    /// Keyed value.
    public struct Field: Hashable, Sendable {
        /// Key.
        public var key: String
        /// Value as text.
        public var value: String

        /// Creates a keyed value.
        public init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// Message without data.
    public struct StaticMessage: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
        /// Text of the message.
        public var description: String
        /// Creates a message from a literal.
        public init(stringLiteral value: StaticString) { description = value.description }
    }

    /// Creates a record.
    public init(_ level: Level, _ message: StaticMessage, _ metadata: [Field] = []) {
        self.level = level
        self.message = message
        self.metadata = metadata
    }
}

/// Counters since the start, for metrics; they only grow.
public struct GatewayCounters: Hashable, Sendable {
    /// Requests that passed admission.
    public var requestsReceived: UInt64 = 0
    /// Responses to open requests, provisional ones included.
    public var responsesReceived: UInt64 = 0
    /// Responses that name an open request and were refused: from another source than its destination, or with other identifiers.
    public var responsesRefused: UInt64 = 0
    /// Responses to no open request: late, misrouted or forged.
    public var responsesStray: UInt64 = 0
    /// Malformed messages.
    public var malformedReceived: UInt64 = 0
    /// Requests sent, BENOTIFY included.
    public var requestsSent: UInt64 = 0
    /// Responses sent, without retransmissions.
    public var responsesSent: UInt64 = 0
    /// Subscriptions accepted, those of users' own endpoints included.
    public var subscriptionsAccepted: UInt64 = 0
    /// SUBSCRIBE requests refused or challenged.
    public var subscriptionsRefused: UInt64 = 0
    /// Subscriptions ended, those of users' own endpoints included.
    public var subscriptionsEnded: UInt64 = 0
    /// NOTIFY and BENOTIFY requests sent.
    public var notificationsSent: UInt64 = 0
    /// Changes of watched presentities without a notification of their own: the watcher had that state already, or newer state replaced
    /// it while it waited (`timing.notify-spacing-ms`, or the response to the previous notification).
    public var notificationsSuppressed: UInt64 = 0
    /// Notifications that were refused or not delivered.
    public var notificationsFailed: UInt64 = 0
    /// Notifications received in upstream subscriptions, and states in 200 responses.
    public var notificationsReceived: UInt64 = 0
    /// PUBLISH and SERVICE requests accepted.
    public var publicationsAccepted: UInt64 = 0
    /// PUBLISH and SERVICE requests refused or challenged.
    public var publicationsRefused: UInt64 = 0
    /// Upstream subscriptions lost and restarted.
    public var upstreamLost: UInt64 = 0
    /// Presentities redirected by a remote domain to another pool or their own URI, and followed (MS-PRES 3.4.5.1.3.1).
    public var redirectsFollowed: UInt64 = 0
    /// Presentities that rest after too many redirects, a loop, or a pool that no longer serves them.
    public var redirectsDelayed: UInt64 = 0
    /// Presentities redirected to a target that they had before.
    public var redirectLoops: UInt64 = 0
    /// Relayed PUBLISH and SERVICE requests that another domain accepted.
    public var publicationsRelayed: UInt64 = 0
    /// Relayed PUBLISH and SERVICE requests that another domain refused for good.
    public var publicationsRefusedUpstream: UInt64 = 0
    /// Responses 409 and 412: the other domain has other versions, or no longer the entity-tag.
    public var publicationConflicts: UInt64 = 0
    /// Partial documents and lists that did not follow the previous version, or could not be applied.
    public var partialStateMissed: UInt64 = 0
    /// Parts of notified documents that were skipped because they violate their standard.
    public var documentFlaws: UInt64 = 0
    /// Notified documents that could not be read at all.
    public var documentsUnreadable: UInt64 = 0
    /// List subscriptions replaced by single ones, because the list could not be subscribed to.
    public var listsGivenUp: UInt64 = 0
    /// Requests received or to be sent that exceeded a limit.
    public var limitsReached: UInt64 = 0
    /// Requests of peers that may not act for the domain of From.
    public var unauthorizedPeersRefused: UInt64 = 0
    /// Subscriptions refused because the users may not watch each other.
    public var rightsRefused: UInt64 = 0
    /// Requests refused with 503 because of overload.
    public var overloadRefusals: UInt64 = 0
    /// Presence documents encoded.
    public var bodiesEncoded: UInt64 = 0
    /// Documents composed of the publications of one presentity (RFC 3903 4.5).
    public var documentsComposed: UInt64 = 0
    /// Encoded documents and views that were reused.
    public var bodiesShared: UInt64 = 0
    /// Log records dropped beyond ``GatewayLimits/logRecords``.
    public var logRecordsDropped: UInt64 = 0
    /// Requests of authenticated users.
    public var requestsAuthenticated: UInt64 = 0
    /// Requests challenged.
    public var requestsChallenged: UInt64 = 0
    /// Authentication attempts that failed.
    public var authenticationFailures: UInt64 = 0
    /// Directory searches performed.
    public var directorySearches: UInt64 = 0
    /// Number of times that the machine's clock was set.
    public var clockSteps: UInt64 = 0
    /// Values compared by directory searches.
    public var directoryComparisons: UInt64 = 0
    /// Directory searches refused beyond ``GatewayLimits/directorySearchesPerSecond``.
    public var directorySearchesRefused: UInt64 = 0
    /// Commits that the store refused.
    public var commitsFailed: UInt64 = 0
    /// DNS questions.
    public var nameQuestions: UInt64 = 0
    /// DNS questions answered from the cache.
    public var nameCacheHits: UInt64 = 0
    /// DNS questions without a usable answer.
    public var nameFailures: UInt64 = 0
    /// Requests sent to another server after one failed.
    public var hopFailovers: UInt64 = 0
    /// Requests without a usable next hop.
    public var hopsNotLocated: UInt64 = 0

    /// Creates zero counters.
    public init() {}
}

/// Present numbers of dialogs, publications and other live entries.
public struct GatewayCounts: Hashable, Sendable {
    /// Watcher dialogs.
    public var watcherDialogs = 0
    /// Upstream subscriptions.
    public var upstreamSubscriptions = 0
    /// Hosted presentities with a record.
    public var presentities = 0
    /// Publications: PIDF documents and category instances.
    public var publications = 0
    /// Identities with publications relayed to another domain.
    public var publicationBridges = 0
    /// Registrations.
    public var registrations = 0
    /// Subscriptions of users' own endpoints to the data that their home server keeps.
    public var homeDialogs = 0
    /// Client and server transactions.
    public var transactions = 0
    /// Timers.
    public var timers = 0
    /// Resources of all watcher dialogs: a batch or a list has several.
    public var watchedResources = 0
    /// Messages not sent yet.
    public var pendingOutput = 0
    /// Last reported lateness of the event loop, in milliseconds.
    public var latenessMilliseconds = 0
    /// Security associations of the whole node; counted by its first shard.
    public var securityAssociations = 0
    /// TLS-DSK handshakes in progress, of the whole node; counted by its first shard.
    public var tlsHandshakes = 0
    /// Next hops that failed lately and are skipped.
    public var hopsDown = 0
    /// Requests that wait for the lookup of their servers.
    public var requestsWaiting = 0
    /// Upstream subscriptions that the remote domain may have lost, or with an unreadable last document.
    public var unverifiedUpstreams = 0
    /// 1 from a failed commit until one succeeds, else 0; meanwhile requests that depend on the store are refused.
    public var storesFailing = 0

    /// Creates zero numbers.
    public init() {}
}
