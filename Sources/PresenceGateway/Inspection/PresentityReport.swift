import PresenceDocuments

/// One presentity that is watched or stored on this node.
public struct PresentityReport: Codable, Hashable, Sendable {
    /// Hosting and publication of the presentity.
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Hosted on this node with publications.
        case published
        /// Hosted on this node without publications.
        case silent
        /// Hosted elsewhere; this node relays its publications.
        case carried
        /// Hosted elsewhere.
        case far
    }

    /// Address of record.
    public var presentity: String
    /// Hosting and publication of the presentity.
    public var state: State
    /// Number of live subscriptions to the presentity.
    public var watchers = 0
    /// Number of publications of either model.
    public var publications = 0
    /// Number of subscriptions of the user's own endpoints.
    public var ownDialogs = 0
    /// Number of registered endpoints.
    public var endpoints = 0
}

/// Filter of presentities; nil matches all.
public struct PresentityFilter: Codable, Hashable, Sendable {
    /// URI of the user, alias included.
    public var presentity: String?
    /// Name of the domain, alias included.
    public var domain: String?
    /// State of the presentity.
    public var state: PresentityReport.State?

    /// Creates a filter.
    public init(presentity: String? = nil, domain: String? = nil, state: PresentityReport.State? = nil) {
        self.presentity = presentity
        self.domain = domain
        self.state = state
    }
}
