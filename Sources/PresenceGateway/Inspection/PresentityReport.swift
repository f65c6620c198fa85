import PresenceDocuments

/// One presentity that is watched or stored on this node.
package struct PresentityReport: Codable, Hashable, Sendable {
    /// Hosting and publication of the presentity.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
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
    package var presentity: String
    /// Hosting and publication of the presentity.
    package var state: State
    /// Number of live subscriptions to the presentity.
    package var watchers = 0
    /// Number of publications of either model.
    package var publications = 0
    /// Number of subscriptions of the user's own endpoints.
    package var ownDialogs = 0
    /// Number of registered endpoints.
    package var endpoints = 0
}

/// Filter of presentities; nil matches all.
package struct PresentityFilter: Codable, Hashable, Sendable {
    /// URI of the user, alias included.
    package var presentity: String?
    /// Name of the domain, alias included.
    package var domain: String?
    /// State of the presentity.
    package var state: PresentityReport.State?

    /// Creates a filter.
    package init(presentity: String? = nil, domain: String? = nil, state: PresentityReport.State? = nil) {
        self.presentity = presentity
        self.domain = domain
        self.state = state
    }
}
