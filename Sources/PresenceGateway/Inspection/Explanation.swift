import PresenceDocuments

/// Why a watcher sees of a presentity what it sees.
public struct Explanation: Codable, Hashable, Sendable {
    public var watcher: PartyReport
    public var presentity: PartyReport
    /// Where requests for the presentity go, and by which entry.
    public var route: RouteReport
    /// Each live subscription of this watcher to this presentity.
    public var subscriptions: [SubscriptionExplanation]
    /// What the watcher would be shown if it subscribed now; nil: it has a subscription, or nobody can know before the far side is asked.
    public var preview: ViewExplanation?
    /// What this node keeps as the presentity's home server.
    public var home: HomeReport?
    /// What is published here for a presentity whose home is elsewhere.
    public var carried: CarriedReport?
    /// What was refused, lost or ended lately between the two, newest first.
    public var journal: [JournalEntry]

    public init(
        watcher: PartyReport, presentity: PartyReport, route: RouteReport, subscriptions: [SubscriptionExplanation] = [],
        preview: ViewExplanation? = nil, home: HomeReport? = nil, carried: CarriedReport? = nil, journal: [JournalEntry] = []
    ) {
        self.watcher = watcher
        self.presentity = presentity
        self.route = route
        self.subscriptions = subscriptions
        self.preview = preview
        self.home = home
        self.carried = carried
        self.journal = journal
    }

    /// One explanation of those of all shards.
    public static func merged(_ parts: [Explanation], journalLimit: Int = 10) -> Explanation? {
        guard var result = parts.first else { return nil }
        for part in parts.dropFirst() {
            result.subscriptions += part.subscriptions
            result.preview = result.preview ?? part.preview
            result.home = result.home ?? part.home
            result.carried = result.carried ?? part.carried
            result.journal += part.journal
        }
        if !result.subscriptions.isEmpty { result.preview = nil }
        result.subscriptions.sort { $0.subscription.key < $1.subscription.key }
        result.journal.sort { $0.at > $1.at }
        result.journal = Array(result.journal.prefix(journalLimit))
        return result
    }
}

/// One of the two parties, and as what it counts.
public struct PartyReport: Codable, Hashable, Sendable {
    /// Address of record.
    public var uri: String
    /// `enterprise` or `simple`; nil: its domain is not configured, or refused.
    public var side: String?
    public var network: String?
    public var isHosted: Bool
    /// Whether the directory has it; nil: there is none for its domain.
    public var isUser: Bool?
}

/// The decision of the routing table.
public struct RouteReport: Codable, Hashable, Sendable {
    public enum Outcome: String, Codable, Hashable, Sendable { case local, forward, refuse }

    public var outcome: Outcome
    /// The entry that decided: a domain name, `*`, or empty when none did.
    public var entry: String
    public var reason: String
    /// The next hop.
    public var nextHop: String?
    /// What it is refused with.
    public var status: Int?
}

/// One live subscription, and what made its last notification.
public struct SubscriptionExplanation: Codable, Hashable, Sendable {
    /// Where the watcher stands relative to what is known now.
    public enum Delivery: String, Codable, Hashable, Sendable {
        /// It has exactly this.
        case current
        /// It has something else; a notification waits for its turn.
        case waiting
        /// It was told nothing yet.
        case nothing
    }

    public var subscription: SubscriptionReport
    public var delivery: Delivery
    /// Until then no change of the presentity is told, to keep the distance of RFC 3856 6.10; nil: it may be told now.
    public var spacedUntil: DateTime?
    /// What is known now, in the watcher's format: made from the kept source in the way in which notifications are made.
    public var view: ViewExplanation
    /// A batch told this verdict on the resource instead of its presence.
    public var verdict: VerdictReport?
    /// The document that the watcher has; only when it was asked for.
    public var body: String?
}

/// What a list told of a resource that is not active (MS-PRES 3.4.5.1.3.1).
public struct VerdictReport: Codable, Hashable, Sendable {
    public var state: String
    public var reason: String?
    public var status: Int?
    public var pool: String?
}

/// How a view is made.
public struct ViewExplanation: Codable, Hashable, Sendable {
    public enum Origin: String, Codable, Hashable, Sendable {
        /// Nothing was heard yet.
        case nothing
        /// Nothing is shown.
        case offline
        /// Categories, published here or told by the far side.
        case categories
        /// PIDF, published here or told by the far side.
        case pidf
        /// msrtc.pidf of the far side.
        case msrtc
        /// Both models at once: the one that spoke last, and the other where that is silent.
        case both
    }

    public var origin: Origin
    /// Hosted presentities: which container gives the watcher what, by which rule.
    public var containers: [ContainerReport]
    /// PIDF that was published here is hidden, because the presentity's own containers decide about this watcher (MS-PRES 3.2.5.3).
    public var isDocumentHidden: Bool
    /// The rows of `Mappings/` that decided, in their order.
    public var rows: [RowReport]
    public var losses: [LossReport]
}

/// Which container gives a watcher one category (MS-PRES 3.2.5.3).
public struct ContainerReport: Codable, Hashable, Sendable {
    public var category: String
    /// nil: none, which looks as if nothing were published.
    public var container: Int?
    /// The rule, such as `user` or `no member matches`.
    public var rule: String
    /// The member that matched, as `user alice@example.org`; nil where no member did.
    public var member: String?
    /// Every container that holds the category, highest first.
    public var candidates: [Int]
    /// What is seen.
    public var instances: [InstanceReport]
}

/// One published or computed instance.
public struct InstanceReport: Codable, Hashable, Sendable {
    public var category: String
    public var container: Int
    public var instance: Int
    public var version: Int
    public var publishTime: DateTime
    public var expireType: String
    public var deadline: DateTime?
    /// The endpoint on whose presence it depends.
    public var endpoint: String?
    /// The server computed it (MS-PRES 3.8.5).
    public var isComputed: Bool
    /// The availability that a state says.
    public var availability: Int?
}

/// What is kept of a presentity whose home this node is.
public struct HomeReport: Codable, Hashable, Sendable {
    /// `categories` or `pidf`: which model spoke last; nil: nothing is published.
    public var latest: String?
    public var documents: [DocumentReport]
    /// What somebody published.
    public var published: [InstanceReport]
    /// Those of them from which the aggregates are computed (MS-PRES 3.8.5).
    public var aggregationInputs: [InstanceReport]
    public var watchers: Int
    public var endpoints: [String]
}

/// One publication of PIDF (RFC 3903).
public struct DocumentReport: Codable, Hashable, Sendable {
    public var arrived: DateTime
    public var until: DateTime
}

/// A row of a mapping table.
public struct RowReport: Codable, Hashable, Sendable {
    public var id: String
    public var table: String
    /// The section of a standard, or of this project's policy.
    public var section: String
}

/// One value that could not be said in the watcher's format.
public struct LossReport: Codable, Hashable, Sendable {
    public var row: String
    public var field: String
    public var value: String
    public var reason: String
}
