import PresenceDocuments

/// One presentity that is watched here, or of which something is kept.
public struct PresentityReport: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// This node is the home server, and something is published.
        case published
        /// This node is the home server, and nothing is published.
        case silent
        /// Its home is elsewhere, and what clients publish for it here is carried there.
        case carried
        /// Its home is elsewhere.
        case far
    }

    /// Address of record.
    public var presentity: String
    public var state: State
    /// Live subscriptions to it.
    public var watchers: Int
    /// Publications of either model.
    public var publications: Int
    /// Subscriptions of the user's own endpoints.
    public var ownDialogs: Int
    /// Registered endpoints.
    public var endpoints: Int
}

/// Which presentities are meant; what is nil does not matter.
public struct PresentityFilter: Codable, Hashable, Sendable {
    /// A URI, by any of its user's names.
    public var presentity: String?
    /// By any of its names.
    public var domain: String?
    public var state: PresentityReport.State?

    public init(presentity: String? = nil, domain: String? = nil, state: PresentityReport.State? = nil) {
        self.presentity = presentity
        self.domain = domain
        self.state = state
    }
}
