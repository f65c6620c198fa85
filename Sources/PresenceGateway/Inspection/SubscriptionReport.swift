import PresenceDocuments

/// One live subscription to one presentity, as an operator sees it.
public struct SubscriptionReport: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// The watcher was granted its subscription and is told what is known.
        case active
        /// The watcher waits: for a decision of the far side, or because nothing is known yet.
        case pending
        /// A subscription with Expires 0 that waits for its one notification.
        case polling
        /// Restored after a restart; its watcher was reached over a connection and has not come back.
        case away
        /// The last NOTIFY has no answer yet.
        case ending
    }

    /// Where the presence comes from.
    public enum Source: String, Codable, Hashable, Sendable, CaseIterable {
        /// This node is the presentity's home server.
        case hosted
        /// A far leg.
        case far
        /// A user's own data, told to his own endpoint.
        case own
        /// Nobody is asked any more: the far side ended its leg.
        case none
    }

    /// What is known of the presentity.
    public enum Knowledge: String, Codable, Hashable, Sendable, CaseIterable {
        case unknown, known, offline
        /// The far leg is lost; the last state is shown for a while.
        case stale
    }

    /// How many presentities the watcher's dialog may have.
    public enum Shape: String, Codable, Hashable, Sendable, CaseIterable {
        case single
        /// Categories of several presentities (MS-PRES 3.4.5.1.1).
        case batch
        /// A list that the watcher brought along (RFC 5367).
        case list
    }

    /// Address of record.
    public var watcher: String
    /// Address of record; empty for a batch or list without a resource.
    public var presentity: String
    public var event: String
    /// Media type of what the watcher is told, and the profile of PIDF.
    public var format: String
    public var categories: [String]
    public var shape: Shape
    public var state: State
    public var source: Source
    public var knowledge: Knowledge
    public var callID: String
    public var localTag: String
    public var remoteTag: String
    public var expires: DateTime
    /// The address of the watcher's last SUBSCRIBE.
    public var peer: String
    /// Notifications are BENOTIFY, never answered (MS-SIP 3.5).
    public var isBestEffort: Bool
    /// nil: none was sent yet by this process.
    public var notification: NotificationReport?
    /// nil: no notification is being retried.
    public var redelivery: RedeliveryReport?
    public var leg: LegReport?
}

/// The last notification of a dialog.
public struct NotificationReport: Codable, Hashable, Sendable {
    public var at: DateTime
    public var cause: NotificationCause
    /// It went in the answer to a SUBSCRIBE instead of a NOTIFY.
    public var isPiggybacked: Bool
    /// CSeq of the last NOTIFY; 0 before the first.
    public var cSeq: UInt32
    /// Status of its answer; nil: none is there.
    public var answer: Int?
    /// Its answer is still awaited.
    public var isAwaited: Bool
    /// It could not be delivered.
    public var isLost: Bool
    /// All of this process.
    public var count: Int
    /// Changes without a notification of their own: nothing new in them, or newer state replaced them while they waited.
    public var suppressed: Int
}

/// The far leg of a subscription.
public struct LegReport: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Not yet its turn after a restart.
        case queued
        /// The first SUBSCRIBE is unanswered.
        case asking
        /// Accepted; the first NOTIFY is awaited.
        case waiting
        case established
        /// A refresh is unanswered.
        case refreshing
        /// Lost; asked for anew later.
        case resting
        /// Given up; the last NOTIFY is awaited.
        case leaving
        case over
    }

    public var side: String
    /// Next hop.
    public var route: String
    /// `categories`, `msrtc` or `pidf`.
    public var format: String
    /// `single`, or what serves several resources.
    public var shape: String
    /// How many resources the leg serves.
    public var resources: Int
    /// Request-URI of its first SUBSCRIBE: the presentity, its list, or the pool that it lives in.
    public var target: String
    public var callID: String
    public var localTag: String
    /// nil: no dialog yet.
    public var remoteTag: String?
    public var state: State
    /// Since when it is not known whether the far side still knows of it, or what it says; nil: its last SUBSCRIBE was accepted, and its last
    /// document was read.
    public var unverifiedSince: DateTime?
    /// Error of its last document; nil: it was read.
    public var unreadable: String?
    public var refreshesAt: DateTime?
    public var lapsesAt: DateTime?
    /// When it is asked for anew.
    public var retriesAt: DateTime?
    /// Losses in a row.
    public var failures: Int
    /// What the far side said of the presentity last: `unheard`, `active` or `pending`.
    public var standing: String
    /// When the last state of a lost leg stops being shown.
    public var staleAt: DateTime?
    /// What watchers see while the leg is lost: `pending`, `stale` or `offline`.
    public var whenLost: String
    /// Marks of the gateways that passed the watcher's request on, this one last.
    public var hopMarks: [String]
}

/// Which subscriptions are meant; what is nil does not matter.
public struct SubscriptionFilter: Codable, Hashable, Sendable {
    /// URIs, by any of their users' names.
    public var watcher: String?
    public var presentity: String?
    /// Of the watcher or of the presentity, by any of its names.
    public var domain: String?
    public var state: SubscriptionReport.State?
    /// Of the watcher's dialog or of the far leg's.
    public var callID: String?

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
