import PresenceDocuments

/// One live subscription to one presentity, for operators.
package struct SubscriptionReport: Codable, Hashable, Sendable {
    /// State of the watcher's subscription.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
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
    package enum Source: String, Codable, Hashable, Sendable, CaseIterable {
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
    package enum Knowledge: String, Codable, Hashable, Sendable, CaseIterable {
        case unknown, known, offline
        /// The upstream subscription is lost; the last state is still shown for a while.
        case stale
    }

    /// Kind of dialog by its presentities.
    package enum Shape: String, Codable, Hashable, Sendable, CaseIterable {
        case single
        /// Categories of several presentities (MS-PRES 3.4.5.1.1).
        case batch
        /// A list contained in the SUBSCRIBE (RFC 5367).
        case list
    }

    /// Address of record of the watcher.
    package var watcher: String
    /// Address of record of the presentity; empty for a batch or list without resources.
    package var presentity: String
    /// Event package with parameters.
    package var event: String
    /// Media type of notifications, with the profile for PIDF.
    package var format: String
    /// Subscribed categories; empty for other formats.
    package var categories: [String]
    /// Kind of dialog by its presentities.
    package var shape: Shape
    /// State of the watcher's subscription.
    package var state: State
    /// Source of the presence.
    package var source: Source
    /// Knowledge of the presentity's state.
    package var knowledge: Knowledge
    /// Call-ID of the watcher's dialog.
    package var callID: String
    /// Local tag of the watcher's dialog.
    package var localTag: String
    /// Remote tag of the watcher's dialog.
    package var remoteTag: String
    /// Time at which the subscription ends without a refresh.
    package var expires: DateTime
    /// Source address of the watcher's last SUBSCRIBE.
    package var peer: String
    /// Whether notifications are BENOTIFY, which has no response (MS-SIP 3.5).
    package var isBestEffort: Bool
    /// Last notification; nil: this process has sent none.
    package var notification: NotificationReport?
    /// Retries of a failed notification; nil: none.
    package var redelivery: RedeliveryReport?
    /// The upstream subscription; nil: none.
    package var leg: UpstreamReport?
}

/// The last notification of a dialog.
package struct NotificationReport: Codable, Hashable, Sendable {
    /// Time of the notification.
    package var at: DateTime
    /// Cause of the notification.
    package var cause: NotificationCause
    /// Whether it was sent in the response to a SUBSCRIBE instead of a NOTIFY.
    package var isPiggybacked: Bool
    /// CSeq of the last NOTIFY; 0 before the first.
    package var cSeq: UInt32
    /// Status of the response; nil: none received.
    package var answer: Int?
    /// Whether the response is awaited.
    package var isAwaited: Bool
    /// Whether it could not be delivered or timed out.
    package var isLost: Bool
    /// Number of notifications of the dialog in this process.
    package var count: Int
    /// Number of changes without a notification: the watcher had the state already, or a newer state replaced it while it waited.
    package var suppressed: Int
}

/// The upstream subscription behind a watcher's subscription.
package struct UpstreamReport: Codable, Hashable, Sendable {
    /// State of the upstream subscription.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
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
    package var side: String
    /// Next hop.
    package var route: String
    /// `categories`, `msrtc` or `pidf`.
    package var format: String
    /// `single`, `batch` or `list`.
    package var shape: String
    /// Number of resources of the upstream subscription.
    package var resources: Int
    /// Request-URI of the first SUBSCRIBE: the presentity, its list or its pool.
    package var target: String
    /// Call-ID of the upstream dialog.
    package var callID: String
    /// Local tag of the upstream dialog.
    package var localTag: String
    /// Remote tag of the upstream dialog; nil: no dialog yet.
    package var remoteTag: String?
    /// State of the upstream subscription.
    package var state: State
    /// Time since which the state is unverified; nil: the last SUBSCRIBE was accepted and the last document was readable.
    package var unverifiedSince: DateTime?
    /// Time of the restart that restored the subscription; nil: a SUBSCRIBE was accepted since, or this process created it.
    package var restoredAt: DateTime?
    /// Error of the presentity's last document; nil: it was readable.
    package var unreadable: String?
    /// Time of the next refresh.
    package var refreshesAt: DateTime?
    /// Time at which the subscription ends without a refresh.
    package var lapsesAt: DateTime?
    /// Time of the next attempt to subscribe.
    package var retriesAt: DateTime?
    /// Number of consecutive losses.
    package var failures: Int
    /// Last state of the presentity from the remote domain: `unheard`, `active` or `pending`.
    package var standing: String
    /// Time at which the last state of a lost upstream subscription is no longer shown.
    package var staleAt: DateTime?
    /// View of watchers while it is lost: `pending`, `stale` or `offline`.
    package var whenLost: String
    /// Loop markers of the gateways that forwarded the request, this one last.
    package var hopMarks: [String]
}

/// Filter of subscriptions; nil matches all.
package struct SubscriptionFilter: Codable, Hashable, Sendable {
    /// URI of the watcher, alias included.
    package var watcher: String?
    /// URI of the presentity, alias included.
    package var presentity: String?
    /// Domain of the watcher or presentity, alias included.
    package var domain: String?
    /// State of the watcher's subscription.
    package var state: SubscriptionReport.State?
    /// Call-ID of the watcher's or the upstream dialog.
    package var callID: String?

    /// Creates a filter.
    package init(
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
