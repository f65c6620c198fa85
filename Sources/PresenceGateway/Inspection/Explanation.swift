import PresenceDocuments

/// Explains a watcher's view of a presentity.
package struct Explanation: Codable, Hashable, Sendable {
    /// The watcher.
    package var watcher: PartyReport
    /// The presentity.
    package var presentity: PartyReport
    /// Route of requests for the presentity, with the deciding entry.
    package var route: RouteReport
    /// Live subscriptions of the watcher to the presentity.
    package var subscriptions: [SubscriptionExplanation]
    /// View that a new subscription to presence would get; nil: one exists, the presentity is not hosted on this node, or the watcher's
    /// domain is unknown or refused.
    package var preview: ViewExplanation?
    /// State of a presentity hosted on this node.
    package var home: HomeReport?
    /// Publications relayed to a home server elsewhere.
    package var carried: RelayedReport?
    /// Recent journal entries about the two, newest first.
    package var journal: [JournalEntry]
    /// Derivations of views for subscriptions of other shards, until ``merged(_:journalLimit:)`` adds them to those.
    var views: [String: ViewExplanation]?

    /// Creates an explanation.
    package init(
        watcher: PartyReport, presentity: PartyReport, route: RouteReport, subscriptions: [SubscriptionExplanation] = [],
        preview: ViewExplanation? = nil, home: HomeReport? = nil, carried: RelayedReport? = nil, journal: [JournalEntry] = []
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

    /// Adds what the presentity's shard shows.
    mutating func show(home: HomeReport?, views: [String: ViewExplanation]?, preview: ViewExplanation?) {
        self.home = home
        self.views = views
        self.preview = preview
    }

    /// Adds the endpoints to the report of a hosted presentity.
    mutating func show(endpoints: [String]) { home?.endpoints = endpoints }

    /// Adds live subscriptions of the watcher.
    mutating func show(subscriptions: [SubscriptionExplanation]) { self.subscriptions += subscriptions }

    /// Adds the publications relayed to a home server elsewhere.
    mutating func show(relayed: RelayedReport?) { carried = relayed }

    /// Completes the explanation of one shard.
    mutating func complete(journal: [JournalEntry]) {
        if subscriptions.contains(where: \.isPresence) { preview = nil }
        self.journal = journal
    }

    /// Merges the explanations of all shards, with at most `journalLimit` journal entries; nil for an empty array.
    package static func merged(_ parts: [Explanation], journalLimit: Int = 10) -> Explanation? {
        guard var result = parts.first else { return nil }
        for part in parts.dropFirst() {
            result.subscriptions += part.subscriptions
            result.preview = result.preview ?? part.preview
            result.home = result.home ?? part.home
            result.carried = result.carried ?? part.carried
            result.journal += part.journal
        }
        let views = parts.reduce(into: [:]) { $0.merge($1.views ?? [:]) { first, _ in first } }
        result.views = nil
        for index in result.subscriptions.indices {
            if let watch = result.subscriptions[index].watch, let view = views[watch] { result.subscriptions[index].view = view }
            result.subscriptions[index].watch = nil
        }
        if result.subscriptions.contains(where: \.isPresence) { result.preview = nil }
        result.subscriptions.sort { $0.subscription.key < $1.subscription.key }
        result.journal.sort { $0.at > $1.at }
        result.journal = Array(result.journal.prefix(journalLimit))
        return result
    }
}

/// One of the two parties and its classification.
package struct PartyReport: Codable, Hashable, Sendable {
    /// Address of record.
    package var uri: String
    /// `enterprise` or `simple`; nil: its domain is not configured, or refused.
    package var side: String?
    /// Network of the domain's users, a criterion of container resolution; nil: its domain is not configured, or refused.
    package var network: String?
    /// Whether the party's domain is hosted.
    package var isHosted: Bool
    /// Whether the directory contains the user; nil: no directory for the domain.
    package var isUser: Bool?
}

/// The decision of the routing table.
package struct RouteReport: Codable, Hashable, Sendable {
    /// Kind of decision.
    package enum Outcome: String, Codable, Hashable, Sendable { case local, forward, refuse }

    /// Kind of decision.
    package var outcome: Outcome
    /// The deciding entry: a domain name, `*`, or empty if none matched.
    package var entry: String
    /// Explanation for operators.
    package var reason: String
    /// The next hop of a forwarded request.
    package var nextHop: String?
    /// Status code of a refusal.
    package var status: Int?
}

/// One live subscription and the derivation of its view.
package struct SubscriptionExplanation: Codable, Hashable, Sendable {
    /// The watcher's state compared to the current one.
    package enum Delivery: String, Codable, Hashable, Sendable {
        /// The watcher has the current state.
        case current
        /// The watcher has an older state, and a notification is pending.
        case waiting
        /// Nothing was notified yet.
        case nothing
    }

    /// The subscription.
    package var subscription: SubscriptionReport
    /// The watcher's state compared to the current one.
    package var delivery: Delivery
    /// Time of the next allowed notification (RFC 3856 6.10); nil: allowed now.
    package var spacedUntil: DateTime?
    /// Derivation of the current view, rendered from the stored source like a notification.
    package var view: ViewExplanation
    /// RLMI state sent in place of presence; nil: the resource is active.
    package var verdict: InstanceStateReport?
    /// The document that the watcher has; only on request.
    package var body: String?
    /// Names the derivation among the views of the presentity's shard.
    var watch: String?

    /// Whether it is a subscription to presence, which has a view.
    var isPresence: Bool { view.origin != .own }
}

/// RLMI state of a resource that is not active (MS-PRES 3.4.5.1.3.1).
package struct InstanceStateReport: Codable, Hashable, Sendable {
    /// `pending`, `terminated` or another RLMI state.
    package var state: String
    /// Reason of the state.
    package var reason: String?
    /// Status code of the refusal.
    package var status: Int?
    /// FQDN of the pool to subscribe to instead.
    package var pool: String?
}

/// Derivation of a view.
package struct ViewExplanation: Codable, Hashable, Sendable {
    /// Source format of a view.
    package enum Origin: String, Codable, Hashable, Sendable {
        /// No state was received yet.
        case nothing
        /// State of another event package than presence, as this node has it.
        case own
        /// Nothing is shown: the rules of the presentity refuse the subscription.
        case refused
        /// Nothing is shown: the rules of the presentity leave the subscription pending.
        case pending
        /// The presentity is shown as offline.
        case offline
        /// Categories, published here or received from the remote domain.
        case categories
        /// PIDF, published here or received from the remote domain.
        case pidf
        /// msrtc.pidf received from the remote domain.
        case msrtc
        /// Both models: the one that was published last, with gaps filled from the other.
        case both
    }

    /// Source format of the view.
    package var origin: Origin
    /// For hosted presentities: the container and rule of each category.
    package var containers: [ContainerReport]
    /// Whether PIDF published here is hidden, because the presentity's own containers decide about this watcher (MS-PRES 3.2.5.3).
    package var isDocumentHidden: Bool
    /// Decision of the presentity's rules with rule, condition and list, one sentence each; nil: rules do not decide about it.
    package var decision: [String]?
    /// Rows of `Mappings/` that were applied, in order.
    package var rows: [RowReport]
    /// Values that the watcher's format cannot express.
    package var losses: [LossReport]
}

/// The container that decides about one category for a watcher (MS-PRES 3.2.5.3).
package struct ContainerReport: Codable, Hashable, Sendable {
    /// Category name.
    package var category: String
    /// The container; nil: none, so the category looks unpublished.
    package var container: Int?
    /// The rule, such as `user` or `no member matches`.
    package var rule: String
    /// The matching member, such as `user alice@example.org`; nil: none matched.
    package var member: String?
    /// All containers with the category, highest first.
    package var candidates: [Int]
    /// The visible instances.
    package var instances: [InstanceReport]
}

/// One published or computed instance.
package struct InstanceReport: Codable, Hashable, Sendable {
    /// Category name.
    package var category: String
    /// Container number.
    package var container: Int
    /// Instance number.
    package var instance: Int
    /// Version of the instance.
    package var version: Int
    /// Time of publication.
    package var publishTime: DateTime
    /// `expireType` of the instance (MS-PRES 2.2.2.1).
    package var expireType: String
    /// Time of expiry; nil: no time limit.
    package var deadline: DateTime?
    /// UUID of the endpoint with which the instance ends.
    package var endpoint: String?
    /// Whether the server computed the instance (MS-PRES 3.8.5).
    package var isComputed: Bool
    /// Availability of a state or legacyInterop instance; nil for other categories and unreadable bodies.
    package var availability: Int?
}

/// State of a presentity hosted on this node.
package struct HomeReport: Codable, Hashable, Sendable {
    /// Model that was published last: `categories` or `pidf`; nil: nothing is published.
    package var latest: String?
    /// PIDF publications.
    package var documents: [DocumentReport]
    /// Instances published by clients or the server, without computed ones.
    package var published: [InstanceReport]
    /// Published instances from which the aggregates are computed (MS-PRES 3.8.5).
    package var aggregationInputs: [InstanceReport]
    /// Number of live subscriptions on this shard.
    package var watchers: Int
    /// UUIDs of the registered endpoints.
    package var endpoints: [String]
}

/// One publication of PIDF (RFC 3903).
package struct DocumentReport: Codable, Hashable, Sendable {
    /// Time of arrival.
    package var arrived: DateTime
    /// Time of expiry.
    package var until: DateTime
}

/// A row of a mapping table.
package struct RowReport: Codable, Hashable, Sendable {
    /// Identifier of the row.
    package var id: String
    /// Name of the table.
    package var table: String
    /// Section of a standard or of the project's policy.
    package var section: String
}

/// One value that the watcher's format cannot express.
package struct LossReport: Codable, Hashable, Sendable {
    /// Identifier of the mapping row.
    package var row: String
    /// Name of the field.
    package var field: String
    /// The lost value.
    package var value: String
    /// Explanation for operators.
    package var reason: String
}
