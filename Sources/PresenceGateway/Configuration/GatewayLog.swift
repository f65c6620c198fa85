import SIPCore

/// Structured log record: a constant message and keyed values; the driver of the gateway writes it.
public struct GatewayLog: Hashable, Sendable {
    /// Level of a record; identities of people (presentity, watcher) appear only at `.debug`.
    package enum Level: Int, Hashable, Sendable, Comparable {
        case debug, info, notice, warning, error

        /// Orders levels by severity.
        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Level of the record.
    package var level: Level
    /// Constant message.
    package var message: StaticMessage
    /// Keyed values.
    package var metadata: [Field]

    /// Keyed value.
    package struct Field: Hashable, Sendable {
        /// Key.
        package var key: String
        /// Value as text.
        package var value: String

        /// Creates a keyed value.
        package init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// Message without data.
    package struct StaticMessage: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
        /// Text of the message.
        package var description: String
        /// Creates a message from a literal.
        package init(stringLiteral value: StaticString) { description = value.description }
    }

    /// Creates a record.
    package init(_ level: Level, _ message: StaticMessage, _ metadata: [Field] = []) {
        self.level = level
        self.message = message
        self.metadata = metadata
    }
}

/// Counters since the start, for metrics; they only grow.
package struct GatewayCounters: Hashable, Sendable {
    /// Requests that passed admission.
    package var requestsReceived: UInt64 = 0
    /// Responses to open requests, provisional ones included.
    package var responsesReceived: UInt64 = 0
    /// Responses that name an open request and were refused: from another source than its destination, or with other identifiers.
    package var responsesRefused: UInt64 = 0
    /// Responses to no open request: late, misrouted or forged.
    package var responsesStray: UInt64 = 0
    /// Malformed messages.
    package var malformedReceived: UInt64 = 0
    /// Requests sent, BENOTIFY included.
    package var requestsSent: UInt64 = 0
    /// Responses sent, without retransmissions.
    package var responsesSent: UInt64 = 0
    /// Subscriptions accepted, those of users' own endpoints included.
    package var subscriptionsAccepted: UInt64 = 0
    /// SUBSCRIBE requests refused or challenged.
    package var subscriptionsRefused: UInt64 = 0
    /// Subscriptions ended, those of users' own endpoints included.
    package var subscriptionsEnded: UInt64 = 0
    /// NOTIFY and BENOTIFY requests sent.
    package var notificationsSent: UInt64 = 0
    /// Changes of watched presentities without a notification of their own: the watcher had that state already, or newer state replaced
    /// it while it waited (`timing.notify-spacing-ms`, or the response to the previous notification).
    package var notificationsSuppressed: UInt64 = 0
    /// Notifications that were refused or not delivered.
    package var notificationsFailed: UInt64 = 0
    /// Notifications received in upstream subscriptions, and states in 200 responses.
    package var notificationsReceived: UInt64 = 0
    /// PUBLISH and SERVICE requests accepted.
    package var publicationsAccepted: UInt64 = 0
    /// PUBLISH and SERVICE requests refused or challenged.
    package var publicationsRefused: UInt64 = 0
    /// Upstream subscriptions lost and restarted.
    package var upstreamLost: UInt64 = 0
    /// Presentities redirected by a remote domain to another pool or their own URI, and followed (MS-PRES 3.4.5.1.3.1).
    package var redirectsFollowed: UInt64 = 0
    /// Presentities that rest after too many redirects, a loop, or a pool that no longer serves them.
    package var redirectsDelayed: UInt64 = 0
    /// Presentities redirected to a target that they had before.
    package var redirectLoops: UInt64 = 0
    /// Relayed PUBLISH and SERVICE requests that another domain accepted.
    package var publicationsRelayed: UInt64 = 0
    /// Relayed PUBLISH and SERVICE requests that another domain refused for good.
    package var publicationsRefusedUpstream: UInt64 = 0
    /// Responses 409 and 412: the other domain has other versions, or no longer the entity-tag.
    package var publicationConflicts: UInt64 = 0
    /// Partial documents and lists that did not follow the previous version, or could not be applied.
    package var partialStateMissed: UInt64 = 0
    /// Parts of notified documents that were skipped because they violate their standard.
    package var documentFlaws: UInt64 = 0
    /// Notified documents that could not be read at all.
    package var documentsUnreadable: UInt64 = 0
    /// List subscriptions replaced by single ones, because the list could not be subscribed to.
    package var listsGivenUp: UInt64 = 0
    /// Requests received or to be sent that exceeded a limit.
    package var limitsReached: UInt64 = 0
    /// Requests of peers that may not act for the domain of From.
    package var unauthorizedPeersRefused: UInt64 = 0
    /// Subscriptions refused because the users may not watch each other.
    package var rightsRefused: UInt64 = 0
    /// Requests refused with 503 because of overload.
    package var overloadRefusals: UInt64 = 0
    /// Presence documents encoded.
    package var bodiesEncoded: UInt64 = 0
    /// Documents composed of the publications of one presentity (RFC 3903 4.5).
    package var documentsComposed: UInt64 = 0
    /// Encoded documents and views that were reused.
    package var bodiesShared: UInt64 = 0
    /// Log records dropped beyond ``GatewayLimits/logRecords``.
    package var logRecordsDropped: UInt64 = 0
    /// Requests of authenticated users.
    package var requestsAuthenticated: UInt64 = 0
    /// Requests challenged.
    package var requestsChallenged: UInt64 = 0
    /// Authentication attempts that failed.
    package var authenticationFailures: UInt64 = 0
    /// Directory searches performed.
    package var directorySearches: UInt64 = 0
    /// Number of times that the machine's clock was set.
    package var clockSteps: UInt64 = 0
    /// Values compared by directory searches.
    package var directoryComparisons: UInt64 = 0
    /// Directory searches refused beyond ``GatewayLimits/directorySearchesPerSecond``.
    package var directorySearchesRefused: UInt64 = 0
    /// XCAP requests of authenticated users.
    package var documentRequests: UInt64 = 0
    /// XCAP documents created, changed or removed.
    package var documentChanges: UInt64 = 0
    /// XCAP requests refused beyond ``GatewayLimits/documentRequestsPerSecond``.
    package var documentRequestsRefused: UInt64 = 0
    /// Commits that the store refused.
    package var commitsFailed: UInt64 = 0
    /// DNS questions.
    package var nameQuestions: UInt64 = 0
    /// DNS questions answered from the cache.
    package var nameCacheHits: UInt64 = 0
    /// DNS questions without a usable answer.
    package var nameFailures: UInt64 = 0
    /// Requests sent to another server after one failed.
    package var hopFailovers: UInt64 = 0
    /// Requests without a usable next hop.
    package var hopsNotLocated: UInt64 = 0

    /// Durations since the start.
    package var durations = GatewayDurations()

    /// Creates zero counters.
    package init() {}
}

/// Durations that a shard measured, for metrics.
package struct GatewayDurations: Hashable, Sendable {
    /// From the submission of a commit to its result, failed ones included.
    package var commits = DurationHistogram()
    /// From a request to a partner domain to its final response.
    package var partnerResponses = DurationHistogram()

    /// Creates empty histograms.
    package init() {}

    /// Adds the durations of another shard.
    package mutating func add(_ other: GatewayDurations) {
        commits.add(other.commits)
        partnerResponses.add(other.partnerResponses)
    }
}

/// Present numbers of dialogs, publications and other live entries.
public struct GatewayCounts: Hashable, Sendable {
    /// Watcher dialogs.
    public var watcherDialogs = 0
    /// Upstream subscriptions.
    package var upstreamSubscriptions = 0
    /// Hosted presentities with a record.
    package var presentities = 0
    /// Publications: PIDF documents and category instances.
    package var publications = 0
    /// Identities with publications relayed to another domain.
    package var publicationBridges = 0
    /// Registrations.
    package var registrations = 0
    /// Subscriptions of users' own endpoints to the data that their home server keeps.
    package var homeDialogs = 0
    /// Client and server transactions.
    package var transactions = 0
    /// Timers.
    package var timers = 0
    /// Resources of all watcher dialogs: a batch or a list has several.
    package var watchedResources = 0
    /// Messages not sent yet.
    package var pendingOutput = 0
    /// Last reported lateness of the event loop, in milliseconds.
    package var latenessMilliseconds = 0
    /// Security associations of the whole node; counted by its first shard.
    package var securityAssociations = 0
    /// TLS-DSK handshakes in progress, of the whole node; counted by its first shard.
    package var tlsHandshakes = 0
    /// Next hops that failed lately and are skipped.
    package var hopsDown = 0
    /// Requests that wait for the lookup of their servers.
    package var requestsWaiting = 0
    /// Upstream subscriptions that the remote domain may have lost, or with an unreadable last document.
    package var unverifiedUpstreams = 0
    /// 1 from a failed commit until one succeeds, else 0; meanwhile requests that depend on the store are refused.
    package var storesFailing = 0
    /// 1 while new work is refused because of overload, else 0.
    package var overloaded = 0

    /// Creates zero numbers.
    package init() {}
}
