import PresenceDocuments

/// One live subscription to one presentity, for operators.
public struct SubscriptionReport: Codable, Hashable, Sendable {
    /// State of the watcher's subscription.
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Authorized; the watcher is notified of known state.
        case active
        /// Waits for authorization by the remote domain, or for the first known state.
        case pending
        /// A subscription with Expires 0 that waits for its only notification.
        case polling
        /// The connection to the watcher is lost, for example by a restart, and the watcher has not returned.
        case away
        /// The last NOTIFY awaits its response.
        case ending
    }

    /// Source of the presence.
    public enum Source: String, Codable, Hashable, Sendable, CaseIterable {
        /// The presentity is hosted on this node.
        case hosted
        /// An upstream subscription.
        case far
        /// The user's own data, for the user's own endpoint.
        case own
        /// None: the remote domain ended the upstream subscription.
        case none
    }

    /// Knowledge of the presentity's state.
    public enum Knowledge: String, Codable, Hashable, Sendable, CaseIterable {
        case unknown, known, offline
        /// The upstream subscription is lost; the last state is still shown for a while.
        case stale
    }

    /// Kind of dialog by its presentities.
    public enum Shape: String, Codable, Hashable, Sendable, CaseIterable {
        case single
        /// Categories of several presentities (MS-PRES 3.4.5.1.1).
        case batch
        /// A list contained in the SUBSCRIBE (RFC 5367).
        case list
    }

    /// Address of record of the watcher.
    public var watcher: String
    /// Address of record of the presentity; empty for a batch or list without resources.
    public var presentity: String
    /// Event package with parameters.
    public var event: String
    /// Media type of notifications, with the profile for PIDF.
    public var format: String
    /// Subscribed categories; empty for other formats.
    public var categories: [String]
    /// Kind of dialog by its presentities.
    public var shape: Shape
    /// State of the watcher's subscription.
    public var state: State
    /// Source of the presence.
    public var source: Source
    /// Knowledge of the presentity's state.
    public var knowledge: Knowledge
    /// Call-ID of the watcher's dialog.
    public var callID: String
    /// Local tag of the watcher's dialog.
    public var localTag: String
    /// Remote tag of the watcher's dialog.
    public var remoteTag: String
    /// Time at which the subscription ends without a refresh.
    public var expires: DateTime
    /// Source address of the watcher's last SUBSCRIBE.
    public var peer: String
    /// Whether notifications are BENOTIFY, which has no response (MS-SIP 3.5).
    public var isBestEffort: Bool
    /// Last notification; nil: this process has sent none.
    public var notification: NotificationReport?
    /// Retries of a failed notification; nil: none.
    public var redelivery: RedeliveryReport?
    /// The upstream subscription; nil: none.
    public var leg: UpstreamReport?
}

/// The last notification of a dialog.
public struct NotificationReport: Codable, Hashable, Sendable {
    /// Time of the notification.
    public var at: DateTime
    /// Cause of the notification.
    public var cause: NotificationCause
    /// Whether it was sent in the response to a SUBSCRIBE instead of a NOTIFY.
    public var isPiggybacked: Bool
    /// CSeq of the last NOTIFY; 0 before the first.
    public var cSeq: UInt32
    /// Status of the response; nil: none received.
    public var answer: Int?
    /// Whether the response is awaited.
    public var isAwaited: Bool
    /// Whether it could not be delivered or timed out.
    public var isLost: Bool
    /// Number of notifications of the dialog in this process.
    public var count: Int
    /// Number of changes without a notification: the watcher had the state already, or a newer state replaced it while it waited.
    public var suppressed: Int
}

/// The upstream subscription behind a watcher's subscription.
public struct UpstreamReport: Codable, Hashable, Sendable {
    /// State of the upstream subscription.
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Waits for its turn after a restart.
        case queued
        /// The first SUBSCRIBE awaits its response.
        case asking
        /// Accepted; the first NOTIFY is awaited.
        case waiting
        case established
        /// A refresh awaits its response.
        case refreshing
        /// Lost; subscribed to again later.
        case resting
        /// Unsubscribed; the last NOTIFY is awaited.
        case leaving
        case over
    }

    /// Presence model of the remote domain: `enterprise` or `simple`.
    public var side: String
    /// Next hop.
    public var route: String
    /// `categories`, `msrtc` or `pidf`.
    public var format: String
    /// `single`, `batch` or `list`.
    public var shape: String
    /// Number of resources of the upstream subscription.
    public var resources: Int
    /// Request-URI of the first SUBSCRIBE: the presentity, its list or its pool.
    public var target: String
    /// Call-ID of the upstream dialog.
    public var callID: String
    /// Local tag of the upstream dialog.
    public var localTag: String
    /// Remote tag of the upstream dialog; nil: no dialog yet.
    public var remoteTag: String?
    /// State of the upstream subscription.
    public var state: State
    /// Time since which the state is unverified; nil: the last SUBSCRIBE was accepted and the last document was readable.
    public var unverifiedSince: DateTime?
    /// Time of the restart that restored the subscription; nil: a SUBSCRIBE was accepted since, or this process created it.
    public var restoredAt: DateTime?
    /// Error of the presentity's last document; nil: it was readable.
    public var unreadable: String?
    /// Time of the next refresh.
    public var refreshesAt: DateTime?
    /// Time at which the subscription ends without a refresh.
    public var lapsesAt: DateTime?
    /// Time of the next attempt to subscribe.
    public var retriesAt: DateTime?
    /// Number of consecutive losses.
    public var failures: Int
    /// Last state of the presentity from the remote domain: `unheard`, `active` or `pending`.
    public var standing: String
    /// Time at which the last state of a lost upstream subscription is no longer shown.
    public var staleAt: DateTime?
    /// View of watchers while it is lost: `pending`, `stale` or `offline`.
    public var whenLost: String
    /// Loop markers of the gateways that forwarded the request, this one last.
    public var hopMarks: [String]
}

/// Filter of subscriptions; nil matches all.
public struct SubscriptionFilter: Codable, Hashable, Sendable {
    /// URI of the watcher, alias included.
    public var watcher: String?
    /// URI of the presentity, alias included.
    public var presentity: String?
    /// Domain of the watcher or presentity, alias included.
    public var domain: String?
    /// State of the watcher's subscription.
    public var state: SubscriptionReport.State?
    /// Call-ID of the watcher's or the upstream dialog.
    public var callID: String?

    /// Creates a filter.
    public init(
        watcher: String? = nil, presentity: String? = nil, domain: String? = nil, state: SubscriptionReport.State? = nil,
        callID: String? = nil
    ) {
        self.watcher = watcher
        self.presentity = presentity
        self.domain = domain
        self.state = state
        self.callID = callID
    }
}
