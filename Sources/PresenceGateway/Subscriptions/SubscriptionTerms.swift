import EnhancedPresence
import FederationRouting
import SIPCore
import SIPEvents

/// Facts of a subscription that its first SUBSCRIBE decided for the life of the dialog.
struct SubscriptionTerms {
    /// Event of the SUBSCRIBE with its `id`; repeated in every NOTIFY.
    let event: Event
    let side: DomainSide
    let watcher: SIPURI
    let watcherKey: String
    let network: DomainNetwork
    /// Key of the user by which the dialog is assigned to this shard (``ShardRouter``).
    let owner: String
    /// Endpoint that subscribed, if it is named and matters: its user is hosted, or it has only one dialog of the package.
    let endpoint: EndpointKey?
    /// Whether the watcher requested privacy (RFC 3325 9.3).
    let hidesIdentity: Bool
    /// Whether the registration of the endpoint prolongs the dialog without a refresh (com.microsoft.autoextend).
    let followsRegistration: Bool
    /// The watcher in container resolution.
    private(set) lazy var identity = WatcherIdentity(watcher, network: network)

    init(_ event: Event, _ opened: OpenedSubscription, endpoint: EndpointKey?, hidesIdentity: Bool, followsRegistration: Bool) {
        self.event = event
        let parties = opened.parties
        side = parties.watcherDomain.side
        watcher = parties.watcher
        watcherKey = parties.watcherKey
        network = parties.watcherDomain.network
        owner = opened.owner
        self.endpoint = endpoint
        self.hidesIdentity = hidesIdentity
        self.followsRegistration = followsRegistration
    }
}

/// The terms, as other parts of the shard read them.
extension WatcherDialog {
    var event: Event { terms.event }
    var watcher: SIPURI { terms.watcher }
    var watcherKey: String { terms.watcherKey }
    var owner: String { terms.owner }
    var endpoint: EndpointKey? { terms.endpoint }
    var hidesIdentity: Bool { terms.hidesIdentity }
}
