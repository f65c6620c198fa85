/// One structured log record: a constant message and keyed values; whoever drives the gateway writes it out.
public struct GatewayLog: Hashable, Sendable {
    /// Identities of people (presentity, watcher) appear only in records of level `.debug`.
    public enum Level: Int, Hashable, Sendable, Comparable {
        case debug, info, notice, warning, error

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    public var level: Level
    public var message: StaticMessage
    public var metadata: [Field]

    public struct Field: Hashable, Sendable {
        public var key: String
        public var value: String

        public init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// A message that never holds data.
    public struct StaticMessage: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
        public var description: String
        public init(stringLiteral value: StaticString) { description = value.description }
    }

    public init(_ level: Level, _ message: StaticMessage, _ metadata: [Field] = []) {
        self.level = level
        self.message = message
        self.metadata = metadata
    }
}

/// Numbers that only grow, for metrics.
public struct GatewayCounters: Hashable, Sendable {
    public var requestsReceived: UInt64 = 0
    public var responsesReceived: UInt64 = 0
    /// Responses that name a request of ours and are not believed: from elsewhere than it went to, or with other identifiers.
    public var responsesRefused: UInt64 = 0
    /// Responses to no request that is open: late, misrouted or made up.
    public var responsesStray: UInt64 = 0
    public var malformedReceived: UInt64 = 0
    public var requestsSent: UInt64 = 0
    public var responsesSent: UInt64 = 0
    public var subscriptionsAccepted: UInt64 = 0
    public var subscriptionsRefused: UInt64 = 0
    public var subscriptionsEnded: UInt64 = 0
    public var notificationsSent: UInt64 = 0
    /// Changes of watched presentities without a notification of their own: the watcher had that state already, or newer state replaced
    /// it while it waited (`timing.notify-spacing-ms`, or the answer to the notification before).
    public var notificationsSuppressed: UInt64 = 0
    public var notificationsFailed: UInt64 = 0
    public var notificationsReceived: UInt64 = 0
    public var publicationsAccepted: UInt64 = 0
    public var publicationsRefused: UInt64 = 0
    public var upstreamLost: UInt64 = 0
    /// Presentities that a far side sent on to another pool or to their own URI, and that were followed (MS-PRES 3.4.5.1.3.1).
    public var redirectsFollowed: UInt64 = 0
    /// Those that were sent on too often, or whose pool served them no more, and that rest before they are asked for again.
    public var redirectsDelayed: UInt64 = 0
    /// Those that were sent to a place where they had been.
    public var redirectLoops: UInt64 = 0
    /// PUBLISH and SERVICE requests of ours that another domain accepted.
    public var publicationsCarried: UInt64 = 0
    /// Of those, refused for good.
    public var publicationsRefusedFar: UInt64 = 0
    /// Answers 409 and 412: the far side knows other versions, or no longer the entity-tag.
    public var publicationConflicts: UInt64 = 0
    /// Partial documents and lists that did not follow what was there before, or could not be applied.
    public var partialStateMissed: UInt64 = 0
    /// Parts of notified documents that were passed over because they break their standard.
    public var documentFlaws: UInt64 = 0
    /// Notified documents of which nothing could be read.
    public var documentsUnreadable: UInt64 = 0
    /// List subscriptions that could not be had, so that presentities were asked for one by one.
    public var listsGivenUp: UInt64 = 0
    /// Requests, of watchers and our own, that a limit left no room for.
    public var limitsReached: UInt64 = 0
    /// Requests of peers that may not speak for the domain of From.
    public var impostorsRefused: UInt64 = 0
    /// Subscriptions of users who may not watch each other.
    public var rightsRefused: UInt64 = 0
    /// Requests answered 503 because too much was unfinished.
    public var overloadRefusals: UInt64 = 0
    public var bodiesEncoded: UInt64 = 0
    /// Documents composed of the publications of one presentity (RFC 3903 4.5).
    public var documentsComposed: UInt64 = 0
    public var bodiesShared: UInt64 = 0
    public var logRecordsDropped: UInt64 = 0
    public var requestsAuthenticated: UInt64 = 0
    public var requestsChallenged: UInt64 = 0
    public var authenticationFailures: UInt64 = 0
    public var directorySearches: UInt64 = 0
    /// How often the machine's clock was set.
    public var clockSteps: UInt64 = 0
    /// Values that directory searches looked at, and searches refused because their user had searched too often.
    public var directoryComparisons: UInt64 = 0
    public var directorySearchesRefused: UInt64 = 0
    public var commitsFailed: UInt64 = 0
    /// Questions to the Domain Name System.
    public var nameQuestions: UInt64 = 0
    /// Questions that a kept answer settled.
    public var nameCacheHits: UInt64 = 0
    /// Questions that nobody answered usably.
    public var nameFailures: UInt64 = 0
    /// Requests that went to another server after one had failed.
    public var hopFailovers: UInt64 = 0
    /// Requests that had nowhere to go.
    public var hopsNotLocated: UInt64 = 0

    public init() {}
}

/// How much is alive now; every number returns to zero when all dialogs and publications have ended.
public struct GatewayCounts: Hashable, Sendable {
    public var watcherDialogs = 0
    public var upstreamSubscriptions = 0
    public var presentities = 0
    public var publications = 0
    /// Identities for which publications are carried to another domain.
    public var publicationBridges = 0
    public var registrations = 0
    /// Subscriptions of users' own endpoints to what their home server keeps for them.
    public var homeDialogs = 0
    public var transactions = 0
    public var timers = 0
    /// Resources of all watcher dialogs: a batch or a list has several.
    public var watchedResources = 0
    /// Messages that have not left yet.
    public var pendingOutput = 0
    /// How late the event loop was lately.
    public var latenessMilliseconds = 0
    /// Of the whole node; counted by its first shard.
    public var securityAssociations = 0
    /// Sign-ins with a certificate that are under way; of the whole node, counted by its first shard.
    public var tlsHandshakes = 0
    /// Next hops that failed lately and are passed over.
    public var hopsDown = 0
    /// Requests that wait until their servers are known.
    public var requestsWaiting = 0
    /// Far legs of which it is not known whether the far side still knows of them.
    public var unverifiedLegs = 0
    /// 1 from a commit that failed until one succeeds: requests that would have to be kept are refused.
    public var storesFailing = 0

    public init() {}
}
