import FederationRouting
import SIPCore
import SIPEvents

/// Requests of upstream subscriptions to the other flows.
protocol UpstreamPorts: AnyObject {
    // MARK: watchers

    /// Notifies a watcher of the changed source of one resource.
    func sourceChanged(_ resource: WatchedResource, of watcher: WatcherDialog, at now: Instant)

    /// Notifies a watcher whether its authorization for a resource is pending.
    func authorizationChanged(isPending: Bool, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant)

    /// Ends a resource of a watcher after the final failure of its source.
    func sourceEnded(_ termination: UpstreamTermination, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant)

    /// Refusal of a NOTIFY for another event package.
    var badEvent: Refusal { get }

    // MARK: peers

    /// Whether a peer may send for a user.
    func isSpeaker(_ flow: Flow, for user: SIPURI) -> Bool

    /// Checks that the first NOTIFY of a dialog records no proxies of others.
    func checkPath(_ request: SIPRequest, of user: SIPURI, _ flow: Flow) throws(Refusal)

    /// Route of a request within a dialog.
    func requestRoute(of dialog: Dialog, flow: Flow?, hop: NextHop?, to user: SIPURI) -> RequestRoute

    /// The first Contact of a 3xx that belongs to the partner and was not tried yet, with its route; nil: there is none.
    func redirection(
        of response: SIPResponse, from requestURI: String, visited: inout Set<String>, of domain: String, by hop: NextHop,
        beside flow: Flow?
    ) -> (uri: SIPURI, requestRoute: RequestRoute)?

    // MARK: OPTIONS

    /// Starts default OPTIONS to a domain with an accepted subscription.
    func keepAlive(_ name: String, at now: Instant)

    /// Sends OPTIONS to a domain or to one of its servers now.
    /// - Returns: false if the domain is not asked by configuration.
    func askNow(_ name: String, of server: TransportAddress?, at now: Instant) -> Bool
}
